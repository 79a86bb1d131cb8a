"""An experiment's claims tried on rows that somebody made up: what a test of an experiment uses.

Comes in: an experiment's folder, rows as plain data. Goes out: the names of the claims that they
refute. Must not know records, entries or pytest.

    GOOD = {"mismatches": [{"threads_per_block": 32, "removed": [0, 0, 0]}]}
    BAD = doctored(GOOD, "mismatches", 0, removed=[0, 1, 0])
    assert refuted(folder, GOOD) == set()
    assert refuted(folder, BAD) == {"one_warp_is_right"}

A racy cell is a list, one count for each launch. A measured time is a list of samples, or
`{"about": 3.5}` for as many as are needed, close to it.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from measured_glossary.lab.answer import Checks
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.declared import Declared, read_declared
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.table import Table, faults, to_data
from measured_glossary.problem import Checked, Place, Problem, Refused

Rows = Mapping[str, Sequence[Mapping[str, Any]]]

_NOISE = tuple(0.99 + 0.001 * sample for sample in range(21))  # of a time: the median is 1


def refuted(experiment: Path, rows: Rows) -> set[str]:
    """Give the claims of `code/<id>` that these rows refute; what is wrong with them is refused."""
    return refuted_by_each(experiment, [rows])[0]


def refuted_by_each(experiment: Path, measurements: Sequence[Rows]) -> list[set[str]]:
    """Give the claims that each of several measurements refutes, asking one worker for all."""
    with _declared(experiment) as (bench, declared):
        tables = [_tables(bench, declared, rows) for rows in measurements]
        asked = [{"tables": [*map(to_data, each)], "other_code": False} for each in tables]
        limit_s = bench.settings.limits.quick_s
        answer = bench.ask(Checks, "check", limit_s, measurements=asked, reasons={})
    checked = _required(answer).measurements
    open_ = {
        result.name: result for each in checked for result in each if result.state[:3] == "not"
    }
    if open_:
        raise Refused(
            _problem(bench, f"{name} was not checked: {result.detail}")
            for name, result in open_.items()
        )
    return [{result.name for result in each if result.state == "refuted"} for each in checked]


def filled(experiment: Path, rows: Rows) -> tuple[Table, ...]:
    """Give an experiment's tables with these rows; what is wrong with them is refused."""
    with _declared(experiment) as (bench, declared):
        return _tables(bench, declared, rows)


def claims(experiment: Path) -> set[str]:
    """Give the names of an experiment's claims."""
    with _declared(experiment) as (_, declared):
        return {claim.name for claim in declared.claims}


def doctored(rows: Rows, table: str, row: int, **cells: Any) -> Rows:
    """Give the same rows with some cells of one of them replaced; rows count from 0."""
    made: dict[str, Any] = copy.deepcopy(dict(rows))
    if unknown := set(cells) - set(made[table][row]):
        raise KeyError(f"row {row} of {table} has no {', '.join(sorted(unknown))}")
    made[table][row] |= cells
    return made


@contextmanager
def _declared(experiment: Path) -> Iterator[tuple[Bench, Declared]]:
    root = experiment.resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(measure="recorded")
        bench = Bench(experiment=experiment.name, folder=Path(folder), settings=settings)
        yield bench, _required(read_declared(root, bench))


def _tables(bench: Bench, declared: Declared, rows: Rows) -> tuple[Table, ...]:
    """Fill the declared tables: each of them, and no other."""
    known = {table.name for table in declared.tables}
    if known != set(rows):
        message = f"expected rows for {', '.join(sorted(known))}, found {', '.join(sorted(rows))}"
        raise Refused([_problem(bench, message)])
    tables = tuple(_filled(table, rows[table.name]) for table in declared.tables)
    found = [(table.name, fault) for table in tables for fault in faults(table)]
    if found:
        raise Refused(_problem(bench, f"{name}: {fault.message}") for name, fault in found)
    return tables


def _filled(table: Table, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Put rows into a table; it has as many launches as a racy cell has counts."""
    filled = tuple({name: _cell(value) for name, value in row.items()} for row in rows)
    racy = [column.name for column in table.columns if column.kind == "racy"]
    counts = [len(row[name]) for row in filled for name in racy if isinstance(row.get(name), tuple)]
    return replace(table, rows=filled, launches=max(counts, default=table.launches))


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(value["about"] * noise for noise in _NOISE)
    return tuple(value) if isinstance(value, list) else value


def _required(checked: Checked[Any]) -> Any:
    if checked.value is None:
        raise Refused(checked.problems)
    return checked.value


def _problem(bench: Bench, message: str) -> Problem:
    return Problem(place=Place(bench.file), code="rehearsal-rows", message=message, hint=_LOOK)


_LOOK = "the test's rows are those of the experiment's tables, with the columns declared there"
