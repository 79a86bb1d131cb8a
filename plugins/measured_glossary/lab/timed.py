"""The cells of a timed probe: functions in a row's time columns become their samples.

Comes in: a timed probe's rows as its function yielded them, and what times them. Goes out: the same
rows with samples, and what was noted; or what is wrong with the rows. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import FunctionType
from typing import Any

from measured_glossary.lab.table import Table, pairs
from measured_glossary.lab.timing import MS_PER_UNIT, Call, Plan, Timed

Take = Callable[[Sequence[Call]], Timed]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with what a timed probe yielded, or with what was measured."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """A function that stands in a row's time column."""

    row: int
    column: str
    call: Call


def cells(table: Table, rows: Sequence[Mapping[str, Any]]) -> tuple[_Cell, ...]:
    """Give the functions of all rows, row by row."""
    names = [column.name for column in table.columns if column.kind == "time"]
    return tuple(
        _Cell(row=index, column=name, call=row[name])
        for index, row in enumerate(rows)
        for name in names
        if callable(row.get(name))
    )


def faults(table: Table, rows: Sequence[Mapping[str, Any]]) -> tuple[Fault, ...]:
    """Find time columns without a function, and functions that cannot be told apart."""
    return (*_not_functions(table, rows), *_one_and_the_same(table, rows))


def _not_functions(table: Table, rows: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    for column in table.columns:
        for row in rows if column.kind == "time" else ():
            found = row.get(column.name)
            if not callable(found):
                message = (
                    f"{_where(table, row)}, column {column.name!r}: found {str(found)[:60]!r}, "
                    "expected a function that launches what is to be timed"
                )
                hint = f'write "{column.name}": partial(kernel, grid, block, arguments)'
                yield Fault(code="probe-row", message=message, hint=hint)


def _one_and_the_same(table: Table, rows: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """Find functions made in a loop that would all run with the loop's last values."""
    seen: dict[tuple[object, ...], _Cell] = {}
    for cell in cells(table, rows):
        if not isinstance(cell.call, FunctionType):
            continue
        first = seen.setdefault(_identity(cell.call), cell)
        if first is not cell:
            there = f"{_where(table, rows[first.row])}, column {first.column!r}"
            here = f"{_where(table, rows[cell.row])}, column {cell.column!r}"
            message = (
                f"{here} and {there} are one and the same function: a function "
                "made in a loop sees the loop's last values, and would be timed with those"
            )
            hint = "bind the values: functools.partial(kernel, grid, block, arguments)"
            yield Fault(code="timed-same-function", message=message, hint=hint)
            return


def _identity(function: FunctionType) -> tuple[object, ...]:
    """Give what a function does and with what: its code, the cells and the defaults it sees."""
    bound = (*(function.__closure__ or ()), *(function.__defaults__ or ()))
    bound += tuple((function.__kwdefaults__ or {}).values())
    return (id(function.__code__), *map(id, bound))


def _where(table: Table, row: Mapping[str, Any]) -> str:
    key = {column.name: row.get(column.name) for column in table.key}
    return f"{table.name}({pairs(key)})"


# ── timing them ──────────────────────────────────────────────────────────────────────────────


def taken(
    table: Table, rows: Sequence[Mapping[str, Any]], take: Take
) -> tuple[list[dict[str, Any]], Timed]:
    """Time the functions of all rows against each other and put their samples in their places."""
    found = cells(table, rows)
    timed = take([cell.call for cell in found])
    filled = [dict(row) for row in rows]
    units = {column.name: column.unit for column in table.columns}
    for cell, samples in zip(found, timed.samples, strict=True):
        scale = MS_PER_UNIT[units[cell.column]]
        filled[cell.row][cell.column] = [ms / scale for ms in samples]
    return filled, timed


def too_few(table: Table, timed: Timed, plan: Plan) -> Fault | None:
    """Say that not enough was measured, and why."""
    count = min(len(samples) for samples in timed.samples)
    if count >= plan.least:
        return None
    message = (
        f"{table.name}: {count} samples in {plan.limit_s:g} s, expected at least {plan.least}; "
        f"{timed.discarded} more were discarded, since the GPU was held back"
    )
    brakes = f" ({', '.join(timed.brakes)})" if timed.brakes else ""
    hint = "let the GPU cool or rest, make a call shorter, or raise limit_s"
    return Fault(code="timed-too-few", message=message + brakes, hint=hint)


def noted(table: Table, timed: Timed, cache: str, flushed_bytes: int) -> dict[str, Any]:
    """Give what a record keeps of how a table was timed, as `record.TimingData`."""
    return {
        "table": table.name,
        "cache": cache,
        "flushed_bytes": flushed_bytes,
        "stopped": timed.stopped,
        "batches": [asdict(batch) for batch in timed.batches],
    }
