"""Records: what was measured, on which machine, from which bytes.

Comes in: the text of a record or of a reported figure. Goes out: `Record` and `Reported`, or
what is wrong with the file; and a record's one form as bytes. Must not run or compile anything.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from measured_glossary.lab.table import (
    Cell,
    Column,
    ColumnKind,
    Table,
    TableKind,
    faults,
    from_data,
    pairs,
    to_data,
)
from measured_glossary.lab.timing import Batch, Cache, Stopped
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import (
    Located,
    Source,
    canonical_json,
    parse_json,
    parse_yaml,
    validate,
    write,
)

SCHEMA = 1
MEASUREMENTS = "measurements"
REPORTED_SUFFIX = ".reported.yml"

# Absolute paths, GPU and MIG identifiers, PCI addresses: what a record must not give away.
_PRIVATE = re.compile(
    r"(^|[\s='\":])(/[\w.~-]+/|[A-Za-z]:\\|~/)|(GPU|MIG)-[0-9a-f]{8}-"
    r"|[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9]"
)


# ── values ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The hardware fingerprint: a class of machines, never one machine; `None`: not known."""

    name: str
    compute_capability: str
    driver: str = ""
    cuda: str = ""
    mig: str = ""
    multiprocessors: int | None = None
    memory_bytes: int | None = None
    l2_bytes: int | None = None
    shared_memory_per_block_bytes: int | None = None
    shared_memory_per_block_optin_bytes: int | None = None
    shared_memory_per_multiprocessor_bytes: int | None = None
    sm_clock_max_mhz: int | None = None
    memory_clock_max_mhz: int | None = None
    ecc: bool | None = None

    @property
    def id(self) -> str:
        """The name of the machine's class in file names: `nvidia-h200`."""
        words = re.findall(r"[a-z0-9]+", f"{self.name} {self.mig}".lower())
        return "-".join(words)

    @property
    def architecture(self) -> str:
        """The architecture that its machine code is compiled for: `sm_90`."""
        return "sm_" + self.compute_capability.replace(".", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a sanitizer reported of one row, as often as `count` says.

    `table` and `row` (its key, in words) say of which; `kind` is the tool's own word for what is
    wrong, `kernel` where it happened, `lines` the source lines as `file:line`, first access first.
    """

    table: str
    row: str
    severity: Literal["error", "warning"]
    kind: str
    count: int
    kernel: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How a table was timed: the cache, what was overwritten before each sample, every batch."""

    table: str
    cache: Cache
    flushed_bytes: int
    stopped: Stopped
    batches: tuple[Batch, ...]

    @property
    def discarded(self) -> int:
        """How many samples of each cell were taken while the GPU was held back, and not kept."""
        return sum(batch.samples for batch in self.batches if not batch.kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One experiment measured on one machine, in one go.

    `inputs` maps each file to its SHA-256, `captured` is the UTC time in ISO form, `conditions`
    are those `before` and `after`, `evidence` maps a kind (`sass`) to what backs the tables,
    `findings` are what the sanitizers reported, `timings` how each timed table was taken.
    """

    experiment: str
    machine: Machine
    captured: str
    inputs: Mapping[str, str]
    toolchain: Mapping[str, str]
    options: tuple[str, ...]
    seed: int
    tables: tuple[Table, ...]
    conditions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    evidence: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    timings: tuple[Timing, ...] = ()

    @property
    def file(self) -> str:
        """Where the record is kept, relative to the project's root."""
        return f"{MEASUREMENTS}/{self.experiment}/{self.machine.id}.json"

    @property
    def launches(self) -> dict[str, int]:
        """How many launches each table observed a row."""
        return {table.name: table.launches for table in self.tables}

    @property
    def endings(self) -> dict[tuple[str, str], str]:
        """How each row ended, by table and key, if it is one that can be killed: `hung` if it was.

        Otherwise an outcome as it is written; under a tool, where the verdict is another matter,
        `ended`.
        """
        return {
            (table.name, pairs({column.name: row[column.name] for column in table.key})): _ending(
                table, row
            )
            for table in self.tables
            if table.kind in ("outcome", "sanitizer")
            for row in table.rows
        }

    @property
    def digest(self) -> str:
        """The SHA-256 of the record's canonical form without its digest."""
        return _digest(_record_data(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """Somebody else's figures, cited: shown as such, and no claim is ever checked on them."""

    file: str
    machine_name: str
    captured: str
    toolchain: str
    source: str
    url: str
    where: str
    note: str
    tables: tuple[Table, ...]


# ── the door: what a record's file may hold ──────────────────────────────────────────────────


def _public(text: str) -> str:
    if _PRIVATE.search(text):
        raise ValueError("expected no absolute path, device identifier or PCI address")
    return text


_Text = Annotated[str, Field(max_length=400), AfterValidator(_public)]
_Samples = Annotated[str, AfterValidator(_public)]
_Count = Annotated[int, Field(ge=0)]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class ColumnData(_Strict):
    """A column, as JSON."""

    name: _Name
    label: _Text
    kind: ColumnKind
    unit: _Text
    of: _Count | None


class TableData(_Strict):
    """A table, as JSON; the samples of a cell are one text of numbers with spaces between."""

    name: _Name
    kind: TableKind
    text: _Text
    launches: _Count
    key: list[ColumnData]
    columns: list[ColumnData]
    rows: list[dict[_Name, bool | int | float | _Samples | None]]


class MachineData(_Strict):
    """A machine, as JSON: the allow-list of what a record tells of it."""

    name: _Text
    compute_capability: Annotated[str, Field(pattern=r"^\d{1,2}\.\d$")]
    driver: _Text = ""
    cuda: _Text = ""
    mig: _Text = ""
    multiprocessors: _Count | None = None
    memory_bytes: _Count | None = None
    l2_bytes: _Count | None = None
    shared_memory_per_block_bytes: _Count | None = None
    shared_memory_per_block_optin_bytes: _Count | None = None
    shared_memory_per_multiprocessor_bytes: _Count | None = None
    sm_clock_max_mhz: _Count | None = None
    memory_clock_max_mhz: _Count | None = None
    ecc: bool | None = None


class Conditions(_Strict):
    """The state of a machine beside a measurement, as JSON; absent where it could not be read."""

    sm_clock_mhz: _Count | None = None
    memory_clock_mhz: _Count | None = None
    temperature_c: int | None = None
    power_w: float | int | None = None
    utilization_percent: _Count | None = None
    performance_state: _Text | None = None
    throttle_reasons: list[_Text] | None = None


class FindingData(_Strict):
    """A sanitizer's finding, as JSON: no address, no host backtrace, no path but the project's."""

    table: _Name
    row: _Text
    severity: Literal["error", "warning"]
    kind: Annotated[str, Field(pattern=r"^[A-Za-z0-9 _(),.-]{1,120}$")]
    count: Annotated[int, Field(ge=1)]
    kernel: _Text
    lines: list[Annotated[str, Field(pattern=r"^[\w .-]+(/[\w .-]+)*:\d{1,7}$")]]


class BatchData(_Strict):
    """A batch of samples, as JSON."""

    samples: Annotated[int, Field(ge=1)]
    kept: bool
    sm_clock_mhz: Annotated[list[_Count], Field(max_length=2)]
    throttle_reasons: list[_Text]


class TimingData(_Strict):
    """How a table was timed, as JSON."""

    table: _Name
    cache: Cache
    flushed_bytes: _Count
    stopped: Stopped
    batches: Annotated[list[BatchData], Field(min_length=1)]


class RecordData(_Strict):
    """A record's file."""

    model_config = ConfigDict(title="Record of a measurement")

    schema_number: Annotated[int, Field(alias="schema", ge=SCHEMA, le=SCHEMA)]
    experiment: _Name
    machine: MachineData
    captured: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    inputs: dict[_Text, _Sha256]
    toolchain: dict[_Name, _Text]
    options: list[_Text]
    seed: _Count
    tables: list[TableData]
    conditions: dict[_Name, Conditions]
    evidence: dict[_Name, dict[str, _Text]]
    findings: Annotated[list[FindingData], Field(min_length=1)] = []  # or absent
    timings: Annotated[list[TimingData], Field(min_length=1)] = []  # or absent
    digest: _Sha256


class ReportedData(_Strict):
    """A file of reported figures."""

    machine: _Text
    captured: _Text
    toolchain: _Text
    source: _Text
    url: Annotated[str, Field(pattern=r"^(https://\S+)?$")] = ""
    where: _Text = ""
    note: _Text = ""
    tables: dict[_Name, list[dict[_Name, Annotated[str, Field(pattern=r"^\d{1,18}$")]]]]


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema of a record's file."""
    return RecordData.model_json_schema()


# ── reading ──────────────────────────────────────────────────────────────────────────────────


def read_record(source: Source, *, anywhere: bool = False) -> Checked[Record]:
    """Read a record; its file's name must agree with its experiment and its machine.

    `anywhere`: it was named by itself and may lie where it likes.
    """
    located = parse_json(source)
    if located.value is None:
        return Checked(value=None, problems=tuple(map(_damaged_json, located.problems)))
    if problem := _schema_problem(source.file, located.value.data):
        return Checked(value=None, problems=(problem,))
    checked = validate(RecordData, located.value, code="record-damaged")
    problems = [*checked.problems, *_integrity_problems(source, located.value.data)]
    if checked.value is None:
        return Checked(value=None, problems=tuple(problems))
    record = record_from(located.value.data)
    problems += [*_table_problems(source.file, record.tables)]
    problems += _timing_problems(source.file, record)
    problems += () if anywhere else _name_problems(source.file, record)
    return Checked(value=None if problems else record, problems=tuple(problems))


def record_from(data: dict[str, Any]) -> Record:
    """Build a record from data that `RecordData` accepts."""
    fields = {name: data[name] for name in ("experiment", "captured", "seed")}
    mappings = {name: data[name] for name in ("inputs", "toolchain", "conditions", "evidence")}
    return Record(
        **fields,
        **mappings,
        machine=Machine(**data["machine"]),
        options=tuple(data["options"]),
        tables=tuple(map(from_data, data["tables"])),
        findings=tuple(map(_finding, data.get("findings", ()))),
        timings=tuple(map(timing_from, data.get("timings", ()))),
    )


def _finding(data: dict[str, Any]) -> Finding:
    return Finding(**{**data, "lines": tuple(data["lines"])})


def timing_from(data: dict[str, Any]) -> Timing:
    """Build a timing from data that `TimingData` accepts."""
    return Timing(**{**data, "batches": tuple(map(_batch, data["batches"]))})


def _batch(data: dict[str, Any]) -> Batch:
    listed = {name: tuple(data[name]) for name in ("sm_clock_mhz", "throttle_reasons")}
    return Batch(**{**data, **listed})


def _schema_problem(file: str, data: Any) -> Problem | None:
    found = data.get("schema") if isinstance(data, dict) else None
    if type(found) is not int:
        message = "no schema number: this is not a record, or it is damaged"
        return _problem(file, "record-damaged", message, _MEASURE_AGAIN)
    message = f"written in schema {found}, and this program reads schema {SCHEMA}"
    if found > SCHEMA:
        return _problem(file, "record-newer", message, "update mkdocs-measured-glossary")
    if found < SCHEMA:
        return _problem(file, "record-older", message, _MEASURE_AGAIN)
    return None


def _damaged_json(problem: Problem) -> Problem:
    nan = problem.code == "json-value" and "number" in problem.message
    code = "record-not-a-number" if nan else "record-damaged"
    return replace(problem, code=code, hint=_MEASURE_AGAIN)


def _integrity_problems(source: Source, data: dict[str, Any]) -> Iterator[Problem]:
    rest = {name: value for name, value in data.items() if name != "digest"}
    if data.get("digest") != _digest(rest):
        message = "the digest is not that of the content: the file was edited or cut short"
        yield _problem(source.file, "record-damaged", message, _MEASURE_AGAIN)
    elif source.raw != canonical_json(data):
        message = "the file is not in its canonical form (sorted keys, two spaces, LF at the end)"
        yield _problem(source.file, "record-damaged", message, "restore it: git checkout it")


def _table_problems(file: str, tables: tuple[Table, ...]) -> Iterator[Problem]:
    names = [table.name for table in tables]
    for table in tables:
        if names.count(table.name) > 1:
            message = f"two tables are called {table.name!r}"
            yield _problem(file, "record-damaged", message, _MEASURE_AGAIN)
        for fault in faults(table):
            code = "record-not-a-number" if fault.not_a_number else "record-damaged"
            yield _problem(file, code, f"{table.name}: {fault.message}", _MEASURE_AGAIN)


def _name_problems(file: str, record: Record) -> Iterator[Problem]:
    path = PurePosixPath(file)
    if path.parent.name != record.experiment:
        message = f"a record of {record.experiment!r}, kept in the folder of {path.parent.name!r}"
        hint = f"keep it as {record.file}"
        yield _problem(file, "record-of-another-experiment", message, hint)
    if path.stem != record.machine.id:
        message = f"measured on {record.machine.name}, whose records are called {record.machine.id}"
        yield _problem(file, "record-of-another-machine", message, f"keep it as {record.file}")


def _timing_problems(file: str, record: Record) -> Iterator[Problem]:
    """What is told of a timed table's batches must be there, and fit its samples."""
    timed = {table.name: table for table in record.tables if table.kind == "timed"}
    told = [timing.table for timing in record.timings]
    if sorted(told) != sorted(timed):
        message = f"tells how {sorted(told)} were timed, and its timed tables are {sorted(timed)}"
        yield _problem(file, "record-damaged", message, _MEASURE_AGAIN)
        return
    for timing in record.timings:
        kept = sum(batch.samples for batch in timing.batches if batch.kept)
        table = timed[timing.table]
        times = [column.name for column in table.columns if column.kind == "time"]
        cells = [row.get(name) for row in table.rows for name in times]
        if any(not isinstance(cell, tuple) or len(cell) != kept for cell in cells):
            message = f"{timing.table}: its batches kept {kept:,} samples a cell, its cells others"
            yield _problem(file, "record-damaged", message, _MEASURE_AGAIN)


def _ending(table: Table, row: Mapping[str, Cell]) -> str:
    if table.kind == "outcome":
        return str(row["outcome"])
    return "hung" if str(row["reason"]).partition(" ")[0] == "hung" else "ended"


def _problem(file: str, code: str, message: str, hint: str = "") -> Problem:
    return Problem(place=Place(file), code=code, message=message, hint=hint)


_MEASURE_AGAIN = "measure again: glossary measure"


# ── writing ──────────────────────────────────────────────────────────────────────────────────


def record_bytes(record: Record) -> bytes:
    """Give the bytes of a record's file."""
    return canonical_json({**_record_data(record), "digest": record.digest})


def check_record(record: Record) -> Checked[Record]:
    """Check a record as if it were read: whoever writes one looks at it through the same door."""
    raw = record_bytes(record)
    return read_record(Source(record.file, raw, raw.decode("ascii")))


def write_record(root: Path, record: Record) -> bool:
    """Write a record into its file, if that changes it; say whether it did."""
    return write(root, record.file, record_bytes(record))


def _record_data(record: Record) -> dict[str, Any]:
    # Absent where no sanitizer found anything: a record without findings has one form only.
    found = [{**asdict(finding), "lines": list(finding.lines)} for finding in record.findings]
    timed = [asdict(timing) for timing in record.timings]
    return {
        **({"findings": found} if found else {}),
        **({"timings": timed} if timed else {}),
        "schema": SCHEMA,
        "experiment": record.experiment,
        "machine": asdict(record.machine),
        "captured": record.captured,
        "inputs": dict(record.inputs),
        "toolchain": dict(record.toolchain),
        "options": list(record.options),
        "seed": record.seed,
        "tables": [to_data(table) for table in record.tables],
        "conditions": {when: dict(state) for when, state in record.conditions.items()},
        "evidence": {kind: dict(facts) for kind, facts in record.evidence.items()},
    }


def _digest(data: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(data)).hexdigest()


# ── somebody else's figures ──────────────────────────────────────────────────────────────────


def read_reported(source: Source, declared: Mapping[str, Table]) -> Checked[Reported]:
    """Read reported figures; `declared` are the experiment's tables, whose columns they fill."""
    located = parse_yaml(source)
    if located.value is None or located.problems:
        return Checked(value=None, problems=located.problems)
    checked = validate(ReportedData, located.value, code="reported-field")
    if checked.value is None:
        return Checked(value=None, problems=checked.problems)
    problems = list(_reported_problems(located.value, checked.value, declared))
    if problems:
        return Checked(value=None, problems=tuple(problems))
    return Checked(value=_reported(source.file, checked.value, declared))


def _reported(file: str, data: ReportedData, declared: Mapping[str, Table]) -> Reported:
    texts = data.model_dump(exclude={"machine", "tables"})
    tables = [_reported_table(declared[name], rows) for name, rows in data.tables.items()]
    return Reported(file=file, machine_name=data.machine, **texts, tables=tuple(tables))


def _reported_table(declared: Table, rows: list[dict[str, str]]) -> Table:
    given = {name for row in rows for name in row}
    columns = (column for column in declared.columns if column.name in given)
    cells: tuple[dict[str, Cell], ...] = tuple(
        {name: int(text) for name, text in row.items()} for row in rows
    )
    exact_columns: tuple[Column, ...] = tuple(replace(column, kind="exact") for column in columns)
    return replace(declared, columns=exact_columns, rows=cells, launches=0)


def _reported_problems(
    located: Located, data: ReportedData, declared: Mapping[str, Table]
) -> Iterator[Problem]:
    for name, rows in data.tables.items():
        if name not in declared:
            hint = f"the experiment's tables are {', '.join(sorted(declared)) or 'none'}"
            message = f"the experiment has no table {name!r}"
            place = located.place(("tables", name))
            yield Problem(place=place, code="reported-table", message=message, hint=hint)
            continue
        for index, row in enumerate(rows):
            for message in _row_messages(declared[name], set(rows[0]), set(row)):
                place = located.place(("tables", name, index))
                yield Problem(place=place, code="reported-table", message=message)


def _row_messages(table: Table, first: set[str], row: set[str]) -> Iterator[str]:
    known = {column.name for column in table.all_columns}
    for name in sorted(row - known):
        yield f"{table.name} has no column {name!r}; its columns are {', '.join(sorted(known))}"
    for column in table.key:
        if column.name not in row:
            yield f"the row does not give its key {column.name!r}"
    if row != first:
        yield f"the row gives {_names(row)}, the first row {_names(first)}"


def _names(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
