// A kernel that takes its time before it writes, and ways to fetch what it wrote.
//
// As a program: nvcc -O3 -arch=sm_90 device_synchronize.cu && ./a.out

// --8<-- [start:kernel]
__device__ unsigned long long now_ns()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

extern "C" __global__ void write_late(unsigned *out, unsigned value, unsigned long long wait_ns)
{
    const unsigned long long start = now_ns();
    while (now_ns() - start < wait_ns) {}
    *out = value;
}
// --8<-- [end:kernel]

#ifndef __CUDACC_RTC__
#include <cstdio>
#include <cstdlib>

#define CHECK(call) check_status((call), #call)
static void check_status(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
    std::exit(2);
}

constexpr unsigned long long WAIT_NS = 2'000'000;

static unsigned *device, *pinned, launches;

// Launches into a stream with a value that no earlier launch had.
static unsigned launch(cudaStream_t stream)
{
    write_late<<<1, 1, 0, stream>>>(device, ++launches, WAIT_NS);
    CHECK(cudaGetLastError());
    return launches;
}

static void report(const char *how, unsigned wanted, unsigned got)
{
    std::printf("%-62s %s\n", how, got == wanted ? "the new value" : "an OLD value");
    CHECK(cudaDeviceSynchronize());
}

int main()
{
    unsigned got = 0, wanted;
    cudaStream_t apart;
    CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, sizeof *device));
    CHECK(cudaMallocHost(&pinned, sizeof *pinned));
    CHECK(cudaMemset(device, 0, sizeof *device));
    *pinned = 0;

    // --8<-- [start:needless]
    wanted = launch(cudaStreamLegacy);  // what <<<…>>> without a stream means
    CHECK(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDeviceToHost));
    // --8<-- [end:needless]
    report("cudaMemcpy at once", wanted, got);

    wanted = launch(cudaStreamLegacy);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDeviceToHost));
    report("cudaDeviceSynchronize, cudaMemcpy", wanted, got);

    // --8<-- [start:needed]
    wanted = launch(apart);  // a stream created with cudaStreamNonBlocking
    CHECK(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDeviceToHost));
    // --8<-- [end:needed]
    report("kernel in a non-blocking stream, cudaMemcpy at once", wanted, got);

    wanted = launch(apart);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDeviceToHost));
    report("kernel in a non-blocking stream, cudaDeviceSynchronize first", wanted, got);

    wanted = launch(cudaStreamLegacy);
    CHECK(cudaMemcpyAsync(pinned, device, sizeof *pinned, cudaMemcpyDeviceToHost));
    report("cudaMemcpyAsync, read at once", wanted, *const_cast<volatile unsigned *>(pinned));

    wanted = launch(cudaStreamLegacy);
    CHECK(cudaMemcpyAsync(pinned, device, sizeof *pinned, cudaMemcpyDeviceToHost));
    CHECK(cudaDeviceSynchronize());
    report("cudaMemcpyAsync, cudaDeviceSynchronize, read", wanted, *pinned);
    return 0;
}
#endif
