"""A worker's process: how it is started and ended, and what it says meanwhile.

Comes in: a command and a folder. Goes out: a process in a group of its own, its printed output and
its events. Must not know what it is asked, nor read what it answers.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

import measured_glossary
from measured_glossary.lab.protocol import LIFELINE, MARK, read_event
from measured_glossary.lab.settings import Progress

END_LIMIT_S = 5  # after SIGKILL: a process in the driver may take a moment to go
MAX_LOG_BYTES = 256 << 10
PART_BYTES = 64 << 10  # read at once: what a pipe holds
MAX_EVENT_BYTES = 64 << 10

_KEPT = {"PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "COMSPEC", "PATHEXT"}
_KEPT_PREFIXES = ("CUDA_", "NVIDIA_")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CRED|AUTH", re.IGNORECASE)


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


def start(
    command: Sequence[str], folder: Path, *, stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, which writes into `folder` and sees no secrets.

    It holds the end of a pipe by which it learns that this process is gone, however that ended.
    """
    lifeline = _lifeline()
    return subprocess.Popen(
        command,
        cwd=folder,
        env={
            **environment(os.environ, folder),
            LIFELINE: f"{lifeline} {os.fstat(lifeline).st_ino}",
        },
        pass_fds=[lifeline],
        bufsize=0,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


@cache
def _lifeline() -> int:
    """Give one end of a pipe; the other is held by this process alone, as long as it lives."""
    return os.pipe()[0]


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group, also when its leader has ended: it may have left children."""
    with suppress(ProcessLookupError, PermissionError):  # nobody is left in it
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(subprocess.TimeoutExpired):  # stuck in the driver until that lets go of it
        process.wait(timeout=END_LIMIT_S)


def outcome(status: int) -> str:
    """Say how a process ended: `returned`, or `crashed (…)` by a signal or with a status."""
    if status < 0:
        return f"crashed ({signal.Signals(-status).name})"
    return f"crashed (exit {status})" if status else "returned"


# ── what it says ─────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Output:
    """A worker's output: progress is passed on, the rest kept: its beginning and its end."""

    progress: Progress | None
    begun: float | None = None
    ended: threading.Event = field(default_factory=threading.Event)
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def take(self, line: bytes) -> None:
        """Take a line, or any output in which no event begins."""
        printed, event = read_event(line)
        self._keep(printed)
        if "begin" in event:
            self.begun = self.begun or time.monotonic()
        elif "end" in event:
            self.ended.set()
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


def read_from(process: subprocess.Popen[bytes], output: Callable[[], Output]) -> threading.Thread:
    """Read until everybody who can write has closed the stream; `output` says who takes a line."""
    reader = threading.Thread(target=_read, args=(process.stdout, output), daemon=True)
    reader.start()
    return reader


def _read(stream: IO[bytes], output: Callable[[], Output]) -> None:
    """Read in large parts: `readline` asks an unbuffered stream for one byte after another."""
    held = b""
    with stream:
        while part := stream.read(PART_BYTES):
            *pieces, held = _pieces(held + part)
            for piece in pieces:
                output().take(piece)
    output().take(held)


def _pieces(text: bytes) -> Iterator[bytes]:
    """Cut output into what can be taken; the last piece is an event that has not ended yet."""
    mark = MARK.encode()
    if mark not in text:
        yield from (text, b"")
        return
    *lines, rest = text.split(b"\n")
    yield from (line + b"\n" for line in lines)
    printed, _, event = rest.rpartition(mark)
    is_open = mark in rest and len(event) < MAX_EVENT_BYTES
    yield from (printed, mark + event) if is_open else (rest, b"")
