"""A block's sum through shared memory: where the barrier of its steps may stand."""

from measured_glossary.lab.experiment import Experiment, exact, racy

THREADS = 256
BLOCKS = 1 << 13
KERNELS = {
    "behind the if": "behind_the_if",
    "inside the if": "inside_the_if",
    "in both arms": "in_both_arms",
    "nowhere": "nowhere",
}

experiment = Experiment(
    title="A block's sum, with its barriers in the right place and in others",
    sources=["block_sum.cu"],
)


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.outcomes(
    cases=[{"barrier": barrier} for barrier in KERNELS],
    key={"barrier": exact("The barrier of a step")},
    columns={"wrong": racy("Wrong sums", of=BLOCKS)},
    launches=20,
    limit_s=5,
)
def sums(gpu, barrier):
    """One place for the barrier; each launch has 8,192 blocks add up 256 values each."""
    uint32 = gpu.cupy.uint32
    values, out = gpu.cupy.empty(BLOCKS * THREADS, uint32), gpu.cupy.empty(BLOCKS, uint32)
    wrong = gpu.cupy.zeros(gpu.launches, uint32)
    for launch in range(gpu.launches):
        gpu.kernel("fill")((BLOCKS,), (THREADS,), (values, uint32(launch)))
        gpu.kernel(KERNELS[barrier])((BLOCKS,), (THREADS,), (values, out))
        check = (values, out, wrong[launch:])
        gpu.kernel("check_sums")((BLOCKS // THREADS,), (THREADS,), check)
    gpu.check()
    return {"wrong": wrong.get()}


@experiment.static(
    key={"architecture": exact("Architecture"), "barrier": exact("The barrier of a step")},
    columns={"barriers": exact("BAR.SYNC instructions")},
)
def barriers(sass):
    """One kernel's machine code for one architecture."""
    for architecture in sass.architectures:
        for barrier, kernel in KERNELS.items():
            count = sass.count(architecture, kernel, "BAR.SYNC")
            yield {"architecture": architecture, "barrier": barrier, "barriers": count}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def behind_the_if_it_is_right(sums):
    """With the barrier behind the `if` every launch returned, and no sum was wrong."""
    row = sums(barrier="behind the if")
    assert row.outcome == "returned"
    assert row.wrong == 0


@experiment.claim
def without_barriers_it_is_wrong(sums):
    """Without barriers every launch returned, and some sums of each were wrong."""
    row = sums(barrier="nowhere")
    assert row.outcome == "returned"
    assert row.wrong > 0


@experiment.claim
def the_loop_has_its_barriers(barriers):
    """On every architecture the wrong `if` and `else` keep a barrier each."""
    for row in barriers.where(barrier="in both arms"):
        right = barriers(architecture=row.architecture, barrier="behind the if")
        assert row.barriers > right.barriers
