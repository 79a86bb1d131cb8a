"""A value that another process computes: the same, whatever becomes of that process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from measured_glossary.aside import Aside


def test_another_process_computes_it() -> None:
    """With a second core it is computed beside this process, and else here."""
    with_two, alone = Aside(os.getpid, jobs=2), Aside(os.getpid, jobs=1)
    assert with_two.value() != os.getpid()
    assert alone.value() == os.getpid()
    with_two.close()
    alone.close()


def test_a_large_value_comes_whole() -> None:
    """The process waits until it is asked for what a pipe does not hold."""
    aside = Aside(lambda: list(range(1_000_000)), jobs=2)
    assert aside.value()[-1] == 999_999
    aside.close()


def test_a_process_that_was_killed_is_replaced() -> None:
    """The value is then computed here."""
    own = os.getpid()

    def only_here() -> int:
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        return 7

    aside = Aside(only_here, jobs=2)
    assert aside.value() == 7
    aside.close()


def test_what_fails_there_fails_here() -> None:
    """The error is the caller's own, with its traceback."""
    aside = Aside(lambda: 1 // 0, jobs=2)
    with pytest.raises(ZeroDivisionError):
        aside.value()
    aside.close()


def test_closing_stops_the_process() -> None:
    """Nobody waits for a value that nobody wants; closing once more does nothing."""
    begun = time.monotonic()
    aside = Aside(lambda: time.sleep(600), jobs=2)
    aside.close()
    aside.close()
    assert time.monotonic() - begun < 60


WAITING = """
import os, signal, time
from pathlib import Path
from measured_glossary.aside import Aside
from measured_glossary.memo import side_by_side
from measured_glossary.trust import ahead

def wait(*_):
    print(os.getpid(), flush=True)
    signal.pause()

def much():
    print(os.getpid(), flush=True)
    return bytes(1 << 20)

"""
BESIDE = {
    "several": "list(side_by_side(wait, range(100), 2))",
    "one that computes": "one = Aside(wait, jobs=2); time.sleep(600)",
    "one whose answer nobody reads": "one = Aside(much, jobs=2); time.sleep(600)",
    "one that verifies": "ahead.read_signatures = wait; "
    "one = ahead.verified_ahead(Path(), ['a'] * ahead.MANY, 2); time.sleep(600)",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("beside", BESIDE)
def test_no_process_outlives_a_build_that_was_killed(beside: str) -> None:
    """However a build ends, its processes end with it: they hold the pipe that is read here."""
    command = [sys.executable, "-c", WAITING + BESIDE[beside]]
    build = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert build.stdout is not None
    assert int(build.stdout.readline()) != build.pid
    build.kill()
    assert build.communicate(timeout=60)[0].count(b"\n") <= 1
    assert build.returncode == -signal.SIGKILL
