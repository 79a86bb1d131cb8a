// Shared memory bank conflicts: what a load costs when the lanes of a warp ask one bank for several
// words. Once with warps enough to keep the banks busy, once with a single warp that waits.
//
// As a program: nvcc -O3 -arch=sm_90 bank_conflict.cu && ./a.out

constexpr unsigned LANES = 32;
constexpr unsigned MAX_STRIDE = 33;
constexpr unsigned LOADS = 32;    // in one round, one word further each
constexpr unsigned ROUNDS = 64;
constexpr unsigned CELLS = (LANES - 1) * MAX_STRIDE + LOADS;

// Each cell holds its own place, in bytes from the first. Volatile, or the compiler would load a
// cell that nobody changes only once.
__device__ volatile unsigned *fill(unsigned *cells)
{
    for (unsigned i = threadIdx.x; i < CELLS; i += blockDim.x) cells[i] = i * sizeof *cells;
    __syncthreads();
    return cells;
}

// --8<-- [start:busy]
extern "C" __global__ void busy(unsigned stride, long long *cycles, unsigned *sums)
{
    __shared__ unsigned cells[CELLS];
    const volatile unsigned *own = fill(cells) + threadIdx.x % LANES * stride;
    unsigned sum = 0;

    const long long start = clock64();
#pragma unroll 1
    for (unsigned round = 0; round < ROUNDS; round++)
#pragma unroll
        for (unsigned i = 0; i < LOADS; i++) sum += own[i];  // the next loads need not wait for this
    __syncthreads();
    if (threadIdx.x == 0) *cycles = clock64() - start;
    sums[threadIdx.x] = sum;
}
// --8<-- [end:busy]

// --8<-- [start:waiting]
extern "C" __global__ void waiting(unsigned stride, long long *cycles, unsigned *sums)
{
    __shared__ unsigned cells[CELLS];
    const volatile char *first = reinterpret_cast<const volatile char *>(fill(cells));
    unsigned at = threadIdx.x % LANES * stride * sizeof *cells;

    const long long start = clock64();
#pragma unroll 1
    for (unsigned round = 0; round < ROUNDS; round++)
#pragma unroll
        for (unsigned i = 0; i < LOADS; i++)  // what is loaded says where to load next: right here
            at = *reinterpret_cast<const volatile unsigned *>(first + at);
    sums[threadIdx.x] = at;
    if (threadIdx.x == 0) *cycles = clock64() - start;
}
// --8<-- [end:waiting]

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

using Kernel = void (*)(unsigned, long long *, unsigned *);

// Cycles for each load of a warp; the first launch warms up.
static double cycles_a_load(Kernel kernel, unsigned threads, unsigned stride)
{
    static long long *cycles = nullptr;
    static unsigned *sums = nullptr;
    if (cycles == nullptr) CHECK(cudaMallocManaged(&cycles, sizeof *cycles));
    if (sums == nullptr) CHECK(cudaMalloc(&sums, 1024 * sizeof *sums));
    for (int launch = 0; launch < 2; launch++) kernel<<<1, threads>>>(stride, cycles, sums);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return double(*cycles) / (threads / LANES * ROUNDS * LOADS);
}

int main()
{
    std::printf("Cycles for each load of a warp\nstride  32 warps, busy  one warp, waiting\n");
    for (unsigned stride = 0; stride <= MAX_STRIDE; stride++)
        std::printf("%6u %15.2f %18.2f\n", stride, cycles_a_load(busy, 1024, stride),
                    cycles_a_load(waiting, LANES, stride));
    return 0;
}
#endif
