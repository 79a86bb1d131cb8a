// $term: the kernel the entry is about. `nvcc -O3 -arch=sm_90 $id.cu && ./a.out` builds and runs it.

// --8<-- [start:kernel]
extern "C" __global__ void twice(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 2.0f * in[i];
    }
}
// --8<-- [end:kernel]

#ifndef __CUDACC_RTC__
#include <cstdio>

int main() {
    const int n = 1 << 20;
    float *in, *out;
    cudaMallocManaged(&in, n * sizeof(float));
    cudaMallocManaged(&out, n * sizeof(float));
    for (int i = 0; i < n; ++i) in[i] = float(i);
    twice<<<(n + 255) / 256, 256>>>(in, out, n);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += out[i] != 2.0f * in[i];
    std::printf("wrong elements: %d of %d\n", wrong, n);
    return wrong != 0;
}
#endif
