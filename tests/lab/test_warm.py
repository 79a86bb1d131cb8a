"""A worker that stays: what it keeps, and when it is replaced by another."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from measured_glossary.lab.answer import Tabled
from measured_glossary.lab.runner import Ran, Stopped
from measured_glossary.lab.warm import WarmWorker

STAYS = (sys.executable, str(Path(__file__).parent / "workers" / "stays.py"))

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX")


class Asked:
    """Asks a warm worker, each time with a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.stop, self.count = folder, threading.Event(), 0
        self.worker = WarmWorker(STAYS, self.stop)

    def __call__(self, behaviour: str, limit_s: float = 30) -> Ran[Tabled]:
        """Ask for one behaviour."""
        self.count += 1
        folder = self.folder / str(self.count)
        folder.mkdir()
        request = {"mode": "static", "behaviour": behaviour}
        return self.worker.run(Tabled, request, folder=folder, limit_s=limit_s)


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    """A worker that is ended with the test."""
    asked = Asked(tmp_path)
    yield asked
    asked.worker.close()


def is_there(process: str) -> bool:
    """Say whether there is a process of this number."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    return True


def test_one_process_answers_one_request_after_another(asked: Asked) -> None:
    """Each answer has its own log: the process says its number, and it is the same."""
    first, second = asked("answers"), asked("answers")
    assert (first.outcome, first.begun) == ("returned", True)
    assert first.answer.value == second.answer.value == Tabled(tables=[])
    assert first.log == second.log
    assert len(first.log.splitlines()) == 1


@pytest.mark.parametrize(
    ("behaviour", "limit_s", "outcome"),
    [
        ("hangs", 0.3, "hung"),
        ("segfaults", 30, "crashed (SIGSEGV)"),
        ("leaves", 30, "crashed (exit 3)"),
        ("has problems", 30, "returned"),
        ("says it ended", 30, "no result"),
    ],
)
def test_who_did_not_answer_cleanly_is_replaced(
    asked: Asked, behaviour: str, limit_s: float, outcome: str
) -> None:
    """The process that hung, crashed, had problems or lied is gone; another answers next."""
    before = asked("answers").log.strip()
    assert asked(behaviour, limit_s).outcome == outcome
    assert not is_there(before)
    assert asked("answers").log.strip() != before


def test_an_answer_stands_though_its_worker_leaves_with_it(asked: Asked) -> None:
    """The GPU was not as before: the answer is whole, and another process is next."""
    before = asked("answers and leaves")
    assert (before.outcome, before.answer.value) == ("returned", Tabled(tables=[]))
    assert not is_there(before.log.strip())
    after = asked("answers")
    assert (after.outcome, after.log == before.log) == ("returned", False)


def test_a_worker_that_died_between_two_requests_is_replaced(asked: Asked) -> None:
    """What it had answered stands; the next request gets a new process."""
    before = asked("dies afterwards")
    assert before.outcome == "returned"
    os.waitid(os.P_PID, int(before.log), os.WEXITED | os.WNOWAIT)
    after = asked("answers")
    assert (after.outcome, after.log == before.log) == ("returned", False)


def test_threads_wait_for_each_other(asked: Asked) -> None:
    """Requests made at once are answered one by one, by the same process."""
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(asked, ["answers"] * 8))
    assert {each.outcome for each in done} == {"returned"}
    assert len({each.log for each in done}) == 1


def test_a_build_that_is_given_up_ends_it(asked: Asked) -> None:
    """Once it is stopped, whoever asks is told, and no process is left."""
    before = asked("answers").log.strip()
    asked.stop.set()
    with pytest.raises(Stopped):
        asked("hangs")
    assert not is_there(before)


def test_closing_ends_the_process(asked: Asked) -> None:
    """Nobody is left, and closing twice does no harm."""
    before = asked("answers").log.strip()
    asked.worker.close()
    asked.worker.close()
    assert not is_there(before)
