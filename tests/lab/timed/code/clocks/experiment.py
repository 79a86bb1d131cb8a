"""Timed probes for a pretended GPU, whose calls say themselves how many milliseconds they take."""

from functools import partial
from itertools import cycle
from typing import Any

from measured_glossary.lab.experiment import Experiment, bytes_, exact, time

experiment = Experiment(title="Clocks", sources=["kernels.cu"])


@experiment.timed(
    key={"threads": exact("Threads")},
    columns={
        "moved": bytes_("Moved"),
        "plain": time("Plain", "us"),
        "slow": time("Slow", "us"),
    },
    limit_s=2,
)
def calls(gpu: Any) -> Any:
    """One number of threads."""
    for threads in (32, 64):
        jitter = cycle((0.999, 1.0, 1.001))
        yield {
            "threads": threads,
            "moved": 4096,
            "plain": partial(took, threads, jitter),
            "slow": partial(took, 3 * threads, jitter),
        }


@experiment.timed(key={"n": exact("N")}, columns={"hot": time("Hot", "ms")}, cache="hot", limit_s=2)
def hot(gpu: Any) -> Any:
    """One number."""
    yield {"n": 1, "hot": lambda: 5.0}


def took(milliseconds: float, jitter: Any) -> float:
    """Take so long, more or less."""
    return milliseconds * next(jitter)


@experiment.claim
def three_times_slower(calls: Any) -> None:
    """The slow one takes three times as long."""
    for row in calls:
        assert 2.9 < row.slow / row.plain < 3.1
        assert row.plain.bandwidth(row.moved) > row.slow.bandwidth(row.moved)
