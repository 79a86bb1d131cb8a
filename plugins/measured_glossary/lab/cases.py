"""Cases that may hang or fail, side by side, each in a process of its own.

Comes in: jobs, and a `Bench` to ask whether the GPU still answers. Goes out: what each job gave,
in order. Must not know what a job measures; nothing that is timed may run here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import BoundedSemaphore, Event, Lock
from typing import Any, Generic, TypeVar

from measured_glossary.lab.answer import AliveAnswer, CaseAnswer, ProbeAnswer
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.declared import Declared
from measured_glossary.lab.table import Plain, Table, from_data, pairs
from measured_glossary.lab.turns import HANGING
from measured_glossary.problem import Checked, Place, Problem

T = TypeVar("T")
Row = dict[str, Plain]

ALIVE_LIMIT_S = 30
ENDINGS = ("hung", *(f"crashed (SIG{name})" for name in ("ABRT", "BUS", "FPE", "ILL", "SEGV")))


Begin = Callable[[], None]


def _at_once() -> None:
    """Wait for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Generic[T]):
    """What a job gave, and whether its process was killed or broke: then the GPU is looked at."""

    given: Checked[T]
    abruptly: bool
    hung: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Generic[T]):
    """One case of the table called `task`; `hung_before` is none if it was never measured."""

    task: str
    run: Callable[[], Ended[T]]
    hung_before: bool | None = None


def side_by_side(
    bench: Bench, jobs: Sequence[Job[T]], hanging: BoundedSemaphore, begin: Begin = _at_once
) -> tuple[Checked[T], ...]:
    """Run jobs, some at a time; once the GPU does not answer any more, no other job is begun.

    What hung before has the places `hanging`; the others wait for `begin`. What hangs and is not
    known to is run again when it is quiet: beside hung kernels a slow one passes its limit too.
    """
    watch = _Watch(bench=bench, hanging=hanging, begin=begin, totals=Counter(j.task for j in jobs))
    with ThreadPoolExecutor(len(jobs) or 1, thread_name_prefix="case") as pool:
        ended = list(pool.map(watch.run, jobs))
    known = zip(jobs, ended, strict=True)
    doubtful = [n for n, (job, e) in enumerate(known) if e and e.hung and not job.hung_before]
    if doubtful:
        with bench.places.quiet(), ThreadPoolExecutor(HANGING, thread_name_prefix="case") as pool:
            again = pool.map(watch.ended, [jobs[number] for number in doubtful])
            for number, end in zip(doubtful, again, strict=True):
                ended[number] = end
    return tuple(e.given if e else watch.lost(job) for job, e in zip(jobs, ended, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watch:
    """Looks whether the GPU answers after what ended abruptly, and counts what is done."""

    bench: Bench
    hanging: BoundedSemaphore
    begin: Begin
    totals: Mapping[str, int]
    done: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)
    is_lost: Event = field(default_factory=Event)

    def run(self, job: Job[T]) -> Ended[T] | None:
        """Run one job in its place."""
        if job.hung_before:
            places = self.hanging
        else:
            self.begin()
            places = self.bench.places.on_the_gpu
        with places:
            ended = self.ended(job)
        if ended is not None:
            with self.lock:
                self.done[job.task] += 1
                self.bench.progress(job.task, self.done[job.task], self.totals[job.task])
        return ended

    def ended(self, job: Job[T]) -> Ended[T] | None:
        """Run a job and look for the GPU if it ended abruptly; nothing, if that is lost."""
        if self.is_lost.is_set():
            return None
        ended = job.run()
        if ended.abruptly and not answers(self.bench):
            self.is_lost.set()
            return None
        return ended

    def lost(self, job: Job[T]) -> Checked[T]:
        """Give the problem that a job was not run to its end."""
        message = f"the GPU did not answer a trivial launch after a case of {job.task} had ended"
        hint = "look at it with nvidia-smi; reset it, or measure on another machine"
        place = Place(self.bench.file)
        problem = Problem(place=place, code="gpu-lost", message=message, hint=hint)
        return Checked(value=None, problems=(problem,))


def answers(bench: Bench) -> bool:
    """Say whether a process that was not part of what happened gets a trivial launch done."""
    answer = bench.run_warm(AliveAnswer, "alive", ALIVE_LIMIT_S).answer
    return answer.value is not None and answer.value.alive


# ── outcome probes ───────────────────────────────────────────────────────────────────────────


def outcome_tables(
    bench: Bench, declared: Declared, request: Mapping[str, Any]
) -> Checked[tuple[Table, ...]]:
    """Run every case of every outcome probe: how it ended is a row, and not a problem."""
    probes = [probe for probe in declared.probes if probe.table.kind == "outcome"]
    jobs = [
        Job(
            task=probe.table.name,
            run=partial(_case, bench, probe, index, request),
            hung_before=bench.hung.get((probe.table.name, _key(probe, case))),
        )
        for probe in probes
        for index, case in enumerate(probe.cases)
    ]
    done = side_by_side(bench, jobs, bench.places.hanging)
    problems = tuple(problem for each in done for problem in each.problems)
    if problems:
        return Checked(value=None, problems=problems)
    rows = iter([each.value for each in done])
    tables = (
        from_data({**probe.table.model_dump(), "rows": [next(rows) for _ in probe.cases]})
        for probe in probes
    )
    return Checked(value=tuple(tables))


def _key(probe: ProbeAnswer, case: Row) -> str:
    return pairs({column.name: case[column.name] for column in probe.table.key})


def _case(bench: Bench, probe: ProbeAnswer, index: int, request: Mapping[str, Any]) -> Ended[Row]:
    """Run one case: hanging or crashing once its work had begun is its outcome.

    Being killed from outside, or leaving with a status, is not: no kernel does that.
    """
    more = {"probe": probe.table.name, "case": index}
    ran = bench.run(CaseAnswer, "case", probe.limit_s, **request, **more)
    if ran.begun and ran.outcome in ENDINGS:
        empty: Row = {column.name: None for column in probe.table.columns}
        row: Row = {**probe.cases[index], **empty, "outcome": ran.outcome}
        return Ended(given=Checked(value=row), abruptly=True, hung=ran.outcome == "hung")
    answer = bench.answer_of(ran, f"case {index + 1} of {probe.table.name}")
    if answer.value is None:
        return Ended(given=Checked(value=None, problems=answer.problems), abruptly=True)
    row = answer.value.row
    return Ended(given=Checked(value=row), abruptly=row["outcome"] != "returned")
