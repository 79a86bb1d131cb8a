"""Runs a worker: a fresh interpreter that can crash, hang or lie without harm to this one.

Comes in: a request as plain data. Goes out: `Ran`: how the worker ended, its checked answer, what
it printed. Must not know what a request means, nor import author code.
"""

from __future__ import annotations

import os
import re
import signal
import site
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from pydantic import BaseModel

import measured_glossary
from measured_glossary.lab.answer import Answer, ProblemAnswer
from measured_glossary.lab.protocol import REQUEST, RESULT, SCHEMA, read_event
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Located, canonical_json, parse_json, read, validate

Model = TypeVar("Model", bound=BaseModel)
Progress = Callable[[str, int, int], None]

WORKER = (sys.executable, "-P", "-X", "utf8", "-m", "measured_glossary.lab.worker")
START_LIMIT_S = 60
END_LIMIT_S = 5  # after SIGKILL: a process in the driver may take a moment to go
MAX_LOG_BYTES = 256 << 10
MAX_RESULT_BYTES = 64 << 20
MAX_LINE_BYTES = 64 << 10

_KEPT = {"PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "COMSPEC", "PATHEXT"}
_KEPT_PREFIXES = ("CUDA_", "NVIDIA_")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CRED|AUTH", re.IGNORECASE)


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
    (folder / REQUEST).write_bytes(canonical_json({"schema": SCHEMA, **request}))
    started = time.monotonic()
    output = _Output(progress=progress)
    process = _start(command, folder)
    reader = threading.Thread(target=output.read, args=(process.stdout,), daemon=True)
    reader.start()
    try:
        ended = _wait(process, output, started + start_limit_s, limit_s, stop)
    finally:
        _kill(process)
    reader.join(END_LIMIT_S)
    outcome = _outcome(process.returncode) if ended else "hung"
    answer: Checked[Model] = Checked(value=None)
    detail = ""
    if outcome == "returned":
        outcome, answer, detail = _answer(model, str(request["mode"]), folder)
    return Ran(
        outcome=outcome,
        answer=answer,
        log=output.text(),
        seconds=time.monotonic() - started,
        begun=output.begun is not None,
        detail=detail,
    )


class Stopped(Exception):  # noqa: N818 - nothing went wrong: nobody waits for the answer any more
    """The build is given up."""


# ── the process ──────────────────────────────────────────────────────────────────────────────


def environment(outer: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Give a worker's environment: an allow-list of `outer`, and `folder` for all it writes."""
    kept = {
        name: value
        for name, value in outer.items()
        if name in _KEPT or (name.startswith(_KEPT_PREFIXES) and not _SECRET.search(name))
    }
    package = str(Path(measured_glossary.__file__).parent.parent)
    # Where this process found the packages it imported, the worker finds them too.
    paths = [package, *(path for path in sys.path if path and Path(path).is_absolute())]
    searched = os.pathsep.join(dict.fromkeys(paths))
    own = {"HOME": folder, "TMPDIR": folder, "TEMP": folder, "TMP": folder, "PYTHONPATH": searched}
    if site.ENABLE_USER_SITE:  # found through HOME, which is another one now
        own["PYTHONUSERBASE"] = Path(site.getuserbase())
    return {**kept, **{name: str(path) for name, path in own.items()}, "PYTHONUNBUFFERED": "1"}


def _start(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*command, str(folder / REQUEST)],
        cwd=folder,
        env=environment(os.environ, folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _wait(
    process: subprocess.Popen[bytes],
    output: _Output,
    start_deadline: float,
    limit_s: float,
    stop: threading.Event | None,
) -> bool:
    """Wait for the end; say whether it came in time."""
    while True:
        if stop is not None and stop.is_set():
            raise Stopped
        deadline = start_deadline if output.begun is None else output.begun + limit_s
        left = deadline - time.monotonic()
        try:
            process.wait(timeout=max(0.0, min(left, 0.05)))
            return True
        except subprocess.TimeoutExpired:
            if left <= 0:
                return False


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group, also when its leader has ended: it may have left children."""
    with suppress(ProcessLookupError, PermissionError):  # nobody is left in it
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(subprocess.TimeoutExpired):  # stuck in the driver until that lets go of it
        process.wait(timeout=END_LIMIT_S)


def _outcome(status: int) -> str:
    if status < 0:
        return f"crashed ({signal.Signals(-status).name})"
    return f"crashed (exit {status})" if status else "returned"


# ── what it says ─────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Output:
    """A worker's output: progress is passed on, the rest kept: its beginning and its end."""

    progress: Progress | None
    begun: float | None = None
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def read(self, stream: IO[bytes]) -> None:
        """Read until everybody who can write has closed the stream."""
        with stream:
            while line := stream.readline(MAX_LINE_BYTES):
                printed, event = read_event(line)
                self._keep(printed)
                if "begin" in event:
                    self.begun = self.begun or time.monotonic()
                elif event:
                    self._report(event)

    def text(self) -> str:
        """Give what was kept, with a note on what was dropped."""
        note = f"\n… {self.dropped:,} bytes dropped …\n".encode() if self.dropped else b""
        return (bytes(self.head) + note + bytes(self.tail)).decode(errors="replace")

    def _keep(self, line: bytes) -> None:
        half = MAX_LOG_BYTES // 2
        room = half - len(self.head)
        self.head += line[:room]
        self.tail += line[room:]
        if (excess := len(self.tail) - half) > 0:
            del self.tail[:excess]
            self.dropped += excess

    def _report(self, event: dict[str, Any]) -> None:
        done, total = event.get("done"), event.get("total")
        if self.progress is not None and isinstance(done, int) and isinstance(total, int):
            self.progress(str(event.get("task", "")), done, total)


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
