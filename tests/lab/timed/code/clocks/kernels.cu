kernel nothing(float* out) { load; store; }
