"""Which worker does what, turn by turn: no network and no clock."""

from __future__ import annotations

from measured_glossary.lab.board import MOST_ATTEMPTS, STATIC, Board, Job


def board(*experiments: str, **workers: str) -> Board:
    """A board with workers of these kinds."""
    made = Board(experiments=experiments)
    for address, kind in workers.items():
        made.met(address, kind)
    return made


def given(made: Board) -> dict[str, Job]:
    """Who is given what now."""
    return dict(made.assign())


def test_each_kind_gets_each_experiment_once() -> None:
    """Three workers of two kinds share the jobs of their kind; nothing is done twice."""
    made = board("a", "b", one="h200", two="h200", three="t4")
    assert given(made) == {
        "one": Job("a", "h200"),
        "two": Job("b", "h200"),
        "three": Job("a", "t4"),
    }
    assert given(made) == {}
    made.finished("three")
    assert given(made) == {"three": Job("b", "t4")}
    for address in ("one", "two", "three"):
        made.finished(address)
    assert made.over
    assert made.done == made.jobs
    assert len(made.jobs) == 4


def test_a_worker_that_comes_later_brings_its_kind() -> None:
    """A new kind brings jobs of its own, a known one helps with what is left."""
    made = board("a", one="h200")
    given(made)
    assert made.met("two", "h200") == ()
    assert made.met("three", STATIC) == (Job("a", STATIC),)
    assert given(made) == {"three": Job("a", STATIC)}


def test_a_lost_worker_s_job_goes_to_another_of_its_kind() -> None:
    """Whoever is left of the same kind does it; another kind does not."""
    made = board("a", one="h200", three="t4")
    given(made)
    made.met("two", "h200")
    made.finished("three")
    assert made.lost("one", "it died") == Job("a", "h200")
    assert given(made) == {"two": Job("a", "h200")}


def test_an_idle_worker_s_loss_changes_nothing() -> None:
    """Nobody was doing anything for it to be tried again."""
    made = board("a", one="h200", two="h200")
    given(made)
    assert made.lost("two", "it died") is None
    assert made.lost("nobody", "it died") is None
    assert not made.given_up


def test_a_job_that_ends_its_workers_is_given_up() -> None:
    """After some attempts it is the job that is at fault, and the others go on."""
    made = board("a", one="h200")
    for _ in range(MOST_ATTEMPTS):
        given(made)
        made.lost("one", "it died")
        made.met("one", "h200")
    assert given(made) == {}
    assert made.given_up == {Job("a", "h200"): "tried 3 times, the last time it died"}
    assert made.over


def test_jobs_without_a_worker_are_stranded() -> None:
    """Where no worker of a kind is left its jobs wait, until they are given up."""
    made = board("a", "b", one="h200", three="t4")
    given(made)
    made.lost("one", "it died")
    stranded = made.stranded()
    assert stranded == (Job("b", "h200"), Job("a", "h200"))
    for job in stranded:
        made.give_up(job, "nobody is left")
    assert not made.over  # the other kind is still at work
    made.finished("three")
    given(made)
    made.finished("three")
    assert made.over


def test_what_was_done_before_is_skipped() -> None:
    """A run goes on where an earlier one stopped."""
    made = board("a", "b", one="h200")
    made.skip(Job("a", "h200"))
    assert given(made) == {"one": Job("b", "h200")}
