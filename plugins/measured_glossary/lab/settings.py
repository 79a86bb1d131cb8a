"""How experiments are studied: what may be asked of this machine, and how long it may take.

Comes in: nothing. Goes out: `Settings`. Must not load what studies: most builds measure nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Literal

Measure = Literal["auto", "live", "recorded"]
Progress = Callable[[str, int, int], None]  # is told a task, how much is done, and of how much

WORKER = (sys.executable, "-P", "-X", "utf8", "-m", "measured_glossary.lab.worker")


def experiment_file(experiment: str) -> str:
    """Give the file that declares an experiment."""
    return f"code/{experiment}/experiment.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a worker of each kind may take, in seconds."""

    quick_s: float = 60
    compile_s: float = 600
    run_s: float = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to study experiments.

    `measure`: `live` insists on a GPU, `auto` uses one that is there, `recorded` looks for none.
    `gpu`: `True` insists too, `False` looks for none, `None` leaves it to `measure`. `cache` is a
    folder for compiled code and live results, `reports` one that keeps all that sanitizers wrote.
    `launches` replaces the declared number, for a trial whose result is not kept. `tell` is given
    what an author's code prints, line by line. `command` starts a worker; once `stop` is set, all
    of them are killed.
    """

    measure: Measure = "auto"
    gpu: bool | None = None
    cache: Path | None = None
    reports: Path | None = None
    progress: Progress | None = None
    tell: Callable[[str], object] | None = None
    launches: int | None = None
    seed: int = 14
    limits: Limits = field(default_factory=Limits)
    command: tuple[str, ...] = WORKER
    stop: Event = field(default_factory=Event, compare=False, repr=False)

    @property
    def looks_for_gpu(self) -> bool:
        """Whether this build measures live if it can."""
        return self.measure != "recorded" and self.gpu is not False

    @property
    def insists_on_gpu(self) -> bool:
        """Whether it is a problem that there is no GPU."""
        return self.looks_for_gpu and (self.measure == "live" or self.gpu is True)
