"""What happened, and what a tool said of it: `::: outcomes` and `::: sanitizer`.

Comes in: a block as asked for. Goes out: a matrix of cases and machines, or a table of verdicts
with what was found. Must not know how a case was run, nor turn silence into a clean bill.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from measured_glossary.asked import Asked, Plain, declared_table, refuse, study_of
from measured_glossary.cells import ABSENT, Shown, case, cell, heading, verdict
from measured_glossary.lab.record import Finding
from measured_glossary.lab.table import (
    VERDICTS,
    Cell,
    Column,
    Table,
    TableKind,
    Verdict,
    pairs,
    shown,
)
from measured_glossary.markup import fill
from measured_glossary.problem import Checked, meant
from measured_glossary.readings import Reading, readings, unread
from measured_glossary.source import Loc

TOOL = "tool"  # the column that a sanitizer probe's key has beside its author's
Row = Mapping[str, Cell]


class OutcomeOptions(Plain):
    """Which columns stand behind the outcome; a sanitizer probe whose verdict does; a caption."""

    columns: tuple[str, ...] | None = None
    beside: str = ""
    caption: str = ""


class SanitizerOptions(Plain):
    """Which verdicts to show, by default all; a caption before the probe's own sentence."""

    verdicts: tuple[Verdict, ...] = ()
    caption: str = ""


def _of_kind(asked: Asked, name: str, kind: TableKind, *, at: Loc = ()) -> Checked[Table]:
    """Find a declared table that is of a kind; `at` is the option that names it, if one does."""
    table = declared_table(asked, name, at=at)
    if table.value is None or table.value.kind == kind:
        return table
    of_kind = [t.name for s in asked.studies for t in s.declared_tables if t.kind == kind]
    message = f"{name!r} is a {table.value.kind} probe, expected a {kind} probe"
    hint = f"those are: {', '.join(of_kind) or 'none'}"
    return refuse(asked, "probe-kind", message, hint, at=at)


# ── outcomes ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matrix:
    """What a matrix shows: the table, the columns behind the outcome, whose verdict beside it."""

    table: Table
    columns: tuple[Column, ...]
    beside: Table | None

    def key(self, row: Row) -> tuple[Cell, ...]:
        """Give the values by which a row is found."""
        return tuple(row.get(column.name) for column in self.table.key)


def outcomes(asked: Asked) -> Checked[str]:
    """Give a matrix: a line for each case, and for each machine what happened there."""
    matrix = _matrix(asked)
    if matrix.value is None:
        return Checked(value=None, problems=matrix.problems)
    table, found = matrix.value.table, readings(asked.studies, asked.argument)
    if not found:
        return Checked(value=unread(study_of(asked, table), table))
    sides = [_Side(matrix=matrix.value, reading=reading) for reading in found]
    keys = dict.fromkeys(key for side in sides for key in side.keys)
    drawn = fill(
        "outcomes.html",
        ident=asked.ident,
        caption=asked.options.caption or table.text,
        keys=[heading(column) for column in table.key],
        sides=[(side.reading, side.heads) for side in sides],
        lines=[_line(table, sides, key) for key in keys],
    )
    return Checked(value=drawn)


def _line(
    table: Table, sides: Sequence[_Side], key: tuple[Cell, ...]
) -> tuple[list[Shown], list[Shown]]:
    row = {column.name: value for column, value in zip(table.key, key, strict=True)}
    return [*case(table, row)], [shown for side in sides for shown in side.cells(key)]


def _matrix(asked: Asked) -> Checked[_Matrix]:
    table = _of_kind(asked, asked.argument, "outcome")
    if table.value is None:
        return Checked(value=None, problems=table.problems)
    columns = _columns(asked, table.value)
    beside = _beside(asked, table.value)
    if columns.value is None or beside.problems:
        return Checked(value=None, problems=(*columns.problems, *beside.problems))
    return Checked(value=_Matrix(table=table.value, columns=columns.value, beside=beside.value))


def _columns(asked: Asked, table: Table) -> Checked[tuple[Column, ...]]:
    """Choose the columns behind the outcome: those asked for, or all."""
    known = {column.name: column for column in table.columns if column.kind != "outcome"}
    wanted = tuple(known) if asked.options.columns is None else asked.options.columns
    if unknown := [name for name in wanted if name not in known]:
        message = f"{table.name} has no such column: {', '.join(unknown)}"
        hint = meant(unknown[0], known, f"the columns are: {', '.join(known) or 'none'}")
        at = ("columns", wanted.index(unknown[0]))
        return refuse(asked, "unknown-column", message, hint, at=at)
    return Checked(value=tuple(known[name] for name in wanted))


def _beside(asked: Asked, table: Table) -> Checked[Table]:
    """Find the sanitizer probe whose verdict stands beside each case: it has the same key."""
    name = asked.options.beside
    at = ("beside",)
    beside = _of_kind(asked, name, "sanitizer", at=at) if name else Checked(value=None)
    if beside.value is None:
        return beside
    keys = [[c.name for c in t.key if c.name != TOOL] for t in (table, beside.value)]
    if sorted(keys[0]) == sorted(keys[1]):
        return beside
    message = f"{name!r} has the key {', '.join(keys[1])}; {table.name} has {', '.join(keys[0])}"
    return refuse(asked, "probe-key", message, "give both probes the same key", at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One machine's part of a matrix."""

    matrix: _Matrix
    reading: Reading

    @property
    def rows(self) -> dict[tuple[Cell, ...], Row]:
        """The outcomes by key."""
        rows = self.reading.table.rows if self.reading.table else ()
        return {self.matrix.key(row): row for row in rows}

    @property
    def keys(self) -> tuple[tuple[Cell, ...], ...]:
        """The keys of the cases that were run here."""
        return tuple(self.rows)

    @property
    def watched(self) -> tuple[Row, ...]:
        """The rows of the sanitizer probe beside, from the same run."""
        beside, record = self.matrix.beside, self.reading.record
        tables = record.tables if record and beside else ()
        return tuple(row for t in tables if beside and t.name == beside.name for row in t.rows)

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools whose verdicts stand beside."""
        return tuple(dict.fromkeys(str(row[TOOL]) for row in self.watched))

    @property
    def heads(self) -> tuple[Shown, ...]:
        """The headings of this part's columns."""
        columns = (heading(column) for column in self.matrix.columns)
        return (Shown(main="Outcome"), *(Shown(main=tool) for tool in self.tools), *columns)

    def cells(self, key: tuple[Cell, ...]) -> tuple[Shown, ...]:
        """Give this part's cells of one case."""
        row = self.rows.get(key)
        if row is None:
            return (Shown(main="not run here"), *(ABSENT for _ in self.heads[1:]))
        outcome = next(c for c in self.matrix.table.columns if c.kind == "outcome")
        said = (self._said(tool, key) for tool in self.tools)
        others = (cell(column, row.get(column.name)) for column in self.matrix.columns)
        return (cell(outcome, row.get(outcome.name)), *said, *others)

    def _said(self, tool: str, key: tuple[Cell, ...]) -> Shown:
        said = (r for r in self.watched if r[TOOL] == tool and self.matrix.key(r) == key)
        row = next(said, None)
        return ABSENT if row is None else verdict(row)


# ── sanitizers ───────────────────────────────────────────────────────────────────────────────

_KINDS = {
    "RAW": "read after write, unordered (RAW)",
    "WAR": "write after read, unordered (WAR)",
    "WAW": "write after write, unordered (WAW)",
    "Race": "race, in which the tool sums these up",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A group of findings as printed: how many, of what, in which kernel, at which lines.

    `places` are the text and the address of each line; `joint` is what stands between them.
    """

    count: str
    what: str
    kernel: str = ""
    places: tuple[tuple[str, str], ...] = ()
    joint: str = ""


def sanitizer(asked: Asked) -> Checked[str]:
    """Give each reading's verdicts, case by case and tool by tool, with what was found."""
    declared = _of_kind(asked, asked.argument, "sanitizer")
    if declared.value is None:
        return Checked(value=None, problems=declared.problems)
    drawn = [
        (reading, _figure(asked, declared.value, reading, f"{asked.ident}-{index}"))
        for index, reading in enumerate(readings(asked.studies, asked.argument))
    ]
    instead = unread(study_of(asked, declared.value), declared.value)
    return Checked(value=fill("readings.html", drawn=drawn, unread=instead))


def _figure(asked: Asked, declared: Table, reading: Reading, ident: str) -> Markup:
    table, record = reading.table or declared, reading.record
    tools = dict.fromkeys(str(row[TOOL]) for row in table.rows)
    keys = [column for column in table.key if column.name != TOOL or len(tools) > 1]
    rows = [row for row in table.rows if row["verdict"] in (asked.options.verdicts or VERDICTS)]
    version = record.toolchain.get("compute-sanitizer", "") if record else ""
    caption = asked.options.caption
    return fill(
        "sanitizer.html",
        reading=reading,
        ident=ident,
        caption=caption or table.text,
        row=table.text[:1].lower() + table.text[1:] if caption else "",
        tools=", ".join(tools),
        version=f"compute-sanitizer {version}" if version else "no compute-sanitizer",
        keys=[heading(column) for column in keys],
        left_out=len(table.rows) - len(rows),
        lines=[_verdict_line(asked, table, reading, keys, row) for row in rows],
    )


def _verdict_line(
    asked: Asked, table: Table, reading: Reading, keys: Sequence[Column], row: Row
) -> tuple[list[Shown], Shown, list[Found]]:
    name = pairs({column.name: row[column.name] for column in table.key})
    findings = reading.record.findings if reading.record else ()
    own = [each for each in findings if each.table == table.name and each.row == name]
    named = zip(table.key, case(table, row), strict=True)
    names = [shown for column, shown in named if column in keys]
    return names, verdict(row), [_found(asked, each) for each in _in_order(own)]


def _in_order(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Give what was found before its summing up; of the sums one, whatever lines they name."""
    sums = [finding for finding in findings if finding.kind == "Race"]
    yield from (finding for finding in findings if finding.kind != "Race")
    if sums:
        yield _joined(sums)


def _joined(sums: Sequence[Finding]) -> Finding:
    return Finding(
        table=sums[0].table,
        row=sums[0].row,
        severity=sums[0].severity,
        kind=sums[0].kind,
        count=sum(finding.count for finding in sums),
        kernel="",
        lines=(),
    )


def _found(asked: Asked, finding: Finding) -> Found:
    is_hazard = finding.kind in _KINDS
    return Found(
        count=shown(finding.count),
        what=_KINDS.get(finding.kind, finding.kind),
        kernel=finding.kernel,
        places=tuple(_places(asked, finding.lines)),
        joint=", then " if is_hazard else ", called from ",
    )


def _places(asked: Asked, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give each line's text and address; a file is named once."""
    before = ""
    for place in lines:
        file, _, line = place.rpartition(":")
        name = "" if file == before else file.rpartition("/")[2]
        yield f"{name}:{line}", asked.url(file, f"#L{line}")
        before = file
