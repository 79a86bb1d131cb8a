// Memory coalescing: the same number of words read, at growing distances from each other.
//
// As a program: nvcc -O3 -arch=sm_90 coalescing.cu && ./a.out

constexpr unsigned READS = 8;  // by each thread, all under way at once

// The cells are all zero. The store is never made, but since it might be, no load can be left out.
// --8<-- [start:read]
extern "C" __global__ void read_strided(const unsigned *cells, unsigned stride, unsigned *found)
{
    const unsigned first = blockIdx.x * blockDim.x * READS + threadIdx.x;
    unsigned any = 0;
#pragma unroll
    for (unsigned i = 0; i < READS; i++)
        any |= cells[size_t(first + i * blockDim.x) * stride];
    if (any) *found = any;
}
// --8<-- [end:read]

#ifndef __CUDACC_RTC__
#include <cstdio>
#include <cstdlib>

constexpr unsigned WORDS = 1u << 25, THREADS = 256;

#define CHECK(call) check((call), #call)
static void check(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
    std::exit(2);
}

int main()
{
    constexpr unsigned MAX_STRIDE = 33;
    constexpr int RUNS = 20;
    unsigned *cells, *found;
    cudaEvent_t start, stop;
    CHECK(cudaMalloc(&cells, size_t(WORDS) * MAX_STRIDE * sizeof *cells));
    CHECK(cudaMemset(cells, 0, size_t(WORDS) * MAX_STRIDE * sizeof *cells));
    CHECK(cudaMalloc(&found, sizeof *found));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::printf("stride   useful GB/s, the fastest of %d runs\n", RUNS);
    for (unsigned stride : {1u, 2u, 4u, 8u, 16u, 32u, 33u}) {
        float best_ms = 0;
        for (int run = 0; run < RUNS; run++) {
            float ms;
            CHECK(cudaEventRecord(start));
            read_strided<<<WORDS / (READS * THREADS), THREADS>>>(cells, stride, found);
            CHECK(cudaEventRecord(stop));
            CHECK(cudaEventSynchronize(stop));
            CHECK(cudaEventElapsedTime(&ms, start, stop));
            if (run == 0 || ms < best_ms) best_ms = ms;
        }
        CHECK(cudaGetLastError());
        std::printf("%6u %13.0f\n", stride, WORDS * sizeof *cells / best_ms / 1e6);
    }
    return 0;
}
#endif
