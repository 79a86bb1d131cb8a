"""One lane of a warp waits for another lane of the same warp: whether that comes to an end."""

from measured_glossary.lab.experiment import Experiment, exact

WARP = 32
KERNELS = {
    "wait, else raise": "wait_or_raise",
    "raise, else wait": "raise_or_wait",
    "wait, then raise": "wait_then_raise",
    "wait, meet, raise": "wait_meet_raise",
}
NOBODY = "nobody raises it"
CASES = [{"form": form, "waiting": lane} for form in (*KERNELS, NOBODY) for lane in (0, 1)]

experiment = Experiment(
    title="A lane that waits for another lane of its own warp",
    sources=["warp.cu"],
)


@experiment.outcomes(
    cases=CASES,
    key={"form": exact("The kernel"), "waiting": exact("The lane that waits")},
    columns={"seen": exact("Launches in which it saw the flag"), "of": exact("Launches")},
    limit_s=5,
    launches=20,
)
def waits(gpu, form, waiting):
    """One form of the kernel and one lane that waits for its neighbour, launch after launch."""
    uint32 = gpu.cupy.uint32
    raising = WARP if form == NOBODY else 1 - waiting  # there is no lane 32
    kernel = gpu.kernel(KERNELS.get(form, "wait_or_raise"))
    seen = gpu.cupy.zeros(gpu.launches, uint32)
    for launch in range(gpu.launches):
        kernel((1,), (WARP,), (uint32(waiting), uint32(raising), seen[launch:]))
    gpu.check()
    return {"seen": int(seen.get().sum()), "of": gpu.launches}


@experiment.static(
    key={"architecture": exact("Architecture"), "form": exact("The kernel")},
    columns={
        "bsyncs": exact("BSYNC instructions"),
        "warpsyncs": exact("WARPSYNC instructions"),
        "yields": exact("YIELD instructions"),
    },
)
def meetings(sass):
    """One kernel's machine code for one architecture: where lanes of a warp wait for each other."""
    for architecture in sass.architectures:
        for form, kernel in KERNELS.items():
            counts = {
                "bsyncs": sass.count(architecture, kernel, "BSYNC"),
                "warpsyncs": sass.count(architecture, kernel, "WARPSYNC"),
                "yields": sass.count(architecture, kernel, "YIELD"),
            }
            yield {"architecture": architecture, "form": form, **counts}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def a_lane_can_wait_for_another(waits):
    """With the two lanes in arms of one `if`, the waiting lane saw the flag in every launch."""
    for form in ("wait, else raise", "raise, else wait"):
        for row in waits.where(form=form):
            assert row.outcome == "returned"
            assert row.seen == row.of


@experiment.claim
def a_meeting_between_them_prevents_it(waits):
    """With __syncwarp() between the waiting and the raising, no launch saw the flag."""
    for row in waits.where(form="wait, meet, raise"):
        assert row.seen == 0


@experiment.claim
def the_end_of_an_if_does_not(waits):
    """With the raising behind the end of the `if` that waits, every launch saw the flag."""
    for row in waits.where(form="wait, then raise"):
        assert row.outcome == "returned"
        assert row.seen == row.of


@experiment.claim
def the_compiler_lets_lanes_meet(meetings):
    """On every architecture the end of the `if` before the raising is one BSYNC more."""
    for row in meetings.where(form="wait, then raise"):
        arms = meetings(architecture=row.architecture, form="wait, else raise")
        assert row.bsyncs == arms.bsyncs + 1


@experiment.claim
def only_syncwarp_is_a_warpsync(meetings):
    """On every architecture only the kernel with __syncwarp() before the raising has a WARPSYNC."""
    for row in meetings.where():
        assert row.warpsyncs == (row.form == "wait, meet, raise")


@experiment.claim
def every_wait_yields(meetings):
    """On every architecture the compiler put a YIELD into each kernel."""
    for row in meetings.where():
        assert row.yields > 0


@experiment.claim
def the_waiting_gives_up(waits):
    """Where nobody raises the flag no launch saw it, and every launch came to its end."""
    for row in waits.where(form=NOBODY):
        assert row.outcome == "returned"
        assert row.seen == 0
