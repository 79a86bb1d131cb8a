"""Occupancy: what CUDA counts when it says how many blocks fit, and what a full house is worth."""

from functools import partial

from measured_glossary.lab.experiment import Experiment, bytes_, exact, time

THREADS, WARP = 128, 32  # the first as in occupancy.cu
PARTS = (1, 2, 4)  # quarters of full occupancy
LOADS = {"one": 1, "four": 4, "sixteen": 16}
MOST_LOADS, ROUNDS = max(LOADS.values()), 16  # so that every launch reads the same numbers once
GRANULE = 256  # shared memory is handed out in steps of no more than so many bytes

experiment = Experiment(
    title="How many blocks fit, and how long reading memory takes with few and with many",
    sources=["occupancy.cu"],
)


def full_house(gpu):
    """Give how many blocks of THREADS threads make a multiprocessor full."""
    return gpu.attribute("MaxThreadsPerMultiProcessor") // THREADS


def equal_share(gpu, blocks):
    """Give the shared memory of a multiprocessor, in equal shares for so many blocks."""
    return gpu.attribute("MaxSharedMemoryPerMultiprocessor") // blocks // GRANULE * GRANULE


def kernel_with(gpu, name, shared_bytes):
    """Give a kernel, and how many blocks of it fit that have so much shared memory each."""
    kernel = gpu.kernel(name)
    kernel.preferred_shared_memory_carveout = 100  # percent: L1 keeps the rest, in every launch
    # What is set here is the kernel's, not this launch's: a later call must not lower it.
    kernel.max_dynamic_shared_size_bytes = gpu.attribute("MaxSharedMemoryPerBlockOptin")
    ask = gpu.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
    return kernel, ask(kernel.kernel.ptr, THREADS, shared_bytes)


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.runtime(
    key={"wanted": exact("Occupancy wanted", "%")},
    columns={
        "asked": bytes_("A block asks for"),
        "has": bytes_("A multiprocessor has"),
        "reserved": bytes_("Reserved in each block"),
        "divided": exact("Blocks, by division"),
        "fit": exact("Blocks, by CUDA"),
        "warps": exact("Warps, by CUDA"),
        "most_warps": exact("Warps at most"),
    },
)
def room(gpu):
    """A block of 128 threads that asks for an equal share of a multiprocessor's shared memory."""
    gpu.check()  # makes the context that the driver is asked in
    for parts in PARTS:
        asked = equal_share(gpu, full_house(gpu) * parts // max(PARTS))
        _, fit = kernel_with(gpu, "read_1", asked)
        yield {
            "wanted": 100 * parts // max(PARTS),
            "asked": asked,
            "has": gpu.attribute("MaxSharedMemoryPerMultiprocessor"),
            "reserved": gpu.attribute("ReservedSharedMemoryPerBlock"),
            "divided": gpu.attribute("MaxSharedMemoryPerMultiprocessor") // asked,
            "fit": fit,
            "warps": fit * THREADS // WARP,
            "most_warps": gpu.attribute("MaxThreadsPerMultiProcessor") // WARP,
        }


def reading(gpu, loads, parts, numbers, sums):
    """Give the launch that reads all numbers, with so many loads a thread and occupancy."""
    blocks = full_house(gpu) * parts // max(PARTS)
    shared_bytes = equal_share(gpu, blocks) - gpu.attribute("ReservedSharedMemoryPerBlock")
    kernel, fit = kernel_with(gpu, f"read_{loads}", shared_bytes)
    if fit != blocks:
        raise RuntimeError(f"read_{loads}: {fit} blocks fit, expected {blocks}")
    steps = ROUNDS * (max(PARTS) // parts) * (MOST_LOADS // loads)
    grid = (blocks * gpu.attribute("MultiProcessorCount"),)
    arguments = (numbers, sums, gpu.cupy.uint32(steps))
    return partial(kernel, grid, (THREADS,), arguments, shared_mem=shared_bytes)


@experiment.timed(
    key={"occupancy": exact("Occupancy", "%")},
    columns={
        "read": bytes_("Read"),
        "one": time("Time, one load a thread", "us"),
        "four": time("Time, four loads a thread", "us"),
        "sixteen": time("Time, sixteen loads a thread", "us"),
    },
    cache="cold",
    limit_s=10,
)
def readings(gpu):
    """One occupancy; every launch reads the same numbers from memory once."""
    gpu.check()  # makes the context that the driver is asked in
    threads = full_house(gpu) * THREADS * gpu.attribute("MultiProcessorCount")
    numbers = gpu.cupy.ones(threads * MOST_LOADS * ROUNDS, gpu.cupy.float32)
    sums = gpu.cupy.empty(threads, gpu.cupy.float32)
    for parts in PARTS:
        calls = {name: reading(gpu, loads, parts, numbers, sums) for name, loads in LOADS.items()}
        yield {"occupancy": 100 * parts // max(PARTS), "read": numbers.nbytes, **calls}


@experiment.static(
    key={"architecture": exact("Architecture"), "loads": exact("Loads a thread")},
    columns={
        "before_use": exact("Loads before the first addition"),
        "after": exact("Loads after it"),
        "local_bytes": bytes_("Local memory"),
    },
)
def order(sass):
    """One kernel's machine code for one architecture: what comes before a loaded value is used."""
    for architecture in sass.architectures:
        for loads in LOADS.values():
            lines = sass.lines(architecture, f"read_{loads}")
            used = next(at for at, line in enumerate(lines) if line.startswith("FADD"))
            yield {
                "architecture": architecture,
                "loads": loads,
                "before_use": sum(line.startswith("LDG") for line in lines[:used]),
                "after": sum(line.startswith("LDG") for line in lines[used:]),
                "local_bytes": sass.kernel(architecture, f"read_{loads}").local_bytes,
            }


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def the_reserve_is_counted(room):
    """The number of blocks that fit is the shared memory divided by what each asks and reserves."""
    for row in room.where():
        assert row.fit == row.has // (row.asked + row.reserved)


@experiment.claim
def the_reserve_costs_a_block(room):
    """Blocks that ask for an equal share each do not all fit: at least one is left out."""
    for row in room.where():
        assert row.fit < row.divided


@experiment.claim
def few_busy_warps_beat_many(readings):
    """A quarter of the warps with sixteen loads each were faster than all with one load each."""
    assert readings(occupancy=25).sixteen < readings(occupancy=100).one


@experiment.claim
def warps_help_where_each_does_little(readings):
    """With one load a thread each doubling of the occupancy made the reading faster."""
    assert readings(occupancy=50).one < readings(occupancy=25).one
    assert readings(occupancy=100).one < readings(occupancy=50).one


@experiment.claim
def loads_help_where_warps_are_few(readings):
    """At a quarter of full occupancy more loads a thread made the reading faster."""
    row = readings(occupancy=25)
    assert row.four < row.one
    assert row.sixteen < row.four


@experiment.claim
def the_last_doubling_gains_little(readings):
    """With sixteen loads a thread, full occupancy was no more than a quarter faster than half."""
    half, full = readings(occupancy=50).sixteen, readings(occupancy=100).sixteen
    assert not full < half or half / full < 1.25


@experiment.claim
def all_loads_are_under_way(order):
    """On every architecture each kernel asks for all its numbers before it uses the first."""
    for row in order.where():
        assert row.before_use == row.loads
        assert row.after == 0
        assert row.local_bytes == 0
