// What happens when not every thread of a block arrives at the same barrier.
//
// In each kernel the condition lets in the threads numbered below `let_in`. Some of these launches
// never end. As a program, one case a process:
// nvcc -O3 -arch=sm_90 divergent_barrier.cu && ./a.out if 64

constexpr unsigned THREADS = 256;

// How many threads of a block came to a barrier, and how many went on behind it.
struct Barrier {
    unsigned arrived, passed;
};

// What a block counts: at its barriers, in the order of the text, and at its end.
struct Counts {
    Barrier first, second;
    unsigned ended;
};

__device__ void barrier(Barrier *counted)
{
    atomicAdd(&counted->arrived, 1u);
    __syncthreads();
    atomicAdd(&counted->passed, 1u);
}

// --8<-- [start:early-return]
extern "C" __global__ void early_return(unsigned let_in, Counts *blocks)
{
    if (threadIdx.x >= let_in) return;  // gone: the barrier does not wait for them
    barrier(&blocks[blockIdx.x].first);
}
// --8<-- [end:early-return]

// --8<-- [start:one-arm]
extern "C" __global__ void one_arm(unsigned let_in, Counts *blocks)
{
    if (threadIdx.x < let_in) barrier(&blocks[blockIdx.x].first);  // the others never come here
}
// --8<-- [end:one-arm]

// --8<-- [start:one-arm-then-work]
extern "C" __global__ void one_arm_then_work(unsigned let_in, Counts *blocks)
{
    if (threadIdx.x < let_in) barrier(&blocks[blockIdx.x].first);
    atomicAdd(&blocks[blockIdx.x].ended, 1u);  // every thread of the block comes here
}
// --8<-- [end:one-arm-then-work]

// --8<-- [start:two-arms]
extern "C" __global__ void two_arms(unsigned let_in, Counts *blocks)
{
    if (threadIdx.x < let_in)
        barrier(&blocks[blockIdx.x].first);
    else
        barrier(&blocks[blockIdx.x].second);  // another line, and in the machine code another place
}
// --8<-- [end:two-arms]

// --8<-- [start:one-more]
extern "C" __global__ void one_more(unsigned let_in, Counts *blocks)
{
    if (threadIdx.x < let_in) barrier(&blocks[blockIdx.x].first);
    barrier(&blocks[blockIdx.x].second);  // every thread of the block comes here
}
// --8<-- [end:one-more]

#ifndef __CUDACC_RTC__
#include <cstdio>
#include <cstdlib>
#include <cstring>

using Kernel = void (*)(unsigned, Counts *);

static Kernel kernel_called(const char *name)
{
    if (!std::strcmp(name, "early-return")) return early_return;
    if (!std::strcmp(name, "if")) return one_arm;
    if (!std::strcmp(name, "if-then-work")) return one_arm_then_work;
    if (!std::strcmp(name, "if-else")) return two_arms;
    if (!std::strcmp(name, "if-then-another")) return one_more;
    return nullptr;
}

int main(int argc, char **argv)
{
    const Kernel kernel = argc == 3 ? kernel_called(argv[1]) : nullptr;
    if (!kernel) {
        std::fprintf(stderr, "usage: a.out FORM THREADS\n"
                             "FORM: early-return, if, if-then-work, if-else, if-then-another\n"
                             "THREADS, of 256, are let in by the condition: those numbered below it.\n"
                             "Some cases never end: try  timeout 10 ./a.out if-else 16\n");
        return 2;
    }
    Counts *counts = nullptr;
    cudaMallocManaged(&counts, sizeof *counts);
    *counts = {};
    kernel<<<1, THREADS>>>(static_cast<unsigned>(std::atoi(argv[2])), counts);
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorName(status));
        return 1;
    }
    std::printf("returned; first barrier: %u arrived, %u passed; second: %u arrived, %u passed\n",
                counts->first.arrived, counts->first.passed, counts->second.arrived,
                counts->second.passed);
    return 0;
}
#endif
