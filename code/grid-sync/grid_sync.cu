// A barrier for all blocks of a grid, and the launch that makes it safe.
//
// The barrier is written out here: cooperative_groups' grid.sync() needs more headers than this
// project compiles with. As a program:
// nvcc -O3 -arch=sm_90 grid_sync.cu && ./a.out [blocks more than fit]

constexpr unsigned ROUNDS = 10;

// --8<-- [start:barrier]
// Lets nobody pass before every block of the grid has come `times` times. If some of them cannot
// start before others end, it waits for ever: only a cooperative launch promises that all run.
__device__ void grid_barrier(unsigned *arrivals, unsigned times)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // what this block wrote is seen before its arrival is
        atomicAdd(arrivals, 1u);
        while (atomicAdd(arrivals, 0u) < times * gridDim.x) {}
        __threadfence();  // and what the others wrote, after theirs
    }
    __syncthreads();
}
// --8<-- [end:barrier]

// --8<-- [start:neighbours]
// In each round a block writes the round's number and reads what its neighbour wrote.
extern "C" __global__ void neighbours(unsigned *arrivals, volatile unsigned *rounds, unsigned *stale)
{
    for (unsigned round = 1; round <= ROUNDS; round++) {
        if (threadIdx.x == 0) rounds[blockIdx.x] = round;
        grid_barrier(arrivals, round);
        if (threadIdx.x == 0 && rounds[(blockIdx.x + 1) % gridDim.x] < round) atomicAdd(stale, 1u);
    }
}
// --8<-- [end:neighbours]

// --8<-- [start:wait]
// Does nothing but wait. Each launch goes on from the arrivals that the one before it left.
extern "C" __global__ void wait_for_all(unsigned *arrivals, unsigned times)
{
    // No round ends without this block: whole rounds are those of earlier launches.
    const unsigned before = *(volatile unsigned *)arrivals / gridDim.x;
    for (unsigned time = 1; time <= times; time++) grid_barrier(arrivals, before + time);
}
// --8<-- [end:wait]

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

int main(int argc, char **argv)
{
    const int threads = 256, more = argc > 1 ? std::atoi(argv[1]) : 0;
    cudaDeviceProp gpu;
    int blocks_each = 0;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, neighbours, threads, 0));
    const int blocks = blocks_each * gpu.multiProcessorCount + more;
    unsigned *cells = nullptr;
    CHECK(cudaMallocManaged(&cells, (2 + blocks) * sizeof *cells));
    CHECK(cudaMemset(cells, 0, (2 + blocks) * sizeof *cells));
    unsigned *arrivals = cells, *stale = cells + 1, *rounds = cells + 2;
    void *arguments[] = {&arrivals, &rounds, &stale};
    std::printf("%s: %d multiprocessors of %d blocks each; launching %d\n", gpu.name,
                gpu.multiProcessorCount, blocks_each, blocks);
    CHECK(cudaLaunchCooperativeKernel(neighbours, blocks, threads, arguments, 0, nullptr));
    CHECK(cudaDeviceSynchronize());
    std::printf("%u of %u readings found an earlier round\n", *stale, blocks * ROUNDS);
    return *stale ? 1 : 0;
}
#endif
