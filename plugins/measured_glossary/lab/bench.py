"""Where one experiment's workers run, and what is asked of them.

Comes in: an experiment's files, a mode, its data. Goes out: the worker's checked answer, or a
problem that says how the worker ended and what it printed. Must not know what a `Study` is.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measured_glossary.lab.runner import START_LIMIT_S, Model, Ran, run_worker
from measured_glossary.lab.settings import Settings, experiment_file
from measured_glossary.lab.turns import Places
from measured_glossary.lab.warm import WarmWorker
from measured_glossary.problem import Checked, Place, Problem

FILES = "files"
QUOTED_LINES = 12
MEMORY_BYTES = 4 << 30  # of a worker without a GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A temporary folder with a copy of the experiment's files, as they were read.

    `warm` is a worker that experiments may share for what they run on the GPU one by one.
    `endings` says how the rows that were measured before ended, by table and key.
    """

    experiment: str
    folder: Path
    settings: Settings
    places: Places = field(default_factory=Places)
    warm: WarmWorker | None = None
    endings: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The experiment's file, relative to the project's root."""
        return experiment_file(self.experiment)

    def lay_out(self, files: Mapping[str, bytes]) -> None:
        """Put files where the workers find them: what runs is what was digested."""
        for name, raw in files.items():
            path = self.folder / FILES / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)

    def ask(self, model: type[Model], mode: str, limit_s: float, **data: Any) -> Checked[Model]:
        """Ask a worker that needs no GPU; how it failed, if it did, is a problem."""
        with self.places.without_gpu:
            ran = self.run(model, mode, limit_s, memory_bytes=MEMORY_BYTES, **data)
        return self.answer_of(ran, mode)

    def run(self, model: type[Model], mode: str, limit_s: float, **data: Any) -> Ran[Model]:
        """Run a worker, whatever becomes of it."""
        return self.run_in(self.place(mode), model, mode, limit_s, **data)

    def place(self, mode: str) -> Path:
        """Make an empty folder for one worker."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"{mode}-", dir=self.folder))

    def run_in(
        self,
        place: Path,
        model: type[Model],
        mode: str,
        limit_s: float,
        *,
        under: Sequence[str] = (),
        start_limit_s: float = START_LIMIT_S,
        **data: Any,
    ) -> Ran[Model]:
        """Run a worker in a folder from `place`, started by the command `under`, if any."""
        ran = run_worker(
            model,
            self._request(mode, data),
            folder=place,
            limit_s=limit_s,
            start_limit_s=start_limit_s,
            progress=self.progress,
            command=(*under, *self.settings.command),
            stop=self.settings.stop,
        )
        if not under:  # a tool prints as well
            self._tell(mode, ran.log)
        return ran

    def run_warm(self, model: type[Model], mode: str, limit_s: float, **data: Any) -> Ran[Model]:
        """Have the shared worker answer, if there is one."""
        if self.warm is None:
            return self.run(model, mode, limit_s, **data)
        ran = self.warm.run(
            model,
            self._request(mode, data),
            folder=self.place(mode),
            limit_s=limit_s,
            progress=self.progress,
        )
        self._tell(mode, ran.log)
        return ran

    def _tell(self, mode: str, printed: str) -> None:
        if self.settings.tell is not None:
            for line in filter(str.strip, printed.splitlines()):
                self.settings.tell(f"{self.experiment} ({mode}) printed: {line.rstrip()}")

    def _request(self, mode: str, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"mode": mode, "root": str(self.folder / FILES), "file": self.file, **data}

    def answer_of(self, ran: Ran[Model], mode: str) -> Checked[Model]:
        """Give a worker's answer, or the problem that it gave none."""
        if ran.outcome == "returned":
            return ran.answer
        code = _CODES.get(ran.outcome, "worker-crashed")
        what = f"{ran.outcome}: {ran.detail}" if ran.detail else ran.outcome
        message = f"the worker ({mode}) ended after {ran.seconds:.1f} s: {what}{_quoted(ran.log)}"
        hint = _hint(ran.outcome, mode)
        problem = Problem(place=Place(self.file), code=code, message=message, hint=hint)
        return Checked(value=None, problems=(problem,))

    def progress(self, task: str, done: int, total: int) -> None:
        """Show how far a task of this experiment is."""
        if self.settings.progress is not None:
            self.settings.progress(f"{self.experiment}: {task}", done, total)


_CODES = {
    "hung": "worker-hung",
    "no result": "worker-no-result",
    "damaged result": "worker-damaged-result",
}

_OURS = ("compile", "compilers", "machine", "alive")  # what runs no author code


def _hint(outcome: str, mode: str) -> str:
    """Say what an author may do about a worker that gave no answer."""
    if outcome == "hung" or mode in _OURS:
        return _HUNG.get(mode, "")
    return _ENDED if _LEFT.fullmatch(outcome) else _KILLED if _SENT.fullmatch(outcome) else ""


_LEFT = re.compile(r"no result|crashed \(exit (?!1\))\d+\)")  # 1: an exception, which is quoted
_SENT = re.compile(r"crashed \(SIG(KILL|TERM|INT|HUP)\)")
_ENDED = "something in the file ends the process, as os._exit and os.kill do: take it out"
_KILLED = f"{_ENDED}; if nothing does, the system killed it, for its memory perhaps"
_HUNG = {
    "describe": "executing the file did not end: only declarations belong on its top level",
    "static": "a static probe did not end: look at its loops",
    "check": "a claim did not end: look at its loops",
}


def _quoted(log: str) -> str:
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    if not lines:
        return "; it printed nothing"
    return "; it printed:\n" + "\n".join(f"    | {line}" for line in lines[-QUOTED_LINES:])
