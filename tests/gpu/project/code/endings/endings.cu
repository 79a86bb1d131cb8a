// Three ways in which a launch ends, or does not.

extern "C" __global__ void returns(unsigned *cell) { *cell = 7; }

extern "C" __global__ void spins(volatile unsigned *cell)
{
    while (*cell == 0) {
    }
}
