// What is in shared memory before anybody has written there.
//
// One kernel fills all shared memory with a mark, and the next one reads cells of its own that it
// has not written. As a program: nvcc -O3 -arch=sm_90 shared_memory.cu && ./a.out [launches]

constexpr unsigned THREADS = 256;
constexpr unsigned MARK = 0xc0de0000u;  // its low half names the launch

// What a cell can hold: this is the order in which they are counted.
enum Content { THE_MARK, ZERO, ANYTHING_ELSE, CONTENTS };

// Volatile, or the compiler would drop stores that nobody reads and loads of what nobody stored.
__device__ volatile unsigned *all_cells()
{
    extern __shared__ unsigned everything[];
    return everything;
}

__device__ Content content(unsigned value, unsigned mark)
{
    return value == mark ? THE_MARK : value == 0 ? ZERO : ANYTHING_ELSE;
}

__device__ void count(unsigned cells, unsigned mark, unsigned *found)
{
    for (unsigned i = threadIdx.x; i < cells; i += blockDim.x)
        atomicAdd(&found[content(all_cells()[i], mark)], 1u);
}

extern "C" __global__ void fill(unsigned cells, unsigned mark)
{
    for (unsigned i = threadIdx.x; i < cells; i += blockDim.x) all_cells()[i] = mark;
}

// --8<-- [start:read-unwritten]
extern "C" __global__ void read_unwritten(unsigned cells, unsigned mark, unsigned *found)
{
    count(cells, mark, found);  // nobody in this kernel has written a cell
}
// --8<-- [end:read-unwritten]

// --8<-- [start:clear-first]
extern "C" __global__ void clear_first(unsigned cells, unsigned mark, unsigned *found)
{
    for (unsigned i = threadIdx.x; i < cells; i += blockDim.x) all_cells()[i] = 0;
    __syncthreads();
    count(cells, mark, found);
}
// --8<-- [end:clear-first]

// A known content, to see that each kind is counted as what it is: cells 0 to `marks` get the mark,
// the next `zeros` a zero, and all others a value that is neither.
extern "C" __global__ void plant(unsigned cells, unsigned mark, unsigned marks, unsigned zeros,
                                 unsigned *found)
{
    for (unsigned i = threadIdx.x; i < cells; i += blockDim.x)
        all_cells()[i] = i < marks ? mark : i < marks + zeros ? 0 : ~mark;
    __syncthreads();
    count(cells, mark, found);
}

#ifndef __CUDACC_RTC__
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) check((call), #call)
static void check(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
    std::exit(2);
}

int main(int argc, char **argv)
{
    const int launches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 100;
    const unsigned total = 1u << 20;
    cudaDeviceProp gpu;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    const unsigned all = static_cast<unsigned>(gpu.sharedMemPerBlockOptin);
    CHECK(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, all));
    unsigned *found = nullptr;
    CHECK(cudaMallocManaged(&found, CONTENTS * sizeof *found));
    std::printf("%s: a block gets %zu bytes, on request %u; a multiprocessor has %zu\n\n"
                "Of %u cells that nobody wrote, least in a launch\nKiB     the mark       zero\n",
                gpu.name, gpu.sharedMemPerBlock, all, gpu.sharedMemPerMultiprocessor, total);
    for (unsigned kib : {4u, 16u, 32u}) {
        unsigned least[2] = {total, total};
        for (int launch = 1; launch <= launches; launch++) {
            const unsigned cells = kib * 256, mark = MARK | launch % 65536;
            std::fill(found, found + CONTENTS, 0u);
            fill<<<2 * gpu.multiProcessorCount, THREADS, all>>>(all / 4, mark);
            read_unwritten<<<total / cells, THREADS, kib << 10>>>(cells, mark, found);
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
            least[0] = std::min(least[0], found[THE_MARK]);
            least[1] = std::min(least[1], found[ZERO]);
        }
        std::printf("%3u %12u %10u\n", kib, least[0], least[1]);
    }
    return 0;
}
#endif
