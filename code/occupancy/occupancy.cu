// Reading memory with few or many warps on a multiprocessor, and with one or several loads of each
// thread under way.
//
// As a program: nvcc -O3 -arch=sm_90 occupancy.cu && ./a.out

constexpr unsigned THREADS = 128;

// --8<-- [start:read]
// Reads LOADS numbers in each step, and adds none of them before it has asked for all.
template <int LOADS>
__device__ void read(const float *in, float *out, unsigned steps)
{
    in += blockIdx.x * LOADS * THREADS + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (unsigned step = 0; step < steps; step++, in += gridDim.x * LOADS * THREADS) {
        float value[LOADS];
        for (int load = 0; load < LOADS; load++) value[load] = in[load * THREADS];
        for (int load = 0; load < LOADS; load++) sum += value[load];
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}
// --8<-- [end:read]

// The shared memory that a launch asks for is never touched: it decides how many blocks fit.
extern "C" __global__ void read_1(const float *in, float *out, unsigned steps)
{
    read<1>(in, out, steps);
}

extern "C" __global__ void read_4(const float *in, float *out, unsigned steps)
{
    read<4>(in, out, steps);
}

extern "C" __global__ void read_16(const float *in, float *out, unsigned steps)
{
    read<16>(in, out, steps);
}

#ifndef __CUDACC_RTC__
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) check_status((call), #call)
static void check_status(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
    std::exit(2);
}

constexpr unsigned PARTS = 4, MOST_LOADS = 16, ROUNDS = 16, GRANULE = 256;

using Kernel = void (*)(const float *, float *, unsigned);

static unsigned attribute(cudaDeviceAttr which)
{
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return static_cast<unsigned>(value);
}

// The fastest of 20 readings with so many quarters of full occupancy.
static float fastest_ms(Kernel kernel, unsigned loads, unsigned parts, const float *in, float *out)
{
    const unsigned most = attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / THREADS;
    const unsigned blocks = most * parts / PARTS;
    const unsigned grid = blocks * attribute(cudaDevAttrMultiProcessorCount);
    const unsigned steps = ROUNDS * (PARTS / parts) * (MOST_LOADS / loads);
    const unsigned share = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / blocks;
    const unsigned shared =
        share / GRANULE * GRANULE - attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    int resident = 0;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, THREADS, shared));
    if (resident != static_cast<int>(blocks)) std::printf("(%d blocks fit) ", resident);
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    float best = 1e9f;
    for (int run = 0; run < 20; run++) {
        float ms = 0;
        CHECK(cudaEventRecord(start));
        kernel<<<grid, THREADS, shared>>>(in, out, steps);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        best = std::min(best, ms);
    }
    return best;
}

int main()
{
    const size_t threads = size_t{attribute(cudaDevAttrMaxThreadsPerMultiProcessor)} *
                           attribute(cudaDevAttrMultiProcessorCount);
    const size_t bytes = threads * MOST_LOADS * ROUNDS * sizeof(float);
    float *in = nullptr, *out = nullptr;
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMemset(in, 0, bytes));
    CHECK(cudaMalloc(&out, threads * sizeof *out));
    std::printf("ms to read %zu bytes\noccupancy     1 load    4 loads   16 loads\n", bytes);
    for (unsigned parts : {1u, 2u, 4u}) {
        std::printf("%7.0f %%", 100.0 * parts / PARTS);
        std::printf(" %10.3f", fastest_ms(read_1, 1, parts, in, out));
        std::printf(" %10.3f", fastest_ms(read_4, 4, parts, in, out));
        std::printf(" %10.3f\n", fastest_ms(read_16, 16, parts, in, out));
    }
    return 0;
}
#endif
