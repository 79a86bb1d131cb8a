"""Warp divergence: paths taken side by side by lanes of one warp, or by whole warps."""

from functools import partial

from measured_glossary.lab.experiment import Experiment, exact, time

PATHS = (1, 2, 4, 8, 16, 32)
THREADS, BLOCKS_EACH = 256, 8
UNROLLED = 8  # steps of a path that follow each other, as in warp_divergence.cu
BY_LANE, BY_WARP = 0, 5  # how far a thread's number is shifted to give its path

experiment = Experiment(
    title="Equal paths, split among lanes and split among warps",
    sources=["warp_divergence.cu"],
)


@experiment.timed(
    key={"paths": exact("Different paths")},
    columns={
        "lanes": time("Time, among the lanes of each warp", "us"),
        "warps": time("Time, among whole warps", "us"),
    },
    cache="hot",
)
def split(gpu):
    """One number of equally long paths; each thread takes one of them."""
    grid = (BLOCKS_EACH * gpu.attribute("MultiProcessorCount"),)
    out = gpu.cupy.empty(grid[0] * THREADS, gpu.cupy.float32)
    uint32, branch = gpu.cupy.uint32, gpu.kernel("branch")
    for paths in PATHS:
        by_lane, by_warp = (
            partial(branch, grid, (THREADS,), (uint32(paths), uint32(shift), out))
            for shift in (BY_LANE, BY_WARP)
        )
        yield {"paths": paths, "lanes": by_lane, "warps": by_warp}


@experiment.static(
    key={"architecture": exact("Architecture"), "kernel": exact("Kernel")},
    columns={
        "branches": exact("Branches (BRA, BRX)"),
        "meetings": exact("Places to meet again (BSSY)"),
        "steps": exact("Multiply-adds (FFMA)"),
    },
)
def branches(sass):
    """One kernel's machine code for one architecture."""
    for architecture in sass.architectures:
        for kernel in ("branch", "small_if", "no_if"):
            counted = {"branches": ("BRA", "BRX"), "meetings": ("BSSY",), "steps": ("FFMA",)}
            counts = {
                column: sum(sass.count(architecture, kernel, opcode) for opcode in opcodes)
                for column, opcodes in counted.items()
            }
            yield {"architecture": architecture, "kernel": kernel, **counts}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def a_warp_walks_every_path(split):
    """With k paths among the lanes of a warp the kernel took k times as long, within a quarter."""
    one = split(paths=1).lanes
    for row in split.where(lambda row: row.paths > 1):
        assert row.lanes / one > 0.75 * row.paths
        assert row.lanes / one < 1.25 * row.paths


@experiment.claim
def warps_part_freely(split):
    """With the same paths among whole warps it took at most a quarter longer than with one path."""
    for row in split.where():
        assert row.warps < 1.25 * split(paths=1).warps.q1


@experiment.claim
def a_small_if_is_no_branch(branches):
    """On every architecture the kernel with a small `if` branches no more than one without any."""
    for row in branches.where(kernel="small_if"):
        without = branches(architecture=row.architecture, kernel="no_if")
        assert row.branches == without.branches
        assert row.meetings == without.meetings == 0


@experiment.claim
def the_paths_stayed_apart(branches):
    """On every architecture the 32 paths have steps of their own, and branches lead to them."""
    for row in branches.where(kernel="branch"):
        assert row.branches > max(PATHS)
        assert row.meetings > 0
        assert row.steps >= max(PATHS) * UNROLLED
