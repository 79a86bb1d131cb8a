// A copy from one place of the GPU's memory to another, 16 bytes a thread and step.
//
// As a program: nvcc -O3 -arch=sm_90 copy.cu && ./a.out

// --8<-- [start:copy]
extern "C" __global__ void copy(const uint4 *from, uint4 *to, unsigned long long vectors)
{
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < vectors; i += stride)
        to[i] = from[i];
}
// --8<-- [end:copy]

#ifndef __CUDACC_RTC__
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        const cudaError_t error = (call);                                                 \
        if (error != cudaSuccess) {                                                       \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error));   \
            return EXIT_FAILURE;                                                          \
        }                                                                                 \
    } while (0)

int main()
{
    constexpr unsigned long long BYTES = 1ull << 30;
    constexpr int RUNS = 20;
    uint4 *from, *to;
    int processors;
    float best_ms = 0;
    cudaEvent_t start, stop;

    CHECK(cudaMalloc(&from, BYTES));
    CHECK(cudaMalloc(&to, BYTES));
    CHECK(cudaMemset(from, 1, BYTES));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int run = 0; run < RUNS; ++run) {
        float ms;
        CHECK(cudaEventRecord(start));
        copy<<<8 * processors, 256>>>(from, to, BYTES / sizeof(uint4));
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (run == 0 || ms < best_ms) best_ms = ms;
    }
    CHECK(cudaGetLastError());
    std::printf("copied %llu bytes, the fastest of %d runs: %.3f ms, %.0f GB/s read and written\n",
                BYTES, RUNS, best_ms, 2.0 * BYTES / best_ms / 1e6);
    return EXIT_SUCCESS;
}
#endif
