// Atomic additions: to one word, to many, and summed before they get there.
//
// As a program: nvcc -O3 -arch=sm_90 atomics.cu && ./a.out

constexpr unsigned LANES = 32;
constexpr unsigned ROUNDS = 64;

__device__ unsigned lane() { return threadIdx.x % LANES; }
__device__ unsigned own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// With `mask` 0 all add to one word, but only the host knows that: the compiler has to assume a word
// for each thread.
// --8<-- [start:each]
extern "C" __global__ void add_each(unsigned *sums, unsigned mask, unsigned lanes)
{
    if (lane() >= lanes) return;
#pragma unroll 1
    for (unsigned round = 0; round < ROUNDS; round++)
        atomicAdd(&sums[own_index() & mask], lane() + round);
}
// --8<-- [end:each]

// --8<-- [start:one]
extern "C" __global__ void add_to_one(unsigned *sum)
{
#pragma unroll 1
    for (unsigned round = 0; round < ROUNDS; round++)
        atomicAdd(sum, lane() + round);  // here the compiler sees that all lanes mean the same word
}
// --8<-- [end:one]

// --8<-- [start:block]
extern "C" __global__ void add_in_block(unsigned *sum)
{
    __shared__ unsigned here;
    if (threadIdx.x == 0) here = 0;
    __syncthreads();
#pragma unroll 1
    for (unsigned round = 0; round < ROUNDS; round++) atomicAdd(&here, lane() + round);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, here);
}
// --8<-- [end:block]

// As `add_each`, to words of the block's own.
extern "C" __global__ void add_each_shared(unsigned *sum, unsigned mask, unsigned lanes)
{
    __shared__ unsigned here[LANES];
    if (threadIdx.x < LANES) here[threadIdx.x] = 0;
    __syncthreads();
    if (lane() < lanes)
#pragma unroll 1
        for (unsigned round = 0; round < ROUNDS; round++)
            atomicAdd(&here[threadIdx.x & mask], lane() + round);
    __syncthreads();
    if (threadIdx.x < LANES) atomicAdd(&sum[threadIdx.x & mask], here[threadIdx.x]);
}

// --8<-- [start:instructions]
extern "C" __global__ void add_and_keep(unsigned *sums, unsigned mask, unsigned *before)
{
    before[own_index()] = atomicAdd(&sums[own_index() & mask], 1u);
}

extern "C" __global__ void add_shared_float(float *sums, unsigned mask)
{
    __shared__ float here[LANES];
    if (threadIdx.x < LANES) here[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&here[threadIdx.x & mask], 1.0f);
    __syncthreads();
    if (threadIdx.x < LANES) sums[own_index()] = here[threadIdx.x];
}
// --8<-- [end:instructions]

#ifndef __CUDACC_RTC__
#include <cstdio>
#include <cstdlib>

constexpr unsigned BLOCKS = 1024, THREADS = 256;

#define CHECK(call) check((call), #call)
static void check(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
    std::exit(2);
}

// Runs `launch` some times and prints the fastest.
template <typename Launch>
static void report(const char *name, Launch launch)
{
    cudaEvent_t start, stop;
    float best = 0;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int run = 0; run < 20; run++) {
        float ms;
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (run == 0 || ms < best) best = ms;
    }
    CHECK(cudaGetLastError());
    std::printf("%-40s %10.1f us\n", name, 1000 * best);
}

int main()
{
    unsigned *sums;
    CHECK(cudaMalloc(&sums, BLOCKS * THREADS * sizeof *sums));
    CHECK(cudaMemset(sums, 0, BLOCKS * THREADS * sizeof *sums));
    const auto each = [&](unsigned mask, unsigned lanes) {
        return [=] { add_each<<<BLOCKS, THREADS>>>(sums, mask, lanes); };
    };
    report("one word", each(0, LANES));
    report("a word for each lane of a warp", each(LANES - 1, LANES));
    report("a word for each thread", each(BLOCKS * THREADS - 1, LANES));
    report("one word, as the compiler sees", [&] { add_to_one<<<BLOCKS, THREADS>>>(sums); });
    report("one word, summed in the block first", [&] { add_in_block<<<BLOCKS, THREADS>>>(sums); });
    report("one word, one lane of each warp", each(0, 1));
    report("shared memory, one word",
           [&] { add_each_shared<<<BLOCKS, THREADS>>>(sums, 0, LANES); });
    report("shared memory, one lane of each warp",
           [&] { add_each_shared<<<BLOCKS, THREADS>>>(sums, 0, 1); });
    return 0;
}
#endif
