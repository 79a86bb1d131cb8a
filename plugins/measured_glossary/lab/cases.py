"""Cases that may hang or fail: those that never did one by one, the others side by side.

Comes in: jobs, and a `Bench` to ask whether the GPU still answers. Goes out: what each job gave,
in order. Must not know what a job measures; nothing that is timed may run here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, Generic, TypeVar

from measured_glossary.lab.answer import AliveAnswer, CaseAnswer, ProbeAnswer
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.declared import Declared
from measured_glossary.lab.runner import Ran
from measured_glossary.lab.table import Plain, Table, from_data, pairs
from measured_glossary.lab.turns import HANGING, Room
from measured_glossary.problem import Checked, Place, Problem

T = TypeVar("T")
Row = dict[str, Plain]

ALIVE_LIMIT_S = 30
ENDINGS = ("hung", *(f"crashed (SIG{name})" for name in ("ABRT", "BUS", "FPE", "ILL", "SEGV")))


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
    """One case of the table called `task`; `hung_before` if it will take its whole limit."""

    task: str
    run: Callable[[], Ended[T]]
    hung_before: bool = False


def side_by_side(
    bench: Bench,
    jobs: Sequence[Job[T]],
    room: Room,
    *,
    begin: Callable[[], None] = _at_once,
    settled: Callable[[], None] = _at_once,
) -> tuple[Checked[T], ...]:
    """Run jobs, some at a time; once the GPU is lost, no other job of the build is begun.

    What hung before does not wait for `begin`, and `settled` is called when nothing else is left.
    What hangs and is not known to is run again when it is quiet: beside hung kernels a slow one
    passes its limit too.
    """
    watch = _Watch(bench=bench, room=room, begin=begin, totals=Counter(j.task for j in jobs))
    with ThreadPoolExecutor(len(jobs) or 1, thread_name_prefix="case") as pool:
        running = [pool.submit(watch.run, job) for job in jobs]
        unknown = {n: running[n].result() for n, job in enumerate(jobs) if not job.hung_before}
        unknown |= _tried_again(watch, jobs, [n for n, e in unknown.items() if e and e.hung])
        settled()
        ended = [unknown[n] if n in unknown else each.result() for n, each in enumerate(running)]
    return tuple(each.given if each else gpu_lost(bench) for each in ended)


def _tried_again(
    watch: _Watch, jobs: Sequence[Job[T]], doubtful: Sequence[int]
) -> dict[int, Ended[T] | None]:
    if not doubtful:
        return {}
    with watch.bench.places.quiet(), ThreadPoolExecutor(HANGING, thread_name_prefix="case") as pool:
        again = pool.map(watch.ended, [jobs[number] for number in doubtful])
        return dict(zip(doubtful, again, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watch:
    """Looks whether the GPU answers after what ended abruptly, and counts what is done."""

    bench: Bench
    room: Room
    begin: Callable[[], None]
    totals: Mapping[str, int]
    done: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)

    def run(self, job: Job[T]) -> Ended[T] | None:
        """Run one job in its place."""
        if not job.hung_before:
            self.begin()
        with self.room.hanging if job.hung_before else self.room.usual:
            ended = self.ended(job)
        if ended is not None:
            with self.lock:
                self.done[job.task] += 1
                self.bench.progress(job.task, self.done[job.task], self.totals[job.task])
        return ended

    def ended(self, job: Job[T]) -> Ended[T] | None:
        """Run a job and look for the GPU if it ended abruptly; nothing, if that is lost."""
        if self.bench.places.lost.after:
            return None
        ended = job.run()
        if ended.abruptly and not answers(self.bench, after=f"a case of {job.task}"):
            return None
        return ended


def answers(bench: Bench, *, after: str) -> bool:
    """Say whether a process that was not part of what happened gets a trivial launch done.

    If not, nobody begins any more in this build; `after` says what had just ended.
    """
    answer = bench.run_warm(AliveAnswer, "alive", ALIVE_LIMIT_S).answer
    is_alive = answer.value is not None and answer.value.alive
    if not is_alive:
        bench.places.lost.tell(f"{after} of {bench.experiment}")
    return is_alive


def gpu_lost(bench: Bench) -> Checked[Any]:
    """Give the problem that something was not run, or not to its end."""
    after = bench.places.lost.after
    message = f"the GPU did not answer a trivial launch after {after} had ended"
    hint = "look at it with nvidia-smi; reset it, or measure on another machine"
    place = Place(bench.file)
    problem = Problem(place=place, code="gpu-lost", message=message, hint=hint)
    return Checked(value=None, problems=(problem,))


# ── outcome probes ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One case of an outcome probe; `key` is its row, by table and key."""

    probe: ProbeAnswer
    index: int

    @property
    def key(self) -> tuple[str, str]:
        values = self.probe.cases[self.index]
        return self.probe.table.name, pairs({c.name: values[c.name] for c in self.probe.table.key})


Rows = Mapping[tuple[str, str], Row]


def returned_again(bench: Bench, declared: Declared, request: Mapping[str, Any]) -> Rows:
    """Run the cases that returned before in the shared worker, and give the rows of those that do.

    It must have the GPU alone. After the first that does not return, the rest is left, and the GPU
    is looked at: all that has no row is to be run by itself.
    """
    rows = dict[tuple[str, str], Row]()
    known = (case for case in _cases(declared) if bench.endings.get(case.key) == "returned")
    for case in known if bench.warm is not None else ():
        ended = _ended(bench, case, bench.run_warm, request)
        if ended.abruptly or ended.given.value is None:
            answers(bench, after=f"a case of {case.probe.table.name}")
            break
        rows[case.key] = ended.given.value
    return rows


def outcome_tables(
    bench: Bench,
    declared: Declared,
    request: Mapping[str, Any],
    known: Rows,
    settled: Callable[[], None] = _at_once,
) -> Checked[tuple[Table, ...]]:
    """Run every case that is not `known` yet: how it ended is a row, and not a problem.

    `settled` is called when only those are left that are known to hang.
    """
    cases = list(_cases(declared))
    jobs = [
        Job(
            task=case.probe.table.name,
            run=partial(_ended, bench, case, bench.run, request),
            hung_before=bench.endings.get(case.key) == "hung",
        )
        for case in cases
        if case.key not in known
    ]
    done = side_by_side(bench, jobs, bench.places.cases, settled=settled)
    problems = tuple(problem for each in done for problem in each.problems)
    if problems:
        return Checked(value=None, problems=problems)
    given = iter([each.value for each in done])
    rows = iter([known.get(case.key) or next(given) for case in cases])
    tables = (
        from_data({**probe.table.model_dump(), "rows": [next(rows) for _ in probe.cases]})
        for probe in declared.probes
        if probe.table.kind == "outcome"
    )
    return Checked(value=tuple(tables))


def _cases(declared: Declared) -> Iterator[_Case]:
    for probe in declared.probes:
        if probe.table.kind == "outcome":
            yield from (_Case(probe=probe, index=index) for index in range(len(probe.cases)))


def _ended(
    bench: Bench,
    case: _Case,
    run: Callable[..., Ran[CaseAnswer]],
    request: Mapping[str, Any],
) -> Ended[Row]:
    """Run one case: hanging or crashing once its work had begun is its outcome.

    Being killed from outside, or leaving with a status, is not: no kernel does that.
    """
    probe, name = case.probe, case.probe.table.name
    ran = run(CaseAnswer, "case", probe.limit_s, **request, probe=name, case=case.index)
    if ran.begun and ran.outcome in ENDINGS:
        empty: Row = {column.name: None for column in probe.table.columns}
        row: Row = {**probe.cases[case.index], **empty, "outcome": ran.outcome}
        return Ended(given=Checked(value=row), abruptly=True, hung=ran.outcome == "hung")
    answer = bench.answer_of(ran, f"case {case.index + 1} of {name}")
    if answer.value is None:
        return Ended(given=Checked(value=None, problems=answer.problems), abruptly=True)
    row = answer.value.row
    return Ended(given=Checked(value=row), abruptly=row["outcome"] != "returned")
