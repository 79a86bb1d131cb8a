"""Who is on the GPU when: alone first, then together, and what hung where it did not before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from measured_glossary.lab.bench import Bench
from measured_glossary.lab.cases import Ended, Job, side_by_side
from measured_glossary.lab.runner import Stopped
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.turns import HANGING, ON_THE_GPU, WATCHED, Places, Turns
from measured_glossary.problem import Checked

PRETEND = str(Path(__file__).parent / "workers" / "pretend_gpu.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX")


def test_nobody_goes_on_before_all_have_passed() -> None:
    """The first of three waits until the second was alone and the third gave up its turn."""
    turns = Turns(3)
    with ThreadPoolExecutor(1) as pool, turns.turn() as first:
        first.passes("alone")
        waiting = pool.submit(first.wait_for_all, "alone")
        with turns.turn() as second:
            with second.alone():
                assert not waiting.done()
            second.passes("alone")
            with turns.turn():
                assert not waiting.done()
            waiting.result(timeout=30)


def test_a_later_stage_is_counted_by_itself() -> None:
    """Who has been alone may still have cases to run."""
    turns = Turns(2)
    with turns.turn() as one, turns.turn() as other:
        one.passes("alone", "cases")
        other.passes("alone")
        one.wait_for_all("alone")
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(one.wait_for_all, "cases")
            assert not waiting.done()
            other.passes("cases")
            waiting.result(timeout=30)


def test_one_is_alone_at_a_time() -> None:
    """The GPU is one's own until one is done."""
    turns = Turns(2)
    with turns.turn() as one, one.alone():
        assert not turns.gpu.acquire(blocking=False)
    assert turns.gpu.acquire(blocking=False)


def test_a_turn_passes_whatever_happens_and_once() -> None:
    """An experiment that fails holds nobody up; passing twice counts once."""
    turns = Turns(2)
    with pytest.raises(ZeroDivisionError), turns.turn():
        raise ZeroDivisionError
    with ThreadPoolExecutor(1) as pool, turns.turn() as turn:
        waiting = pool.submit(turn.wait_for_all, "alone")
        assert not waiting.done()
        turn.passes("alone")
        turn.passes("alone")
        waiting.result(timeout=30)


def test_waiting_ends_with_the_build() -> None:
    """Who waits for the others is stopped with them."""
    turns = Turns(2, Event())
    turns.stop.set()
    with turns.turn() as turn, pytest.raises(Stopped):
        turn.wait_for_all("cases")


def test_quiet_means_that_no_place_is_left() -> None:
    """Nobody begins while it is quiet, and all places are given back."""
    places = Places()
    kinds = {
        places.cases.usual: ON_THE_GPU,
        places.cases.hanging: HANGING,
        places.tools.usual: WATCHED,
    }
    with places.quiet():
        assert [kind for kind in kinds if kind.acquire(blocking=False)] == []
    for kind, count in kinds.items():
        taken = [kind.acquire(blocking=False) for _ in range(count + 1)]
        assert taken == [True] * count + [False]


class Case:
    """A case that ends as told, run by run, and notes whether it could have had company."""

    def __init__(self, places: Places, *ends: str) -> None:
        self.places, self.ends, self.was_quiet = places, list(ends), list[bool]()

    def __call__(self) -> Ended[str]:
        """Run once."""
        company = self.places.cases.usual.acquire(blocking=False)
        if company:
            self.places.cases.usual.release()
        self.was_quiet.append(not company)
        end = self.ends.pop(0)
        return Ended(given=Checked(value=end), abruptly=end == "hung", hung=end == "hung")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A bench whose GPU is pretended and answers."""
    settings = Settings(command=(sys.executable, PRETEND))
    yield Bench(experiment="pretended", folder=tmp_path, settings=settings)


@pytest.mark.parametrize(
    ("hung_before", "ends", "found", "was_quiet"),
    [
        (False, ["hung", "returned"], "returned", [False, True]),
        (False, ["hung", "hung"], "hung", [False, True]),
        (False, ["returned"], "returned", [False]),
        (True, ["hung"], "hung", [False]),
    ],
)
def test_a_hang_that_no_record_knows_is_tried_again_when_it_is_quiet(
    bench: Bench, hung_before: bool, ends: list[str], found: str, was_quiet: list[bool]
) -> None:
    """Beside others a slow case passes its limit too: what was measured decides, nothing else."""
    case = Case(bench.places, *ends)
    jobs = [Job(task="launches", run=case, hung_before=hung_before)]
    (given,) = side_by_side(bench, jobs, bench.places.cases)
    assert (given.value, case.was_quiet) == (found, was_quiet)


def test_a_gpu_lost_behind_the_second_run_is_a_problem(bench: Bench) -> None:
    """What was seen first does not stand in for what could not be seen again."""
    lost = replace(bench, settings=Settings(command=(sys.executable, PRETEND, "lost-gpu")))
    jobs = [Job(task="launches", run=Case(bench.places, "hung"))]
    (given,) = side_by_side(lost, jobs, bench.places.cases)
    assert (given.value, [problem.code for problem in given.problems]) == (None, ["gpu-lost"])


def test_only_what_did_not_hang_before_waits_to_begin(bench: Bench) -> None:
    """A case that will take its whole limit is begun while the others wait."""
    begun = list[str]()

    def job(name: str, hung_before: bool) -> Job[str]:
        def run() -> Ended[str]:
            begun.append(name)
            return Ended(given=Checked(value=name), abruptly=False)

        return Job(task="launches", run=run, hung_before=hung_before)

    def begin() -> None:
        while "endless" not in begun:
            may_begin.wait(0.01)

    may_begin = Event()
    jobs = [job("short", False), job("endless", True)]
    given = side_by_side(bench, jobs, bench.places.cases, begin=begin)
    assert begun == ["endless", "short"]
    assert [each.value for each in given] == ["short", "endless"]


def test_what_hung_before_takes_no_place_from_the_others(bench: Bench) -> None:
    """With every other place taken, a case that hung before is run all the same."""
    for _ in range(ON_THE_GPU):
        bench.places.cases.usual.acquire()
    case = Case(bench.places, "hung")
    jobs = [Job(task="launches", run=case, hung_before=True)]
    (given,) = side_by_side(bench, jobs, bench.places.cases)
    assert given.value == "hung"


def test_all_is_settled_when_only_what_hung_before_is_left(bench: Bench) -> None:
    """Whoever waits for the others need not wait for limits that will pass in any case."""
    settled = Event()

    def endless() -> Ended[str]:
        assert settled.wait(30)
        return Ended(given=Checked(value="hung"), abruptly=True, hung=True)

    jobs = [
        Job(task="launches", run=endless, hung_before=True),
        Job(task="launches", run=Case(bench.places, "returned")),
    ]
    given = side_by_side(bench, jobs, bench.places.cases, settled=settled.set)
    assert [each.value for each in given] == ["hung", "returned"]


def test_nothing_is_settled_before_a_doubtful_case_ran_again(bench: Bench) -> None:
    """What hangs and is not known to is looked at in quiet first."""
    seen = list[int]()
    case = Case(bench.places, "hung", "returned")
    jobs = [Job(task="launches", run=case)]
    side_by_side(bench, jobs, bench.places.cases, settled=lambda: seen.append(len(case.was_quiet)))
    assert seen == [2]
