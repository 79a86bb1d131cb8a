// Copies a tile through shared memory.

// --8<-- [start:copy]
extern "C" __global__ void copy_tile(const float* in, float* out) {
    __shared__ float tile[1024];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
// --8<-- [end:copy]
