// A block adds up its values through shared memory, step by step, half as many each time.
//
// The kernels differ in where the barrier of a step stands. As a program:
// nvcc -O3 -arch=sm_90 block_sum.cu && ./a.out

constexpr unsigned THREADS = 256;

// --8<-- [start:right]
extern "C" __global__ void behind_the_if(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[THREADS];
    const unsigned t = threadIdx.x;
    tile[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();  // every value is there before anybody adds
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();  // every sum of this step is there before the next
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}
// --8<-- [end:right]

// --8<-- [start:inside]
extern "C" __global__ void inside_the_if(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[THREADS];
    const unsigned t = threadIdx.x;
    tile[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            tile[t] += tile[t + half];
            __syncthreads();  // wrong: the condition is not the same for the whole block
        }
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}
// --8<-- [end:inside]

// --8<-- [start:both]
extern "C" __global__ void in_both_arms(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[THREADS];
    const unsigned t = threadIdx.x;
    tile[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            tile[t] += tile[t + half];
            __syncthreads();  // wrong as well: everybody comes to a barrier,
        } else {
            __syncthreads();  // and not to the same one
        }
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}
// --8<-- [end:both]

// --8<-- [start:nowhere]
extern "C" __global__ void nowhere(const unsigned *in, unsigned *out)
{
    __shared__ volatile unsigned tile[THREADS];  // volatile, or the compiler keeps sums to itself
    const unsigned t = threadIdx.x;
    tile[t] = in[blockIdx.x * THREADS + t];
    for (unsigned half = THREADS / 2; half > 0; half /= 2)
        if (t < half) tile[t] += tile[t + half];
    if (t == 0) out[blockIdx.x] = tile[0];
}
// --8<-- [end:nowhere]

// Values that no other launch has: the low bits of a product with a large odd number mix well.
extern "C" __global__ void fill(unsigned *in, unsigned launch)
{
    const unsigned cell = blockIdx.x * THREADS + threadIdx.x;
    in[cell] = (cell + launch * 7919u) * 2654435761u >> 12;
}

// One thread adds up the values of a block by itself, and compares.
extern "C" __global__ void check_sums(const unsigned *in, const unsigned *out, unsigned *wrong)
{
    const unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (unsigned t = 0; t < THREADS; t++) sum += in[block * THREADS + t];
    if (out[block] != sum) atomicAdd(wrong, 1u);
}

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

constexpr unsigned BLOCKS = 1u << 13;
using Sum = void (*)(const unsigned *, unsigned *);

static void report(const char *name, Sum sum)
{
    unsigned *in, *out, *wrong;
    CHECK(cudaMalloc(&in, BLOCKS * THREADS * sizeof *in));
    CHECK(cudaMalloc(&out, BLOCKS * sizeof *out));
    CHECK(cudaMallocManaged(&wrong, sizeof *wrong));
    *wrong = 0;
    fill<<<BLOCKS, THREADS>>>(in, 1);
    sum<<<BLOCKS, THREADS>>>(in, out);
    check_sums<<<BLOCKS / THREADS, THREADS>>>(in, out, wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::printf("%-16s %u of %u sums wrong\n", name, *wrong, BLOCKS);
}

int main()
{
    report("behind the if", behind_the_if);
    report("nowhere", nowhere);
    report("inside the if", inside_the_if);
    report("in both arms", in_both_arms);  // the last: it may never return
    return 0;
}
#endif
