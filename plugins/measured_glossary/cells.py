"""Measured tables into words: what a cell, a heading and a chart's row say.

Comes in: a `Table`. Goes out: plain text, ready to be made inert and set into a template. Must
not know of pages, entries or where a table came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from measured_glossary.chart import Mark, Row
from measured_glossary.lab.table import Cell, Column, Outcome, Racy, Table, Times, shown, wrapped

# Signs stand beside the words, never for them.
_SIGNS = {"returned": "✓", "hung": "‖"}
_VERDICT_SIGNS = {"clean": "✓", "findings": "✗", "inconclusive": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A cell or a heading as printed: the main words, smaller ones below, a sign before.

    What `is_unbroken` stays on one line, however narrow the screen.
    """

    main: str
    sub: str = ""
    sign: str = ""
    is_unbroken: bool = False


ABSENT = Shown(main="–")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table as printed; the first `keys` cells of a line are its heading.

    `over` stands above the other headings, where what the cells hold is not said by each of them.
    """

    heads: tuple[Shown, ...]
    lines: tuple[tuple[Shown, ...], ...]
    keys: int
    over: str = ""


def grid(table: Table, columns: Sequence[Column]) -> Grid:
    """Set the key and the chosen columns of a table in print, as its kind is read best."""
    if table.kind == "sanitizer":
        return _watched(table)
    if table.kind == "static" and len(table.key) == 2 and len(columns) == 1:
        return _crossed(table, columns[0])
    return Grid(
        heads=tuple(heading(column) for column in (*table.key, *columns)),
        lines=tuple(
            (*case(table, row), *(cell(c, row.get(c.name)) for c in columns)) for row in table.rows
        ),
        keys=len(table.key),
    )


def _watched(table: Table) -> Grid:
    """Set what a tool said: verdict, counts and reason in one cell, in the words of every page."""
    return Grid(
        heads=(*(heading(column) for column in table.key), Shown(main="Verdict")),
        lines=tuple((*case(table, row), verdict(row)) for row in table.rows),
        keys=len(table.key),
    )


def _crossed(table: Table, column: Column) -> Grid:
    """Set one number of two keys crosswise: the first key down, the second across."""
    down, across = table.key
    found = {(row[down.name], row[across.name]): cell(column, row[column.name])
             for row in table.rows}  # fmt: skip
    names = dict.fromkeys(key for _, key in found)
    lines = dict.fromkeys(key for key, _ in found)
    return Grid(
        heads=(heading(down), *(cell(across, name) for name in names)),
        lines=tuple(
            (cell(down, line), *(found.get((line, name), ABSENT) for name in names))
            for line in lines
        ),
        keys=1,
        over=f"{column.label}, by {across.label[:1].lower()}{across.label[1:]}",
    )


def case(table: Table, row: Mapping[str, Cell]) -> tuple[Shown, ...]:
    """Give the cells that name a row.

    Cases are named by words of Python, whose underscores are spaces in print; in machine code a
    name is a symbol and stays as it is.
    """
    cells = (cell(column, row.get(column.name)) for column in table.key)
    if table.kind not in ("outcome", "sanitizer"):
        return tuple(cells)
    return tuple(replace(shown, main=shown.main.replace("_", " ")) for shown in cells)


def heading(column: Column) -> Shown:
    """Give a column's label, with what its numbers are out of or measured in."""
    if column.of is not None:
        return Shown(main=column.label, sub=f"of {column.of:,}")
    return Shown(main=column.label, sub=f"in {column.unit}" if column.unit else "")


def cell(column: Column, raw: Cell) -> Shown:
    """Give one cell: a range with its median, a zero with its bound, an outcome with its sign."""
    value = wrapped(column, raw)
    if isinstance(value, Racy):
        return _racy(value)
    if isinstance(value, Times):
        return _times(value)
    if isinstance(value, Outcome):
        return Shown(main=str(value), sign=_SIGNS.get(value, "✗"), is_unbroken=True)
    sign = _VERDICT_SIGNS.get(str(value), "") if column.kind == "verdict" else ""
    return Shown(main=shown(value), sign=sign, is_unbroken=isinstance(value, int | float))


def verdict(row: Mapping[str, Cell]) -> Shown:
    """Give what a tool said of one case: its verdict, and how much it found or why it cannot say.

    Warnings alone have a sign of their own: the tool itself does not call them errors.
    """
    said, errors, warnings = str(row["verdict"]), row["errors"], row["warnings"]
    if said == "inconclusive":
        return Shown(main=said, sub=str(row["reason"]), sign=_VERDICT_SIGNS[said])
    counts = [_counted(errors, "error"), _counted(warnings, "warning")]
    sign = "!" if said == "findings" and not errors else _VERDICT_SIGNS[said]
    return Shown(main=said, sub=", ".join(filter(None, counts)), sign=sign, is_unbroken=True)


def _counted(count: Cell, word: str) -> str:
    return f"{shown(count)} {word}{'' if count == 1 else 's'}" if count else ""


def reported(table: Table) -> Grid:
    """Set somebody else's figures in print: the numbers as given, our totals left out."""
    return grid(table, [replace(column, of=None) for column in table.columns])


def _racy(value: Racy) -> Shown:
    if value.bound is not None:
        return Shown(main="0", sub=f"{_bound(value)} of launches (95 %)", is_unbroken=True)
    if value.min == value.max:
        return Shown(main=f"{value.min:,}", sub="in every launch", is_unbroken=True)
    some = f"{value.wrong_launches:,} of {value.launches:,} launches"
    share = "every launch" if value.min else some
    sub = f"median {shown(value.median)}; above 0 in {share}"
    return Shown(main=spread(value), sub=sub, is_unbroken=True)


def _times(value: Times) -> Shown:
    quartiles = f"q1 to q3: {shown(value.q1)} to {shown(value.q3)}; n = {value.n:,}"
    return Shown(main=f"{shown(value.median)} {value.unit}", sub=quartiles, is_unbroken=True)


def spread(value: Racy) -> str:
    """Give the range over launches."""
    return f"{value.min:,} to {value.max:,}"


def _bound(value: Racy) -> str:
    """Give the bound of a zero as the value itself prints it: `at most 0.3 %`."""
    return f"at most {str(value).partition('at most ')[2].partition(' of')[0]}"


def chart_row(table: Table, row: dict[str, Cell], columns: Sequence[Column]) -> Row:
    """Give one line of a chart: the row's key and a mark for each column."""
    label = ", ".join(shown(wrapped(key, row[key.name])) for key in table.key)
    return Row(label=label, marks=tuple(_mark(wrapped(c, row[c.name])) for c in columns))


def _mark(value: Any) -> Mark:
    if isinstance(value, Times):
        return Mark(low=value.q1, middle=value.median, high=value.q3, words=str(value))
    if value.bound is not None:
        words = f"0 (95 %: {_bound(value)} of {value.launches:,} launches)"
        return Mark(low=0, middle=0, high=0, words=words, quiet=True)
    return Mark(low=value.min, middle=value.median, high=value.max, words=spread(value))
