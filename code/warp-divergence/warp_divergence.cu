// Warp divergence: the same paths, taken by lanes of one warp or by whole warps.
//
// As a program: nvcc -O3 -arch=sm_90 warp_divergence.cu && ./a.out

constexpr unsigned PATHS = 32;
constexpr unsigned STEPS = 8192;

__device__ unsigned own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// --8<-- [start:paths]
// Each path multiplies by another number: different code, equal work. The numbers are floats, since
// of whole numbers the compiler folds eight steps into one.
template <unsigned PATH>
__device__ float walk(float value)
{
#pragma unroll 8
    for (unsigned step = 0; step < STEPS; step++) value = value * (0.3f + 0.01f * PATH) + 1.0f;
    return value;
}

// if (path == 0) … else if (path == 1) … and so on
template <unsigned PATH = 0>
__device__ float take(unsigned path, float value)
{
    if constexpr (PATH == PATHS)
        return value;
    else
        return path == PATH ? walk<PATH>(value) : take<PATH + 1>(path, value);
}

// With `shift` 0 neighbouring lanes take different paths, with 5 neighbouring warps do.
extern "C" __global__ void branch(unsigned paths, unsigned shift, float *out)
{
    out[own_index()] = take(own_index() >> shift & (paths - 1), own_index());
}
// --8<-- [end:paths]

// --8<-- [start:small]
extern "C" __global__ void small_if(const int *in, int *out)
{
    int value = in[own_index()];
    if (value < 0)
        value = -3 * value;
    else
        value += 7;
    out[own_index()] = value;
}
// --8<-- [end:small]

extern "C" __global__ void no_if(const int *in, int *out) { out[own_index()] = in[own_index()] + 7; }

#ifndef __CUDACC_RTC__
#include <cstdio>
#include <cstdlib>

#define CHECK(call) check((call), #call)
static void check(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
    std::exit(2);
}

// The fastest of some runs, in milliseconds.
static float best_ms(unsigned paths, unsigned shift, int blocks, float *out)
{
    cudaEvent_t start, stop;
    float best = 0;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int run = 0; run < 20; run++) {
        float ms;
        CHECK(cudaEventRecord(start));
        branch<<<blocks, 256>>>(paths, shift, out);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (run == 0 || ms < best) best = ms;
    }
    CHECK(cudaGetLastError());
    return best;
}

int main()
{
    int processors;
    float *out;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    const int blocks = 8 * processors;
    CHECK(cudaMalloc(&out, blocks * 256 * sizeof *out));
    std::printf("Milliseconds\npaths  among lanes  among warps\n");
    for (unsigned paths = 1; paths <= PATHS; paths *= 2)
        std::printf("%5u %12.3f %12.3f\n", paths, best_ms(paths, 0, blocks, out),
                    best_ms(paths, 5, blocks, out));
    return 0;
}
#endif
