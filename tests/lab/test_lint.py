"""Claims that could hold by chance, found without running them."""

from __future__ import annotations

import pytest

from measured_glossary.lab.lint import lint
from measured_glossary.lab.table import Column, Table

TABLE = Table(
    name="runs",
    kind="runtime",
    key=(Column(name="threads", label="Threads", kind="exact"),),
    columns=(
        Column(name="wrong", label="Wrong", kind="racy"),
        Column(name="took", label="Took", kind="time", unit="us"),
        Column(name="size", label="Size", kind="bytes"),
    ),
)
OTHER = Table(
    name="others",
    kind="static",
    key=(Column(name="wrong", label="Wrong", kind="exact"),),
    columns=(),
)


def codes(asserted: str, *tables: str) -> list[str]:
    """Lint a claim with one assertion."""
    text = f"def a_claim(runs):\n    for row in runs:\n        assert {asserted}\n"
    found = list(lint(text, {"a_claim": tables or ("runs",)}, (TABLE, OTHER)))
    assert all(fault.line == 3 for fault in found)
    return [fault.code for fault in found]


@pytest.mark.parametrize(
    "asserted",
    [
        "row.wrong == 5",
        "row.wrong != other.wrong",
        "row.wrong.samples == (1, 2)",
        "row['wrong'].median == 7",
        "7 == row.wrong.max",
        "row.wrong.median + 1 == 8",
        "row.wrong.rate_of_launches == 0.5",
        "row.took.median == 1.5",
        "0 < row.threads == row.took.q1",
    ],
)
def test_equality_on_samples_is_refused(asserted: str) -> None:
    """Neither a racy count nor a time, nor a number calculated from samples, equals anything."""
    assert codes(asserted) == ["equality-by-chance"]


@pytest.mark.parametrize(
    "asserted",
    [
        "a.took.median < b.took.median",
        "a.took.q3 >= b['took'].q1 * 2",
        "a.took.median / b.took.median > 1.5",
    ],
)
def test_medians_of_times_are_not_compared(asserted: str) -> None:
    """Order and ratio of times go by their intervals, and no claim goes round that."""
    assert codes(asserted) == ["medians-compared"]


@pytest.mark.parametrize(
    "asserted",
    [
        "row.wrong == 0",
        "row.wrong != 0",
        "0 == row.wrong.max",
        "row.wrong.rate_of_launches == 1",
        "row.wrong.min > 3",
        "row.threads == 32",
        "row.size == 4096",
        "len(row.wrong.samples) == 1000",
        "a.took / b.took > 1.5",
        "a.took < b.took",
        "row.took.median < 20",
    ],
)
def test_what_samples_can_answer_is_left_alone(asserted: str) -> None:
    """Zero, every launch, order, a fixed bound, exact columns and times themselves."""
    assert codes(asserted) == []


def test_a_name_that_means_two_columns_is_left_to_the_values() -> None:
    """Where another table's exact column has the name, reading cannot tell; running can."""
    assert codes("row.wrong == 5", "runs", "others") == []


def test_only_claims_are_read() -> None:
    """What a probe or another function compares is its own affair."""
    assert list(lint("def probe(gpu):\n    assert row.wrong == 5\n", {}, (TABLE,))) == []
