"""A barrier for a whole grid: how many blocks it can have, and what one more does."""

import ctypes

from measured_glossary.lab.experiment import Experiment, exact

THREADS = (64, 256, 1024)
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


def blocks_that_fit(gpu, threads):
    """Give how many blocks a multiprocessor holds at once, and how many multiprocessors there are.

    The first is what CUDA says of this kernel and this block size.
    """
    gpu.check()  # makes the context that the driver is asked in
    ask = gpu.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
    each = ask(gpu.kernel("neighbours").kernel.ptr, threads, 0)
    return each, gpu.attribute("MultiProcessorCount")


def launch_cooperatively(gpu, blocks, threads, arrays):
    """Launch through the driver: CuPy's own cooperative launch shrinks a grid that is too large."""
    pointers = [ctypes.c_void_p(array.data.ptr) for array in arrays]
    arguments = (ctypes.c_void_p * len(pointers))(*map(ctypes.addressof, pointers))
    kernel, stream = gpu.kernel("neighbours").kernel.ptr, 0
    gpu.cupy.cuda.driver.launchCooperativeKernel(
        kernel, blocks, 1, 1, threads, 1, 1, 0, stream, ctypes.addressof(arguments)
    )
    gpu.check()  # before the arguments go


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
    if launch == COOPERATIVE:
        launch_cooperatively(gpu, blocks, threads, (arrivals, rounds, stale))
    else:
        gpu.kernel("neighbours")((blocks,), (threads,), (arrivals, rounds, stale))
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
