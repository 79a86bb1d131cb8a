// One kernel under ever tighter register caps, and where the values go that no longer fit.
//
// As a program: nvcc -O3 -arch=sm_90 register_spilling.cu && ./a.out

constexpr unsigned LIVE = 64;          // values that each thread of `mix` needs in every round
constexpr unsigned SCRATCH = 1u << 12; // words in each thread's own array in `scratch`: 16 KiB

// --8<-- [start:mix]
// Every round needs every value: with fewer than LIVE registers a thread cannot keep them all.
template <int CAP>
__global__ void __maxnreg__(CAP) mix(const unsigned *in, unsigned *out, unsigned rounds)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value[LIVE];
#pragma unroll
    for (unsigned i = 0; i < LIVE; i++) value[i] = in[i] ^ thread;
#pragma unroll 1
    for (unsigned round = 0; round < rounds; round++)
#pragma unroll
        for (unsigned i = 0; i < LIVE; i++) value[i] = 5 * value[i] + value[(i + 1) % LIVE];
    unsigned sum = 0;
#pragma unroll
    for (unsigned i = 0; i < LIVE; i++) sum += value[i];
    out[thread] = sum;
}
// --8<-- [end:mix]

template __global__ void mix<128>(const unsigned *, unsigned *, unsigned);
template __global__ void mix<64>(const unsigned *, unsigned *, unsigned);
template __global__ void mix<48>(const unsigned *, unsigned *, unsigned);
template __global__ void mix<32>(const unsigned *, unsigned *, unsigned);

// --8<-- [start:scratch]
// A register has no address: an array whose index is known only at run time is local memory.
extern "C" __global__ void scratch(unsigned *out, unsigned wanted)
{
    unsigned own[SCRATCH];
    for (unsigned i = 0; i < SCRATCH; i++) own[(7 * i + wanted) % SCRATCH] = i;
    out[blockIdx.x * blockDim.x + threadIdx.x] = own[(wanted + threadIdx.x) % SCRATCH];
}
// --8<-- [end:scratch]

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

constexpr unsigned THREADS = 256, BLOCKS_EACH = 120, ROUNDS = 2048;

using Kernel = void (*)(const unsigned *, unsigned *, unsigned);

// The fastest of 20 launches.
static float fastest_ms(Kernel kernel, unsigned blocks, unsigned rounds, const unsigned *in,
                        unsigned *out)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    float best = 1e9f;
    for (int run = 0; run < 20; run++) {
        float ms = 0;
        CHECK(cudaEventRecord(start));
        kernel<<<blocks, THREADS>>>(in, out, rounds);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        best = std::min(best, ms);
    }
    return best;
}

static void report(int cap, Kernel kernel, unsigned processors, const unsigned *in, unsigned *out)
{
    cudaFuncAttributes used;
    CHECK(cudaFuncGetAttributes(&used, kernel));
    std::printf("%4d %10d %12zu %14.3f %14.3f\n", cap, used.numRegs, used.localSizeBytes,
                fastest_ms(kernel, processors, ROUNDS, in, out),
                fastest_ms(kernel, BLOCKS_EACH * processors, ROUNDS / 32, in, out));
}

int main()
{
    int processors = 0;
    unsigned *in = nullptr, *out = nullptr;
    size_t before = 0, after = 0, total = 0;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaMalloc(&in, LIVE * sizeof *in));
    CHECK(cudaMemset(in, 1, LIVE * sizeof *in));
    CHECK(cudaMalloc(&out, size_t{BLOCKS_EACH} * processors * THREADS * sizeof *out));
    std::printf(" cap  registers  local bytes  ms, one block  ms, many blocks\n");
    report(128, mix<128>, processors, in, out);
    report(64, mix<64>, processors, in, out);
    report(48, mix<48>, processors, in, out);
    report(32, mix<32>, processors, in, out);
    CHECK(cudaMemGetInfo(&before, &total));
    scratch<<<1, 32>>>(out, 1);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemGetInfo(&after, &total));
    std::printf("%zu bytes of device memory went to the launch of one warp with %zu bytes of local "
                "memory a thread\n", before - after, SCRATCH * sizeof(unsigned));
    return 0;
}
#endif
