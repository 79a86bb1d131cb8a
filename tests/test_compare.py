"""What may be said of two machines: same, different or ambiguous, and never more."""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measured_glossary import beside, cli
from measured_glossary.compare import (
    Comparison,
    compare,
    distance,
    judge,
    overall,
    to_data,
    to_text,
)
from measured_glossary.lab.record import Machine, Record, write_record
from measured_glossary.lab.study import Measurement, Study
from measured_glossary.lab.table import Column, ColumnKind, Table


def column(kind: ColumnKind, unit: str = "") -> Column:
    """One column of a kind."""
    return Column(name="value", label="Value", kind=kind, unit=unit)


def verdict(kind: ColumnKind, left: Any, right: Any) -> str:
    """Compare two cells, either way round."""
    unit = "us" if kind == "time" else ""
    found = {judge(column(kind, unit), *pair).verdict for pair in ((left, right), (right, left))}
    assert len(found) == 1, "the order of the two changes nothing"
    return found.pop()


def chance(seed: int) -> random.Random:
    """Chance that is the same each time."""
    return random.Random(seed)  # noqa: S311 - samples, not secrets


def launches(seed: int, n: int, middle: int, spread: int) -> tuple[int, ...]:
    """Counts of n launches."""
    source = chance(seed)
    return tuple(max(0, round(source.gauss(middle, spread))) for _ in range(n))


# ── what is the same in each run ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "left", "right", "said"),
    [
        ("exact", 96, 96, "same"),
        ("exact", 96, 97, "different"),
        ("outcome", "hung", "hung", "same"),
        ("outcome", "hung", "returned", "different"),
        ("bytes", 1024, 1024, "same"),
        ("exact", None, None, "same"),
        ("exact", None, 96, "different"),
        ("verdict", "clean", "findings", "different"),
        ("verdict", "clean", "inconclusive", "ambiguous"),
        ("verdict", "inconclusive", "inconclusive", "ambiguous"),
        ("findings", 0, 0, "same"),
        ("findings", 0, 1, "different"),
        ("findings", 3, 4097, "same"),
    ],
)
def test_facts_are_compared_for_equality(
    kind: ColumnKind, left: Any, right: Any, said: str
) -> None:
    """Exact values, outcomes and verdicts are equal or not; findings are there or not."""
    assert verdict(kind, left, right) == said


# ── races ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ((0,) * 1000, (0,) * 1000, "same"),
        ((0,) * 5, (0,) * 1000, "ambiguous"),
        ((1,), (900,), "ambiguous"),
        ((1, 2, 3), (901, 902, 903), "ambiguous"),
        (tuple(range(100, 120)), tuple(range(900, 920)), "different"),
        (launches(1, 1000, 500, 40), launches(2, 1000, 500, 40), "same"),
        (launches(1, 1000, 500, 40), launches(2, 1000, 560, 40), "different"),
        (launches(1, 100, 500, 40), launches(2, 100, 500, 40), "ambiguous"),
        ((0,) * 1000, (0,) * 900 + (5,) * 100, "different"),
        ((0,) * 20, (0,) * 19 + (5,), "ambiguous"),
    ],
)
def test_races_are_compared_by_their_distributions(
    left: tuple[int, ...], right: tuple[int, ...], said: str
) -> None:
    """Far apart with launches enough is different; alike with launches enough is the same."""
    assert verdict("racy", left, right) == said


def test_one_launch_each_never_shows_a_difference() -> None:
    """Two launches of one machine can be as far apart as launches of two machines."""
    assert all(verdict("racy", (a,), (b,)) == "ambiguous" for a, b in ((1, 10**6), (0, 5)))


def test_equal_machines_are_seldom_called_different() -> None:
    """Of 2,000 pairs of studies of one and the same race hardly any is called different."""
    source = chance(7)
    called = [
        judge(
            column("racy"),
            tuple(source.randrange(50) for _ in range(40)),
            tuple(source.randrange(50) for _ in range(60)),
        ).verdict
        for _ in range(2000)
    ]
    assert called.count("different") <= 6


@settings(max_examples=60)
@given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(0, 9), min_size=1))
def test_the_distance_is_the_greatest_gap(left: list[int], right: list[int]) -> None:
    """It is 0 for equal samples, 1 for samples that lie apart, and the same from both sides."""
    gaps = [
        abs(sum(x <= at for x in left) / len(left) - sum(x <= at for x in right) / len(right))
        for at in range(10)
    ]
    assert distance(left, right) == pytest.approx(max(gaps))
    assert distance(left, right) == distance(right, left)
    assert distance(left, left) == 0
    assert distance(left, [10]) == 1


# ── times ────────────────────────────────────────────────────────────────────────────────────


def times(seed: int, middle: float, spread: float, n: int = 40) -> tuple[float, ...]:
    """Times around a middle."""
    source = chance(seed)
    return tuple(source.gauss(middle, spread) for _ in range(n))


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        (times(1, 100, 1), times(2, 120, 1), "different"),
        (times(1, 100, 0.5), times(2, 100.1, 0.5), "same"),
        (times(1, 100, 20), times(2, 104, 20), "ambiguous"),
        (times(1, 100, 0.001), times(2, 100.5, 0.001), "different"),
    ],
)
def test_times_go_by_their_intervals(
    left: tuple[float, ...], right: tuple[float, ...], said: str
) -> None:
    """Apart is different, within two percent is the same, and an overlap is ambiguous."""
    assert verdict("time", left, right) == said


def test_a_difference_of_times_tells_the_ratio() -> None:
    """The reason says by how much."""
    said = judge(column("time", "us"), (200.0,) * 20, (100.0,) * 20)
    assert said.why == "intervals apart, 2 times"


# ── records ──────────────────────────────────────────────────────────────────────────────────


def record(name: str, **changes: Any) -> Record:
    """A record of one experiment on a machine."""
    table = Table(
        name="runs",
        kind="runtime",
        text="One block size.",
        launches=20,
        key=(Column(name="threads", label="Threads", kind="exact"),),
        columns=(
            Column(name="wrong", label="Wrong elements", kind="racy", of=100),
            Column(name="blocks", label="Blocks", kind="exact"),
        ),
        rows=(
            {"threads": 32, "wrong": (0,) * 20, "blocks": 8},
            {"threads": 64, "wrong": tuple(range(20)), "blocks": 4},
        ),
    )
    plain = Record(
        experiment="trial",
        machine=Machine(name=name, compute_capability="9.0"),
        captured="2026-11-29T12:00:00Z",
        inputs={"code/trial/experiment.py": "0" * 64},
        toolchain={"nvrtc": "13.0"},
        options=(),
        seed=14,
        tables=(table,),
    )
    return replace(plain, **changes)


def with_row(made: Record, index: int, **cells: Any) -> Record:
    """Change cells of a row."""
    table = made.tables[0]
    rows = [{**row, **cells} if i == index else row for i, row in enumerate(table.rows)]
    return replace(made, tables=(replace(table, rows=tuple(rows)),))


def verdicts(comparison: Comparison) -> list[str]:
    """The verdict on each row."""
    return [row.verdict for row in comparison.rows]


def test_a_row_is_as_different_as_its_worst_cell() -> None:
    """One difference is a difference and one doubt is a doubt."""
    ours, theirs = record("A"), with_row(record("B"), 0, blocks=9)
    assert verdicts(compare(ours, theirs)) == ["different", "ambiguous"]
    assert overall(["same", "ambiguous"]) == "ambiguous"
    assert overall(["same"]) == "same"


def test_rows_and_tables_of_one_side_are_told() -> None:
    """What only one machine measured is neither same nor different."""
    ours = record("A")
    short = replace(ours.tables[0], rows=ours.tables[0].rows[:1])
    found = compare(ours, replace(ours, tables=(short,)))
    assert [(row.verdict, row.only_in) for row in found.rows] == [
        ("same", ""),
        ("only in one", "left"),
    ]
    assert verdicts(compare(replace(ours, tables=()), ours)) == ["only in one"] * 2


def test_other_code_is_said_first() -> None:
    """Two records of different bytes are compared, and the files are named."""
    other = record("B", inputs={"code/trial/experiment.py": "1" * 64})
    found = compare(record("A"), other)
    assert found.other_code == ("code/trial/experiment.py",)
    assert "not the same code: code/trial/experiment.py" in to_text(found)


def test_the_text_shows_what_is_not_the_same() -> None:
    """Each row has a line, and a cell that differs or is in doubt one below it, with the reason."""
    text = to_text(compare(record("A"), with_row(record("B"), 0, blocks=9)))
    assert text.splitlines() == [
        "trial: A (2026-11-29) | B (2026-11-29)",
        "  different   runs(threads=32)",
        "      different: Blocks: 8 | 9: not equal",
        "  ambiguous   runs(threads=64)",
        "      ambiguous: Wrong elements: 0 to 19 (median 9.5) in 20 launches, not zero in 19 of "
        "them | 0 to 19 (median 9.5) in 20 launches, not zero in 19 of them: distributions over "
        "20 and 20 launches, 0.00 apart, and that may be chance",
        "  2 rows: 1 ambiguous, 1 different",
    ]


def test_the_data_is_json() -> None:
    """Programs get the same, cell by cell."""
    data = json.loads(json.dumps(to_data(compare(record("A"), record("B")))))
    assert data["left"]["machine"] == "a"
    assert data["rows"][0]["cells"][1] == {
        "column": "blocks",
        "left": "8",
        "right": "8",
        "verdict": "same",
        "why": "equal",
    }


# ── side by side on a page ───────────────────────────────────────────────────────────────────


def study(*records: Record) -> Study:
    """A study with these records."""
    measured = tuple(
        Measurement(record=each, origin="recorded", freshness="fresh", changed=(), claims=())
        for each in records
    )
    return Study(
        id="trial",
        title="Trial",
        inputs={},
        files={},
        declared_claims=(),
        declared_tables=(replace(records[0].tables[0], rows=()),),
        measurements=measured,
        reported=(),
        static=(),
        claims=(),
        notes=(),
        problems=(),
    )


def test_machines_stand_side_by_side() -> None:
    """A line for each value, a cell for each machine, and what may be said of them together."""
    found = study(record("A"), with_row(record("B"), 0, blocks=9), record("C"))
    (table,) = beside.shared(found)
    html = str(beside.figure(found, table, ident="mg-runs"))
    assert html.count('<th scope="col">recorded on ') == 3
    assert html.count("</span> different</span>") == 1
    assert html.count("</span> ambiguous</span>") == 1
    assert beside.summary(found) == (
        "Of 4 values, compared over all runs: 2 same, 1 different, 1 ambiguous."
    )


def test_one_machine_is_compared_with_nobody() -> None:
    """With one record there is nothing side by side and nothing to sum up."""
    assert beside.shared(study(record("A"))) == ()
    assert beside.summary(study(record("A"))) == ""


def test_what_one_machine_lacks_is_said() -> None:
    """A row that a record of earlier code does not have is not on all."""
    ours = record("A")
    short = replace(ours.tables[0], rows=ours.tables[0].rows[:1])
    found = study(ours, record("B", tables=(short,)))
    html = str(beside.figure(found, beside.shared(found)[0], ident="mg-runs"))
    assert html.count("not run here") == html.count("not on all") == 2


# ── the command ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with records of two machines, in git."""
    write_record(tmp_path, record("Card A"))
    write_record(tmp_path, with_row(record("Card B"), 0, blocks=9))
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "records"]):
        who = ["-c", "user.name=Test Author", "-c", "user.email=test@test.example"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)
    return tmp_path


def run(project: Path, *words: str) -> int:
    """Run the command."""
    return cli.main(["compare", *words, "--root", str(project)])


def test_the_command_compares_machines(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two ids, status 0 whatever the difference."""
    assert run(project, "card-a", "card-b") == 0
    assert "  2 rows: 1 ambiguous, 1 different" in capsys.readouterr().out
    assert run(project, "card-a", "card-b", "trial", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["experiment"] == "trial"


def test_the_command_reads_files_and_revisions(
    project: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record somebody sent, under any name, and the same record as a revision had it."""
    kept = project / "measurements/trial/card-b.json"
    sent = tmp_path_factory.mktemp("sent") / "from-a-friend.json"
    sent.write_bytes(kept.read_bytes())
    write_record(project, with_row(record("Card B"), 0, blocks=10))
    assert run(project, "HEAD:measurements/trial/card-b.json", str(sent)) == 0
    assert "different" not in capsys.readouterr().out
    assert run(project, "HEAD:measurements/trial/card-b.json", "card-b") == 0
    assert "Blocks: 9 | 10" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("card-a", "card-z"), "no-such-record"),
        (("card-a", "HEAD:measurements/none.json"), "no-such-record"),
        (("card-a", "no-such-revision:x"), "no-such-record"),
        (("card-a", "card-b", "other"), "nothing-to-compare"),
    ],
)
def test_what_cannot_be_compared_is_a_problem(
    project: Path, words: tuple[str, ...], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown machine, file or revision, and an experiment that one side lacks."""
    assert run(project, *words) == 1
    assert f": {code}: " in capsys.readouterr().err


def test_a_damaged_record_is_not_compared(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record that was edited says nothing of its machine."""
    path = project / "measurements/trial/card-b.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"seed": 14', '"seed": 15'))
    assert run(project, "card-a", "card-b") == 1
    assert "record-damaged" in capsys.readouterr().err
