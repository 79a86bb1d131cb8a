// A message from one block to another, with and without fences.
//
// Blocks work in pairs. A thread of the first writes a round's data and then raises the flag to the
// number of that round; its partner in the second reads the flag and then the data, over and over.
// As a program: nvcc -O3 -arch=sm_90 memory_fence.cu && ./a.out [launches]

constexpr unsigned ROUNDS = 512;

// Volatile: every access is made, and reaches the memory that both blocks share.
using Cell = volatile unsigned *;

// --8<-- [start:send]
template <bool fenced>
__device__ void send(unsigned round, Cell data, Cell flag)
{
    *data = round;
    if (fenced) __threadfence();
    *flag = round;
}
// --8<-- [end:send]

// The planted defect: the flag is raised before there is anything to announce.
__device__ void send_flag_first(unsigned round, Cell data, Cell flag)
{
    *flag = round;
    __threadfence();
    *data = round;
}

struct Reading {
    unsigned flag, data;
};

// --8<-- [start:receive]
template <bool fenced>
__device__ Reading receive(Cell data, Cell flag)
{
    const unsigned announced = *flag;
    if (fenced) __threadfence();
    return {announced, *data};
}
// --8<-- [end:receive]

// What a launch counts over all its readings.
struct Counts {
    unsigned stale;    // the data is older than the flag that announced it
    unsigned same;     // it is of the same round
    unsigned newer;    // it is of a later round already
    unsigned repeats;  // of all of these: the flag was as the reading before had found it
};

__device__ void add(Counts *counts, const Counts &mine)
{
    atomicAdd(&counts->stale, mine.stale);
    atomicAdd(&counts->same, mine.same);
    atomicAdd(&counts->newer, mine.newer);
    atomicAdd(&counts->repeats, mine.repeats);
}

template <typename Receive>
__device__ void read_all(Receive receive, Counts *counts)
{
    Counts mine = {};
    unsigned before = 0;
#pragma unroll 1
    for (unsigned round = 1; round <= ROUNDS; round++) {
        const Reading seen = receive();
        mine.stale += seen.data < seen.flag;
        mine.same += seen.data == seen.flag;
        mine.newer += seen.data > seen.flag;
        mine.repeats += seen.flag == before;
        before = seen.flag;
    }
    add(counts, mine);
}

template <typename Send, typename Receive>
__device__ void run(Send send, Receive receive, Cell data, Cell flags, Counts *counts)
{
    const unsigned channel = blockIdx.x / 2 * blockDim.x + threadIdx.x;
    if (blockIdx.x % 2) {
        read_all([&] { return receive(data + channel, flags + channel); }, counts);
        return;
    }
#pragma unroll 1
    for (unsigned round = 1; round <= ROUNDS; round++) send(round, data + channel, flags + channel);
}

extern "C" __global__ void no_fence(Cell data, Cell flags, Counts *counts)
{
    run(send<false>, receive<false>, data, flags, counts);
}

extern "C" __global__ void fence_at_sender(Cell data, Cell flags, Counts *counts)
{
    run(send<true>, receive<false>, data, flags, counts);
}

extern "C" __global__ void fence_at_receiver(Cell data, Cell flags, Counts *counts)
{
    run(send<false>, receive<true>, data, flags, counts);
}

extern "C" __global__ void fence_at_both(Cell data, Cell flags, Counts *counts)
{
    run(send<true>, receive<true>, data, flags, counts);
}

extern "C" __global__ void flag_first(Cell data, Cell flags, Counts *counts)
{
    run(send_flag_first, receive<true>, data, flags, counts);
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

constexpr unsigned PAIRS = 128, THREADS = 256, CHANNELS = PAIRS * THREADS;
using Kernel = void (*)(Cell, Cell, Counts *);

static Counts launch(Kernel kernel)
{
    static unsigned *cells = nullptr;
    static Counts *counts = nullptr;
    if (!cells) {
        CHECK(cudaMalloc(&cells, 2 * CHANNELS * sizeof *cells));
        CHECK(cudaMallocManaged(&counts, sizeof *counts));
    }
    *counts = {};
    CHECK(cudaMemset(cells, 0, 2 * CHANNELS * sizeof *cells));
    kernel<<<2 * PAIRS, THREADS>>>(cells, cells + CHANNELS, counts);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return *counts;
}

static unsigned report(const char *name, Kernel kernel, int launches)
{
    unsigned least = ~0u, most = 0;
    for (int i = 0; i < launches; i++) {
        const unsigned stale = launch(kernel).stale;
        least = std::min(least, stale);
        most = std::max(most, stale);
    }
    std::printf("%-20s %9u..%u\n", name, least, most);
    return most;
}

int main(int argc, char **argv)
{
    const int launches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 100;
    std::printf("Data older than its flag in so many of %u readings, least..most over %d launches\n",
                CHANNELS * ROUNDS, launches);
    report("no fence", no_fence, launches);
    report("fence at sender", fence_at_sender, launches);
    report("fence at receiver", fence_at_receiver, launches);
    report("both, flag first", flag_first, launches);
    return report("fence at both", fence_at_both, launches) ? 1 : 0;
}
#endif
