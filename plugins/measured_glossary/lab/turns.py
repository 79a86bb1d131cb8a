"""Who may run when: each experiment alone on the GPU, then all cases, then all under a tool.

Comes in: how many experiments there are. Goes out: a `Turn` for each, and `Places` for workers.
Must not know what is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Condition, Event, Lock
from typing import Literal

from measured_glossary.lab.runner import Stopped

# What is timed, and what returned before; then all cases but those known to hang; then tools.
Stage = Literal["alone", "cases"]

LOOK_EVERY_S = 0.05  # whether the build is given up
WITHOUT_GPU = 4  # workers at a time
ON_THE_GPU = 6  # at a time, where nothing is timed; more would wait for each other in the driver
WATCHED = 10  # under tools, which keep the processor busier than the GPU
HANGING = 3  # beside them: the more kernels hang, the less of the GPU is left to the others
HANGING_WATCHED = 2


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


@dataclass(frozen=True, slots=True)
class Room:
    """Places for workers of one kind: `hanging` for those that will end with their limit.

    They must not keep a place from others so long.
    """

    usual: BoundedSemaphore
    hanging: BoundedSemaphore


def _room(usual: int, hanging: int) -> Room:
    return Room(BoundedSemaphore(usual), BoundedSemaphore(hanging))


@dataclass(slots=True)
class Lost:
    """What had ended when the GPU did not answer any more, for all experiments of a build.

    `after` is empty while it answers; what is told first stays.
    """

    after: str = ""

    def tell(self, after: str) -> None:
        """Say that the GPU does not answer since then."""
        self.after = self.after or after


@dataclass(frozen=True, slots=True)
class Places:
    """How many workers of each kind may run at a time, for all experiments of a build.

    Once the GPU is `lost`, nobody begins any more: what runs there takes its whole limit.
    """

    without_gpu: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(WITHOUT_GPU))
    cases: Room = field(default_factory=lambda: _room(ON_THE_GPU, HANGING))
    tools: Room = field(default_factory=lambda: _room(WATCHED, HANGING_WATCHED))
    lost: Lost = field(default_factory=Lost)
    _quiet: Lock = field(default_factory=Lock)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Wait until nobody has a place and let nobody take one; not while having one.

        Only what hung under a tool before may go on: waiting for it would take its whole limit.
        """
        every = [
            *[self.cases.usual] * ON_THE_GPU,
            *[self.cases.hanging] * HANGING,
            *[self.tools.usual] * WATCHED,
        ]
        with self._quiet, ExitStack() as taken:
            for places in every:
                taken.enter_context(places)
            yield
