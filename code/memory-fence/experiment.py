"""A message from one block to another: whether its data is there when its flag is seen."""

import random

from measured_glossary.lab.experiment import Experiment, exact, racy

PAIRS, THREADS, ROUNDS = 128, 256, 512  # rounds as in memory_fence.cu
CHANNELS = PAIRS * THREADS
READINGS = CHANNELS * ROUNDS
COUNTS = ("stale", "same", "newer", "repeats")  # in the order of its counts
KERNELS = {
    "nowhere": "no_fence",
    "at the sender": "fence_at_sender",
    "at the receiver": "fence_at_receiver",
    "at both": "fence_at_both",
    "at both, but the flag is raised first": "flag_first",
}

experiment = Experiment(
    title="A message between blocks, with and without memory fences",
    sources=["memory_fence.cu"],
)


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.runtime(
    key={"fences": exact("Fences")},
    columns={
        "stale": racy("Readings with data older than its flag", of=READINGS),
        "same": racy("Readings with flag and data of one round", of=READINGS),
        "newer": racy("Readings with data newer than its flag", of=READINGS),
        "repeats": racy("Readings that found the flag as the one before had", of=READINGS),
    },
    launches=200,
)
def messages(gpu):
    """One way to fence; each launch makes 16,777,216 readings over 32,768 channels at once."""
    cells = gpu.cupy.zeros(2 * CHANNELS, gpu.cupy.uint32)
    counts = gpu.cupy.zeros((len(KERNELS), gpu.launches, len(COUNTS)), gpu.cupy.uint32)
    for index, launch in interleaved(len(KERNELS), gpu.launches, gpu.seed):
        kernel = gpu.kernel(list(KERNELS.values())[index])
        cells.data.memset_async(0, cells.nbytes)
        arguments = (cells[:CHANNELS], cells[CHANNELS:], counts[index, launch])
        kernel((2 * PAIRS,), (THREADS,), arguments)
    for fences, found in zip(KERNELS, counts.get(), strict=True):
        yield {"fences": fences, **dict(zip(COUNTS, found.T, strict=True))}


def interleaved(variants, launches, seed):
    """Give each variant with each of its launches, in random order: drift then hits all alike."""
    order = [(variant, launch) for variant in range(variants) for launch in range(launches)]
    random.Random(seed).shuffle(order)  # noqa: S311 - an order, not a secret
    return order


@experiment.static(
    key={"architecture": exact("Architecture"), "fences": exact("Fences")},
    columns={"membars": exact("MEMBAR instructions")},
)
def membars(sass):
    """One kernel's machine code for one architecture."""
    for architecture in sass.architectures:
        for fences, kernel in KERNELS.items():
            count = sass.count(architecture, kernel, "MEMBAR")
            yield {"architecture": architecture, "fences": fences, "membars": count}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def without_fences_the_flag_runs_ahead(messages):
    """Without fences every launch saw flags whose data was not there yet."""
    assert messages(fences="nowhere").stale > 0


@experiment.claim
def one_side_helps(messages):
    """With a fence on one side only, each launch saw fewer such flags than any launch without."""
    nowhere = messages(fences="nowhere").stale
    assert messages(fences="at the sender").stale < nowhere
    assert messages(fences="at the receiver").stale < nowhere


@experiment.claim
def two_fences_are_enough(messages):
    """With a fence on both sides no reading of any launch saw a flag without its data."""
    assert messages(fences="at both").stale == 0


@experiment.claim
def a_fence_waits_for_nobody(messages):
    """With a fence on both sides every launch had readings that came before the next message."""
    assert messages(fences="at both").repeats > 0


@experiment.claim
def the_litmus_finds_a_wrong_order(messages):
    """Where the flag is raised before its data is written, every launch saw that, fences or not."""
    assert messages(fences="at both, but the flag is raised first").stale > 0


@experiment.claim
def as_many_fences_as_are_written(membars):
    """On every architecture a kernel has one MEMBAR for each side with a fence, and no other."""
    for row in membars.where():
        sides = {"nowhere": 0, "at the sender": 1, "at the receiver": 1}
        assert row.membars == sides.get(row.fences, 2)
