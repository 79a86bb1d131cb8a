"""Cases that tell which process they ran in; some end well only as the first in theirs."""

import os
import signal
import sys

from measured_glossary.lab.experiment import Experiment, exact

experiment = Experiment(title="Company", sources=["kernels.cu"])
HOW = ("first", "second", "fails", "third")


@experiment.outcomes(
    cases=[{"how": how} for how in HOW],
    key={"how": exact("How")},
    columns={"process": exact("Process")},
    limit_s=2,
)
def endings(gpu, how):
    """One case."""
    met = vars(sys).setdefault("met", [])
    met.append(how)
    if met != [how] and how == "fails":
        gpu.fail("cudaErrorLaunchFailure")
    if met != [how] and how == "hangs":
        signal.pause()
    if met != [how] and how == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    return {"process": os.getpid()}


@experiment.claim
def all_returned(endings):
    """Every case returned."""
    assert all(row.outcome == "returned" for row in endings.where())
