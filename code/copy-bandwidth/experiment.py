"""A large copy inside the GPU's memory, against what the memory's wires can carry: a known bound.

It says whether the clock of this project can be believed. A copy that is faster than the wires was
not timed; one that is far slower was timed with something else beside it.
"""

from functools import partial

from measured_glossary.lab.experiment import Experiment, bytes_, exact, time

MIB = 1 << 20
SIZES = (1 * MIB, 256 * MIB, 1024 * MIB)
LARGE = 256 * MIB  # above every L2 cache so far, reads and writes together
VECTOR, THREADS, BLOCKS_EACH = 16, 256, 8

experiment = Experiment(title="Copying inside the GPU's memory", sources=["copy.cu"])


def wires(gpu):
    """Give what the memory's wires carry at most, in GB/s: two bits a clock on each wire."""
    clock_khz = gpu.attribute("MemoryClockRate")
    width_bits = gpu.attribute("GlobalMemoryBusWidth")
    if not clock_khz or not width_bits:
        raise RuntimeError("this driver tells neither memory clock nor width: there is no bound")
    return 2 * clock_khz * 1000 * width_bits // 8 // 10**9


@experiment.timed(
    key={"copied": bytes_("Copied")},
    columns={
        "wires": exact("Memory interface at most", "GB/s"),
        "kernel": time("Time of our kernel", "us"),
        "runtime": time("Time of cudaMemcpy", "us"),
    },
    cache="cold",
)
def copies(gpu):
    """One size, copied by a kernel and by the runtime; each byte is read once and written once."""
    cupy, kernel = gpu.cupy, gpu.kernel("copy")
    grid = (BLOCKS_EACH * gpu.attribute("MultiProcessorCount"),)
    source = cupy.ones(max(SIZES), cupy.uint8)
    target = cupy.empty(max(SIZES), cupy.uint8)
    for size in SIZES:
        arguments = (source, target, cupy.uint64(size // VECTOR))
        yield {
            "copied": size,
            "wires": wires(gpu),
            "kernel": partial(kernel, grid, (THREADS,), arguments),
            "runtime": partial(target.data.copy_from_device_async, source.data, size),
        }


@experiment.timed(
    key={"copied": bytes_("Copied")},
    columns={"kernel": time("Time of our kernel", "us")},
    cache="hot",
)
def from_cache(gpu):
    """One size that fits into the L2 cache and was copied just before."""
    kernel, cupy = gpu.kernel("copy"), gpu.cupy
    grid = (BLOCKS_EACH * gpu.attribute("MultiProcessorCount"),)
    source, target = cupy.ones(MIB, cupy.uint8), cupy.empty(MIB, cupy.uint8)
    arguments = (source, target, cupy.uint64(MIB // VECTOR))
    yield {"copied": MIB, "kernel": partial(kernel, grid, (THREADS,), arguments)}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


def large(copies):
    """Give the rows whose data fit into no cache."""
    return copies.where(lambda row: row.copied >= LARGE)


@experiment.claim
def no_copy_beats_the_wires(copies):
    """No large copy moved more bytes a second than the memory interface can carry."""
    for row in large(copies):
        assert row.kernel.bandwidth(2 * row.copied) < row.wires
        assert row.runtime.bandwidth(2 * row.copied) < row.wires


@experiment.claim
def a_large_copy_comes_near(copies):
    """A large copy moved more than two thirds of what the memory interface can carry."""
    for row in large(copies):
        assert row.kernel.bandwidth(2 * row.copied) > row.wires * 2 / 3
        assert row.runtime.bandwidth(2 * row.copied) > row.wires * 2 / 3


@experiment.claim
def what_is_hot_is_faster(copies, from_cache):
    """A copy that fits into the L2 cache took less time hot than cold."""
    assert from_cache(copied=MIB).kernel < copies(copied=MIB).kernel
