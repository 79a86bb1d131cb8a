// Day 14: what one __syncthreads() is for.
//
// Each block reverses its own tile through shared memory, with the barrier and without. As a
// program: nvcc -O3 -arch=sm_90 syncthreads.cu && ./a.out [launches]

constexpr unsigned ELEMENTS = 1u << 20;
constexpr unsigned MAX_THREADS = 1024;

// Every input value is unique: it names the launch (1 to 4094) and the cell it was made for, so a
// wrong value tells where it came from.
constexpr unsigned CELL_BITS = 20;
constexpr unsigned LAUNCHES = 4094;
constexpr unsigned POISON = 0xffffffffu;     // all shared memory, before each launch
constexpr unsigned UNWRITTEN = 0xfff00000u;  // all output, before each launch

// --8<-- [start:reverse]
extern "C" __global__ void reverse_with_barrier(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[MAX_THREADS];
    const unsigned tid = threadIdx.x, first = blockIdx.x * blockDim.x;

    tile[tid] = in[first + tid];
    __syncthreads();  // without this line nothing puts the write before the read
    out[first + tid] = tile[blockDim.x - 1 - tid];
}
// --8<-- [end:reverse]

// --8<-- [start:reverse-without]
extern "C" __global__ void reverse_without_barrier(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[MAX_THREADS];
    const unsigned tid = threadIdx.x, first = blockIdx.x * blockDim.x;

    tile[tid] = in[first + tid];
    out[first + tid] = tile[blockDim.x - 1 - tid];
}
// --8<-- [end:reverse-without]

// --8<-- [start:reverse-misplaced]
extern "C" __global__ void reverse_barrier_misplaced(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[MAX_THREADS];
    const unsigned tid = threadIdx.x, first = blockIdx.x * blockDim.x;

    tile[tid] = in[first + tid];
    const unsigned mirrored = tile[blockDim.x - 1 - tid];
    __syncthreads();  // a barrier, but both accesses it should separate lie above it
    out[first + tid] = mirrored;
}
// --8<-- [end:reverse-misplaced]

// --8<-- [start:early-return]
extern "C" __global__ void early_return(const unsigned *in, unsigned *out, unsigned staying,
                                        unsigned *arrived)
{
    __shared__ unsigned tile[MAX_THREADS];
    const unsigned tid = threadIdx.x, first = blockIdx.x * blockDim.x;

    if (tid >= staying) return;  // above the barrier: it neither writes its cell nor arrives
    tile[tid] = in[first + tid];
    __syncthreads();
    atomicAdd(&arrived[blockIdx.x], 1u);
    out[first + tid] = tile[blockDim.x - 1 - tid];
}
// --8<-- [end:early-return]

// Fills a block's shared memory. Run with blocks that take all of it and again with blocks that take
// half: the system keeps the first kilobyte of each block to itself, so one pass leaves a hole that
// the other fills. Volatile, or the compiler would drop stores that nobody reads.
extern "C" __global__ void poison_shared(unsigned words)
{
    extern __shared__ unsigned everything[];
    volatile unsigned *cells = everything;
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) cells[i] = POISON;
}

extern "C" __global__ void fill_unique(unsigned *in, unsigned *out, unsigned launch)
{
    const unsigned cell = blockIdx.x * blockDim.x + threadIdx.x;
    in[cell] = launch << CELL_BITS | cell;
    out[cell] = UNWRITTEN;
}

// Where a wrong value came from. `found` has one count for each, in this order.
enum Origin { FROM_POISON, FROM_OTHER_BLOCK, FROM_EARLIER_LAUNCH, FROM_OTHER_LANE, NEVER_WRITTEN,
              FROM_NOWHERE, ORIGINS };

__device__ Origin origin(unsigned value, unsigned launch, unsigned block, unsigned threads)
{
    const unsigned made_in = value >> CELL_BITS, made_for = value & (ELEMENTS - 1);
    if (value == POISON) return FROM_POISON;
    if (value == UNWRITTEN) return NEVER_WRITTEN;
    if (made_in == launch) return made_for / threads == block ? FROM_OTHER_LANE : FROM_OTHER_BLOCK;
    return made_in - 1 < LAUNCHES ? FROM_EARLIER_LAUNCH : FROM_NOWHERE;
}

// Counts the wrong elements of a reversal in blocks of `threads`, by origin.
extern "C" __global__ void classify(const unsigned *out, unsigned launch, unsigned threads,
                                    unsigned *found)
{
    __shared__ unsigned here[ORIGINS];
    if (threadIdx.x < ORIGINS) here[threadIdx.x] = 0;
    __syncthreads();

    const unsigned cell = blockIdx.x * blockDim.x + threadIdx.x, block = cell / threads;
    const unsigned mirrored = block * threads + threads - 1 - cell % threads;
    if (out[cell] != (launch << CELL_BITS | mirrored))
        atomicAdd(&here[origin(out[cell], launch, block, threads)], 1u);
    __syncthreads();

    if (threadIdx.x < ORIGINS && here[threadIdx.x])
        atomicAdd(&found[threadIdx.x], here[threadIdx.x]);
}

#ifndef __CUDACC_RTC__
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) check((call), #call)
static void check(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
    std::exit(2);
}

static unsigned *allocate(size_t count)
{
    unsigned *cells = nullptr;
    CHECK(cudaMalloc(&cells, count * sizeof *cells));
    return cells;
}

// What every launch needs: its data, and how to reach all shared memory.
struct Bench {
    unsigned *in = allocate(ELEMENTS), *out = allocate(ELEMENTS), *counts = allocate(ELEMENTS);
    unsigned launch = 0;
    cudaDeviceProp gpu;

    Bench()
    {
        CHECK(cudaGetDeviceProperties(&gpu, 0));
        CHECK(cudaFuncSetAttribute(poison_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(gpu.sharedMemPerBlockOptin)));
    }

    // Twice as many blocks as fit at once: each multiprocessor gets some.
    void poison(int blocks_each, size_t bytes)
    {
        poison_shared<<<2 * blocks_each * gpu.multiProcessorCount, MAX_THREADS, bytes>>>(bytes / 4);
    }

    void prepare()
    {
        launch = launch % LAUNCHES + 1;
        fill_unique<<<ELEMENTS / MAX_THREADS, MAX_THREADS>>>(in, out, launch);
        poison(1, gpu.sharedMemPerBlockOptin);
        poison(2, gpu.sharedMemPerBlockOptin / 2 - gpu.reservedSharedMemPerBlock);
        CHECK(cudaMemset(counts, 0, ELEMENTS * sizeof *counts));
    }

    std::vector<unsigned> fetch(const unsigned *cells, size_t count) const
    {
        std::vector<unsigned> host(count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(host.data(), cells, count * sizeof *cells, cudaMemcpyDeviceToHost));
        return host;
    }
};

using Reverse = void (*)(const unsigned *, unsigned *);

static unsigned wrong_elements(Bench &bench, Reverse reverse, unsigned threads)
{
    bench.prepare();
    reverse<<<ELEMENTS / threads, threads>>>(bench.in, bench.out);
    classify<<<ELEMENTS / MAX_THREADS, MAX_THREADS>>>(bench.out, bench.launch, threads,
                                                      bench.counts);
    unsigned wrong = 0;
    for (unsigned count : bench.fetch(bench.counts, ORIGINS)) wrong += count;
    return wrong;
}

struct Range { unsigned least = ELEMENTS, most = 0; };

static Range wrong_over_launches(Bench &bench, Reverse reverse, unsigned threads, int launches)
{
    Range seen;
    for (int i = 0; i < launches; i++) {
        const unsigned wrong = wrong_elements(bench, reverse, threads);
        seen.least = std::min(seen.least, wrong);
        seen.most = std::max(seen.most, wrong);
    }
    std::printf(" %8u..%-8u", seen.least, seen.most);
    return seen;
}

// Arrivals and wrong cells among the staying threads of the first block.
static void report_early_return(Bench &bench, unsigned staying)
{
    const unsigned threads = 256;
    bench.prepare();
    early_return<<<ELEMENTS / threads, threads>>>(bench.in, bench.out, staying, bench.counts);
    const std::vector<unsigned> out = bench.fetch(bench.out, staying);
    unsigned wrong = 0;
    for (unsigned tid = 0; tid < staying; tid++)
        wrong += out[tid] != (bench.launch << CELL_BITS | (threads - 1 - tid));
    std::printf("%7u %8u %8u\n", staying, bench.fetch(bench.counts, 1)[0], wrong);
}

int main(int argc, char **argv)
{
    const int launches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 100;
    Bench bench;
    std::printf("%s, %d launches a row, %u elements\n\nWrong elements in a launch, least..most\n"
                "threads  barrier removed barrier misplaced barrier in place\n",
                bench.gpu.name, launches, ELEMENTS);
    unsigned wrong_in_place = 0;
    for (unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u}) {
        std::printf("%7u", threads);
        wrong_over_launches(bench, reverse_without_barrier, threads, launches);
        wrong_over_launches(bench, reverse_barrier_misplaced, threads, launches);
        wrong_in_place += wrong_over_launches(bench, reverse_with_barrier, threads, launches).most;
        std::printf("\n");
    }
    std::printf("\nReturn above the barrier, 256 threads a block\nstaying  arrived    wrong\n");
    for (unsigned staying : {32u, 64u, 96u, 100u, 128u, 160u, 224u, 256u})
        report_early_return(bench, staying);
    return wrong_in_place ? 1 : 0;
}
#endif
