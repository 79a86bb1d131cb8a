"""A copy kernel and its barriers."""

from measured_glossary.lab.experiment import Experiment, exact

experiment = Experiment(title="Copying a tile", sources=["copy.cu"], architectures=["sm_90"])


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
def one_barrier(barriers):
    """The kernel has one barrier."""
    for row in barriers:
        assert row.barriers == 1
