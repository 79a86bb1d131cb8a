// What a launch costs the host, what it takes until the host knows that the kernel has ended, and
// what one kernel more takes on a device that has others waiting.
//
// As a program: nvcc -O3 -arch=sm_90 launch_latency.cu && ./a.out

// --8<-- [start:empty]
extern "C" __global__ void empty() {}
// --8<-- [end:empty]

#ifndef __CUDACC_RTC__
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) check_status((call), #call)
static void check_status(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
    std::exit(2);
}

using Clock = std::chrono::steady_clock;

static double us_since(Clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

static double median(std::vector<double> samples)
{
    std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
    return samples[samples.size() / 2];
}

// Keeps the stream busy while the host enqueues what is to be timed.
__global__ void wait_until(volatile int *released)
{
    while (!*released) {}
}

// The time from the start of the first to the end of the last of `count` kernels, all enqueued.
static double device_us(int count, volatile int *released)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    *released = 0;
    wait_until<<<1, 1>>>(released);
    CHECK(cudaEventRecord(start));
    for (int launch = 0; launch < count; launch++) empty<<<1, 32>>>();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaGetLastError());
    *released = 1;
    CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return 1000.0 * ms;
}

int main()
{
    constexpr int SAMPLES = 1000, MORE = 200;
    int *released = nullptr;
    CHECK(cudaMallocHost(&released, sizeof *released));
    std::vector<double> enqueue, round_trip, another;
    for (int sample = -10; sample < SAMPLES; sample++) {
        // --8<-- [start:host]
        const auto start = Clock::now();
        empty<<<1, 32>>>();
        const double enqueued_us = us_since(start);
        CHECK(cudaDeviceSynchronize());
        const double finished_us = us_since(start);
        // --8<-- [end:host]
        CHECK(cudaGetLastError());
        const double more_us = device_us(1 + MORE, released) - device_us(1, released);
        if (sample < 0) continue;  // warming up
        enqueue.push_back(enqueued_us);
        round_trip.push_back(finished_us);
        another.push_back(more_us / MORE);
    }
    std::printf("medians: enqueue %.2f us, launch and synchronise %.2f us, each further kernel of a "
                "full queue %.2f us\n", median(enqueue), median(round_trip), median(another));
    return 0;
}
#endif
