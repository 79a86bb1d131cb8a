"""Timed probes from file to record, with the real worker and a pretended GPU."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from measured_glossary.lab.experiment import Experiment, exact, time
from measured_glossary.lab.record import Record, read_record, record_bytes
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import study
from measured_glossary.lab.study import Measurement
from measured_glossary.lab.table import Column, Table, TableError, Times
from measured_glossary.lab.timed import faults
from measured_glossary.source import Source

HERE = Path(__file__).parent
PRETEND = str(HERE / "workers" / "pretend_gpu.py")
EXPERIMENT = "code/clocks/experiment.py"

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX")


def measured(folder: Path, *edits: str, changes: tuple[str, ...] = ()) -> Any:
    """Study the experiment, edited, on a pretended GPU."""
    root = Path(shutil.copytree(HERE / "timed", folder / "project"))
    text = (root / EXPERIMENT).read_text(encoding="utf-8")
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    (root / EXPERIMENT).write_text(text, encoding="utf-8")
    settings = Settings(measure="live", command=(sys.executable, PRETEND, *changes))
    return study(root, "clocks", settings)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    """The experiment measured, with the GPU braked at one look."""
    found = measured(tmp_path_factory.mktemp("timed"), changes=("braked-once",))
    assert found.problems == ()
    (measurement,) = found.measurements
    return measurement  # type: ignore[no-any-return]


@needs_posix
def test_functions_become_samples(live: Measurement) -> None:
    """Each function of a time column is replaced by its samples, in the column's unit."""
    first = live.record.tables[0].rows[0]
    assert (first["threads"], first["moved"]) == (32, 4096)
    assert isinstance(first["slow"], tuple)
    assert set(first["slow"]) <= {96_000 * jitter for jitter in (0.999, 1.0, 1.001)}
    assert live.record.tables[1].rows[0]["hot"] == (5.0,) * 20


@needs_posix
def test_a_record_tells_how_it_was_timed(live: Measurement) -> None:
    """Cache, bytes overwritten, why it stopped, and each batch with its clock, kept or not."""
    cold, hot = live.record.timings
    assert (cold.table, cold.cache, cold.flushed_bytes) == ("calls", "cold", 1 << 20)
    assert (hot.table, hot.cache, hot.flushed_bytes) == ("hot", "hot", 0)
    assert (cold.stopped, cold.discarded) == ("settled", 10)
    assert [batch.kept for batch in cold.batches] == [True, False, True]
    assert cold.batches[1].throttle_reasons == ("SwPowerCap",)
    assert cold.batches[0].sm_clock_mhz == (1000, 1000)


@needs_posix
def test_claims_read_times_and_rates(live: Measurement) -> None:
    """Ratios and bandwidths of timed columns are there for claims."""
    assert [claim.state for claim in live.claims] == ["held"]


def reread(record: Record) -> Any:
    """Read a record from its bytes."""
    raw = record_bytes(record)
    return read_record(Source(record.file, raw, raw.decode("ascii")))


@needs_posix
def test_a_record_with_timings_reads_back(live: Measurement) -> None:
    """What is told of the batches survives writing and reading."""
    assert reread(live.record).value == live.record


@needs_posix
def test_a_record_whose_batches_do_not_fit_is_damaged(live: Measurement) -> None:
    """Samples that no batch accounts for, and a timed table without batches, are refused."""
    short = replace(live.record.timings[0], batches=live.record.timings[0].batches[:1])
    for timings in ((short, live.record.timings[1]), live.record.timings[:1]):
        found = reread(replace(live.record, timings=timings))
        assert [problem.code for problem in found.problems] == ["record-damaged"]


@needs_posix
@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("lambda: 5.0", "5.0", "probe-row", "expected a function that launches"),
        ("lambda: 5.0", "lambda: 1 / 0", "probe-error", "ZeroDivisionError"),
        (
            "partial(took, threads, jitter)",
            "lambda: took(threads, jitter)",
            "timed-same-function",
            "the loop's last values",
        ),
        ('yield {"n": 1, "hot": lambda: 5.0}', "return []", "probe-row", "'no row'"),
    ],
)
def test_what_cannot_be_timed_is_a_problem(
    tmp_path: Path, old: str, new: str, code: str, words: str
) -> None:
    """A value in place of a function, a call that fails, a loop's trap and an empty probe."""
    (problem,) = measured(tmp_path, old, new).problems
    assert (problem.code, problem.place.file) == (code, EXPERIMENT)
    assert words in problem.message


@needs_posix
def test_a_gpu_that_is_held_back_gives_no_times(tmp_path: Path) -> None:
    """Where every sample was taken under a brake there is no result, and it is said why."""
    edits = ("limit_s=2", "limit_s=0.1")
    found = measured(tmp_path, *edits, changes=("braked",))
    assert {problem.code for problem in found.problems} == {"timed-too-few"}
    assert "held back (SwPowerCap)" in found.problems[0].message
    assert found.measurements == ()


# ── declarations ─────────────────────────────────────────────────────────────────────────────


def declared(**changed: Any) -> list[str]:
    """Declare a timed probe and give what is wrong with it."""
    experiment = Experiment(title="T", sources=["a.cu"])
    arguments = {"key": {"n": exact("N")}, "columns": {"took": time("Took", "us")}, **changed}

    @experiment.timed(**arguments)
    def calls(gpu: Any) -> None:
        """One row."""

    return [fault.message for fault in experiment.faults()]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, []),
        ({"cache": "hot"}, []),
        ({"cache": "warm"}, ["cache is 'warm', expected 'cold' or 'hot'"]),
        ({"limit_s": 0}, ["limit_s is 0, expected seconds, at most 600"]),
        ({"columns": {"n2": exact("N2")}}, ["calls has no time column"]),
        (
            {"columns": {"took": time("Took", "min")}},
            ["the unit of 'took' is 'min', expected s, ms, us, ns"],
        ),
    ],
)
def test_a_timed_probe_s_misuse_is_a_fault(changed: dict[str, Any], message: list[str]) -> None:
    """Cache, limit, units and columns are checked when they are declared."""
    assert declared(**changed) == message


# ── functions that cannot be told apart ──────────────────────────────────────────────────────

TABLE = Table(
    name="t",
    kind="timed",
    key=(Column(name="n", label="N", kind="exact"),),
    columns=(
        Column(name="a", label="A", kind="time", unit="us"),
        Column(name="b", label="B", kind="time", unit="us"),
    ),
)


def codes(*rows: dict[str, Any]) -> list[str]:
    """Give the codes of what is wrong with rows."""
    return [fault.code for fault in faults(TABLE, rows)]


def test_functions_made_in_a_loop_are_noticed() -> None:
    """Lambdas that share their code and what they see would all run with the last value."""
    late = [{"n": n, "a": lambda: n, "b": print} for n in range(2)]  # noqa: B023
    assert codes(*late) == ["timed-same-function"]


def test_functions_that_bind_their_values_are_told_apart() -> None:
    """Defaults, partial and different code bind what they were made with."""
    bound = [{"n": n, "a": lambda n=n: n, "b": partial(max, n, 1)} for n in (1000, 2000)]
    assert codes(*bound) == []
    assert codes({"n": 1, "a": lambda: 1, "b": lambda: 2}) == []


def test_one_function_in_two_columns_is_noticed() -> None:
    """Two columns of one row that time the same thing are a slip too."""

    def same() -> None: ...

    assert codes({"n": 1, "a": same, "b": same}) == ["timed-same-function"]


# ── rates ────────────────────────────────────────────────────────────────────────────────────


def test_a_bandwidth_is_bytes_in_the_time_of_each_sample() -> None:
    """A thousand bytes in a microsecond are one GB/s; the slowest time is the lowest rate."""
    rate = Times((1.0, 2.0, 4.0), "us").bandwidth(1000)
    assert (rate.samples, rate.unit) == ((1.0, 0.5, 0.25), "GB/s")
    assert rate < 1.5


def test_a_rate_has_no_bandwidth() -> None:
    """Only a time has one."""
    with pytest.raises(TableError, match="'GB/s' is no unit of time; these are: s, ms, us, ns"):
        Times((1.0,), "GB/s").bandwidth(1)
