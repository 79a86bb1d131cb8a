"""Who may run when: first each experiment alone on the GPU, then all cases, then all under a tool.

Comes in: how many experiments there are. Goes out: a `Turn` for each, and `Places` for workers.
Must not know what is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import BoundedSemaphore, Condition, Event, Lock
from typing import Literal

from measured_glossary.lab.runner import Stopped

Stage = Literal["alone", "cases"]  # what is timed; then what may hang; then, without a name, tools

LOOK_EVERY_S = 0.05  # whether the build is given up
WITHOUT_GPU = 4  # workers at a time
ON_THE_GPU = 6  # at a time, where nothing is timed; more would wait for each other in the driver
HANGING = 2  # beside them: the more kernels hang, the less of the GPU is left to the others


class Turns:
    """How many experiments have not passed a stage; once `stop` is set, who waits is `Stopped`."""

    def __init__(self, count: int, stop: Event | None = None) -> None:
        self.gpu, self.stop = Lock(), stop or Event()
        self._left: dict[Stage, int] = {"alone": count, "cases": count}
        self._changed = Condition()

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Give one experiment its turn; at the end it has passed, whatever happened."""
        turn = Turn(self)
        try:
            yield turn
        finally:
            turn.passes("alone", "cases")

    def passed(self, stage: Stage) -> None:
        """Count one experiment that has passed a stage."""
        with self._changed:
            self._left[stage] -= 1
            self._changed.notify_all()

    def wait(self, stage: Stage) -> None:
        """Wait until all have passed it."""
        with self._changed:
            while self._left[stage]:
                if self.stop.is_set():
                    raise Stopped
                self._changed.wait(LOOK_EVERY_S)


class Turn:
    """One experiment's turn; it passes each stage once."""

    def __init__(self, turns: Turns) -> None:
        self._turns, self._passed = turns, set[Stage]()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have the GPU for oneself."""
        with self._turns.gpu:
            yield

    def passes(self, *stages: Stage) -> None:
        """Need a stage no more."""
        for stage in stages:
            if stage not in self._passed:
                self._passed.add(stage)
                self._turns.passed(stage)

    def wait_for_all(self, stage: Stage) -> None:
        """Wait until every experiment has passed a stage, this one too."""
        self._turns.wait(stage)


class Places:
    """How many workers of each kind may run at a time, for all experiments of a build.

    `hanging` are for cases that hung before, `hanging_watched` for those that did under a tool:
    they end with their limit, and must not keep a place from others so long.
    """

    def __init__(self) -> None:
        self.without_gpu = BoundedSemaphore(WITHOUT_GPU)
        self.on_the_gpu = BoundedSemaphore(ON_THE_GPU)
        self.hanging = BoundedSemaphore(HANGING)
        self.hanging_watched = BoundedSemaphore(HANGING)
        self._quiet = Lock()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Wait until nobody has a place and let nobody take one; not while having one.

        Only what hung under a tool before may go on: waiting for it would take its whole limit.
        """
        with self._quiet, ExitStack() as taken:
            for places in [self.on_the_gpu] * ON_THE_GPU + [self.hanging] * HANGING:
                taken.enter_context(places)
            yield
