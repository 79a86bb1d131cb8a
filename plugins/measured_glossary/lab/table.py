"""Measured tables, and the values that claims and inline expressions compare.

Comes in: columns an author declared and rows of plain data. Goes out: `Table`, and `Rows` that
wrap each cell by its kind. Standard library and `problem` only; must not know of files, GPUs or
YAML.
"""

from __future__ import annotations

import difflib
import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn, TypeAlias, cast, get_args

from measured_glossary.problem import meant

ColumnKind = Literal["exact", "racy", "time", "outcome", "bytes", "verdict", "findings"]
TableKind = Literal["runtime", "timed", "static", "outcome", "sanitizer"]
Plain: TypeAlias = "bool | int | float | str | None"
Cell: TypeAlias = "Plain | tuple[int, ...] | tuple[float, ...]"

COLUMN_KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
SAMPLED: tuple[ColumnKind, ...] = ("racy", "time")
MOST_LISTED = 5  # rows or values in one message
MAX_BITS = 64  # of a whole number: no kernel counts further, and Python cannot print any length
MIN_TIMES = 20  # fewer samples say too little of a distribution to print its quartiles
OUTCOME = re.compile(r"returned|hung|cuda error \w+|crashed \(SIG\w+\)")
Verdict = Literal["clean", "findings", "inconclusive"]  # of a sanitizer
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: `unit` of its numbers, `of` the total that a count is out of (`None`: no total)."""

    name: str
    label: str
    kind: ColumnKind
    unit: str = ""
    of: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What one probe measured; `text` says in one sentence what a row is.

    A row maps each column's name to plain data: a tuple of samples (one a launch) for racy and
    time columns, `None` where a case that did not return, or a tool that saw nothing, left
    nothing. `launches` is 0 for a static or timed table.
    """

    name: str
    kind: TableKind
    key: tuple[Column, ...]
    columns: tuple[Column, ...]
    text: str = ""
    launches: int = 0
    rows: tuple[dict[str, Cell], ...] = ()

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The key's columns, then the others."""
        return (*self.key, *self.columns)


class TableError(LookupError):
    """A row, a column or a value that is not in the table; the text lists what is there."""


class RacyComparison(TypeError):  # noqa: N818 - named for what was done
    """A comparison that samples of a race or of a clock cannot answer; says what to write."""


class Inconclusive(LookupError):  # noqa: N818 - named for what the tool was
    """A tool that should have looked gave no verdict: whatever rests on it is not checked."""


class AmbiguousTimes(AssertionError):  # noqa: N818 - named for what was found
    """A ratio of two times whose intervals overlap: a claim that needs it is not shown."""


# ── cells ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Racy:
    """A count that a race decides: one sample a launch; `of` is the total it is out of."""

    samples: tuple[int, ...]
    of: int | None = None

    @property
    def launches(self) -> int:
        """How many launches were observed."""
        return len(self.samples)

    @property
    def min(self) -> int:
        """The least count of any launch."""
        return min(self.samples)

    @property
    def max(self) -> int:
        """The greatest count of any launch."""
        return max(self.samples)

    @property
    def median(self) -> int | float:
        """The median over launches."""
        return _whole(statistics.median(self.samples))

    @property
    def q1(self) -> int | float:
        """The first quartile over launches."""
        return _quartile(self.samples, 0)

    @property
    def q3(self) -> int | float:
        """The third quartile over launches."""
        return _quartile(self.samples, 2)

    @property
    def wrong_launches(self) -> int:
        """How many launches gave a count other than zero."""
        return sum(sample != 0 for sample in self.samples)

    @property
    def rate_of_launches(self) -> float:
        """The share of launches, 0 to 1, that gave a count other than zero."""
        return self.wrong_launches / self.launches

    @property
    def bound(self) -> float | None:
        """The 95 % upper bound on the rate of launches when all are zero, else `None`.

        With no event in L independent launches the rate p for which that would happen in one
        study of twenty solves (1 - p)^L = 0.05.
        """
        return None if self.wrong_launches else 1 - 0.05 ** (1 / self.launches)

    def __eq__(self, other: object) -> bool:
        """`== 0`: zero in every launch. Any other equality is refused."""
        if type(other) is int and other == 0:
            return self.wrong_launches == 0
        _refuse_equality(other, "'== 0', '!= 0', '<', '>' or '.rate_of_launches'")

    def __lt__(self, other: Racy | int | float) -> bool:
        """Less in every pair of launches."""
        return self.max < _least(other)

    def __le__(self, other: Racy | int | float) -> bool:
        """Less or equal in every pair of launches."""
        return self.max <= _least(other)

    def __gt__(self, other: Racy | int | float) -> bool:
        """Greater in every pair of launches."""
        return self.min > _greatest(other)

    def __ge__(self, other: Racy | int | float) -> bool:
        """Greater or equal in every pair of launches."""
        return self.min >= _greatest(other)

    def __bool__(self) -> NoReturn:
        """Refused: some launches may be zero and others not."""
        raise RacyComparison("a racy count is neither true nor false: write '== 0' or '!= 0'")

    def __str__(self) -> str:
        """Print a zero with its bound, anything else as a range over launches."""
        launches = f"{self.launches:,} launch{'' if self.launches == 1 else 'es'}"
        if self.bound is not None:
            return f"0 wrong in {launches} (95 %: at most {_bound_percent(self.bound)} of launches)"
        if self.min == self.max:
            return f"{self.min:,} in each of {launches}"
        seen = f"{self.min:,} to {self.max:,} (median {shown(self.median)})"
        some = "" if self.min else f", not zero in {self.wrong_launches:,} of them"
        return f"{seen} in {launches}{some}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Times:
    """A measured time, one sample a launch, in `unit`; compared by the interval q1 to q3."""

    samples: tuple[float, ...]
    unit: str

    @property
    def n(self) -> int:
        """How many samples there are."""
        return len(self.samples)

    @property
    def median(self) -> float:
        """The median, in `unit`."""
        return statistics.median(self.samples)

    @property
    def q1(self) -> float:
        """The first quartile, in `unit`."""
        return _quartile(self.samples, 0)

    @property
    def q3(self) -> float:
        """The third quartile, in `unit`."""
        return _quartile(self.samples, 2)

    def bandwidth(self, moved: int) -> Times:
        """Give the rate of moving so many bytes in each sample's time, in GB/s: 10^9 bytes."""
        if self.unit not in _SECONDS:
            raise TableError(f"{self.unit!r} is no unit of time; these are: {', '.join(_SECONDS)}")
        rates = tuple(moved / (sample * _SECONDS[self.unit]) / 1e9 for sample in self.samples)
        return Times(rates, "GB/s")

    def __eq__(self, other: object) -> NoReturn:
        """Refused: no two measured times are equal."""
        _refuse_equality(other, "'<', '>' or a ratio such as 'a / b > 1.5'")

    def __lt__(self, other: Times | int | float) -> bool:
        """Less, with intervals that do not overlap."""
        low, _ = self._interval(other)
        return self.q3 < low

    def __gt__(self, other: Times | int | float) -> bool:
        """Greater, with intervals that do not overlap."""
        _, high = self._interval(other)
        return self.q1 > high

    def __truediv__(self, other: Times) -> float:
        """The ratio of the medians; raises `AmbiguousTimes` where the intervals overlap."""
        if self < other or self > other:
            return self.median / other.median
        raise AmbiguousTimes(f"{self} and {other} overlap: their ratio is ambiguous")

    def __bool__(self) -> NoReturn:
        """Refused: a time is no truth value."""
        raise RacyComparison("a time is neither true nor false: compare it with '<' or '>'")

    def __str__(self) -> str:
        """Print as median, unit, quartiles and number of samples."""
        low, high = shown(self.q1), shown(self.q3)
        return f"{shown(self.median)} {self.unit} ({low} to {high}, n = {self.n:,})"

    __repr__ = __str__

    def _interval(self, other: Times | int | float) -> tuple[float, float]:
        if not isinstance(other, Times):
            return _number(other), _number(other)
        if other.unit != self.unit:
            raise RacyComparison(f"a time in {self.unit} is compared with one in {other.unit}")
        return other.q1, other.q3


class Outcome(str):
    """How a launch ended: `returned`, `hung`, `cuda error NAME` or `crashed (SIGNAL)`."""

    __slots__ = ()


class Bytes(int):
    """A number of bytes, printed with its unit."""

    def __str__(self) -> str:
        """Print as `49,152 bytes`."""
        return f"{int(self):,} byte{'' if self == 1 else 's'}"


class Findings(int):
    """How much a tool reported in one run: compared with zero and by order only.

    A sanitizer orders accesses by the barriers it saw, so that it reports anything at all is a
    property of the program. How often it does follows the schedule: racecheck remembers the last
    access to a byte, synccheck ends the context at the first faults.
    """

    __slots__ = ()
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        """`== 0`: nothing was reported. Any other equality is refused."""
        if type(other) is int and other == 0:
            return int(self) == 0
        _refuse_equality(other, "'== 0', '!= 0', '<' or '>'")

    def __ne__(self, other: object) -> bool:
        """`!= 0`: something was reported. Any other inequality is refused."""
        return not self == other

    def __str__(self) -> str:
        """Print as a number."""
        return f"{int(self):,}"


def shown(value: object) -> str:
    """Print a value as pages do: thousands separators, yes/no, a dash for what is absent."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if type(value) is int:
        return short(value) if is_long(value) else f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def short(value: object, most: int = 60) -> str:
    """Print a value as Python does, in so many signs at most, whatever author code made of it."""
    try:
        text = _long(value) if is_long(value) else repr(value)
    except Exception:  # a long number inside it, or its own method
        text = f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= most else f"{text[: most - 3]}…"


def is_plain(value: object) -> bool:
    """Say whether a value is a number or a text that every reader of JSON understands."""
    is_one = isinstance(value, bool | int | float | str)
    return is_one and not _holds_nan(value) and not is_long(value)


def is_long(value: object) -> bool:
    """Say whether a value is a whole number beyond 64 bits, with a sign or without."""
    return isinstance(value, int) and not -(1 << MAX_BITS - 1) <= value < 1 << MAX_BITS


def _long(value: object) -> str:
    return f"a whole number of {cast(int, value).bit_length():,} bits"


def _whole(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _quartile(samples: tuple[int, ...] | tuple[float, ...], index: int) -> int | float:
    if len(samples) == 1:
        return samples[0]
    return _whole(statistics.quantiles(samples, n=4, method="inclusive")[index])


def _bound_percent(rate: float) -> str:
    """Two significant digits, rounded up: "at most" must stay true."""
    percent = rate * 100
    step = 10.0 ** (math.floor(math.log10(percent)) - 1)
    return f"{math.ceil(round(percent / step, 6)) * step:.3g} %"


def _refuse_equality(other: object, instead: str) -> NoReturn:
    raise RacyComparison(
        f"equality with {shown(other)!r} would hold or fail by chance: write {instead}"
    )


def _least(other: object) -> int | float:
    return other.min if isinstance(other, Racy) else _number(other)


def _greatest(other: object) -> int | float:
    return other.max if isinstance(other, Racy) else _number(other)


def _number(other: object) -> int | float:
    if isinstance(other, bool) or not isinstance(other, int | float) or _holds_nan(other):
        raise RacyComparison(f"{short(other)} is no number to compare samples with")
    return other


# ── rows ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Row:
    """One row; its cells are attributes named like the columns."""

    _table: Table
    _cells: dict[str, Cell]

    def __getattr__(self, name: str) -> Any:
        """Give the cell of the column called `name`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        """Give the cell of the column called `name`."""
        for column in self._table.all_columns:
            if column.name == name:
                self._refuse_inconclusive(column)
                return wrapped(column, self._cells.get(name))
        raise _no_name(self._table, "column", name, self._table.all_columns)

    def _refuse_inconclusive(self, column: Column) -> None:
        """Refuse what a tool without a verdict left: silence is not a clean bill."""
        if column in self._table.columns and self._cells.get("verdict") == "inconclusive":
            raise Inconclusive(f"{self!r} is inconclusive: {self._cells.get('reason')}")

    def __repr__(self) -> str:
        """Print as the selection that gives this row."""
        return f"{self._table.name}({_selection(self._table.key, self._cells)})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rows:
    """The rows of a table: call it with values of its key for one row, or go through them."""

    table: Table

    def __call__(self, **key: Plain) -> Row:
        """Give the one row with these values of the key."""
        found = self._matching(key)
        if len(found) == 1:
            return Row(self.table, found[0])
        if not found:
            raise self._no_row(key)
        selected = f", with {pairs(key)}" if key else ""
        more = f"{len(found)} rows, not one{selected}; say also {self._open(key, found)}"
        raise TableError(f"{self.table.name} has {more}")

    def where(self, predicate: Callable[[Row], bool] | None = None, /, **key: Plain) -> Rows:
        """Give the rows with these values of the key for which `predicate` holds.

        None at all is an error: a claim that goes through no rows would hold whatever happened.
        """
        rows = self._matching(key)
        kept = tuple(r for r in rows if predicate is None or predicate(Row(self.table, r)))
        if kept:
            return Rows(replace(self.table, rows=kept))
        raise self._no_row(key)

    def __iter__(self) -> Iterator[Row]:
        """Go through the rows in the order they were measured."""
        return (Row(self.table, cells) for cells in self.table.rows)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.table.rows)

    def __repr__(self) -> str:
        """Print the table's name and its number of rows."""
        return f"{self.table.name} ({len(self)} rows)"

    def _matching(self, key: dict[str, Plain]) -> tuple[dict[str, Cell], ...]:
        refuse_unknown_keys(self.table, key)
        rows = self.table.rows
        return tuple(r for r in rows if all(r[name] == value for name, value in key.items()))

    def _no_row(self, key: dict[str, Plain]) -> TableError:
        """Say which value does not occur, and which of its key's there are or was meant."""
        none = f"{self.table.name} has no row with {pairs(key)}"
        for name, value in key.items():
            there = list(dict.fromkeys(repr(row[name]) for row in self.table.rows))
            if there and repr(value) not in there:
                close = difflib.get_close_matches(repr(value), there, n=1)
                known = f"{name} is one of {_listed(there)}"
                return TableError(f"{none}; {f'did you mean {close[0]}?' if close else known}")
        keys = [f"({_selection(self.table.key, row)})" for row in self.table.rows]
        return TableError(f"{none}; its rows are {_listed(keys) or 'none'}")

    def _open(self, key: dict[str, Plain], rows: tuple[dict[str, Cell], ...]) -> str:
        """Name the keys that a selection leaves open, each with the values it could have."""
        names = [column.name for column in self.table.key if column.name not in key]
        there = {name: list(dict.fromkeys(repr(row[name]) for row in rows)) for name in names}
        open_ = {name: values for name, values in there.items() if len(values) > 1}
        return " and ".join(f"{name}, one of {_listed(open_[name])}" for name in open_)


def refuse_unknown_keys(table: Table, key: Iterable[str]) -> None:
    """Refuse a selection by what is no key of a table; this needs no row of it."""
    for name in key:
        if name not in [column.name for column in table.key]:
            raise _no_name(table, "key", name, table.key)


def _no_name(table: Table, what: str, name: str, known: tuple[Column, ...]) -> TableError:
    names = [column.name for column in known]
    there = meant(name, names, f"its {what}s are {', '.join(names)}")
    return TableError(f"{table.name} has no {what} {name!r}; {there}")


def _listed(items: Sequence[str]) -> str:
    more = len(items) - MOST_LISTED
    return ", ".join(items[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def wrapped(column: Column, cell: Cell) -> Any:
    """Give a cell as claims and pages see it."""
    if cell is None or column.kind in ("exact", "verdict"):
        return cell
    if column.kind == "findings":
        return Findings(cast(int, cell))
    if column.kind == "racy":
        return Racy(cast("tuple[int, ...]", cell), column.of)
    if column.kind == "time":
        return Times(cast("tuple[float, ...]", cell), column.unit)
    return Outcome(cell) if column.kind == "outcome" else Bytes(cast(int, cell))


def _selection(key: tuple[Column, ...], row: dict[str, Cell]) -> str:
    return pairs({column.name: row[column.name] for column in key})


def pairs(values: dict[str, Any]) -> str:
    """Print values of a key: `threads=32, tool='racecheck'`."""
    return ", ".join(f"{name}={value!r}" for name, value in values.items()) or "that"


# ── checking rows against their columns ──────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with a row; `row` counts from 0."""

    row: int
    message: str
    not_a_number: bool = False


def plain(value: Any) -> Any:
    """Take a yielded cell as plain Python data: arrays and array scalars become tuple or number."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return tuple(value) if isinstance(value, list | range) else value


def faults(table: Table) -> tuple[Fault, ...]:
    """Find every cell that its column forbids, and every key that stands twice."""
    found = [fault for index, row in enumerate(table.rows) for fault in _row(table, index, row)]
    return tuple(found or _repeated_keys(table))


def _row(table: Table, index: int, row: dict[str, Cell]) -> Iterator[Fault]:
    expected = {column.name for column in table.all_columns}
    for name in sorted(expected ^ row.keys(), key=short):
        verb = "lacks the" if name in expected else "has an undeclared"
        yield Fault(row=index, message=f"row {index + 1} {verb} column {short(name)}")
    for column in table.all_columns:
        value = row.get(column.name)
        absent = value is None and column in table.columns and _may_be_absent(table, row, column)
        if column.name in row and not absent:
            yield from _cell(table, index, column, value)


def _may_be_absent(table: Table, row: dict[str, Cell], column: Column) -> bool:
    """Say whether a case left nothing in a column: it did not return, or the tool saw nothing."""
    if table.kind == "outcome":
        return row.get("outcome") != "returned" and column.kind != "outcome"
    return column.kind == "findings" and row.get("verdict") == "inconclusive"


def _cell(table: Table, index: int, column: Column, value: Cell) -> Iterator[Fault]:
    expected = _expected(column, value, table.launches)
    nan = _holds_nan(value)
    if expected or nan:
        message = f"row {index + 1}, column {column.name!r}: found {_found(value)}, "
        yield Fault(
            row=index,
            message=message + f"expected {expected or 'a finite number'}",
            not_a_number=nan,
        )


def _expected(column: Column, value: Any, launches: int) -> str:
    """Say what a cell should have been, or nothing if it is that."""
    fits, expected = {
        "exact": (isinstance(value, bool | int | float | str), "a number or a text"),
        "bytes": (_is_count(value), "a whole number of bytes"),
        "outcome": (_is_outcome(value), "returned, hung, cuda error NAME or crashed (SIGNAL)"),
        "racy": (_all(value, _is_count, launches, launches), f"{launches:,} counts, one a launch"),
        "time": (_all(value, _is_real, MIN_TIMES), f"at least {MIN_TIMES} samples, as numbers"),
        "verdict": (value in VERDICTS, "clean, findings or inconclusive"),
        "findings": (_is_count(value), "a whole number of findings"),
    }[column.kind]
    if fits and _holds_long(value):
        return f"a whole number of at most {MAX_BITS} bits"
    return "" if fits else expected


def _repeated_keys(table: Table) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, row in enumerate(table.rows):
        key = _selection(table.key, row)
        if key in seen:
            yield Fault(row=index, message=f"row {index + 1} repeats the key {key}")
        seen.add(key)


def _all(
    value: Any, is_one: Callable[[Any], bool], least: int, most: int | float = math.inf
) -> bool:
    return isinstance(value, tuple) and least <= len(value) <= most and all(map(is_one, value))


def _is_outcome(value: object) -> bool:
    return isinstance(value, str) and OUTCOME.fullmatch(value) is not None


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_real(value: object) -> bool:
    return type(value) is int or isinstance(value, float)


def _holds_nan(value: Any) -> bool:
    items: Iterable[Any] = value if isinstance(value, tuple) else (value,)
    return any(isinstance(item, float) and not math.isfinite(item) for item in items)


def _holds_long(value: Any) -> bool:
    return any(map(is_long, value if isinstance(value, tuple) else (value,)))


def _found(value: object) -> str:
    return f"{len(value):,} samples" if isinstance(value, tuple) else short(value)


# ── tables as JSON ───────────────────────────────────────────────────────────────────────────


def to_data(table: Table) -> dict[str, Any]:
    """Give a table as JSON values; the samples of a cell become one line of text."""
    return {
        "name": table.name,
        "kind": table.kind,
        "text": table.text,
        "launches": table.launches,
        "key": [column_data(column) for column in table.key],
        "columns": [column_data(column) for column in table.columns],
        "rows": [{name: _packed(cell) for name, cell in row.items()} for row in table.rows],
    }


def from_data(data: dict[str, Any]) -> Table:
    """Read what `to_data` gave; the cells' content is for `faults` to judge."""
    key = tuple(Column(**column) for column in data["key"])
    columns = tuple(Column(**column) for column in data["columns"])
    sampled = {column.name: column.kind for column in columns if column.kind in SAMPLED}
    rows = tuple(_unpacked(row, sampled) for row in data["rows"])
    return Table(**{**data, "key": key, "columns": columns, "rows": rows})


def column_data(column: Column) -> dict[str, Any]:
    """Give a column as JSON values."""
    fields = ("name", "label", "kind", "unit", "of")
    return {field: getattr(column, field) for field in fields}


def _packed(cell: Cell) -> Plain:
    return " ".join(map(repr, cell)) if isinstance(cell, tuple) else cell


def _unpacked(row: dict[str, Plain], sampled: dict[str, ColumnKind]) -> dict[str, Cell]:
    def cell(name: str, value: Plain) -> Cell:
        if not isinstance(value, str) or name not in sampled:
            return value
        return _integers(value) if sampled[name] == "racy" else _reals(value)

    return {name: cell(name, value) for name, value in row.items()}


def _integers(text: str) -> Cell:
    return tuple(map(int, text.split(" "))) if re.fullmatch(r"\d{1,20}( \d{1,20})*", text) else text


def _reals(text: str) -> Cell:
    try:
        return tuple(float(number) for number in text.split(" "))
    except ValueError:
        return text
