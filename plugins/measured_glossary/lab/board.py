"""Which worker does what: each experiment once on each distinct kind of machine.

Comes in: what happened (a worker came, finished, was lost). Goes out: who is to do what next, and
what cannot be done any more. Values only: no network, no clock, so that every turn is tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

STATIC = "static"  # the kind of a worker without a GPU: it reads machine code
MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, order=True)
class Job:
    """One experiment on one kind of machine."""

    experiment: str
    kind: str


@dataclass(slots=True, kw_only=True)
class Board:
    """The state of a run over a cluster; `done` and `given_up` only grow."""

    experiments: tuple[str, ...]
    workers: dict[str, str] = field(default_factory=dict)  # address to kind
    busy: dict[str, Job] = field(default_factory=dict)
    waiting: list[Job] = field(default_factory=list)
    attempts: Counter[Job] = field(default_factory=Counter)
    jobs: set[Job] = field(default_factory=set)
    done: set[Job] = field(default_factory=set)
    given_up: dict[Job, str] = field(default_factory=dict)

    @property
    def so_far(self) -> str:
        """How many of the jobs are done, as `1 of 2`."""
        return f"{len(self.done)} of {len(self.jobs)}"

    def met(self, address: str, kind: str) -> tuple[Job, ...]:
        """Take a worker in; give the jobs that its kind brings, if it is the first of it."""
        self.workers[address] = kind
        new = [Job(name, kind) for name in self.experiments if Job(name, kind) not in self.jobs]
        self.jobs.update(new)
        self.waiting += new
        return tuple(new)

    def skip(self, job: Job) -> None:
        """Note that a job was done before."""
        self.waiting.remove(job)
        self.done.add(job)

    def assign(self) -> Iterator[tuple[str, Job]]:
        """Give each idle worker the next job of its kind."""
        for address, kind in sorted(self.workers.items()):
            job = next((job for job in self.waiting if job.kind == kind), None)
            if address not in self.busy and job is not None:
                self.waiting.remove(job)
                self.busy[address] = job
                self.attempts[job] += 1
                yield address, job

    def finished(self, address: str) -> Job:
        """Note that a worker has ended its job."""
        job = self.busy.pop(address)
        self.done.add(job)
        return job

    def failed(self, address: str, why: str) -> Job:
        """Note that a job has to be tried again, on another worker if there is one."""
        job = self.busy.pop(address)
        if self.attempts[job] >= MOST_ATTEMPTS:
            self.given_up[job] = f"tried {MOST_ATTEMPTS} times, the last time {why}"
        else:
            self.waiting.append(job)
        return job

    def lost(self, address: str, why: str) -> Job | None:
        """Note that a worker is gone; give the job it had, which is tried again."""
        self.workers.pop(address, None)
        return self.failed(address, why) if address in self.busy else None

    def stranded(self) -> tuple[Job, ...]:
        """Give the jobs that no worker is left for."""
        kinds = set(self.workers.values())
        return tuple(job for job in self.waiting if job.kind not in kinds)

    def give_up(self, job: Job, why: str) -> None:
        """Note that nobody will do a job."""
        self.waiting.remove(job)
        self.given_up[job] = why

    @property
    def over(self) -> bool:
        """Whether nothing is left to do or to wait for."""
        return not self.waiting and not self.busy
