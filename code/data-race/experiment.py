"""Data races in shared memory: what was read instead, and what racecheck says beside it."""

import random

from measured_glossary.lab.experiment import Experiment, exact, racy

CELLS, ROUNDS = 1 << 18, 4  # as in data_race.cu
MAX_THREADS = 1024
BLOCK_SIZES = (32, 64, 256, 1024)
WATCHED_BLOCKS = 4  # racecheck follows each access: a small grid is enough
KERNELS = {"none": "no_barrier", "one": "one_barrier", "two": "two_barriers"}
WRONG = ("too_old", "too_new", "unexplained")
KEY = {"threads_per_block": exact("Threads per block"), "barriers": exact("Barriers a round")}

experiment = Experiment(
    title="Values handed through shared memory, with none, one and two barriers a round",
    sources=["data_race.cu"],
)


def numbered(gpu, cells):
    """Make the input: each cell holds its own number."""
    given = gpu.cupy.empty(cells, gpu.cupy.uint32)
    threads = min(cells, MAX_THREADS)
    gpu.kernel("number")((cells // threads,), (threads,), (given,))
    return given


@experiment.runtime(
    key=KEY,
    columns={
        "too_old": racy("Read before it was written", of=ROUNDS * CELLS),
        "too_new": racy("Overwritten before it was read", of=ROUNDS * CELLS),
        "unexplained": racy("Any other value", of=ROUNDS * CELLS),
    },
    launches=1000,
)
def wrong_values(gpu):
    """One block size and one kernel; each launch hands on 1,048,576 values in four rounds."""
    given = numbered(gpu, CELLS)
    pairs = [(threads, barriers) for threads in BLOCK_SIZES for barriers in KERNELS]
    shape = (gpu.launches, len(WRONG))
    found = {pair: gpu.cupy.zeros(shape, gpu.cupy.uint32) for pair in pairs}
    order = [(pair, launch) for pair in pairs for launch in range(gpu.launches)]
    random.Random(gpu.seed).shuffle(order)  # noqa: S311 - an order, not a secret
    for done, ((threads, barriers), launch) in enumerate(order, start=1):
        kernel, counts = gpu.kernel(KERNELS[barriers]), found[threads, barriers][launch]
        kernel((CELLS // threads,), (threads,), (given, counts))
        if done % 500 == 0:
            gpu.check()
            gpu.progress(done, len(order))
    for threads, barriers in pairs:
        counts = found[threads, barriers].get().astype("int64")
        by_kind = dict(zip(WRONG, counts.T, strict=True))
        yield {"threads_per_block": threads, "barriers": barriers, **by_kind}


@experiment.sanitizer(
    tools=["racecheck"],
    cases=[
        {"threads_per_block": threads, "barriers": barriers}
        for threads in (32, 256)
        for barriers in KERNELS
    ],
    key=KEY,
)
def racecheck(gpu, threads_per_block, barriers):
    """One block size and one kernel, launched once with four blocks under racecheck."""
    given = numbered(gpu, WATCHED_BLOCKS * threads_per_block)
    counts = gpu.cupy.zeros(len(WRONG), gpu.cupy.uint32)
    kernel = gpu.kernel(KERNELS[barriers])
    kernel((WATCHED_BLOCKS,), (threads_per_block,), (given, counts))


@experiment.static(
    key={"architecture": exact("Architecture"), "barriers": exact("Barriers a round")},
    columns={
        "bar_sync": exact("BAR.SYNC instructions"),
        "stores": exact("Stores to shared memory"),
        "loads": exact("Loads from shared memory"),
    },
)
def instructions(sass):
    """One kernel's machine code for one architecture, its four rounds unrolled."""
    for architecture in sass.architectures:
        for barriers, kernel in KERNELS.items():
            counted = {"bar_sync": "BAR.SYNC", "stores": "STS", "loads": "LDS"}
            counts = {
                name: sass.count(architecture, kernel, opcode) for name, opcode in counted.items()
            }
            yield {"architecture": architecture, "barriers": barriers, **counts}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def one_warp_hides_every_race(wrong_values):
    """At 32 threads a block no launch gave a wrong value, barriers or none."""
    for row in wrong_values.where(threads_per_block=32):
        assert row.too_old == 0
        assert row.too_new == 0


@experiment.claim
def without_barriers_values_are_too_old(wrong_values):
    """From 64 threads a block on, every launch without barriers read cells too early."""
    for row in wrong_values.where(lambda row: row.threads_per_block > 32, barriers="none"):
        assert row.too_old > 0


@experiment.claim
def one_barrier_orders_the_read(wrong_values):
    """With a barrier between store and load no launch read a cell before it was written."""
    for row in wrong_values.where(barriers="one"):
        assert row.too_old == 0


@experiment.claim
def two_barriers_order_both(wrong_values):
    """With a second barrier before the next round no launch gave a wrong value of any kind."""
    for row in wrong_values.where(barriers="two"):
        assert row.too_old == 0
        assert row.too_new == 0


@experiment.claim
def every_wrong_value_is_explained(wrong_values):
    """Every wrong value was that of an earlier or a later round, or the cleared cell."""
    for row in wrong_values.where():
        assert row.unexplained == 0


@experiment.claim
def racecheck_warns_where_the_output_is_right(wrong_values, racecheck):
    """At 32 threads without barriers racecheck warns, although the output was right each time."""
    row = wrong_values(threads_per_block=32, barriers="none")
    assert row.too_old == 0
    assert row.too_new == 0
    seen = racecheck(threads_per_block=32, barriers="none", tool="racecheck")
    assert seen.warnings > 0
    assert seen.errors == 0


@experiment.claim
def racecheck_finds_the_race(racecheck):
    """At 256 threads racecheck reports errors without barriers and with one barrier a round."""
    for barriers in ("none", "one"):
        assert racecheck(threads_per_block=256, barriers=barriers).errors > 0


@experiment.claim
def racecheck_finds_nothing_with_both(racecheck):
    """With both barriers racecheck reports nothing at any block size."""
    for row in racecheck.where(barriers="two"):
        assert row.verdict == "clean"


@experiment.claim
def the_kernels_differ_by_barriers(instructions):
    """On every architecture the kernels differ by their barriers, not by their accesses."""
    for row in instructions.where():
        rounds = {"none": 0, "one": 1, "two": 2}[row.barriers]
        assert row.bar_sync == 1 + ROUNDS * rounds
        assert row.stores == 1 + ROUNDS
        assert row.loads == ROUNDS
