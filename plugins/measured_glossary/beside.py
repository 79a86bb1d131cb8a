"""All machines of an experiment side by side: a line for each value, a column for each machine.

Comes in: a study. Goes out: a figure for each of its tables, and what the machines differ in. Must
not know entries, verdicts or pages; `compare` decides what is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from markupsafe import Markup

from measured_glossary.cells import Shown, case, cell, heading
from measured_glossary.compare import Verdict, judge, overall
from measured_glossary.lab.study import Study
from measured_glossary.lab.table import Cell, Column, Table
from measured_glossary.markup import fill
from measured_glossary.readings import Reading, readings

Said = Verdict | Literal["not on all"]

_SIGNS: dict[Said, str] = {"same": "=", "different": "≠", "ambiguous": "≈", "not on all": "–"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One value of one row on every machine; `said` is what may be said of them together."""

    key: tuple[Shown, ...]
    column: Shown
    cells: tuple[Shown, ...]
    said: Said

    @property
    def verdict(self) -> Shown:
        """The verdict as printed: a sign beside the word."""
        return Shown(main=self.said, sign=_SIGNS[self.said], is_unbroken=True)


def shared(study: Study) -> tuple[Table, ...]:
    """Give the tables, as declared, of which there are readings of two machines or more."""
    return tuple(t for t in study.declared_tables if len(readings([study], t.name)) > 1)


def figure(study: Study, table: Table, *, ident: str) -> Markup:
    """Give a table with all its readings side by side."""
    found = readings([study], table.name)
    return fill(
        "beside.html",
        ident=ident,
        caption=table.text,
        keys=[heading(column) for column in table.key],
        readings=found,
        lines=lines(table, found),
    )


def summary(study: Study) -> str:
    """Say in a sentence how many values are the same on all machines, and how many are not."""
    tables = shared(study)
    said = [line.said for table in tables for line in lines(table, readings([study], table.name))]
    if not said:
        return ""
    parts = [f"{said.count(word)} {word}" for word in _SIGNS if word in said]
    return f"Of {len(said):,} values, compared over all runs: {', '.join(parts)}."


def lines(table: Table, found: Sequence[Reading]) -> tuple[Line, ...]:
    """Give a line for each value of each row that any reading has."""
    tables = [reading.table for reading in found if reading.table]
    keys = dict.fromkeys(_key(table, row) for each in tables for row in each.rows)
    return tuple(line for key in keys for line in _of_row(table, tables, key))


def _key(table: Table, row: dict[str, Cell]) -> tuple[Cell, ...]:
    return tuple(row.get(column.name) for column in table.key)


def _of_row(table: Table, tables: Sequence[Table], key: tuple[Cell, ...]) -> Iterator[Line]:
    named = zip(table.key, key, strict=True)
    names = case(table, {column.name: value for column, value in named})
    rows = [next((row for row in t.rows if _key(table, row) == key), None) for t in tables]
    for column in table.columns:
        pairs = [_value(t, row, column) for t, row in zip(tables, rows, strict=True)]
        yield Line(
            key=names,
            column=heading(column),
            cells=tuple(_shown(pair) for pair in pairs),
            said=_said(pairs),
        )


Value = tuple[Column, Cell] | None  # as the reading's own column has it; none: it has no such row


def _value(table: Table, row: dict[str, Cell] | None, column: Column) -> Value:
    """Find a value: a record of earlier code may lack the row, the column, or mean another kind."""
    own = next((c for c in table.columns if c.name == column.name), None)
    if row is None or own is None or own.kind != column.kind:
        return None
    return own, row.get(column.name)


def _shown(value: Value) -> Shown:
    return Shown(main="not run here") if value is None else cell(*value)


def _said(values: Sequence[Value]) -> Said:
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        return "not on all"
    pairs = combinations(present, 2)
    return overall(judge(column, left, right).verdict for (column, left), (_, right) in pairs)
