#pragma once
#inc\
lude "../../common/sizes.cuh"

template <unsigned Threads>
__device__ unsigned mirror(unsigned tid)
{
	static_assert(Threads <= LARGEST, "a block has at most 1024 threads");
	return Threads - 1 - tid;
}
