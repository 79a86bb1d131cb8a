"""Ten cases that never end."""

import signal

from measured_glossary.lab.experiment import Experiment, exact

experiment = Experiment(title="Endless", sources=["kernels.cu"])


@experiment.outcomes(
    cases=[{"number": number} for number in range(10)], key={"number": exact("Number")}, limit_s=2
)
def endings(gpu, number):
    """One case."""
    signal.pause()


@experiment.claim
def none_returned(endings):
    """No case returned."""
    assert all(row.outcome == "hung" for row in endings.where())
