"""A worker that stays: it has the GPU's libraries loaded, and answers one request after another.

Comes in: requests as plain data, one at a time. Goes out: `Ran`, as from a worker of its own. Must
not know what a request means.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from measured_glossary.lab import process as processes
from measured_glossary.lab.process import END_LIMIT_S, Output
from measured_glossary.lab.protocol import WARM
from measured_glossary.lab.runner import Call, Model, Ran
from measured_glossary.lab.settings import WORKER, Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    """The process, what reads its output, and the folder it may write to."""

    process: subprocess.Popen[bytes]
    requests: IO[bytes]
    reader: threading.Thread
    home: TemporaryDirectory[str]


class WarmWorker:
    """Starts with its first request, and anew with the next if an answer was not clean.

    Whoever hung, crashed or met with problems may have left anything behind. What a worker keeps
    from one clean answer to the next is the loaded libraries and the GPU's context. Threads may
    share it: they wait for each other.
    """

    def __init__(
        self, command: Sequence[str] = WORKER, stop: threading.Event | None = None
    ) -> None:
        self._command, self._stop = command, stop
        self._running: _Running | None = None
        self._output = Output(progress=None)
        self._turn = threading.Lock()

    def run(
        self,
        model: type[Model],
        request: Mapping[str, Any],
        *,
        folder: Path,
        limit_s: float,
        progress: Progress | None = None,
    ) -> Ran[Model]:
        """Ask, and give what `run_worker` would."""
        with self._turn:
            call = Call(
                model=model,
                request=request,
                folder=folder,
                limit_s=limit_s,
                output=Output(progress=progress),
                stop=self._stop,
            )
            return self._ran(call)

    def close(self) -> None:
        """End the process, if there is one."""
        running, self._running = self._running, None
        if running is not None:
            _end(running)
            running.home.cleanup()

    def _ran(self, call: Call[Model]) -> Ran[Model]:
        self._output, is_clean = call.output, False
        try:
            ran = call.ran(self._ended(call))
            is_clean = call.output.ended.is_set() and ran.answer.value is not None
        finally:
            if not is_clean:
                self.close()
        return ran

    def _ended(self, call: Call[Any]) -> str:
        """Have a request answered; say how that ended. Where not by an answer, nobody runs on."""
        running = self._started()
        process, answered = running.process, call.output.ended

        def is_over(timeout_s: float) -> bool:
            return answered.wait(timeout_s) or process.poll() is not None

        with suppress(BrokenPipeError):  # it has just died: how, is told below
            running.requests.write(f"{call.ask()}\n".encode())
        came_in_time = call.wait(is_over)
        if answered.is_set():
            return "returned"
        _end(running)
        return processes.outcome(process.returncode) if came_in_time else "hung"

    def _started(self) -> _Running:
        if self._running is not None and self._running.process.poll() is not None:
            self.close()
        if self._running is None:
            home = TemporaryDirectory(prefix="glossary-", ignore_cleanup_errors=True)
            command = [*self._command, WARM]
            process = processes.start(command, Path(home.name), stdin=subprocess.PIPE)
            reader = processes.read_from(process, lambda: self._output)
            self._running = _Running(
                process=process,
                requests=process.stdin,  # type: ignore[arg-type] # asked for just now
                reader=reader,
                home=home,
            )
        return self._running


def _end(running: _Running) -> None:
    processes.kill(running.process)
    running.reader.join(END_LIMIT_S)
    running.requests.close()
