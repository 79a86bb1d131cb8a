kernel with_barrier(float* out) { load; barrier; store; }
kernel without_barrier(float* out) { load; store; }
#include "tile.cuh"
