"""What an author imports: the declaration of an experiment's probes and claims.

Comes in: decorated functions. Goes out: `Experiment`, a list of declarations and of faults in
them. Needs neither CuPy nor a GPU; must not run a probe, read a file or raise on a misuse.
"""

from __future__ import annotations

import inspect
import keyword
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

from measured_glossary.lab.table import (
    Column,
    ColumnKind,
    Plain,
    Table,
    TableKind,
    is_long,
    is_plain,
    short,
)
from measured_glossary.lab.timing import MS_PER_UNIT
from measured_glossary.problem import meant

Function = TypeVar("Function", bound=Callable[..., Any])

# Names that an inline expression or an outcome table already uses.
RESERVED = frozenset({"machine", "record", "reported", "outcome", "gpu", "sass"})
OUTCOME_COLUMN = Column(name="outcome", label="Outcome", kind="outcome")

# What a sanitizer probe's table has beside its author's key.
TOOLS = ("racecheck", "synccheck", "memcheck", "initcheck")
TOOL_COLUMN = Column(name="tool", label="Tool", kind="exact")
SANITIZER_COLUMNS = (
    Column(name="verdict", label="Verdict", kind="verdict"),
    Column(name="errors", label="Errors", kind="findings"),
    Column(name="warnings", label="Warnings", kind="findings"),
    Column(name="reason", label="Why inconclusive", kind="exact"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A column before it has its name: what `exact(…)`, `racy(…)` and the others give."""

    kind: ColumnKind
    label: str
    unit: str = ""
    of: int | None = None

    def named(self, name: str) -> Column:
        """Give the column called `name`."""
        return Column(name=name, label=self.label, kind=self.kind, unit=self.unit, of=self.of)


def exact(label: str, unit: str = "") -> Form:
    """A column of values that are the same in each run: numbers or texts."""
    return Form(kind="exact", label=label, unit=unit)


def racy(label: str, of: int | None = None) -> Form:
    """A column of counts that a race decides, one a launch, each out of `of`."""
    return Form(kind="racy", label=label, of=of)


def time(label: str, unit: str = "ms") -> Form:
    """A column of measured times in `unit`, at least 20 samples a row."""
    return Form(kind="time", label=label, unit=unit)


def outcome(label: str) -> Form:
    """A column of outcomes: `returned`, `hung`, `cuda error NAME` or `crashed (SIGNAL)`."""
    return Form(kind="outcome", label=label)


def bytes_(label: str) -> Form:
    """A column of sizes in bytes."""
    return Form(kind="bytes", label=label, unit="bytes")


Columns = Mapping[str, Form]
Case = Mapping[str, Plain]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A misuse, found when the experiment was declared; `line` is a line of its file."""

    line: int
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A probe: its empty table, its function and how to run it; `limit_s` bounds each case.

    Each case of a sanitizer probe runs once under each of the `tools`; `cache` is how a timed probe
    finds the L2: cold or hot.
    """

    table: Table
    function: Callable[..., Any]
    line: int
    cases: tuple[dict[str, Plain], ...] = ()
    limit_s: float = 0
    tools: tuple[str, ...] = ()
    cache: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim: the sentence that is printed, the tables it reads, the function that asserts it."""

    name: str
    text: str
    tables: tuple[str, ...]
    function: Callable[..., Any]
    line: int


class Experiment:
    """One experiment: the CUDA sources it compiles, its probes and its claims.

    `sources` are paths beside `experiment.py`; `options` go to the compiler as they are;
    `architectures` (`sm_75`, …) limits the machine code that static probes see, by default to
    every architecture that the compiler knows.
    """

    def __init__(
        self,
        title: str,
        sources: Sequence[str],
        options: Sequence[str] = (),
        architectures: Sequence[str] | None = None,
    ) -> None:
        self.title, self.line = title, sys._getframe(1).f_lineno
        self.sources, self.options = _texts(sources), _texts(options)
        self.architectures = None if architectures is None else _texts(architectures)
        self.probes: list[Probe] = []
        self.claims: list[Claim] = []
        self._faults = [
            Fault(line=self.line, code="experiment-declaration", message=message, hint=hint)
            for message, hint in _declaration_faults(title, sources, options, architectures)
        ]

    def runtime(
        self, key: Columns, columns: Columns, launches: int = 1
    ) -> Callable[[Function], Function]:
        """Declare a probe that runs on the GPU: `probe(gpu)` yields rows, as dicts.

        A racy cell holds one count for each of the `launches`, a time cell at least 20 samples.
        All runtime probes share a process; put what may hang or fail into `outcomes`.
        """
        return self._probe("runtime", ("gpu",), key, columns, launches=launches)

    def timed(
        self, key: Columns, columns: Columns, cache: str = "cold", limit_s: float = 60
    ) -> Callable[[Function], Function]:
        """Declare a probe whose calls are timed: `probe(gpu)` yields rows, as dicts.

        In a time column (in `s`, `ms`, `us` or `ns`) stands a function without arguments that
        launches what is to be timed, as `functools.partial(kernel, grid, block, arguments)`. The
        calls of all rows are timed against each other in random order, each with the L2 `cold` or
        `hot`, until every median has settled, for `limit_s` seconds at most.
        """
        return self._probe("timed", ("gpu",), key, columns, cache=cache, limit_s=limit_s)

    def static(self, key: Columns, columns: Columns) -> Callable[[Function], Function]:
        """Declare a probe that reads machine code and needs no GPU: `probe(sass)` yields rows."""
        return self._probe("static", ("sass",), key, columns)

    def outcomes(
        self,
        cases: Sequence[Case],
        key: Columns,
        columns: Columns | None = None,
        limit_s: float = 10,
        launches: int = 1,
    ) -> Callable[[Function], Function]:
        """Declare a probe whose cases may hang or fail: one that does has a process of its own.

        `probe(gpu, **case)` returns a dict of the `columns`, or nothing if there are none. The
        column `outcome` is added; where a case did not return, the others are empty. A case that
        has not ended `limit_s` seconds after its start is killed, and that is its outcome: hung.
        """
        return self._probe(
            "outcome",
            ("gpu", *key),
            key,
            columns or {},
            launches=launches,
            cases=tuple(dict(case) for case in cases),
            limit_s=limit_s,
        )

    def sanitizer(
        self, tools: Sequence[str], cases: Sequence[Case], key: Columns, limit_s: float = 120
    ) -> Callable[[Function], Function]:
        """Declare a probe whose cases run under tools of compute-sanitizer, a process for each.

        `probe(gpu, **case)` launches kernels on small grids, since the tools make them 10 to 100
        times slower; it prints nothing and gives nothing back. A row is a case under a tool:
        `verdict` (clean, findings or inconclusive), `errors` and `warnings`. A claim that reads an
        inconclusive row is not checked.
        """
        return self._probe(
            "sanitizer",
            ("gpu", *key),
            key,
            {},
            launches=1,
            cases=tuple(dict(case) for case in cases),
            limit_s=limit_s,
            tools=tuple(tools) if isinstance(tools, list | tuple) else (),
        )

    def claim(self, function: Function) -> Function:
        """Declare a claim: a function of tables, with plain asserts; its docstring is printed."""
        claim = Claim(
            name=function.__name__,
            text=_sentence(function),
            tables=tuple(inspect.signature(function).parameters),
            function=function,
            line=function.__code__.co_firstlineno,
        )
        self.claims.append(claim)
        return function

    def faults(self) -> tuple[Fault, ...]:
        """Give every misuse in this declaration, in the order of the file."""
        named: list[Probe | Claim] = [*self.probes, *self.claims]
        found = [
            *self._faults,
            *(fault for probe in self.probes for fault in _probe_faults(probe)),
            *(fault for claim in self.claims for fault in _claim_faults(claim, self.probes)),
            *_repeated([(_name(each), each.line) for each in named]),
        ]
        return tuple(sorted(found, key=lambda fault: fault.line))

    def _probe(
        self,
        kind: TableKind,
        parameters: tuple[str, ...],
        key: Columns,
        columns: Columns,
        *,
        launches: int = 0,
        **how: Any,
    ) -> Callable[[Function], Function]:
        def declare(function: Function) -> Function:
            line = function.__code__.co_firstlineno
            table = Table(
                name=function.__name__,
                kind=kind,
                text=_sentence(function),
                launches=launches,
                key=_columns(key) + ((TOOL_COLUMN,) if kind == "sanitizer" else ()),
                columns=_ADDED.get(kind, ()) + _columns(columns),
            )
            self.probes.append(Probe(table=table, function=function, line=line, **how))
            self._faults += _form_faults(line, {**key, **columns})
            self._faults += _signature_faults(line, function, parameters)
            return function

        return declare


_ADDED: Mapping[TableKind, tuple[Column, ...]] = {
    "outcome": (OUTCOME_COLUMN,),
    "sanitizer": SANITIZER_COLUMNS,
}


# ── what is wrong with a declaration ─────────────────────────────────────────────────────────


def _declaration_faults(
    title: object, sources: object, options: object, architectures: object
) -> Iterator[tuple[str, str]]:
    if not isinstance(title, str) or not title.strip():
        yield f"the title is {short(title)}, expected a text", 'write title="…"'
    if not _texts(sources) or not _is_texts(sources):
        yield f"sources is {short(sources)}, expected the .cu files", 'write sources=["kernel.cu"]'
    if not _is_texts(options):
        found = f"options is {short(options)}, expected a list of texts"
        yield found, 'write options=["-lineinfo"]'
    if architectures is not None and not (_texts(architectures) and _is_texts(architectures)):
        found = f"architectures is {short(architectures)}, expected a list of texts, or None"
        yield found, 'write architectures=["sm_75", "sm_90"]'
    for name in _texts(architectures):
        if not re.fullmatch(r"sm_\d{2,3}[af]?", name):
            yield f"{name!r} is no architecture", 'write architectures=["sm_75", "sm_90"]'


def _form_faults(line: int, forms: Columns) -> Iterator[Fault]:
    for name, form in forms.items():
        if not isinstance(form, Form):
            expected = "expected exact(…), racy(…) or another kind"
            message = f"the column {name!r} is {short(form)}, {expected}"
            yield Fault(line=line, code="probe-column", message=message)
        elif not isinstance(form.label, str) or not isinstance(form.unit, str):
            message = f"the label or the unit of column {name!r} is no text: {short(form)}"
            yield Fault(line=line, code="probe-column", message=message)
        elif form.of is not None and (type(form.of) is not int or is_long(form.of)):
            expected = f"expected the whole number that {name!r} counts out of"
            message = f"of is {short(form.of)}, {expected}"
            yield Fault(line=line, code="probe-column", message=message)


def _signature_faults(
    line: int, function: Callable[..., Any], expected: tuple[str, ...]
) -> Iterator[Fault]:
    found = tuple(inspect.signature(function).parameters)
    if found != expected:
        yield Fault(
            line=line,
            code="probe-signature",
            message=f"{function.__name__} takes ({', '.join(found)}), not ({', '.join(expected)})",
            hint=f"write def {function.__name__}({', '.join(expected)}):",
        )


def _probe_faults(probe: Probe) -> Iterator[Fault]:
    table = probe.table
    yield from _name_faults(table.name, "probe", probe.line)
    yield from _text_faults(table.name, table.text, "what one row is", probe.line)
    rules = (_key_faults(table), _number_faults(probe), _case_faults(probe), _tool_faults(probe))
    for message, hint in chain(*rules, _timed_faults(probe)):
        yield Fault(line=probe.line, code="probe-declaration", message=message, hint=hint)
    for column in table.all_columns:
        if column not in (TOOL_COLUMN, *_ADDED.get(table.kind, ())):
            yield from _name_faults(column.name, "column", probe.line)


def _key_faults(table: Table) -> Iterator[tuple[str, str]]:
    if not set(table.key) - {TOOL_COLUMN}:
        yield f"{table.name} has no key", 'write key={"threads": exact("Threads")}'
    if not table.columns:
        yield f"{table.name} has no columns", 'write columns={"wrong": racy("Wrong elements")}'
    for column in table.key:
        if column.kind not in ("exact", "bytes"):
            yield f"the key {column.name!r} is {column.kind}: a key must be exact", "use exact(…)"
    names = [column.name for column in table.all_columns]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{table.name} has two columns {name!r}", "name one of them otherwise"


def _number_faults(probe: Probe) -> Iterator[tuple[str, str]]:
    launches, limit_s = probe.table.launches, probe.limit_s
    counts_launches = probe.table.kind not in ("static", "timed")
    if counts_launches and (type(launches) is not int or launches < 1 or is_long(launches)):
        yield f"launches is {short(launches)}, expected a whole number above zero", "launches=1000"
    is_limit = isinstance(limit_s, int | float) and 0 < limit_s <= 600
    if probe.table.kind in (*_ADDED, "timed") and not is_limit:
        yield f"limit_s is {short(limit_s)}, expected seconds, at most 600", "limit_s=10"


def _case_faults(probe: Probe) -> Iterator[tuple[str, str]]:
    names = {column.name for column in probe.table.key if column is not TOOL_COLUMN}
    if probe.table.kind in _ADDED and not probe.cases:
        yield f"{probe.table.name} has no cases", 'write cases=[{"threads": 16}]'
    for case in probe.cases:
        found = f"the case {short(case)}"
        if case.keys() != names:
            keys = ", ".join(sorted(names))
            yield f"{found} does not give exactly the key: {keys}", "give each of them"
        if not all(map(is_plain, case.values())):
            expected = "a text or a finite number of at most 64 bits"
            yield f"{found} has a value that is not {expected}", "use plain data"


def _tool_faults(probe: Probe) -> Iterator[tuple[str, str]]:
    if probe.table.kind == "sanitizer" and not probe.tools:
        yield f"{probe.table.name} names no tool", 'write tools=["racecheck"]'
    for tool in probe.tools:
        if tool not in TOOLS:
            yield f"there is no tool {short(tool)}", f"the tools are {', '.join(TOOLS)}"


def _timed_faults(probe: Probe) -> Iterator[tuple[str, str]]:
    times = [column for column in probe.table.columns if column.kind == "time"]
    if probe.table.kind == "timed" and probe.cache not in ("cold", "hot"):
        yield f"cache is {short(probe.cache)}, expected 'cold' or 'hot'", 'write cache="cold"'
    if probe.table.kind == "timed" and not times:
        yield f"{probe.table.name} has no time column", 'write columns={"took": time("Time", "us")}'
    for column in times if probe.table.kind == "timed" else ():
        if column.unit not in MS_PER_UNIT:
            units = ", ".join(MS_PER_UNIT)
            yield f"the unit of {column.name!r} is {column.unit!r}, expected {units}", "use 'us'"


def _claim_faults(claim: Claim, probes: Iterable[Probe]) -> Iterator[Fault]:
    yield from _name_faults(claim.name, "claim", claim.line)
    yield from _text_faults(claim.name, claim.text, "the claim as it is printed", claim.line)
    names = [probe.table.name for probe in probes]
    for table in claim.tables:
        if table not in names:
            message = f"the claim {claim.name} reads {table!r}, and no probe is called that"
            hint = meant(table, names, f"the probes are {', '.join(names) or 'none'}")
            yield Fault(line=claim.line, code="claim-table", message=message, hint=hint)
    if not claim.tables:
        message = f"the claim {claim.name} reads no table"
        hint = f"name a table as its parameter: def {claim.name}(mismatches):"
        yield Fault(line=claim.line, code="claim-table", message=message, hint=hint)


def _name_faults(name: str, what: str, line: int) -> Iterator[Fault]:
    plain = isinstance(name, str) and name.isidentifier() and name.isascii()
    if not plain or keyword.iskeyword(name) or name.startswith("_") or name in RESERVED:
        message = f"{name!r} cannot be the name of a {what}"
        hint = f"use letters, digits and _; taken already: {', '.join(sorted(RESERVED))}"
        yield Fault(line=line, code="bad-name", message=message, hint=hint)


def _text_faults(name: str, text: str, what: str, line: int) -> Iterator[Fault]:
    if not text:
        message, hint = f"{name} has no docstring", f"say in one sentence {what}"
        yield Fault(line=line, code="docstring-missing", message=message, hint=hint)
    elif not text.endswith((".", "?", "!")) or re.search(r"[.?!]\s+[A-Z]", text):
        message = f"the docstring of {name} is not one sentence: {text!r}"
        hint = f"say in one sentence {what}, and put the rest into comments"
        yield Fault(line=line, code="docstring-sentence", message=message, hint=hint)


def _repeated(named: list[tuple[str, int]]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for name, line in named:
        if name in first:
            message = f"{name} stands a second time; the first is in line {first[name]}"
            hint = "give each probe and each claim a name of its own"
            yield Fault(line=line, code="name-twice", message=message, hint=hint)
        first.setdefault(name, line)


def _name(each: Probe | Claim) -> str:
    return each.name if isinstance(each, Claim) else each.table.name


def _sentence(function: Callable[..., Any]) -> str:
    return " ".join((inspect.getdoc(function) or "").split())


def _columns(forms: Columns) -> tuple[Column, ...]:
    return tuple(form.named(name) for name, form in forms.items() if isinstance(form, Form))


def _is_texts(values: object) -> bool:
    return isinstance(values, list | tuple) and len(_texts(values)) == len(values)


def _texts(values: object) -> tuple[str, ...]:
    items = values if isinstance(values, list | tuple) else ()
    return tuple(item for item in items if isinstance(item, str))
