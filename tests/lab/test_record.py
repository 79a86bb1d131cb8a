"""Records read back as they were written, and every way of damaging one has its own name."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured_glossary.lab.record import (
    Machine,
    Record,
    Reported,
    check_record,
    json_schema,
    read_record,
    read_reported,
    record_bytes,
    write_record,
)
from measured_glossary.lab.table import Cell, Column, Table
from measured_glossary.problem import Checked, Refused
from measured_glossary.source import Source, canonical_json

TABLE = Table(
    name="mismatches",
    kind="runtime",
    text="One block size.",
    launches=3,
    key=(Column(name="threads", label="Threads", kind="exact"),),
    columns=(Column(name="wrong", label="Wrong", kind="racy", of=100),),
    rows=({"threads": 32, "wrong": (0, 0, 0)}, {"threads": 64, "wrong": (0, 5, 7)}),
)
RECORD = Record(
    experiment="tiny",
    machine=Machine(name="Test GPU X1", compute_capability="9.0", driver="1.2", memory_bytes=1024),
    captured="2026-01-02T03:04:05Z",
    inputs={"code/tiny/experiment.py": "0" * 64, "code/tiny/tiny.cu": "1" * 64},
    toolchain={"nvrtc": "13.0"},
    options=("--gpu-architecture=sm_90",),
    seed=14,
    tables=(TABLE,),
    conditions={"before": {"sm_clock_mhz": 1980, "throttle_reasons": ["GpuIdle"]}, "after": {}},
    evidence={"sass": {"sm_90 code/tiny/tiny.cu": "2" * 64}},
)
FILE = "measurements/tiny/test-gpu-x1.json"


def source(raw: bytes, file: str = FILE) -> Source:
    """The bytes as a file of the project."""
    return Source(file, raw, raw.decode("utf-8", errors="replace"))


def codes(checked: Checked[Any]) -> list[str]:
    """The codes of all problems."""
    return [problem.code for problem in checked.problems]


def changed(change: Callable[[dict[str, Any]], object], *, sealed: bool = True) -> Source:
    """The record with its data changed, and its digest made right again if `sealed`."""
    data = json.loads(record_bytes(RECORD))
    change(data)
    if sealed:
        rest = {name: value for name, value in data.items() if name != "digest"}
        data["digest"] = Source("", canonical_json(rest), "").sha256
    return source(canonical_json(data))


# ── whole ────────────────────────────────────────────────────────────────────────────────────


def test_a_record_reads_back_as_it_was_written() -> None:
    """Reading gives the same value, samples included, and no problem."""
    assert read_record(source(record_bytes(RECORD))) == Checked(value=RECORD)
    assert check_record(RECORD) == Checked(value=RECORD)


def test_a_record_has_one_form() -> None:
    """The same record gives the same bytes, whatever the order of its parts in memory."""
    other = replace(RECORD, inputs=dict(reversed([*RECORD.inputs.items()])))
    assert record_bytes(other) == record_bytes(RECORD)


def test_a_record_names_its_file_and_its_launches() -> None:
    """The file follows from experiment and machine, the launches from the tables."""
    assert RECORD.file == FILE
    assert RECORD.launches == {"mismatches": 3}
    assert (RECORD.machine.id, RECORD.machine.architecture) == ("test-gpu-x1", "sm_90")


def test_a_record_says_how_its_rows_ended() -> None:
    """A killed case is told from one that ended, also under a tool; other tables have none."""
    cases = replace(
        TABLE,
        name="launches",
        kind="outcome",
        rows=({"threads": 32, "outcome": "returned"}, {"threads": 64, "outcome": "hung"}),
    )
    watched = replace(
        cases,
        name="watched",
        kind="sanitizer",
        rows=(
            {"threads": 32, "verdict": "clean", "reason": ""},
            {"threads": 64, "verdict": "inconclusive", "reason": "hung under the tool: no summary"},
        ),
    )
    record = replace(RECORD, tables=(*RECORD.tables, cases, watched))
    assert record.endings == {
        ("launches", "threads=32"): "returned",
        ("launches", "threads=64"): "hung",
        ("watched", "threads=32"): "ended",
        ("watched", "threads=64"): "hung",
    }


def test_the_digest_covers_everything() -> None:
    """One sample more or less is another digest."""
    row: dict[str, Cell] = {"threads": 32, "wrong": (0, 0, 1)}
    other = replace(RECORD, tables=(replace(TABLE, rows=(row, TABLE.rows[1])),))
    assert other.digest != RECORD.digest


def test_a_thousand_launches_stay_below_a_megabyte() -> None:
    """Twelve rows of eight racy columns with a thousand samples each fit well into a file."""
    columns = tuple(Column(name=f"c{i}", label="C", kind="racy", of=None) for i in range(8))
    cells: dict[str, Cell] = {column.name: tuple(range(430_000, 431_000)) for column in columns}
    rows = tuple({"threads": n, **cells} for n in range(12))
    table = replace(TABLE, launches=1000, columns=columns, rows=rows)
    raw = record_bytes(replace(RECORD, tables=(table,)))
    assert len(raw) < 1_000_000
    assert max(map(len, raw.splitlines())) < 8_000


# ── damaged ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda data: data.update(schema=0), "record-older"),
        (lambda data: data.update(schema=2), "record-newer"),
        (lambda data: data.pop("schema"), "record-damaged"),
        (lambda data: data.update(schema="1"), "record-damaged"),
        (lambda data: data.update(schema=True), "record-damaged"),
        (lambda data: data.pop("seed"), "record-damaged"),
        (lambda data: data.update(host="a-machine"), "record-damaged"),
        (lambda data: data["machine"].update(uuid="GPU-1"), "record-damaged"),
        (lambda data: data["inputs"].update(x="no digest"), "record-damaged"),
        (lambda data: data.update(captured="yesterday"), "record-damaged"),
        (lambda data: data["tables"].append(data["tables"][0]), "record-damaged"),
        (lambda data: data["tables"][0].update(launches=4), "record-damaged"),
        (lambda data: data["tables"][0]["rows"][0].update(wrong="0 0 x"), "record-damaged"),
        (lambda data: data["tables"][0]["rows"][0].update(wrong="0 0"), "record-damaged"),
        (lambda data: data["tables"][0]["rows"][0].pop("wrong"), "record-damaged"),
        (lambda data: data.update(experiment="other"), "record-of-another-experiment"),
        (lambda data: data["machine"].update(name="Test X2"), "record-of-another-machine"),
    ],
)
def test_each_fault_has_its_code(change: Callable[[dict[str, Any]], object], code: str) -> None:
    """Older, newer, damaged and misplaced records are told apart, digests being right."""
    checked = read_record(changed(change))
    assert checked.value is None
    assert set(codes(checked)) == {code}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["-I/home/someone/include"], False),
        (["--include-path=/home/someone/include"], True),
        (["C:\\Users\\someone"], True),
        (["GPU-5e1f0c7a-0000"], True),
        (["00000000:3B:00.0"], True),
        (["-DN=1/2"], False),
    ],
)
def test_private_facts_are_refused(options: list[str], found: bool) -> None:
    """Absolute paths, device identifiers and PCI addresses do not get into a record."""
    checked = read_record(changed(lambda data: data.update(options=options)))
    assert ("expected no absolute path" in str(checked.problems)) is found


def test_an_edited_record_is_damaged() -> None:
    """A number changed by hand no longer fits the digest."""
    edited = changed(lambda data: data.update(seed=15), sealed=False)
    assert codes(read_record(edited)) == ["record-damaged"]


def test_a_record_in_another_form_is_damaged() -> None:
    """A reformatted record is refused, so that one record has one file."""
    raw = json.dumps(json.loads(record_bytes(RECORD))).encode()
    (problem,) = read_record(source(raw)).problems
    assert (problem.code, "canonical form" in problem.message) == ("record-damaged", True)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b"{}", b'{"a": 1, "a": 2}'])
def test_what_is_no_record_is_damaged(raw: bytes) -> None:
    """An empty file, half a file and other JSON have a problem and raise nothing."""
    assert codes(read_record(source(raw))) == ["record-damaged"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_number_is_told_apart(number: str) -> None:
    """NaN and infinities have a code of their own."""
    raw = record_bytes(RECORD).replace(b'"seed": 14', f'"seed": {number}'.encode())
    assert "record-not-a-number" in codes(read_record(source(raw)))


def test_a_sample_that_is_no_number_is_told_apart() -> None:
    """NaN among the samples of a time has that code too."""
    column = Column(name="took", label="Took", kind="time", unit="ms")
    row: dict[str, Cell] = {"threads": 1, "took": (1.0,) * 19 + (float("nan"),)}
    table = replace(TABLE, columns=(column,), rows=(row,))
    assert codes(check_record(replace(RECORD, tables=(table,)))) == ["record-not-a-number"]


@given(st.integers(0, 2000), st.binary(max_size=3), st.integers(0, 40))
def test_no_damage_raises(at: int, put: bytes, cut: int) -> None:
    """Bytes replaced, removed and inserted anywhere give a problem, or the record as it was."""
    raw = record_bytes(RECORD)
    damaged = raw[:at] + put + raw[at + cut :]
    checked = read_record(source(damaged))
    assert checked.problems or damaged == raw
    assert (checked.value is None) == bool(checked.problems)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "a", "0 1", "\0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)


@given(st.sampled_from(sorted(json.loads(record_bytes(RECORD)))), json_values)
def test_no_field_raises(field: str, value: object) -> None:
    """Any JSON value in any field gives a problem, or a record."""
    data = {**json.loads(record_bytes(RECORD)), field: value}
    checked = read_record(source(json.dumps(data).encode()))
    assert (checked.value is None) == bool(checked.problems)


# ── writing ──────────────────────────────────────────────────────────────────────────────────


def test_writing_is_by_rename_and_only_on_change(tmp_path: Path) -> None:
    """A record is written once; the same record again touches nothing."""
    assert write_record(tmp_path, RECORD)
    before = (tmp_path / FILE).stat()
    assert not write_record(tmp_path, RECORD)
    after = (tmp_path / FILE).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert write_record(tmp_path, replace(RECORD, seed=15))
    assert [path.name for path in (tmp_path / FILE).parent.iterdir()] == ["test-gpu-x1.json"]


def test_a_record_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    """A folder in its place stays, the system's words are told, and no half of a file is left."""
    (tmp_path / FILE).mkdir(parents=True)
    with pytest.raises(Refused) as refused:
        write_record(tmp_path, RECORD)
    assert str(refused.value).startswith(f"{FILE}: cannot-write: cannot be written: Is a directory")
    assert [path.name for path in (tmp_path / FILE).parent.iterdir()] == ["test-gpu-x1.json"]


def test_the_schema_file_is_that_of_the_code() -> None:
    """The JSON Schema that ships with the package is the one that its models give."""
    import measured_glossary

    path = Path(measured_glossary.__file__).parent / "schema" / "record.schema.json"
    assert path.read_bytes() == canonical_json(json_schema())


# ── somebody else's figures ──────────────────────────────────────────────────────────────────

REPORTED = """\
machine: Test GPU T0
captured: 2026-01-02
toolchain: driver 1, nvcc -O3
source: A test's page
url: https://example.org/page
where: the first table
note: typed by hand
tables:
  mismatches:
    - {threads: 32, wrong: 0}
    - {threads: 64, wrong: 17312}
"""
REPORTED_FILE = "measurements/tiny/test-gpu-t0.reported.yml"


def reported(text: str) -> Checked[Reported]:
    """Read reported figures for an experiment with one table."""
    return read_reported(source(text.encode(), REPORTED_FILE), {"mismatches": TABLE})


def test_reported_figures_are_a_table_of_plain_numbers() -> None:
    """They have the labels of the experiment's table and are never samples of this machine."""
    report = reported(REPORTED).value
    assert report is not None
    assert (report.machine_name, report.captured) == ("Test GPU T0", "2026-01-02")
    (table,) = report.tables
    assert [column.kind for column in table.all_columns] == ["exact", "exact"]
    assert table.rows == ({"threads": 32, "wrong": 0}, {"threads": 64, "wrong": 17312})
    assert table.launches == 0


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("captured: 2026-01-02\n", "", "reported-field", 1),
        ("note:", "notes:", "reported-field", 7),
        ("https://", "http://", "reported-field", 5),
        ("17312", "17,312", "reported-field", 11),
        ("17312", "about 9", "reported-field", 11),
        ("17312", "-1", "reported-field", 11),
        ("  mismatches:", "  mismatch:", "reported-table", 9),
        ("threads: 64, wrong: 17312", "threads: 64, removed: 1", "reported-table", 11),
        ("threads: 64, wrong: 17312", "threads: 64", "reported-table", 11),
        ("threads: 64, wrong: 17312", "wrong: 1", "reported-table", 11),
    ],
)
def test_a_wrong_report_is_a_problem_at_its_line(old: str, new: str, code: str, line: int) -> None:
    """Every field and every row of reported figures is checked, with its place."""
    assert old in REPORTED
    checked = reported(REPORTED.replace(old, new))
    assert checked.value is None
    assert (code, line) in [(p.code, p.place.line) for p in checked.problems]
