// A data race in shared memory: who reads a cell too early, and who writes it too early.
//
// A block hands values from each thread to the one opposite, in several rounds through the same
// tile. Two orders are needed: a cell is read after it was written, and written again after it was
// read. As a program: nvcc -O3 -arch=sm_90 data_race.cu && ./a.out [launches]

constexpr unsigned ROUNDS = 4;
constexpr unsigned MAX_THREADS = 1024;

// A value names the round (1 to ROUNDS) and the cell of the grid that it was made for.
constexpr unsigned CELL_BITS = 24;
constexpr unsigned NOTHING = 0;  // in the tile before the first round

// What a thread may read instead of the value it is to get: this is how wrong values are counted.
enum Wrong { TOO_OLD, TOO_NEW, UNEXPLAINED, KINDS };

__device__ Wrong wrong(unsigned value, unsigned round)
{
    const unsigned made_in = value >> CELL_BITS;
    if (made_in < round) return TOO_OLD;  // the writer of this round had not come yet
    if (made_in > round) return TOO_NEW;  // the writer of the next one had been here already
    return UNEXPLAINED;
}

// Before the rounds the block clears its tile and meets, so that no value is older than this launch.
__device__ void clear(unsigned *tile)
{
    tile[threadIdx.x] = NOTHING;
    __syncthreads();
}

__device__ unsigned own_cell() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ unsigned opposite_cell()
{
    return blockIdx.x * blockDim.x + blockDim.x - 1 - threadIdx.x;
}

__device__ void check(unsigned got, unsigned round, unsigned *found)
{
    if (got != (round << CELL_BITS | opposite_cell())) atomicAdd(&found[wrong(got, round)], 1u);
}

// --8<-- [start:no-barrier]
extern "C" __global__ void no_barrier(const unsigned *in, unsigned *found)
{
    __shared__ unsigned tile[MAX_THREADS];
    clear(tile);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        tile[threadIdx.x] = round << CELL_BITS | in[own_cell()];
        check(tile[blockDim.x - 1 - threadIdx.x], round, found);
    }
}
// --8<-- [end:no-barrier]

// --8<-- [start:one-barrier]
extern "C" __global__ void one_barrier(const unsigned *in, unsigned *found)
{
    __shared__ unsigned tile[MAX_THREADS];
    clear(tile);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        tile[threadIdx.x] = round << CELL_BITS | in[own_cell()];
        __syncthreads();  // nobody reads too early, but who is done writes the next round's value
        check(tile[blockDim.x - 1 - threadIdx.x], round, found);
    }
}
// --8<-- [end:one-barrier]

// --8<-- [start:two-barriers]
extern "C" __global__ void two_barriers(const unsigned *in, unsigned *found)
{
    __shared__ unsigned tile[MAX_THREADS];
    clear(tile);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        tile[threadIdx.x] = round << CELL_BITS | in[own_cell()];
        __syncthreads();
        check(tile[blockDim.x - 1 - threadIdx.x], round, found);
        __syncthreads();  // nobody writes before all have read
    }
}
// --8<-- [end:two-barriers]

// The input: each cell holds its own number.
extern "C" __global__ void number(unsigned *in) { in[own_cell()] = own_cell(); }

#ifndef __CUDACC_RTC__
#include <algorithm>
#include <cstdio>
#include <cstdlib>

constexpr unsigned CELLS = 1u << 18;

#define CHECK(call) check_status((call), #call)
static void check_status(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
    std::exit(2);
}

using Kernel = void (*)(const unsigned *, unsigned *);

// The least and the most wrong values of each kind in a launch.
static void report(const char *name, Kernel kernel, unsigned threads, int launches,
                   const unsigned *in, unsigned *found)
{
    unsigned least[KINDS], most[KINDS] = {};
    std::fill(least, least + KINDS, ~0u);
    for (int launch = 0; launch < launches; launch++) {
        std::fill(found, found + KINDS, 0u);
        kernel<<<CELLS / threads, threads>>>(in, found);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        for (int kind = 0; kind < KINDS; kind++) {
            least[kind] = std::min(least[kind], found[kind]);
            most[kind] = std::max(most[kind], found[kind]);
        }
    }
    std::printf("%7u %-12s", threads, name);
    for (int kind = 0; kind < KINDS; kind++) std::printf(" %8u..%-8u", least[kind], most[kind]);
    std::printf("\n");
}

int main(int argc, char **argv)
{
    const int launches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 100;
    unsigned *in = nullptr, *found = nullptr;
    CHECK(cudaMalloc(&in, CELLS * sizeof *in));
    CHECK(cudaMallocManaged(&found, KINDS * sizeof *found));
    number<<<CELLS / MAX_THREADS, MAX_THREADS>>>(in);
    std::printf("Wrong values of %u in a launch, least..most over %d launches\n"
                "threads barriers      too old            too new            unexplained\n",
                ROUNDS * CELLS, launches);
    for (unsigned threads : {32u, 64u, 256u, 1024u}) {
        report("none", no_barrier, threads, launches, in, found);
        report("one a round", one_barrier, threads, launches, in, found);
        report("two a round", two_barriers, threads, launches, in, found);
    }
    return 0;
}
#endif
