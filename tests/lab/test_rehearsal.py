"""Claims tried on made-up rows: what a test of an experiment may give, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from measured_glossary.lab.rehearsal import claims, doctored, filled, refuted, refuted_by_each
from measured_glossary.problem import Refused

EXPERIMENT = Path("code") / "trial"
TEXT = '''
from measured_glossary.lab.experiment import Experiment, exact, outcome, racy, time

experiment = Experiment(title="A trial", sources=["trial.cu"])

@experiment.runtime(key={"n": exact("N")}, columns={"wrong": racy("Wrong")}, launches=100)
def counts(gpu):
    """One row for each N."""

@experiment.timed(key={"n": exact("N")}, columns={"took": time("Time")})
def times(gpu):
    """One row for each N."""

@experiment.claim
def nothing_is_wrong(counts):
    """No launch gave a wrong element."""
    assert all(row.wrong == 0 for row in counts)

@experiment.claim
def it_is_quick(times):
    """It takes less than a millisecond."""
    assert all(row.took < 1 for row in times)
'''
GOOD: dict[str, list[dict[str, Any]]] = {
    "counts": [{"n": 1, "wrong": [0, 0, 0]}, {"n": 2, "wrong": [0, 0, 0]}],
    "times": [{"n": 1, "took": {"about": 0.5}}],
}


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    """An experiment that nobody measured."""
    folder = tmp_path / EXPERIMENT
    folder.mkdir(parents=True)
    (folder / "experiment.py").write_text(TEXT, encoding="utf-8")
    (folder / "trial.cu").write_text("", encoding="utf-8")
    return folder


def test_a_figure_refutes_the_claims_that_rest_on_it(trial: Path) -> None:
    """Good rows refute nothing, a doctored one just what it should; all in one go or one by one."""
    wrong = doctored(GOOD, "counts", 1, wrong=[0, 1, 0])
    slow = doctored(GOOD, "times", 0, took={"about": 2.5})
    each = [set(), {"nothing_is_wrong"}, {"it_is_quick"}]
    assert refuted_by_each(trial, [GOOD, wrong, slow]) == each
    assert refuted(trial, wrong) == {"nothing_is_wrong"}
    assert claims(trial) == {"nothing_is_wrong", "it_is_quick"}
    assert GOOD["counts"][1] == {"n": 2, "wrong": [0, 0, 0]}


def test_a_table_has_as_many_launches_as_counts(trial: Path) -> None:
    """Three counts stand for three launches, whatever is declared."""
    counts, times = filled(trial, GOOD)
    assert (counts.launches, times.launches) == (3, 0)
    assert len(times.rows[0]["took"]) == 21  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"counts": GOOD["counts"]}, "expected rows for counts, times, found counts"),
        ({**GOOD, "others": []}, "found counts, others, times"),
        ({**GOOD, "counts": [{"n": 1}]}, "counts: row 1 lacks the column 'wrong'"),
        ({**GOOD, "times": [{"n": 1, "took": [0.5]}]}, "at least 20 samples"),
    ],
)
def test_rows_that_no_probe_could_give_are_refused(
    trial: Path, rows: dict[str, list[dict[str, Any]]], message: str
) -> None:
    """A test on rows of another shape would show nothing."""
    with pytest.raises(Refused, match=message):
        refuted(trial, rows)


def test_a_cell_that_is_not_there_cannot_be_doctored() -> None:
    """A mistyped column would leave the rows as they are."""
    with pytest.raises(KeyError, match="row 0 of counts has no worng"):
        doctored(GOOD, "counts", 0, worng=[1, 1, 1])
