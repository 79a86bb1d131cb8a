"""A build that is killed while a case of it hangs.

Comes in: a project whose case runs the lines of `held`, a command that measures it. Goes out:
nothing, once all who held the pipe are gone. Must need no package: machines with a GPU lack most.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PIPE, LIMIT_S = "alive", 60


def held(project: Path) -> str:
    """Make a pipe; give the lines by which a case holds it and says that it does."""
    os.mkfifo(project / PIPE)
    return f'alive = open({str(project / PIPE)!r}, "w")\nprint(file=alive, flush=True)\n'


def kill_while_held(
    command: Sequence[str], project: Path, environment: Mapping[str, str] | None = None
) -> None:
    """Start a build, kill it once somebody holds the pipe, and wait until nobody does."""
    reading = os.open(project / PIPE, os.O_RDONLY | os.O_NONBLOCK)
    build = subprocess.Popen(command, cwd=project, env=environment)
    with os.fdopen(reading, "rb", buffering=0) as alive:
        try:
            _wait_until(lambda: bool(alive.read(1)))
        finally:
            build.kill()
            build.wait()
        _wait_until(lambda: alive.read(100) == b"")


def _wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)
