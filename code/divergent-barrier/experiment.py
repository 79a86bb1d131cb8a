"""Barriers that not every thread of a block reaches: how each launch ends, and who arrived."""

from measured_glossary.lab.experiment import Experiment, exact

THREADS, WARP = 256, 32
BLOCKS = 4
COUNTS, AT_BARRIERS = 5, 4  # as in divergent_barrier.cu: numbers a block has, the first at barriers
KERNELS = {
    "early return": "early_return",
    "if": "one_arm",
    "if, then work": "one_arm_then_work",
    "if and else": "two_arms",
    "if, then another": "one_more",
}
ONE_BARRIER = ("early return", "if", "if, then work")
TWO_BARRIERS = ("if and else", "if, then another")
LET_IN = {
    "early return": (16, 32, 96, 100),
    "if": (16, 32, 48, 64, 65, 96),
    "if, then work": (16, 32, 48, 64),
    "if and else": (16, 32, 48, 64),
    "if, then another": (16, 32, 48, 64),
}
CASES = [{"form": form, "let_in": number} for form in LET_IN for number in LET_IN[form]]
KEY = {"form": exact("Barrier in"), "let_in": exact("Threads let in, of 256")}

experiment = Experiment(
    title="A barrier that not every thread of the block reaches",
    sources=["divergent_barrier.cu"],
)


def counted(gpu, form, let_in, blocks):
    """Launch a case; once it has returned, give what each block counted at both barriers."""
    counts = gpu.cupy.zeros((blocks, COUNTS), gpu.cupy.uint32)
    kernel = gpu.kernel(KERNELS[form])
    kernel((blocks,), (THREADS,), (gpu.cupy.uint32(let_in), counts))
    gpu.check()
    return counts.get()[:, :AT_BARRIERS].tolist()


def agreed(numbers):
    """Give the number on which all blocks of all launches agree, or the range of theirs."""
    least, most = min(numbers), max(numbers)
    return least if least == most else f"{least} to {most}"


@experiment.outcomes(
    cases=CASES,
    key=KEY,
    columns={
        "arrived": exact("Arrived at the first barrier"),
        "passed": exact("Went on behind it"),
        "arrived_at_second": exact("Arrived at the second barrier"),
        "passed_second": exact("Went on behind that"),
    },
    limit_s=5,
    launches=20,
)
def launches(gpu, form, let_in):
    """One form of the kernel and one threshold, launched again and again while it returns."""
    found = [block for _ in range(gpu.launches) for block in counted(gpu, form, let_in, BLOCKS)]
    names = ("arrived", "passed", "arrived_at_second", "passed_second")
    return {
        name: agreed(numbers) for name, numbers in zip(names, zip(*found, strict=True), strict=True)
    }


@experiment.sanitizer(tools=["synccheck"], cases=CASES, key=KEY, limit_s=30)
def synccheck(gpu, form, let_in):
    """One form of the kernel and one threshold, launched once with one block under synccheck."""
    counted(gpu, form, let_in, blocks=1)


@experiment.static(
    key={"architecture": exact("Architecture"), "kernel": exact("Kernel")},
    columns={
        "barriers": exact("BAR.SYNC: the block meets"),
        "gatherings": exact("WARPSYNC: the warp meets"),
    },
)
def barriers(sass):
    """One kernel's machine code for one architecture."""
    for architecture in sass.architectures:
        for kernel in KERNELS.values():
            yield {
                "architecture": architecture,
                "kernel": kernel,
                "barriers": sass.count(architecture, kernel, "BAR.SYNC"),
                "gatherings": sass.count(architecture, kernel, "WARPSYNC"),
            }


@experiment.static(
    key={"architecture": exact("Architecture")},
    columns={"same": exact("The if compiles to the early return")},
)
def likeness(sass):
    """One architecture: whether an `if` around the barrier differs from a return above it."""
    for architecture in sass.architectures:
        one, other = (sass.lines(architecture, KERNELS[form]) for form in ("if", "early return"))
        yield {"architecture": architecture, "same": one == other}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


def splits_a_warp(row):
    """Say whether the condition parts the threads of one warp."""
    return row.let_in % WARP != 0


def parts_only_warps(row):
    """Say whether each warp goes one way as a whole."""
    return not splits_a_warp(row)


@experiment.claim
def nobody_waits_for_who_has_left(launches):
    """With the other threads gone above the barrier the launch returned, and who stayed arrived."""
    for row in launches.where(form="early return"):
        assert row.outcome == "returned"
        assert row.arrived == row.passed == row.let_in


@experiment.claim
def an_if_did_not_hang(launches):
    """With the barrier in an `if` every launch returned, wherever the condition cut the block."""
    for row in launches.where(form="if"):
        assert row.outcome == "returned"
        assert row.arrived == row.passed == row.let_in


@experiment.claim
def work_behind_the_if_changes_nothing(launches):
    """With something left to do behind the `if` every launch returned as well."""
    for row in launches.where(form="if, then work"):
        assert row.outcome == "returned"
        assert row.arrived == row.passed == row.let_in


@experiment.claim
def an_if_is_an_early_return(likeness):
    """On every architecture the `if` and the early return are the same machine code."""
    for row in likeness.where():
        assert row.same is True


@experiment.claim
def two_barriers_paired(launches):
    """Split between warps, the barriers of `if` and `else` let each other's threads go."""
    for row in launches.where(parts_only_warps, form="if and else"):
        assert row.outcome == "returned"
        assert row.arrived == row.passed == row.let_in
        assert row.arrived_at_second == row.passed_second == THREADS - row.let_in


@experiment.claim
def two_barriers_hung(launches):
    """Split inside a warp, the same `if` and `else` hung."""
    for row in launches.where(splits_a_warp, form="if and else"):
        assert row.outcome == "hung"


@experiment.claim
def another_barrier_paired(launches):
    """Split between warps, a barrier in the `if` and one behind it let each other's threads go."""
    for row in launches.where(parts_only_warps, form="if, then another"):
        assert row.outcome == "returned"
        assert row.arrived == row.passed == row.let_in
        assert row.arrived_at_second == row.passed_second == THREADS


@experiment.claim
def another_barrier_hung(launches):
    """Split inside a warp, a barrier in the `if` and one behind it hung."""
    for row in launches.where(splits_a_warp, form="if, then another"):
        assert row.outcome == "hung"


@experiment.claim
def synccheck_accepts_one_barrier(synccheck):
    """Synccheck has nothing to say where the kernel has one barrier, a split warp or not."""
    for form in ONE_BARRIER:
        for row in synccheck.where(form=form):
            assert row.verdict == "clean"


@experiment.claim
def synccheck_objects_to_what_returned(launches, synccheck):
    """Synccheck objects to two barriers split between warps, although the launch returned."""
    for form in TWO_BARRIERS:
        for row in launches.where(parts_only_warps, form=form):
            assert row.outcome == "returned"
            assert synccheck(form=form, let_in=row.let_in).verdict == "findings"


@experiment.claim
def synccheck_objects_to_what_hung(launches, synccheck):
    """Synccheck objects to two barriers split in the second warp, where the launch hung."""
    for form in TWO_BARRIERS:
        assert launches(form=form, let_in=48).outcome == "hung"
        assert synccheck(form=form, let_in=48).verdict == "findings"


@experiment.claim
def the_barriers_are_in_the_code(barriers):
    """Every kernel has as many BAR.SYNC instructions as it has calls, on every architecture."""
    for row in barriers.where():
        assert row.barriers == (2 if row.kernel in ("two_arms", "one_more") else 1)


@experiment.claim
def a_split_warp_gathers_first(barriers):
    """Where others of a warp go on elsewhere, each BAR.SYNC has a WARPSYNC, and nowhere else."""
    for row in barriers.where():
        others_have_left = row.kernel in ("early_return", "one_arm")
        assert row.gatherings == (0 if others_have_left else row.barriers)
