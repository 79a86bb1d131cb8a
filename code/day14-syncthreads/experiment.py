"""Day 14: one kernel with its barrier, without it, and with the barrier in the wrong place."""

import random

from measured_glossary.lab.experiment import Experiment, exact, racy

ELEMENTS = 1 << 20
MAX_THREADS = 1024
BLOCK_SIZES = (32, 64, 128, 256, 512, 1024)
VARIANTS = {
    "removed": "reverse_without_barrier",
    "misplaced": "reverse_barrier_misplaced",
    "in_place": "reverse_with_barrier",
}

# As in syncthreads.cu: what a value is made of, and the order in which wrong ones are counted.
CELL_BITS, LAUNCHES = 20, 4094
POISON, UNWRITTEN = 0xFFFFFFFF, 0xFFF00000
ORIGINS = 6
FROM_POISON, FROM_OTHER_BLOCK, FROM_EARLIER_LAUNCH, OTHERS = 0, 1, 2, slice(3, ORIGINS)

experiment = Experiment(
    title="Reversing a tile through shared memory, with and without the barrier",
    sources=["syncthreads.cu"],
)


class Bench:
    """The data of one launch after another, and how to poison all shared memory before each."""

    def __init__(self, gpu):
        self.gpu, self.launch = gpu, 0
        self.uint32 = gpu.cupy.uint32
        self.inputs = gpu.cupy.empty(ELEMENTS, self.uint32)
        self.out = gpu.cupy.empty(ELEMENTS, self.uint32)
        self.fill, self.poison = gpu.kernel("fill_unique"), gpu.kernel("poison_shared")
        self.classifier = gpu.kernel("classify")
        self.shared_bytes = gpu.attribute("MaxSharedMemoryPerBlockOptin")
        self.reserved_bytes = gpu.attribute("ReservedSharedMemoryPerBlock")
        self.poison.max_dynamic_shared_size_bytes = self.shared_bytes
        self.multiprocessors = gpu.attribute("MultiProcessorCount")

    def prepare(self):
        """Make inputs that no other launch has, and poison the output and all shared memory."""
        self.launch = self.launch % LAUNCHES + 1
        arguments = (self.inputs, self.out, self.uint32(self.launch))
        self.fill((ELEMENTS // MAX_THREADS,), (MAX_THREADS,), arguments)
        # The system keeps the first kilobyte of each block, so a second pass with blocks of half
        # the size fills what the first could not reach.
        self.poison_with(1, self.shared_bytes)
        self.poison_with(2, self.shared_bytes // 2 - self.reserved_bytes)

    def poison_with(self, blocks_each, shared_bytes):
        """Poison with blocks of which so many fit on a multiprocessor, twice over to reach all."""
        grid = (2 * blocks_each * self.multiprocessors,)
        arguments = (self.uint32(shared_bytes // 4),)
        self.poison(grid, (MAX_THREADS,), arguments, shared_mem=shared_bytes // 4 * 4)

    def reverse(self, kernel, threads, *more):
        """Launch a kernel over fresh data."""
        self.prepare()
        kernel((ELEMENTS // threads,), (threads,), (self.inputs, self.out, *more))

    def classify(self, threads, found):
        """Add the wrong elements of the last launch to the six counts in `found`."""
        arguments = (self.out, self.uint32(self.launch), self.uint32(threads), found)
        self.classifier((ELEMENTS // MAX_THREADS,), (MAX_THREADS,), arguments)


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.runtime(
    key={"threads_per_block": exact("Threads per block")},
    columns={
        "removed": racy("Wrong elements, barrier removed", of=ELEMENTS),
        "misplaced": racy("Wrong elements, barrier below the read", of=ELEMENTS),
        "in_place": racy("Wrong elements, barrier in place", of=ELEMENTS),
        "removed_poison": racy("Barrier removed: the poison was read", of=ELEMENTS),
        "removed_earlier_block": racy("Barrier removed: an earlier block's value", of=ELEMENTS),
        "removed_earlier_launch": racy("Barrier removed: an earlier launch's value", of=ELEMENTS),
        "removed_unexplained": racy("Barrier removed: any other value", of=ELEMENTS),
    },
    launches=1000,
)
def mismatches(gpu):
    """One block size; each launch reverses 1,048,576 unique values, shared memory poisoned."""
    bench = Bench(gpu)
    kernels = {variant: gpu.kernel(name) for variant, name in VARIANTS.items()}
    pairs = [(threads, variant) for threads in BLOCK_SIZES for variant in VARIANTS]
    found = {pair: gpu.cupy.zeros((gpu.launches, ORIGINS), bench.uint32) for pair in pairs}
    for done, (pair, launch) in enumerate(interleaved(pairs, gpu.launches, gpu.seed), start=1):
        threads, variant = pair
        bench.reverse(kernels[variant], threads)
        bench.classify(threads, found[pair][launch])
        if done % 500 == 0:
            gpu.check()
            gpu.progress(done, len(pairs) * gpu.launches)
    for threads in BLOCK_SIZES:
        yield row(threads, {variant: found[threads, variant].get() for variant in VARIANTS})


def interleaved(pairs, launches, seed):
    """Give each pair with each of its launches, in random order: drift then hits all alike."""
    order = [(pair, launch) for pair in pairs for launch in range(launches)]
    random.Random(seed).shuffle(order)  # noqa: S311 - an order, not a secret
    return order


def row(threads, found):
    """Make a row of `mismatches` from counts by variant, launch and origin."""
    removed = found["removed"].astype("int64")
    return {
        "threads_per_block": threads,
        **{variant: counts.sum(axis=1) for variant, counts in found.items()},
        "removed_poison": removed[:, FROM_POISON],
        "removed_earlier_block": removed[:, FROM_OTHER_BLOCK],
        "removed_earlier_launch": removed[:, FROM_EARLIER_LAUNCH],
        "removed_unexplained": removed[:, OTHERS].sum(axis=1),
    }


def value(launch, cell):
    """Give the input that a launch has in a cell."""
    return launch << CELL_BITS | cell


def defects(launch, first):
    """Give wrong values for the block that begins at `first`: of each origin, in order, some."""
    return {
        "the poison": 1 * [POISON],
        "another block's value": 2 * [value(launch, first ^ MAX_THREADS)],
        "an earlier launch's value": 3 * [value(launch - 1, first)],
        "another lane's value": 4 * [value(launch, first)],
        "not written": 5 * [UNWRITTEN],
        "a value never made": 6 * [value(0, first)],
    }


@experiment.runtime(
    key={"origin": exact("Wrong value")},
    columns={
        "before": exact("Found before planting"),
        "planted": exact("Planted"),
        "found": exact("Found"),
    },
)
def checker(gpu):
    """One kind of wrong value, planted into a right output for the checker to find."""
    bench, threads, first = Bench(gpu), 256, 7 * 256
    bench.prepare()  # so that an earlier launch exists
    bench.reverse(gpu.kernel("reverse_with_barrier"), threads)
    planted = defects(bench.launch, first)
    counts = gpu.cupy.zeros((2, len(planted)), bench.uint32)
    bench.classify(threads, counts[0])
    out, wrong = bench.out.get(), [each for values in planted.values() for each in values]
    out[first : first + len(wrong)] = wrong
    bench.out.set(out)
    bench.classify(threads, counts[1])
    for (origin, values), before, found in zip(
        planted.items(), *counts.get().tolist(), strict=True
    ):
        yield {"origin": origin, "before": before, "planted": len(values), "found": found}


@experiment.outcomes(
    cases=[{"staying": staying} for staying in (32, 64, 96, 100, 128, 160, 224, 256)],
    key={"staying": exact("Threads that stay, of 256")},
    columns={
        "arrived": exact("Arrived at the barrier"),
        "wrong_cells": exact("Wrong cells, of those that stayed"),
    },
    launches=5,
)
def early_return(gpu, staying):
    """One number of threads that stay while the others of the block return above the barrier."""
    bench, threads = Bench(gpu), 256
    blocks = ELEMENTS // threads
    seen = set()
    for _ in range(gpu.launches):
        arrived = gpu.cupy.zeros(blocks, bench.uint32)
        bench.reverse(gpu.kernel("early_return"), threads, bench.uint32(staying), arrived)
        gpu.check()
        right = bench.inputs.get().reshape(blocks, threads)[:, ::-1]
        wrong = (bench.out.get().reshape(blocks, threads) != right)[:, :staying].sum(axis=1)
        seen.update(zip(arrived.get().tolist(), wrong.tolist(), strict=True))
    if len(seen) != 1:
        raise RuntimeError(f"blocks disagree on (arrived, wrong cells): {sorted(seen)[:8]}")
    ((arrived_each, wrong_each),) = seen
    return {"arrived": arrived_each, "wrong_cells": wrong_each}


@experiment.sanitizer(
    tools=["racecheck"],
    cases=[
        {"threads_per_block": threads, "barrier": variant}
        for threads in (32, 256)
        for variant in ("removed", "in_place")
    ],
    key={"threads_per_block": exact("Threads per block"), "barrier": exact("Barrier")},
)
def racecheck(gpu, threads_per_block, barrier):
    """One block size with or without the barrier, launched once with four blocks."""
    blocks, uint32 = 4, gpu.cupy.uint32
    inputs, out = (gpu.cupy.empty(blocks * threads_per_block, uint32) for _ in range(2))
    gpu.kernel("fill_unique")((blocks,), (threads_per_block,), (inputs, out, uint32(1)))
    gpu.kernel(VARIANTS[barrier])((blocks,), (threads_per_block,), (inputs, out))


@experiment.static(
    key={"architecture": exact("Architecture"), "kernel": exact("Kernel")},
    columns={"barriers": exact("BAR.SYNC instructions")},
)
def barriers(sass):
    """One kernel's machine code for one architecture."""
    for architecture in sass.architectures:
        for kernel in (*VARIANTS.values(), "early_return"):
            count = sass.count(architecture, kernel, "BAR.SYNC")
            yield {"architecture": architecture, "kernel": kernel, "barriers": count}


@experiment.static(
    key={"architecture": exact("Architecture")},
    columns={
        "only_with": exact("Only with the barrier"),
        "only_without": exact("Only without it"),
    },
)
def difference(sass):
    """One architecture: by which instructions the kernels with and without the barrier differ."""
    for architecture in sass.architectures:
        with_it = sass.kernel(architecture, VARIANTS["in_place"]).opcodes
        without = sass.kernel(architecture, VARIANTS["removed"]).opcodes
        yield {
            "architecture": architecture,
            "only_with": listed(with_it - without),
            "only_without": listed(without - with_it),
        }


def listed(opcodes):
    """Print a count of instructions."""
    return ", ".join(f"{count} × {name}" for name, count in sorted(opcodes.items())) or "nothing"


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


def above_one_warp(mismatches):
    """Give the rows with more than 32 threads a block."""
    return mismatches.where(lambda row: row.threads_per_block > 32)


@experiment.claim
def one_warp_hides_it(mismatches):
    """At 32 threads a block no launch gave a wrong element, barrier or not."""
    row = mismatches(threads_per_block=32)
    assert row.removed == 0
    assert row.misplaced == 0
    assert row.in_place == 0


@experiment.claim
def more_warps_show_it(mismatches):
    """Above 32 threads a block every launch without the barrier gave wrong elements."""
    for row in above_one_warp(mismatches):
        assert row.removed > 0


@experiment.claim
def below_the_read_it_changes_nothing(mismatches):
    """Above 32 threads a block every launch with the barrier below the read gave wrong elements."""
    for row in above_one_warp(mismatches):
        assert row.misplaced > 0


@experiment.claim
def in_place_it_is_enough(mismatches):
    """With the barrier in place no launch gave a wrong element, at any block size."""
    for row in mismatches.where():
        assert row.in_place == 0


@experiment.claim
def what_was_read_is_a_leftover(mismatches):
    """Every wrong value was a leftover: the poison, or what an earlier block or launch had put."""
    for row in mismatches.where():
        assert row.removed_unexplained == 0


@experiment.claim
def the_checker_finds_what_is_planted(checker):
    """Of defects planted into a right output the checker found each, and nothing else."""
    for row in checker.where():
        assert row.before == 0
        assert row.found == row.planted > 0


@experiment.claim
def those_who_stay_arrive(early_return):
    """As many threads arrived at the barrier as had not returned above it."""
    for row in early_return.where():
        assert row.arrived == row.staying


@experiment.claim
def an_early_return_does_not_hang(early_return):
    """The launch returned however many threads had left above the barrier."""
    for row in early_return.where():
        assert row.outcome == "returned"


@experiment.claim
def who_left_left_a_hole(early_return):
    """A thread that stayed read a wrong cell exactly where the cell's owner had left."""
    for row in early_return.where():
        holes = sum(255 - tid >= row.staying for tid in range(row.staying))
        assert row.wrong_cells == holes


@experiment.claim
def racecheck_warns_at_one_warp(racecheck):
    """At 32 threads a block, where the output is right without the barrier, racecheck warns."""
    row = racecheck(threads_per_block=32, barrier="removed")
    assert row.warnings > 0
    assert row.errors == 0


@experiment.claim
def racecheck_finds_the_race(racecheck):
    """At 256 threads a block racecheck reports errors without the barrier."""
    assert racecheck(threads_per_block=256, barrier="removed").errors > 0


@experiment.claim
def racecheck_accepts_the_barrier(racecheck):
    """With the barrier in place racecheck has nothing to report at either block size."""
    for row in racecheck.where(barrier="in_place"):
        assert row.verdict == "clean"


@experiment.claim
def one_barrier_apart(barriers):
    """On every architecture the kernel has one BAR.SYNC with the barrier and none without."""
    for row in barriers.where():
        assert row.barriers == (0 if row.kernel == VARIANTS["removed"] else 1)


@experiment.claim
def nothing_else_differs(difference):
    """On every architecture the two kernels differ by that one instruction and no other."""
    for row in difference.where():
        assert row.only_with.startswith("1 × BAR.SYNC")
        assert "," not in row.only_with
        assert row.only_without == "nothing"
