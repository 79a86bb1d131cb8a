"""Shared memory bank conflicts: the cost of a load where banks are busy, and where a warp waits."""

import random
from collections import Counter

from measured_glossary.lab.experiment import Experiment, exact, time

LANES = BANKS = 32
LOADS = 64 * 32  # ROUNDS * LOADS in bank_conflict.cu
BROADCAST = 0
STRIDES = (BROADCAST, *range(1, 34))
THREADS = {"busy": 1024, "waiting": LANES}  # by kernel

experiment = Experiment(
    title="Loads from shared memory by stride, with and without other warps to hide them",
    sources=["bank_conflict.cu"],
)


def ways(stride):
    """Give how many different words the most wanted bank is asked for by one warp."""
    words = {lane * stride for lane in range(LANES)}
    return max(Counter(word % BANKS for word in words).values())


@experiment.runtime(
    key={"stride": exact("Stride in words")},
    columns={
        "ways": exact("Words asked of one bank"),
        "busy": time("Cycles a load, 32 warps at work", "cycles"),
        "waiting": time("Cycles a load, one warp that waits", "cycles"),
    },
    launches=50,
)
def loads(gpu):
    """One stride between the words of neighbouring lanes; stride 0 is one word for all."""
    sums = gpu.cupy.empty(max(THREADS.values()), gpu.cupy.uint32)
    pairs = [(kernel, stride) for kernel in THREADS for stride in STRIDES]
    cycles = {pair: gpu.cupy.zeros(gpu.launches + 1, gpu.cupy.int64) for pair in pairs}
    for launch in range(gpu.launches + 1):  # the first warms up and is left out
        random.Random(f"{gpu.seed} {launch}").shuffle(pairs)  # noqa: S311 - an order, not a secret
        for kernel, stride in pairs:
            arguments = (gpu.cupy.uint32(stride), cycles[kernel, stride][launch:], sums)
            gpu.kernel(kernel)((1,), (THREADS[kernel],), arguments)
    for stride in STRIDES:
        found = {kernel: a_load(kernel, cycles[kernel, stride].get()[1:]) for kernel in THREADS}
        yield {"stride": stride, "ways": ways(stride), **found}


def a_load(kernel, cycles):
    """Give the cycles for each load of a warp."""
    return cycles / (LOADS * THREADS[kernel] / LANES)


@experiment.static(
    key={"architecture": exact("Architecture"), "kernel": exact("Kernel")},
    columns={"loads": exact("Loads from shared memory in a round")},
)
def instructions(sass):
    """One kernel's machine code for one architecture."""
    for architecture in sass.architectures:
        for kernel in THREADS:
            count = sass.count(architecture, kernel, "LDS")
            yield {"architecture": architecture, "kernel": kernel, "loads": count}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def each_word_takes_its_turn(loads):
    """With the banks kept busy, each doubling of the words asked of one bank costs more cycles."""
    for ways_before in (1, 2, 4, 8, 16):
        assert loads(stride=2 * ways_before).busy > loads(stride=ways_before).busy


@experiment.claim
def busy_banks_take_a_turn_for_each_word(loads):
    """With the banks kept busy, a 32-way conflict costs more than 16 times the cycles of none."""
    assert loads(stride=32).busy / loads(stride=1).busy > 16


@experiment.claim
def a_warp_that_waits_pays_far_less(loads):
    """A warp that waits for each load is slowed by a 32-way conflict, but less than 16 times."""
    none, worst = loads(stride=1).waiting, loads(stride=32).waiting
    assert worst > none
    assert worst < 16 * none.q1


@experiment.claim
def ways_decide_not_strides(loads):
    """Strides with equally many words a bank cost the same within a tenth, busy or waiting."""
    for row in loads.where(lambda row: row.stride != BROADCAST):
        like = loads(stride=row.ways)
        assert row.busy < 1.1 * like.busy.q1
        assert row.busy > 0.9 * like.busy.q3
        assert row.waiting < 1.1 * like.waiting.q1
        assert row.waiting > 0.9 * like.waiting.q3


@experiment.claim
def one_word_for_all_is_no_conflict(loads):
    """Reading one word by all lanes costs at most a tenth more than a word of each bank."""
    every, one = loads(stride=BROADCAST), loads(stride=1)
    assert every.busy < 1.1 * one.busy.q1
    assert every.waiting < 1.1 * one.waiting.q1


@experiment.claim
def every_load_is_made(instructions):
    """On every architecture both kernels have all 32 loads of a round, none of them merged."""
    for row in instructions.where():
        assert row.loads == LANES
