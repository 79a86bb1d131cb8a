"""Who may run when: first each experiment alone on the GPU, for what is timed; then all together.

Comes in: how many experiments there are. Goes out: a `Turn` for each, and `Places` for workers.
Must not know what is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Condition, Event, Lock

from measured_glossary.lab.runner import Stopped

LOOK_EVERY_S = 0.05  # whether the build is given up
WITHOUT_GPU = 4  # workers at a time
ON_THE_GPU = 6  # at a time, where nothing is timed; more would wait for each other in the driver
HANGING = 2  # beside them: the more kernels hang, the less of the GPU is left to the others


@dataclass(slots=True, kw_only=True)
class Turns:
    """The turns that are left; once `stop` is set, who waits for the others is `Stopped`."""

    left: int
    stop: Event = field(default_factory=Event)
    changed: Condition = field(default_factory=Condition)
    gpu: Lock = field(default_factory=Lock)

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Give one experiment its turn; it has passed at the end, whatever happened."""
        turn = Turn(turns=self)
        try:
            yield turn
        finally:
            turn.passes()


@dataclass(slots=True, kw_only=True)
class Turn:
    """One experiment's turn: it passes once, and with it the right to be alone."""

    turns: Turns
    has_passed: bool = False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have the GPU for oneself."""
        with self.turns.gpu:
            yield

    def passes(self) -> None:
        """Want the GPU for oneself no more."""
        if self.has_passed:
            return
        self.has_passed = True
        with self.turns.changed:
            self.turns.left -= 1
            self.turns.changed.notify_all()

    def wait_for_all(self) -> None:
        """Wait until nobody is alone on the GPU, nor will be."""
        self.passes()
        with self.turns.changed:
            while self.turns.left:
                if self.turns.stop.is_set():
                    raise Stopped
                self.turns.changed.wait(LOOK_EVERY_S)


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
        self._again = Lock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Take all places on the GPU, once whoever has one has left; not while having one."""
        kinds = [self.on_the_gpu] * ON_THE_GPU
        kinds += [self.hanging, self.hanging_watched] * HANGING
        with self._again, ExitStack() as taken:
            for places in kinds:
                taken.enter_context(places)
            yield
