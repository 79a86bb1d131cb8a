"""Two measurements of one experiment: same, different or ambiguous.

Comes in: two records, or two cells of one column. Goes out: a verdict with its reason, never more
than the samples bear. Must not know where the records came from, nor how a verdict is shown.

The rules, and what they take for granted, stand in docs/how-we-measure.md, "Two machines".
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from measured_glossary.lab.record import Record
from measured_glossary.lab.table import Cell, Column, Racy, Table, Times, shown, wrapped
from measured_glossary.lab.timing import Z_99, median_interval

Verdict = Literal["same", "different", "ambiguous"]

# Two samples of launches: how seldom equal machines may be called different, and how far apart at
# most distributions are that are called the same, with which confidence that is known.
ALPHA = 0.001
EQUIVALENCE = 0.2
BETA = 0.05
SAME_TIME = 0.02  # as a share of the time


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict on two cells, and why."""

    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPair:
    """One column of one row on both machines, in words, with the verdict."""

    column: Column
    left: str
    right: str
    judged: Judged


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPair:
    """One row of a table on both machines; `only_in` is where it is, if not on both."""

    table: str
    key: str
    cells: tuple[CellPair, ...]
    only_in: Literal["", "left", "right"] = ""

    @property
    def verdict(self) -> Verdict | Literal["only in one"]:
        """Different where any cell differs, same where all are, else ambiguous."""
        if self.only_in:
            return "only in one"
        return overall(cell.judged.verdict for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two records of one experiment; `other_code` names the inputs that are not the same bytes."""

    left: Record
    right: Record
    other_code: tuple[str, ...]
    rows: tuple[RowPair, ...]


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """Put verdicts together: one difference is a difference, one doubt is a doubt."""
    found = set(verdicts)
    if "different" in found:
        return "different"
    return "ambiguous" if "ambiguous" in found else "same"


# ── records ──────────────────────────────────────────────────────────────────────────────────


def compare(left: Record, right: Record) -> Comparison:
    """Compare two records of one experiment, row by row."""
    files = sorted({*left.inputs, *right.inputs})
    return Comparison(
        left=left,
        right=right,
        other_code=tuple(f for f in files if left.inputs.get(f) != right.inputs.get(f)),
        rows=tuple(_rows(left, right)),
    )


def _rows(left: Record, right: Record) -> Iterator[RowPair]:
    ours = {table.name: table for table in left.tables}
    theirs = {table.name: table for table in right.tables}
    for name in dict.fromkeys((*ours, *theirs)):
        if name in ours and name in theirs:
            yield from _tables(ours[name], theirs[name])
        else:
            table = ours.get(name) or theirs[name]
            for row in table.rows:
                yield _alone(table, row, "left" if name in ours else "right")


def _tables(left: Table, right: Table) -> Iterator[RowPair]:
    ours = {_key(left, row): row for row in left.rows}
    theirs = {_key(right, row): row for row in right.rows}
    kinds = {column.name: column for column in right.columns}
    columns = [c for c in left.columns if c.name in kinds and c.kind == kinds[c.name].kind]
    for key in dict.fromkeys((*ours, *theirs)):
        if key not in ours:
            yield _alone(right, theirs[key], "right")
        elif key not in theirs:
            yield _alone(left, ours[key], "left")
        else:
            both = ((c, ours[key].get(c.name), theirs[key].get(c.name)) for c in columns)
            yield RowPair(table=left.name, key=key, cells=tuple(_pair(*each) for each in both))


def _key(table: Table, row: dict[str, Cell]) -> str:
    return ", ".join(f"{column.name}={row[column.name]!r}" for column in table.key)


def _alone(table: Table, row: dict[str, Cell], where: Literal["left", "right"]) -> RowPair:
    return RowPair(table=table.name, key=_key(table, row), cells=(), only_in=where)


def _pair(column: Column, left: Cell, right: Cell) -> CellPair:
    words = (shown(wrapped(column, cell)) for cell in (left, right))
    return CellPair(
        column=column, left=next(words), right=next(words), judged=judge(column, left, right)
    )


# ── cells ────────────────────────────────────────────────────────────────────────────────────


def judge(column: Column, left: Cell, right: Cell) -> Judged:
    """Compare two cells of a column by what its kind bears."""
    if left is None or right is None:
        return _absent(left, right)
    ours, theirs = wrapped(column, left), wrapped(column, right)
    if isinstance(ours, Racy):
        return _races(ours, theirs)
    if isinstance(ours, Times):
        return _times(ours, theirs)
    if column.kind == "findings":
        return _findings(int(ours), int(theirs))
    if column.kind == "verdict" and "inconclusive" in (ours, theirs):
        return Judged(verdict="ambiguous", why="a tool gave no verdict")
    if left == right:
        return Judged(verdict="same", why="equal")
    return Judged(verdict="different", why="not equal")


def _absent(left: Cell, right: Cell) -> Judged:
    if left is right:
        return Judged(verdict="same", why="neither left a value")
    return Judged(verdict="different", why="one left a value, the other did not")


def _findings(left: int, right: int) -> Judged:
    """Compare with zero and no further: how often a tool reports follows the schedule."""
    if (left == 0) != (right == 0):
        return Judged(verdict="different", why="one reported something, the other nothing")
    if left == right == 0:
        return Judged(verdict="same", why="nothing was reported on either")
    return Judged(verdict="same", why="something was reported on both; how much says nothing")


def _races(left: Racy, right: Racy) -> Judged:
    """Compare two distributions over launches, by the greatest gap between their shares."""
    n, m = left.launches, right.launches
    if left.bound is not None and right.bound is not None:
        bound = max(left.bound, right.bound)
        verdict: Verdict = "same" if bound <= EQUIVALENCE else "ambiguous"
        return Judged(verdict=verdict, why=f"zero in every launch of {n:,} and {m:,}")
    gap = distance(left.samples, right.samples)
    by_chance = math.sqrt(-math.log(ALPHA / 2) / 2) * math.sqrt((n + m) / (n * m))
    at_most = gap + sum(math.sqrt(math.log(4 / BETA) / (2 * size)) for size in (n, m))
    what = f"distributions over {n:,} and {m:,} launches, {gap:.2f} apart"
    if gap > by_chance:
        return Judged(verdict="different", why=f"{what}; chance alone gives {by_chance:.2f}")
    if at_most <= EQUIVALENCE:
        return Judged(verdict="same", why=f"{what}; at most {at_most:.2f} (95 %)")
    return Judged(verdict="ambiguous", why=f"{what}, and that may be chance")


def distance(left: Sequence[float], right: Sequence[float]) -> float:
    """Give the greatest gap between two empirical distributions (Kolmogorov and Smirnov's)."""
    ours, theirs = sorted(left), sorted(right)
    return max(
        abs(bisect_right(ours, at) / len(ours) - bisect_right(theirs, at) / len(theirs))
        for at in {*ours, *theirs}
    )


def _times(left: Times, right: Times) -> Judged:
    """Different where the quartile intervals do not overlap; same within two percent."""
    if left.unit != right.unit:
        return Judged(verdict="ambiguous", why=f"one is in {left.unit}, the other in {right.unit}")
    if left < right or left > right:
        ratio = left.median / right.median if right.median else math.inf
        return Judged(verdict="different", why=f"intervals apart, {shown(ratio)} times")
    bounds = [median_interval(each.samples, Z_99) for each in (left, right)]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    if low > 0 and high / low - 1 <= SAME_TIME:
        return Judged(verdict="same", why=f"both medians within {SAME_TIME:.0%} (99 %)")
    return Judged(verdict="ambiguous", why="the intervals overlap")


# ── for programs ─────────────────────────────────────────────────────────────────────────────


def to_data(comparison: Comparison) -> dict[str, Any]:
    """Give a comparison as JSON values."""
    return {
        "experiment": comparison.left.experiment,
        "left": _side(comparison.left),
        "right": _side(comparison.right),
        "other_code": list(comparison.other_code),
        "rows": [
            {
                "table": row.table,
                "key": row.key,
                "verdict": row.verdict,
                "only_in": row.only_in,
                "cells": [_cell(cell) for cell in row.cells],
            }
            for row in comparison.rows
        ],
    }


def _side(record: Record) -> dict[str, str]:
    machine = record.machine
    return {"machine": machine.id, "captured": record.captured, "digest": record.digest}


def _cell(cell: CellPair) -> dict[str, str]:
    return {
        "column": cell.column.name,
        "left": cell.left,
        "right": cell.right,
        "verdict": cell.judged.verdict,
        "why": cell.judged.why,
    }


def to_text(comparison: Comparison) -> str:
    """Give a comparison for a terminal: a line for each row, and what is not the same below it."""
    left, right = comparison.left, comparison.right
    named = [f"{r.machine.name} ({r.captured[:10]})" for r in (left, right)]
    lines = [f"{left.experiment}: {named[0]} | {named[1]}"]
    if comparison.other_code:
        lines.append(f"  not the same code: {', '.join(comparison.other_code)}")
    lines += [line for row in comparison.rows for line in _row_lines(row, named)]
    verdicts = [row.verdict for row in comparison.rows]
    counted = (f"{verdicts.count(v)} {v}" for v in dict.fromkeys(sorted(verdicts)))
    return "\n".join([*lines, f"  {len(verdicts)} rows: {', '.join(counted) or 'none'}"])


def _row_lines(row: RowPair, named: Sequence[str]) -> Iterator[str]:
    where = f" ({named[row.only_in == 'right']})" if row.only_in else ""
    yield f"  {row.verdict:<11} {row.table}({row.key}){where}"
    for cell in row.cells:
        if cell.judged.verdict != "same":
            said = f"{cell.left} | {cell.right}"
            yield f"      {cell.judged.verdict}: {cell.column.label}: {said}: {cell.judged.why}"
