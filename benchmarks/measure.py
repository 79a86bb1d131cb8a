"""What a command costs: wall and CPU seconds, and the memory of the processes it starts.

Comes in: a command and a folder. Goes out: a `Cost`. Must not know what the command builds.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOK_EVERY_S = 0.1
_MB = 1024.0  # the kernel counts in KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a run took.

    `largest_mb` is the most that one process of the tree held (resident); `sum_mb` the most that
    all of them held at a time, shared pages counted once (PSS), looked at ten times a second.
    """

    wall_s: float
    cpu_s: float
    largest_mb: float
    sum_mb: float


class CommandError(Exception):
    """A command that did not end well, and the end of what it said."""


def as_users_have_it() -> dict[str, str]:
    """Give the environment without what makes every start of Python compile all modules anew."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def run(command: Sequence[str], folder: Path, extra: Mapping[str, str]) -> Cost:
    """Run a command to its end."""
    log = folder / ".benchmark.log"
    with log.open("wb") as said:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=said,
            stderr=said,
            env={**as_users_have_it(), **extra},
            start_new_session=True,
        )
        watch = _Watch(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        watch.end()
    told = log.read_text(encoding="utf-8", errors="replace")
    log.unlink()
    if process.returncode:
        raise CommandError(f"{' '.join(command)}: exit {process.returncode}\n{told[-2000:]}")
    return Cost(
        wall_s=wall_s,
        cpu_s=usage.ru_utime + usage.ru_stime,
        largest_mb=watch.largest_kb / _MB,
        sum_mb=watch.most_kb / _MB,
    )


class _Watch(threading.Thread):
    """Looks, again and again, at what the processes of a session hold.

    What the kernel says when a process has ended would count the memory of the one that started it.
    """

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.session, self.most_kb, self.largest_kb = session, 0, 0
        self._ended = threading.Event()
        self.start()

    def run(self) -> None:
        """Look until the command has ended."""
        while not self._ended.wait(LOOK_EVERY_S):
            members = tuple(_members(self.session))
            held = sum(_kb(folder / "smaps_rollup", "Pss:") for folder in members)
            peaks = (_kb(folder / "status", "VmHWM:") for folder in members)
            self.most_kb = max(self.most_kb, held)
            self.largest_kb = max(self.largest_kb, *peaks, 0)

    def end(self) -> None:
        """Stop looking."""
        self._ended.set()
        self.join()


def _members(session: int) -> Iterator[Path]:
    """Give the folders in `/proc` of a session's processes."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:
            continue
        if stat.rpartition(")")[2].split()[3] == str(session):
            yield folder


def _kb(file: Path, key: str) -> int:
    """Give a figure of a process; nothing of one that has ended."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(key)), 0)
