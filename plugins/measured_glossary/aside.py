"""A value that a second process computes while this one goes on.

Comes in: a function of nothing that has no effect but its value. Goes out: what it gives, when it
is asked for. Must not know what that is. No process that a build begins may outlive it.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

T = TypeVar("T")


def cores() -> int:
    """Give how many processes may work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def end_with_parent() -> None:
    """Let this process end when whoever began it has: killed, that tells nobody to stop."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


class Aside(Generic[T]):
    """A value under way; where no process can be had, or it fails, it is computed when asked for.

    With fewer than two `jobs` no core is free for a process.
    """

    def __init__(self, compute: Callable[[], T], *, jobs: int) -> None:
        self._compute = compute
        self._answers: Connection | None = None
        if jobs > 1 and "fork" in multiprocessing.get_all_start_methods():
            with suppress(OSError):
                self._begin()

    def _begin(self) -> None:
        forked = multiprocessing.get_context("fork")
        ends = answers, answer = forked.Pipe(duplex=False)
        self._process = forked.Process(target=_answer, args=(*ends, self._compute), daemon=True)
        try:
            self._process.start()
            self._answers = answers
        finally:
            answer.close()  # this end: the other process has its own

    def value(self) -> T:
        """Give the value, once."""
        if self._answers:
            with suppress(EOFError, OSError):  # it was killed, or failed as it will here
                value: T = self._answers.recv()
                return value
        return self._compute()

    def close(self) -> None:
        """Stop the process, done or not."""
        if self._answers:
            self._process.kill()
            self._process.join()
            self._answers.close()
            self._answers = None


def _answer(answers: Connection, answer: Connection, compute: Callable[[], object]) -> None:
    answers.close()  # or nobody would tell when the one that reads is gone
    end_with_parent()
    with suppress(Exception, KeyboardInterrupt):
        answer.send(compute())
