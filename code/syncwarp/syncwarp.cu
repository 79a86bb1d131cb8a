// What one __syncwarp() is for: a warp adds up its 32 values through shared memory.
//
// In each step the upper half of the lanes that are left gives its sums to the lower half. As a
// program: nvcc -O3 -arch=sm_90 syncwarp.cu && ./a.out [launches]

constexpr unsigned WARP = 32, MAX_THREADS = 1024;

// Where nobody has put a value yet. Larger than all 32 values of a warp together, so that no sum
// with a value missing can pass for a right one.
constexpr unsigned NOTHING = 1u << 20;
constexpr unsigned VALUE_BITS = 15;

// Volatile: each access is made, and each thread makes its own in the order of the text.
using Cells = volatile unsigned *;

struct Lane {
    unsigned number;
    Cells cells;  // those of its warp
    unsigned sum;
};

// Every thread of a warp comes here before the steps begin.
__device__ Lane begin(const unsigned *in, Cells tile)
{
    const unsigned lane = threadIdx.x % WARP;
    tile[threadIdx.x] = NOTHING;
    __syncwarp();
    return {lane, tile + threadIdx.x - lane, in[blockIdx.x * blockDim.x + threadIdx.x]};
}

// Each cell is written once and read once: in each step the giving must come before the taking.
__device__ void give(Lane &me) { me.cells[me.number] = me.sum; }
__device__ void take(Lane &me, unsigned half) { me.sum += me.cells[me.number + half]; }
__device__ bool gives(const Lane &me, unsigned half)
{
    return me.number >= half && me.number < 2 * half;
}
__device__ bool takes(const Lane &me, unsigned half) { return me.number < half; }

// Volatile is all that these have.

// --8<-- [start:volatile-only]
__device__ void give_then_take(Lane &me, unsigned half)
{
    if (gives(me, half)) give(me);
    if (takes(me, half)) take(me, half);
}

__device__ void give_or_take(Lane &me, unsigned half)
{
    if (gives(me, half)) {
        give(me);
    } else if (takes(me, half)) {
        take(me, half);
    }
}

__device__ void take_or_give(Lane &me, unsigned half)
{
    if (takes(me, half)) {
        take(me, half);
    } else if (gives(me, half)) {
        give(me);
    }
}
// --8<-- [end:volatile-only]

// And these say when.

// --8<-- [start:with-syncwarp]
__device__ void give_meet_take(Lane &me, unsigned half)
{
    if (gives(me, half)) give(me);
    __syncwarp();
    if (takes(me, half)) take(me, half);
}

__device__ void take_or_give_meeting(Lane &me, unsigned half)
{
    if (takes(me, half)) {
        __syncwarp();
        take(me, half);
    } else {
        if (gives(me, half)) give(me);
        __syncwarp();  // another line, and the same meeting: each lane comes to one of the two
    }
}
// --8<-- [end:with-syncwarp]

template <typename Step>
__device__ void add_up(const unsigned *in, unsigned *out, Step step)
{
    __shared__ volatile unsigned tile[MAX_THREADS];
    Lane me = begin(in, tile);
    for (unsigned half = WARP / 2; half > 0; half /= 2) step(me, half);
    if (me.number == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / WARP] = me.sum;
}

// What a launch runs: the sum with each of the steps.
#define SUM(step)                                                                       \
    extern "C" __global__ void sum_##step(const unsigned *in, unsigned *out)            \
    {                                                                                   \
        add_up(in, out, [](Lane &me, unsigned half) { step(me, half); });               \
    }
SUM(give_then_take)
SUM(give_or_take)
SUM(take_or_give)
SUM(give_meet_take)
SUM(take_or_give_meeting)

// Values that no other launch has: the low bits of a product with a large odd number mix well.
extern "C" __global__ void fill(unsigned *in, unsigned launch)
{
    const unsigned cell = blockIdx.x * blockDim.x + threadIdx.x;
    in[cell] = (cell + launch * 7919u) * 2654435761u >> (32 - VALUE_BITS);
}

// One thread adds up the 32 values of a warp by itself, and compares.
extern "C" __global__ void check_sums(const unsigned *in, const unsigned *out, unsigned *wrong)
{
    const unsigned warp = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (unsigned lane = 0; lane < WARP; lane++) sum += in[warp * WARP + lane];
    if (out[warp] != sum) atomicAdd(wrong, 1u);
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

constexpr unsigned WARPS = 1u << 15, THREADS = 256;
using Reduce = void (*)(const unsigned *, unsigned *);

static unsigned wrong_sums(Reduce reduce, unsigned launch)
{
    static unsigned *in = nullptr, *out = nullptr, *wrong = nullptr;
    if (!in) {
        CHECK(cudaMalloc(&in, WARPS * WARP * sizeof *in));
        CHECK(cudaMalloc(&out, WARPS * sizeof *out));
        CHECK(cudaMallocManaged(&wrong, sizeof *wrong));
    }
    *wrong = 0;
    fill<<<WARPS * WARP / THREADS, THREADS>>>(in, launch);
    reduce<<<WARPS * WARP / THREADS, THREADS>>>(in, out);
    check_sums<<<WARPS / THREADS, THREADS>>>(in, out, wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return *wrong;
}

static unsigned report(const char *name, Reduce reduce, int launches)
{
    unsigned least = WARPS, most = 0;
    for (int launch = 1; launch <= launches; launch++) {
        const unsigned wrong = wrong_sums(reduce, launch);
        least = std::min(least, wrong);
        most = std::max(most, wrong);
    }
    std::printf("%-26s %6u..%u\n", name, least, most);
    return most;
}

int main(int argc, char **argv)
{
    const int launches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 100;
    std::printf("Wrong sums of %u, least..most over %d launches\n", WARPS, launches);
    report("give, then take", sum_give_then_take, launches);
    report("give, else take", sum_give_or_take, launches);
    report("take, else give", sum_take_or_give, launches);
    return report("give, meet, take", sum_give_meet_take, launches) +
                   report("take, else give, meeting", sum_take_or_give_meeting, launches)
               ? 1
               : 0;
}
#endif
