// 每个线程块反转自己的一块 — a file as real ones are: byte order mark, CRLF, tabs, spaces in paths.
#include "parts/mirror.cuh"
#include <code/common/sizes.cuh>
/* #include "commented-out.cuh" */
// #include "commented-out-too.cuh" \
#include "still-the-same-comment.cuh"

namespace tiles {
template <unsigned Threads, typename Element>
__global__ void reverse(const Element *in, Element *out)
{
	__shared__ Element tile[Threads];	// 共享内存
	tile[threadIdx.x] = in[threadIdx.x];
	__syncthreads();
	out[threadIdx.x] = tile[mirror<Threads>(threadIdx.x)];
}
template __global__ void reverse<64, float>(const float *, float *);
template __global__ void reverse<LARGEST, double>(const double *, double *);
}  // namespace tiles

extern "C" __global__ void where_am_i(const char **out)
{
	*out = __FILE__;
}

#ifndef __CUDACC_RTC__
#include <cstdio>
int main() { std::puts("#include \"in-a-string.cuh\""); }
#endif
