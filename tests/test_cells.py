"""Tables in words: each kind is set as it is read best."""

from __future__ import annotations

from typing import Any

from measured_glossary.cells import Grid, Shown, grid
from measured_glossary.lab.table import Cell, Column, Table, TableKind


def exact(name: str, label: str) -> Column:
    """A column of exact values."""
    return Column(name=name, label=label, kind="exact")


def table(kind: TableKind, key: tuple[Column, ...], *rows: dict[str, Cell], **more: Any) -> Table:
    """A table with the rows given."""
    return Table(name="t", kind=kind, key=key, rows=rows, **{"columns": (), **more})


def words(printed: Grid) -> list[list[str]]:
    """The main words of a grid, line by line, its headings first."""
    return [[cell.main for cell in line] for line in (printed.heads, *printed.lines)]


CODE = (exact("architecture", "Architecture"), exact("kernel", "Kernel"))
COUNT = exact("barriers", "BAR.SYNC instructions")


def test_one_number_of_two_keys_is_set_crosswise() -> None:
    """Architectures stand down, kernels across, by their own names; what is absent has a dash."""
    made = table(
        "static",
        CODE,
        {"architecture": "sm_75", "kernel": "with_it", "barriers": 1},
        {"architecture": "sm_75", "kernel": "without", "barriers": 0},
        {"architecture": "sm_90", "kernel": "with_it", "barriers": 2},
        columns=(COUNT,),
    )
    printed = grid(made, made.columns)
    assert words(printed) == [
        ["Architecture", "with_it", "without"],
        ["sm_75", "1", "0"],
        ["sm_90", "2", "–"],
    ]
    assert (printed.keys, printed.over) == (1, "BAR.SYNC instructions, by kernel")


def test_several_numbers_keep_a_line_for_each_row() -> None:
    """With two columns the table stays as it was measured."""
    row: dict[str, Cell] = {"architecture": "sm_75", "kernel": "k", "barriers": 1, "loads": 2}
    made = table("static", CODE, row, columns=(COUNT, exact("loads", "Loads")))
    assert words(grid(made, made.columns))[1] == ["sm_75", "k", "1", "2"]
    assert grid(made, made.columns).over == ""


def test_a_verdict_reads_the_same_on_every_page() -> None:
    """Counts and reasons stand below a verdict; warnings alone are no cross; no column is empty."""
    key = (exact("barrier", "Barrier"), exact("tool", "Tool"))
    seen = {"tool": "racecheck", "verdict": "findings", "reason": ""}
    blind = {"tool": "racecheck", "verdict": "inconclusive", "errors": None, "warnings": None}
    made = table(
        "sanitizer",
        key,
        {"barrier": "in_place", **seen, "errors": 0, "warnings": 513},
        {"barrier": "removed", **seen, "errors": 9, "warnings": 0},
        {"barrier": "other", **blind, "reason": "it died"},
    )
    printed = grid(made, ())
    assert [head.main for head in printed.heads] == ["Barrier", "Tool", "Verdict"]
    verdicts = [line[-1] for line in printed.lines]
    assert verdicts[0] == Shown(main="findings", sub="513 warnings", sign="!", is_unbroken=True)
    assert verdicts[1] == Shown(main="findings", sub="9 errors", sign="✗", is_unbroken=True)
    assert verdicts[2] == Shown(main="inconclusive", sub="it died", sign="?")


def test_a_case_is_named_in_words() -> None:
    """The name of a case has spaces for the underscores that Python asked for."""
    row: dict[str, Cell] = {"barrier": "in_place", "outcome": "returned"}
    outcome = Column(name="outcome", label="Outcome", kind="outcome")
    made = table("outcome", (exact("barrier", "Barrier"),), row, columns=(outcome,))
    assert words(grid(made, made.columns))[1] == ["in place", "returned"]
