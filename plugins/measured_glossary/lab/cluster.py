"""Measures on a Dask cluster: each experiment once on each distinct kind of GPU among the workers.

Comes in: the project's root, ids, a scheduler's address. Goes out: records in `measurements/`, one
written at a time and whole, and problems. Imported by `glossary measure --dask` only; Dask is.

A worker needs this package and nothing of the project: the files travel with the task. The
scheduler is told which worker does what, so that a worker that dies or hangs costs its limit.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measured_glossary.lab import remote
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.board import STATIC, Board, Job
from measured_glossary.lab.declared import Declared, read_declared
from measured_glossary.lab.harvest import Harvest, job_problem
from measured_glossary.lab.record import Machine, Record
from measured_glossary.lab.settings import Settings
from measured_glossary.problem import Checked, Place, Problem

POLL_S = 0.5
ASK_LIMIT_S = 180  # for a worker to say what it is: it may have to load CuPy
SPARE_S = 300  # on top of an experiment's own limits
# What another worker of the same kind may do better.
AGAIN = frozenset({"gpu-lost", "worker-crashed", "worker-hung", "worker-no-result"})

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to use a cluster: `grace_s` is how long a kind of machine may be without a worker.

    `limit_s` replaces the limit that an experiment's own limits add up to; `command` starts the
    process in which a worker measures.
    """

    connect_s: float = 30
    grace_s: float = 60
    limit_s: float | None = None
    command: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of it: records written, what was done before, and problems."""

    records: tuple[Record, ...]
    skipped: tuple[Job, ...]
    problems: tuple[Problem, ...]


def measure(
    root: Path,
    ids: Sequence[str],
    address: str,
    settings: Settings,
    tell: Tell,
    options: Options = Options(),
) -> Outcome:
    """Measure experiments on the cluster whose scheduler has this address."""
    declared, problems = _read_all(root, ids, settings)
    if problems:
        return Outcome(records=(), skipped=(), problems=problems)
    client = _connect(address, options)
    if client.value is None:
        return Outcome(records=(), skipped=(), problems=client.problems)
    run = _Run(
        harvest=Harvest(root=root, declared=declared, cache=settings.cache),
        pool=_Pool(client=client.value, options=options),
        declared=declared,
        settings=settings,
        tell=tell,
        options=options,
        board=Board(experiments=tuple(declared)),
    )
    try:
        run.until_over()
    finally:
        for task in run.under_way():
            task.future.cancel()
        client.value.close()
    return run.outcome()


def _read_all(
    root: Path, ids: Sequence[str], settings: Settings
) -> tuple[dict[str, Declared], tuple[Problem, ...]]:
    declared, problems = dict[str, Declared](), list[Problem]()
    for name in ids:
        with tempfile.TemporaryDirectory(prefix="glossary-") as folder:
            bench = Bench(experiment=name, folder=Path(folder), settings=settings)
            checked = read_declared(root, bench)
        problems += checked.problems
        if checked.value is not None:
            declared[name] = checked.value
    return declared, tuple(problems)


def _connect(address: str, options: Options) -> Checked[Any]:
    try:
        from distributed import Client
    except ImportError:
        hint = "pip install 'mkdocs-measured-glossary[dask]'"
        return _refuse("cluster-not-installed", "Dask is not installed here", hint)
    try:
        return Checked(value=Client(address, timeout=options.connect_s, set_as_default=False))
    except (OSError, TimeoutError, ValueError) as error:
        message = f"no Dask scheduler answers at {address!r}: {str(error)[:200]}"
        hint = "start one with: dask scheduler; then a worker for each GPU: dask cuda worker"
        return _refuse("cluster-unreachable", message, hint)


def _refuse(code: str, message: str, hint: str = "") -> Checked[Any]:
    problem = Problem(place=Place("cluster"), code=code, message=message, hint=hint)
    return Checked(value=None, problems=(problem,))


# ── one run over a cluster ───────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    """The workers, each addressed by itself: nothing is left to the scheduler's choice."""

    client: Any
    options: Options

    def present(self) -> set[str]:
        """Give the addresses of the workers that are there."""
        return set(self.client.nthreads())

    def submit(
        self, address: str, limit_s: float, function: Callable[..., Any], *arguments: Any
    ) -> _Task:
        """Start a function on one worker and no other."""
        more = {} if self.options.command is None else {"command": self.options.command}
        future = self.client.submit(
            function,
            *arguments,
            workers=[address],
            allow_other_workers=False,
            pure=False,
            retries=0,
            **more,
        )
        return _Task(future=future, deadline=time.monotonic() + limit_s)

    def wait(self, tasks: Sequence[_Task]) -> None:
        """Wait until one of the tasks ends, or for a moment."""
        from distributed import wait

        if not tasks:
            time.sleep(POLL_S)
            return
        with self.client.as_current(), suppress(TimeoutError):
            futures = [task.future for task in tasks]
            wait(futures, timeout=POLL_S, return_when="FIRST_COMPLETED")


@dataclass(slots=True, kw_only=True)
class _Run:
    """Asks the workers what they are, gives them jobs, and gathers what comes back."""

    pool: _Pool
    harvest: Harvest
    declared: Mapping[str, Declared]
    settings: Settings
    tell: Tell
    options: Options
    board: Board
    asked: dict[str, _Task] = field(default_factory=dict)  # address to the question under way
    tasks: dict[str, _Task] = field(default_factory=dict)  # address to the job under way
    shunned: set[str] = field(default_factory=set)
    records: list[Record] = field(default_factory=list)
    skipped: list[Job] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    alone_since: float | None = None

    def until_over(self) -> None:
        """Go on until every job of every kind that was met is done or given up."""
        while True:
            self.look_for_workers()
            self.gather()
            for address, job in list(self.board.assign()):
                self.start(address, job)
            self.give_up_stranded()
            known = self.board.jobs and not self.asked
            if self.board.over and (known or self.is_alone_for_long()):
                return
            self.pool.wait(self.under_way())

    def outcome(self) -> Outcome:
        """Give what came of it."""
        return Outcome(
            records=tuple(self.records),
            skipped=tuple(self.skipped),
            problems=tuple(dict.fromkeys([*self.problems, *_undone(self.board)])),
        )

    # ── workers ──────────────────────────────────────────────────────────────────────────

    def look_for_workers(self) -> None:
        """Ask who is new; notice who is gone."""
        present = self.pool.present() - self.shunned
        known = {*self.board.workers, *self.asked}
        for address in sorted(known - present):
            self.lose(address, "the worker died")
        for address in sorted(present - known):
            self.asked[address] = self.pool.submit(address, ASK_LIMIT_S, remote.who)

    def lose(self, address: str, why: str) -> None:
        """Go on without a worker; its job is tried elsewhere."""
        for tasks in (self.asked, self.tasks):
            if task := tasks.pop(address, None):
                task.future.cancel()
        job = self.board.lost(address, why)
        self.tell(f"lost a worker{f' at {job.experiment} on {job.kind}' if job else ''}: {why}")

    def introduce(self, address: str, answer: Mapping[str, Any]) -> None:
        """Take a worker in by its answer, and skip what was done on its kind before."""
        facts = answer["machine"]
        if found := answer["problems"]:
            self.shunned.add(address)
            said = found[0]["message"].splitlines()[0]
            self.tell(f"left a worker alone that could not say what it is: {said}")
            return
        machine = Machine(**facts) if facts else None
        kind = machine.id if machine else STATIC
        for job in self.board.met(address, kind):
            if self.harvest.was_done(job, machine):
                self.board.skip(job)
                self.skipped.append(job)
                self.tell(f"{job.experiment} on {job.kind}: done before, from the same bytes")
        self.tell(f"a worker with {machine.name if machine else 'no GPU (machine code only)'}")

    # ── tasks ────────────────────────────────────────────────────────────────────────────

    def start(self, address: str, job: Job) -> None:
        """Send a job, files and all."""
        declared = self.declared[job.experiment]
        files = {name: source.raw for name, source in declared.files.items()}
        limit_s = self.options.limit_s or _limit_s(declared, self.settings)
        asked = (remote.work, job.experiment, files, job.kind != STATIC)
        self.tasks[address] = self.pool.submit(address, limit_s, *asked)
        self.tell(f"{job.experiment} on {job.kind}: started")

    def gather(self) -> None:
        """Take what has ended, and end what takes too long."""
        for address, task in list(self.asked.items()):
            if (ended := task.ended()) is not None:
                del self.asked[address]
                self.take_answer(address, ended)
        for address, task in list(self.tasks.items()):
            if (ended := task.ended()) is not None:
                del self.tasks[address]
                self.take_result(address, ended)

    def take_answer(self, address: str, ended: _Ended) -> None:
        """Take a worker in, or leave it alone if it hung or failed."""
        if ended.value is not None:
            self.introduce(address, ended.value)
            return
        self.shunned.add(address)
        self.lose(address, ended.why)

    def take_result(self, address: str, ended: _Ended) -> None:
        """Keep a result; try the job again where another worker may do better."""
        if ended.value is None:
            if ended.is_hung:
                self.shunned.add(address)
            (self.lose if ended.is_hung else self.retry)(address, ended.why)
            return
        job, found = self.board.busy[address], ended.value["problems"]
        for line in ended.value["said"]:
            self.tell(f"{job.kind}: {line}")
        if any(problem["code"] in AGAIN for problem in found):
            self.retry(address, found[0]["message"].splitlines()[0])
            return
        taken = self.harvest.take(job, ended.value)
        self.problems += taken.problems
        self.records += [taken.value] if taken.value else []
        self.board.finished(address)
        said = f"{len(found)} problems" if found else "done"
        self.tell(f"{job.experiment} on {job.kind}: {said} ({self.board.so_far})")

    def retry(self, address: str, why: str) -> None:
        """Put a job back."""
        job = self.board.failed(address, why)
        self.tell(f"{job.experiment} on {job.kind}: to be tried again: {why}")

    # ── waiting ──────────────────────────────────────────────────────────────────────────

    def give_up_stranded(self) -> None:
        """Give up what no worker is left for, once nobody came back in time."""
        stranded = self.board.stranded()
        if stranded and not self.asked and self.is_alone_for_long():
            for job in stranded:
                self.board.give_up(job, "no worker of that kind is left")
        if not stranded and self.board.workers:
            self.alone_since = None

    def is_alone_for_long(self) -> bool:
        """Say whether somebody has been missing for longer than the grace."""
        now = time.monotonic()
        self.alone_since = now if self.alone_since is None else self.alone_since
        return now - self.alone_since >= self.options.grace_s

    def under_way(self) -> tuple[_Task, ...]:
        """Give every question and every job that a worker has now."""
        return (*self.asked.values(), *self.tasks.values())


def _undone(board: Board) -> Iterator[Problem]:
    """Say what nobody measured, and why."""
    for job, why in sorted(board.given_up.items()):
        message = f"{job.experiment} was not measured on {job.kind}: {why}"
        hint = "look at the workers' logs, then run the same command: it goes on where it was"
        yield job_problem(job, "cluster-gave-up", message, hint)
    if not board.jobs:
        hint = "start one for each GPU: dask cuda worker ADDRESS"
        yield from _refuse("cluster-no-worker", "no worker said what it is", hint).problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """How a task ended: with a value, or why not."""

    value: Any = None
    why: str = ""
    is_hung: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """Something under way on a worker."""

    future: Any
    deadline: float

    def ended(self) -> _Ended | None:
        """Give how it ended, or nothing if it has not."""
        if self.future.status == "finished":
            return _Ended(value=self.future.result())
        if self.future.done():
            return _Ended(why=f"the task was {self.future.status}: {self._error()}")
        if time.monotonic() >= self.deadline:
            self.future.cancel()
            return _Ended(why="it had not ended at its limit", is_hung=True)
        return None

    def _error(self) -> str:
        error = self.future.exception() if self.future.status == "error" else None
        return f"{type(error).__name__}: {str(error)[:200]}" if error else "nobody says why"


def _limit_s(declared: Declared, settings: Settings) -> float:
    """Add up an experiment's own limits: nothing that keeps to them is ended."""
    cases = sum(p.limit_s * max(1, len(p.cases)) * max(1, len(p.tools)) for p in declared.probes)
    return settings.limits.compile_s + settings.limits.run_s + cases + SPARE_S
