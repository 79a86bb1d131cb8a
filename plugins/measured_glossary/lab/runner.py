"""Runs a worker: a fresh interpreter that can crash, hang or lie without harm to this one.

Comes in: a request as plain data. Goes out: `Ran`: how the worker ended, its checked answer, what
it printed. Must not know what a request means, nor import author code.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from measured_glossary.lab import process as processes
from measured_glossary.lab.answer import Answer, ProblemAnswer
from measured_glossary.lab.process import END_LIMIT_S, Output
from measured_glossary.lab.protocol import REQUEST, RESULT, SCHEMA
from measured_glossary.lab.settings import WORKER, Progress
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Located, canonical_json, parse_json, read, validate

Model = TypeVar("Model", bound=BaseModel)

START_LIMIT_S = 60
MAX_RESULT_BYTES = 64 << 20
LOOK_EVERY_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran(Generic[Model]):
    """How a worker ended.

    `outcome` is `returned`, `hung`, `crashed (SIGNAL)`, `crashed (exit N)`, `no result` or
    `damaged result`, and `detail` says more of the last; `begun` tells whether the work itself
    had started. Only a worker that returned has an `answer`, and that may lack a value.
    """

    outcome: str
    answer: Checked[Model]
    log: str
    seconds: float
    begun: bool
    detail: str = ""


def run_worker(
    model: type[Model],
    request: Mapping[str, Any],
    *,
    folder: Path,
    limit_s: float,
    progress: Progress | None = None,
    command: Sequence[str] = WORKER,
    start_limit_s: float = START_LIMIT_S,
    stop: threading.Event | None = None,
) -> Ran[Model]:
    """Run a worker in `folder`, which must be empty, and read its answer as `model`.

    The worker gets no input, no secrets and a process group of its own; it is killed, children
    included, `limit_s` after it said that its work begins, or `start_limit_s` after its start if
    it has not said so. What left its process group on purpose is not found. POSIX only. Once `stop`
    is set the worker is killed, and `Stopped` is raised.
    """
    call = Call(
        model=model,
        request=request,
        folder=folder,
        limit_s=limit_s,
        output=Output(progress=progress),
        start_limit_s=start_limit_s,
        stop=stop,
    )
    process = processes.start([*command, str(call.ask())], folder)
    reader = processes.read_from(process, lambda: call.output)
    try:
        ended = call.wait(lambda timeout_s: _has_ended(process, timeout_s))
    finally:
        processes.kill(process)
    reader.join(END_LIMIT_S)
    return call.ran(processes.outcome(process.returncode) if ended else "hung")


def _has_ended(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    try:
        process.wait(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return False
    return True


class Stopped(Exception):  # noqa: N818 - nothing went wrong: nobody waits for the answer any more
    """The build is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[Model]):
    """One request to a worker, from now on, and what comes of it; its folder must be empty."""

    model: type[Model]
    request: Mapping[str, Any]
    folder: Path
    limit_s: float
    output: Output
    start_limit_s: float = START_LIMIT_S
    stop: threading.Event | None = None
    started: float = field(default_factory=time.monotonic)

    def ask(self) -> Path:
        """Write the request's file."""
        file = self.folder / REQUEST
        file.write_bytes(canonical_json({"schema": SCHEMA, **self.request}))
        return file

    def wait(self, is_over: Callable[[float], bool]) -> bool:
        """Wait until it is over, looked at for so many seconds; say whether it came in time."""
        while True:
            if self.stop is not None and self.stop.is_set():
                raise Stopped
            begun = self.output.begun
            deadline = self.started + self.start_limit_s if begun is None else begun + self.limit_s
            left = deadline - time.monotonic()
            if is_over(max(0.0, min(left, LOOK_EVERY_S))):
                return True
            if left <= 0:
                return False

    def ran(self, outcome: str) -> Ran[Model]:
        """Give how the worker ended, and its answer if it returned."""
        answer: Checked[Model] = Checked(value=None)
        detail = ""
        if outcome == "returned":
            outcome, answer, detail = _answer(self.model, str(self.request["mode"]), self.folder)
        return Ran(
            outcome=outcome,
            answer=answer,
            log=self.output.text(),
            seconds=time.monotonic() - self.started,
            begun=self.output.begun is not None,
            detail=detail,
        )


def _answer(model: type[Model], mode: str, folder: Path) -> tuple[str, Checked[Model], str]:
    """Read the result: the outcome, the answer and what is wrong with it."""
    if not (folder / RESULT).exists():
        return "no result", Checked(value=None), "it ended without an answer"
    envelope = _envelope(folder)
    if envelope.value is None:
        return _damaged(envelope.problems)
    if envelope.value.mode != mode:
        return _damaged([_lie(f"it answers {envelope.value.mode!r}, asked was {mode!r}")])
    problems = tuple(map(_problem, envelope.value.problems))
    if envelope.value.value is None:
        return "returned", Checked(value=None, problems=problems), ""
    value = validate(model, Located(envelope.value.value, RESULT, {(): (0, 0)}), code=_LIE)
    if value.value is None:
        return _damaged(value.problems)
    return "returned", Checked(value=value.value, problems=problems), ""


def _envelope(folder: Path) -> Checked[Answer]:
    source = read(folder, RESULT, limit=MAX_RESULT_BYTES)
    if source.value is None:
        return Checked(value=None, problems=source.problems)
    located = parse_json(source.value)
    if located.value is None:
        return Checked(value=None, problems=located.problems)
    return validate(Answer, located.value, code=_LIE)


def _damaged(problems: Sequence[Problem]) -> tuple[str, Checked[Any], str]:
    return "damaged result", Checked(value=None), "; ".join(p.message for p in problems)


_LIE = "worker-answer"  # never shown: the runner's caller says which worker it was


def _lie(message: str) -> Problem:
    return Problem(place=Place(RESULT), code=_LIE, message=message)


def _problem(answer: ProblemAnswer) -> Problem:
    place = Place(answer.file, answer.line, answer.column)
    return Problem(place=place, code=answer.code, message=answer.message, hint=answer.hint)
