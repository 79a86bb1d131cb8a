"""From saving to seeing: a server runs, a page is edited, and asked for until it shows the edit.

Comes in: the command of a server, an address, edits. Goes out: seconds for each edit. Must not know
which generator serves.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from measure import as_users_have_it

ASK_EVERY_S, START_LIMIT_S, EDIT_LIMIT_S = 0.005, 600.0, 120.0


def free_port() -> int:
    """Give a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def seconds_to_show(
    command: Sequence[str],
    folder: Path,
    extra: Mapping[str, str],
    edits: Iterable[tuple[str, str, Callable[[], None]]],
) -> list[float]:
    """Start a server and make edits: the address of the page, the words that must show, the act."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**as_users_have_it(), **extra},
        start_new_session=True,
    )
    try:
        return [_seconds(url, words, act) for url, words, act in edits]
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _seconds(url: str, words: str, act: Callable[[], None]) -> float:
    _until(url, "</html>", START_LIMIT_S)
    time.sleep(1.0)  # a person does not save in the second in which the last page came
    begun = time.perf_counter()
    act()
    _until(url, words, EDIT_LIMIT_S)
    return time.perf_counter() - begun


def _until(url: str, words: str, limit_s: float) -> None:
    """Ask for a page until it holds these words."""
    end = time.perf_counter() + limit_s
    while time.perf_counter() < end:
        if words in _page(url):
            return
        time.sleep(ASK_EVERY_S)
    raise TimeoutError(f"{url} did not show {words!r} within {limit_s:g} s")


def _page(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=EDIT_LIMIT_S) as answer:  # noqa: S310 - our own
            text: str = answer.read().decode("utf-8", "replace")
            return text
    except OSError:  # not there yet, or between two builds
        return ""
