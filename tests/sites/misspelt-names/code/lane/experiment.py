"""An experiment that names its kernel's file wrongly."""

from measured_glossary.lab.experiment import Experiment, exact

experiment = Experiment(title="Lanes", sources=["lan.cu"], architectures=["sm_90"])


@experiment.static(
    key={"architecture": exact("Architecture")}, columns={"loads": exact("Load instructions")}
)
def loads(sass):
    """One row for each architecture."""
    for architecture in sass.architectures:
        yield {"architecture": architecture, "loads": sass.count(architecture, "lane", "LDG")}


@experiment.claim
def one_load(loads):
    """The kernel has one load."""
    for row in loads:
        assert row.loads == 1
