"""An experiment whose cases run under a tool, and one whose cases all hang."""

from measured_glossary.lab.experiment import Experiment, exact

experiment = Experiment(title="Watched", sources=["kernels.cu"])
KEY = {"threads": exact("Threads"), "how": exact("How")}


@experiment.sanitizer(
    tools=["racecheck"],
    # Not in the order of the key: a row is called by its key all the same.
    cases=[{"how": how, "threads": 32} for how in ("returns", "fails")],
    key=KEY,
    limit_s=1,
)
def racecheck(gpu, threads, how):
    """One way to end, under a tool."""
    if how == "fails":
        gpu.fail("cudaErrorLaunchFailure")


@experiment.claim
def nothing_is_found(racecheck):
    """The tool has nothing to report."""
    assert racecheck(how="returns").verdict == "clean"
