"""$escaped: what is measured, and what is claimed of it."""

from measured_glossary.lab.experiment import Experiment, exact

experiment = Experiment(title=$quoted, sources=["$id.cu"])

N = 1 << 20


@experiment.runtime(
    key={"threads_per_block": exact("Threads per block")},
    columns={"launches": exact("Launches"), "wrong": exact("Wrong elements")},
    launches=20,
)
def doubling(gpu):
    """One row for each block size."""
    cupy, kernel = gpu.cupy, gpu.kernel("twice")
    source = cupy.arange(N, dtype=cupy.float32)
    for threads in (32, 256, 1024):
        wrong = 0
        for _ in range(gpu.launches):
            result = cupy.full(N, cupy.nan, dtype=cupy.float32)
            kernel((-(-N // threads),), (threads,), (source, result, N))
            wrong += int((result != 2 * source).sum())
        yield {"threads_per_block": threads, "launches": gpu.launches, "wrong": wrong}


@experiment.static(
    key={"architecture": exact("Architecture")},
    columns={"multiplications": exact("FMUL and FADD instructions")},
)
def arithmetic(sass):
    """One row for each architecture: 2x is a multiplication, or an addition of x to itself."""
    for architecture in sass.architectures:
        found = sum(sass.count(architecture, "twice", name) for name in ("FMUL", "FADD"))
        yield {"architecture": architecture, "multiplications": found}


@experiment.claim
def every_element_is_doubled(doubling):
    """No launch gave a wrong element."""
    for row in doubling:
        assert row.wrong == 0


@experiment.claim
def one_multiplication(arithmetic):
    """The compiler emits one arithmetic instruction for an element on every architecture."""
    for row in arithmetic:
        assert row.multiplications == 1
