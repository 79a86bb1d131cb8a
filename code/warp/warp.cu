// One lane of a warp waits for another lane of the same warp.
//
// The waiting lane gives up after SPINS looks, so that every launch ends. As a program:
// nvcc -O3 -arch=sm_90 warp.cu && ./a.out

constexpr unsigned SPINS = 1u << 18;  // some hundredths of a second: an age to a lane
constexpr unsigned WARP = 32;

// Atomics: two lanes that touch one cell without an order between them are no data race then.
__device__ void raise_flag(unsigned *flag) { atomicExch(flag, 1u); }

// Looks at the flag until it is raised or patience is at an end, and says whether it was raised.
__device__ bool wait_for(unsigned *flag)
{
#pragma unroll 1
    for (unsigned spin = 0; spin < SPINS; spin++)
        if (atomicOr(flag, 0u)) return true;
    return false;
}

__device__ void lower_flag(unsigned *flag)
{
    if (threadIdx.x == 0) *flag = 0;
    __syncwarp();
}

// --8<-- [start:wait-or-raise]
extern "C" __global__ void wait_or_raise(unsigned waiting, unsigned raising, unsigned *seen)
{
    __shared__ unsigned flag;
    lower_flag(&flag);
    if (threadIdx.x == waiting)
        *seen = wait_for(&flag);
    else if (threadIdx.x == raising)
        raise_flag(&flag);
}
// --8<-- [end:wait-or-raise]

// --8<-- [start:raise-or-wait]
extern "C" __global__ void raise_or_wait(unsigned waiting, unsigned raising, unsigned *seen)
{
    __shared__ unsigned flag;
    lower_flag(&flag);
    if (threadIdx.x == raising)
        raise_flag(&flag);
    else if (threadIdx.x == waiting)
        *seen = wait_for(&flag);
}
// --8<-- [end:raise-or-wait]

// --8<-- [start:wait-then-raise]
extern "C" __global__ void wait_then_raise(unsigned waiting, unsigned raising, unsigned *seen)
{
    __shared__ unsigned flag;
    lower_flag(&flag);
    if (threadIdx.x == waiting) *seen = wait_for(&flag);
    if (threadIdx.x == raising) raise_flag(&flag);
}
// --8<-- [end:wait-then-raise]

// --8<-- [start:wait-meet-raise]
extern "C" __global__ void wait_meet_raise(unsigned waiting, unsigned raising, unsigned *seen)
{
    __shared__ unsigned flag;
    lower_flag(&flag);
    if (threadIdx.x == waiting) *seen = wait_for(&flag);
    __syncwarp();  // the raising lane waits here for the lane that waits for it
    if (threadIdx.x == raising) raise_flag(&flag);
}
// --8<-- [end:wait-meet-raise]

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

using Kernel = void (*)(unsigned, unsigned, unsigned *);

static void report(const char *name, Kernel kernel, unsigned waiting, unsigned raising)
{
    unsigned *seen = nullptr;
    CHECK(cudaMallocManaged(&seen, sizeof *seen));
    kernel<<<1, WARP>>>(waiting, raising, seen);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::printf("%-20s lane %u waits for lane %-2u: %s\n", name, waiting, raising,
                *seen ? "seen" : "not seen");
    CHECK(cudaFree(seen));
}

int main()
{
    for (unsigned waiting : {0u, 1u}) {
        report("wait, else raise", wait_or_raise, waiting, 1 - waiting);
        report("raise, else wait", raise_or_wait, waiting, 1 - waiting);
        report("wait, then raise", wait_then_raise, waiting, 1 - waiting);
        report("wait, meet, raise", wait_meet_raise, waiting, 1 - waiting);
        report("nobody raises it", wait_or_raise, waiting, WARP);
    }
    return 0;
}
#endif
