// Kernels that occupy registers, local and shared memory in known ways.

extern "C" __global__ void __launch_bounds__(1024) spills(float *cells, int n)
{
    float kept[64];
    for (int i = 0; i < 64; i++) kept[i] = cells[i * n];
    for (int round = 0; round < n; round++)
        for (int i = 0; i < 64; i++) kept[i] = kept[i] * kept[(i * 7 + round) % 64] + 1;
    for (int i = 0; i < 64; i++) cells[i] = kept[i];
}

extern "C" __global__ void shares(float *cells)
{
    __shared__ float tile[300];
    __shared__ double more[10];
    tile[threadIdx.x] = cells[0];
    more[threadIdx.x % 10] = cells[2];
    __syncthreads();
    cells[threadIdx.x] = tile[299 - threadIdx.x] + more[3];
}

extern "C" __global__ void shares_at_launch(float *cells)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = cells[threadIdx.x];
    __syncthreads();
    cells[threadIdx.x] = tile[0];
}

__device__ __noinline__ float called(float x) { return x * x + sinf(x); }

__global__ void calls(float *cells) { cells[0] = called(cells[1]); }

__global__ void overloaded(int *cells) { cells[0] = 1; }
__global__ void overloaded(float *cells) { cells[0] = 1; }
