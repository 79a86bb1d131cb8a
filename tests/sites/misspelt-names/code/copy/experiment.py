"""A copy kernel, its wrong elements and its barriers."""

from measured_glossary.lab.experiment import Experiment, exact, racy

experiment = Experiment(title="Copying a tile", sources=["copy.cu"], architectures=["sm_90"])


@experiment.runtime(
    key={"threads": exact("Threads per block")},
    columns={"wrong": racy("Wrong elements", of=1024), "launched": exact("Launched blocks")},
    launches=3,
)
def mismatches(gpu):
    """One row for each block size."""
    raise AssertionError("these tests have no GPU")


@experiment.static(
    key={"architecture": exact("Architecture")},
    columns={"barriers": exact("BAR.SYNC instructions")},
)
def barriers(sass):
    """One row for each architecture."""
    for architecture in sass.architectures:
        found = sass.count(architecture, "copy_tile", "BAR.SYNC")
        yield {"architecture": architecture, "barriers": found}


@experiment.claim
def one_warp_is_right(mismatches):
    """At 32 threads a block no launch gave a wrong element."""
    assert mismatches(threads=32).wrong == 0


@experiment.claim
def one_barrier(barriers):
    """The kernel has one barrier."""
    assert all(row.barriers == 1 for row in barriers)
