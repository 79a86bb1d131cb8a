"""A warp adds up its values through shared memory, with __syncwarp() and with volatile alone."""

import random

from measured_glossary.lab.experiment import Experiment, exact, racy

WARP, THREADS = 32, 256
WARPS = 1 << 15
VALUES = WARPS * WARP
VOLATILE = ("give, then take", "give, else take", "take, else give")
MEETING = ("give, meet, take", "take, else give, meeting")
KERNELS = {
    "give, then take": "sum_give_then_take",
    "give, else take": "sum_give_or_take",
    "take, else give": "sum_take_or_give",
    "give, meet, take": "sum_give_meet_take",
    "take, else give, meeting": "sum_take_or_give_meeting",
}

experiment = Experiment(
    title="A warp's sum through shared memory, with and without __syncwarp()",
    sources=["syncwarp.cu"],
)


class Bench:
    """The values of one launch after another, their sums, and how to count the wrong ones."""

    def __init__(self, gpu):
        self.gpu, self.uint32 = gpu, gpu.cupy.uint32
        self.values = gpu.cupy.empty(VALUES, self.uint32)
        self.sums = gpu.cupy.empty(WARPS, self.uint32)

    def add_up(self, name, launch, values=VALUES):
        """Make the values of a launch, and let each warp add up its own."""
        grid = (values // THREADS,)
        self.gpu.kernel("fill")(grid, (THREADS,), (self.values, self.uint32(launch)))
        self.gpu.kernel(name)(grid, (THREADS,), (self.values, self.sums))

    def count_wrong(self, found):
        """Add the number of wrong sums to `found`."""
        arguments = (self.values, self.sums, found)
        self.gpu.kernel("check_sums")((WARPS // THREADS,), (THREADS,), arguments)


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.runtime(
    key={"step": exact("The step")},
    columns={"wrong": racy("Wrong sums", of=WARPS)},
    launches=200,
)
def sums(gpu):
    """One way to write the step; each launch adds up 32,768 warps' values, new ones each time."""
    bench = Bench(gpu)
    found = gpu.cupy.zeros((len(KERNELS), gpu.launches), bench.uint32)
    for index, launch in interleaved(len(KERNELS), gpu.launches, gpu.seed):
        bench.add_up(list(KERNELS.values())[index], launch)
        bench.count_wrong(found[index, launch:])
    for step, wrong in zip(KERNELS, found.get(), strict=True):
        yield {"step": step, "wrong": wrong}


def interleaved(variants, launches, seed):
    """Give each variant with each of its launches, in random order: drift then hits all alike."""
    order = [(variant, launch) for variant in range(variants) for launch in range(launches)]
    random.Random(seed).shuffle(order)  # noqa: S311 - an order, not a secret
    return order


@experiment.runtime(
    key={"changed": exact("Sums changed after a right run")}, columns={"found": exact("Found")}
)
def checker(gpu):
    """A number of sums changed by hand after a right run, for the check to find."""
    bench = Bench(gpu)
    for changed in (0, 1, 1000):
        found = gpu.cupy.zeros(1, bench.uint32)
        bench.add_up("sum_give_meet_take", launch=1)
        spoilt = bench.sums.get()
        spoilt[:changed] += 1
        bench.sums.set(spoilt)
        bench.count_wrong(found)
        yield {"changed": changed, "found": int(found.get()[0])}


@experiment.sanitizer(
    tools=["racecheck"], cases=[{"step": step} for step in KERNELS], key={"step": exact("The step")}
)
def racecheck(gpu, step):
    """One way to write the step, launched once with two blocks under racecheck."""
    Bench(gpu).add_up(KERNELS[step], launch=1, values=2 * THREADS)


@experiment.static(
    key={"architecture": exact("Architecture"), "step": exact("The step")},
    columns={"meetings": exact("WARPSYNC instructions")},
)
def meetings(sass):
    """One kernel's machine code for one architecture."""
    for architecture in sass.architectures:
        for step, kernel in KERNELS.items():
            count = sass.count(architecture, kernel, "WARPSYNC")
            yield {"architecture": architecture, "step": step, "meetings": count}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def volatile_is_not_enough(sums):
    """With volatile alone every launch gave wrong sums where taking and giving share an `if`."""
    assert sums(step="take, else give").wrong > 0


@experiment.claim
def volatile_may_look_enough(sums):
    """With volatile alone no launch gave a wrong sum where the giving has an `if` of its own."""
    assert sums(step="give, then take").wrong == 0


@experiment.claim
def with_a_meeting_it_is_right(sums):
    """With __syncwarp() no launch gave a wrong sum, however the step was written."""
    for step in MEETING:
        assert sums(step=step).wrong == 0


@experiment.claim
def racecheck_objects_to_volatile(racecheck):
    """Racecheck objects to every step without __syncwarp(), also where the sums are right."""
    for step in VOLATILE:
        assert racecheck(step=step).verdict == "findings"


@experiment.claim
def racecheck_only_warns(racecheck):
    """Racecheck calls none of these an error: it warns, of wrong sums and of right ones alike."""
    for step in VOLATILE:
        assert racecheck(step=step).errors == 0
        assert racecheck(step=step).warnings > 0


@experiment.claim
def racecheck_accepts_a_meeting(racecheck):
    """Racecheck has nothing to say against a step with __syncwarp()."""
    for step in MEETING:
        assert racecheck(step=step).verdict == "clean"


@experiment.claim
def the_check_finds_what_is_changed(checker):
    """Of sums changed by hand the check found each, and it found none where none was changed."""
    for row in checker.where():
        assert row.found == row.changed


@experiment.claim
def a_meeting_in_step_costs_no_instruction(meetings):
    """On every architecture a __syncwarp() that the warp reaches together is no WARPSYNC at all."""
    for row in meetings.where(step="give, meet, take"):
        assert row.meetings == 0


@experiment.claim
def a_meeting_of_arms_does(meetings):
    """On every architecture a __syncwarp() in each arm of an `if` is at least one WARPSYNC."""
    for row in meetings.where(step="take, else give, meeting"):
        assert row.meetings > 0
