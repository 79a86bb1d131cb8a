"""A barrier for a whole grid: how many blocks it can have, what one more does, and its cost."""

import ctypes
from itertools import pairwise

from measured_glossary.lab.experiment import Experiment, exact, time

THREADS = (64, 256, 1024)
WAITING, MORE = 256, 100  # threads of a block that only waits; barriers or launches more than one
WARM_UP, SAMPLES = 5, 200
COOPERATIVE, ORDINARY = "cooperative", "ordinary"
FIT, ONE_MORE = "as many as fit", "one more"
CASES = [
    *({"launch": COOPERATIVE, "threads": t, "grid": g} for t in THREADS for g in (FIT, ONE_MORE)),
    *({"launch": ORDINARY, "threads": 256, "grid": grid} for grid in (FIT, ONE_MORE)),
]

experiment = Experiment(
    title="A barrier for all blocks of a grid",
    sources=["grid_sync.cu"],
)


def blocks_that_fit(gpu, threads, kernel="neighbours"):
    """Give how many blocks a multiprocessor holds at once, and how many multiprocessors there are.

    The first is what CUDA says of this kernel and this block size.
    """
    gpu.check()  # makes the context that the driver is asked in
    ask = gpu.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
    each = ask(gpu.kernel(kernel).kernel.ptr, threads, 0)
    return each, gpu.attribute("MultiProcessorCount")


class Launch:
    """A launch through the driver: CuPy's own cooperative one shrinks a grid that is too large."""

    def __init__(self, gpu, kernel, blocks, threads, *arguments):
        self.driver, self.kernel = gpu.cupy.cuda.driver, gpu.kernel(kernel).kernel.ptr
        self.shape, self.arguments = (blocks, 1, 1, threads, 1, 1), arguments
        self.pointers = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        self.at = ctypes.addressof(self.pointers)

    def cooperatively(self):
        """Launch, and let CUDA see to it that all blocks run at once."""
        self.driver.launchCooperativeKernel(self.kernel, *self.shape, 0, 0, self.at)

    def ordinarily(self):
        """Launch as `<<<…>>>` does."""
        self.driver.launchKernel(self.kernel, *self.shape, 0, 0, self.at, 0)


def address(array):
    """Give the address of an array, as an argument of a launch."""
    return ctypes.c_void_p(array.data.ptr)


class Meeting:
    """A grid that does nothing but wait for all of its blocks."""

    def __init__(self, gpu, blocks):
        self.stopwatch = gpu.stopwatch(cold=False)
        self.arrivals = gpu.cupy.zeros(1, gpu.cupy.uint32)
        self.none, self.once, self.often = (
            Launch(gpu, "wait_for_all", blocks, WAITING, address(self.arrivals), ctypes.c_uint(n))
            for n in (0, 1, 1 + MORE)
        )

    def at_the_barrier(self):
        """Give the microseconds of one barrier more in a launch."""
        once_ms, often_ms = map(self.stopwatch, (self.once.cooperatively, self.often.cooperatively))
        return 1000 * (often_ms - once_ms) / MORE

    def by_a_launch(self):
        """Give the microseconds of one launch more, of the same grid without a barrier."""
        once_ms, often_ms = map(self.stopwatch, (self.none.ordinarily, self.launch_often))
        return 1000 * (often_ms - once_ms) / MORE

    def launch_often(self):
        """Launch `MORE` times more than once."""
        for _ in range(1 + MORE):
            self.none.ordinarily()


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.runtime(
    key={"threads": exact("Threads per block")},
    columns={
        "each": exact("Blocks on a multiprocessor"),
        "multiprocessors": exact("Multiprocessors"),
    },
)
def room(gpu):
    """One block size: how many blocks CUDA says can run at once."""
    for threads in THREADS:
        each, multiprocessors = blocks_that_fit(gpu, threads)
        yield {"threads": threads, "each": each, "multiprocessors": multiprocessors}


@experiment.runtime(
    key={"each": exact("Blocks on a multiprocessor")},
    columns={
        "blocks": exact("Blocks in the grid"),
        "barrier": time("One barrier more", "us"),
        "launch": time("One launch more", "us"),
    },
)
def meetings(gpu):
    """One number of blocks: the two ways in which a whole grid can wait for itself, in turns."""
    fit, multiprocessors = blocks_that_fit(gpu, WAITING, "wait_for_all")
    for each in (1, 2, 4, 8, 16):
        if each <= fit:
            meeting = Meeting(gpu, each * multiprocessors)
            samples = [sample(meeting) for _ in range(WARM_UP + SAMPLES)][WARM_UP:]
            barrier, launch = zip(*samples, strict=True)
            blocks = each * multiprocessors
            yield {"each": each, "blocks": blocks, "barrier": barrier, "launch": launch}


def sample(meeting):
    """Take each time once, in microseconds."""
    return meeting.at_the_barrier(), meeting.by_a_launch()


@experiment.outcomes(
    cases=CASES,
    key={
        "launch": exact("Launch"),
        "threads": exact("Threads per block"),
        "grid": exact("Blocks in the grid"),
    },
    columns={"blocks": exact("Blocks"), "stale": exact("Readings of an earlier round")},
    limit_s=5,
)
def launches(gpu, launch, threads, grid):
    """One launch of a kernel whose blocks meet ten times and read what a neighbour wrote before."""
    each, multiprocessors = blocks_that_fit(gpu, threads)
    blocks = each * multiprocessors + (grid == ONE_MORE)
    arrivals, rounds, stale = (gpu.cupy.zeros(n, gpu.cupy.uint32) for n in (1, blocks, 1))
    arguments = map(address, (arrivals, rounds, stale))
    start = Launch(gpu, "neighbours", blocks, threads, *arguments)
    if launch == COOPERATIVE:
        start.cooperatively()
    else:
        start.ordinarily()
    gpu.check()  # before the arguments go
    return {"blocks": blocks, "stale": int(stale.get()[0])}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def a_grid_can_meet(launches):
    """A cooperative launch of all blocks that fit returned, and each block saw its neighbour's."""
    for row in launches.where(launch=COOPERATIVE, grid=FIT):
        assert row.outcome == "returned"
        assert row.stale == 0


@experiment.claim
def the_room_is_the_limit(launches, room):
    """The largest grid is the blocks on a multiprocessor times the multiprocessors."""
    for row in launches.where(launch=COOPERATIVE, grid=FIT):
        here = room(threads=row.threads)
        assert row.blocks == here.each * here.multiprocessors


@experiment.claim
def one_more_is_an_error(launches):
    """One block more, launched cooperatively, was an error at the launch and not a hang."""
    for row in launches.where(launch=COOPERATIVE, grid=ONE_MORE):
        assert row.outcome == "cuda error CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"


@experiment.claim
def an_ordinary_launch_hangs(launches):
    """One block more, launched in the ordinary way, hung."""
    assert launches(launch=ORDINARY, threads=256, grid=ONE_MORE).outcome == "hung"


@experiment.claim
def an_ordinary_launch_may_work(launches):
    """As many blocks as fit, launched in the ordinary way, met all the same."""
    row = launches(launch=ORDINARY, threads=256, grid=FIT)
    assert row.outcome == "returned"
    assert row.stale == 0


@experiment.claim
def a_barrier_is_shorter_than_a_launch(meetings):
    """In every grid one barrier more took less than one launch more of the same grid."""
    for row in meetings.where():
        assert row.barrier < row.launch


@experiment.claim
def more_blocks_wait_longer(meetings):
    """The more blocks there were on a multiprocessor, the longer a barrier took."""
    rows = meetings.where()
    for fewer, more in pairwise(rows):
        assert fewer.barrier < more.barrier
