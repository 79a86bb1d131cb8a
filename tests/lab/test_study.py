"""A study from file to claim, with the real worker and a pretended GPU."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from measured_glossary.lab.record import read_record, write_record
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import measure, start_studies, study
from measured_glossary.lab.study import Study
from measured_glossary.problem import Problem
from measured_glossary.source import read

HERE = Path(__file__).parent
PRETEND = str(HERE / "workers" / "pretend_gpu.py")
EXPERIMENT = "code/pretended/experiment.py"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX")


def pretending(*changes: str, **settings: object) -> Settings:
    """Settings whose worker has a pretended GPU."""
    plain = Settings(command=(sys.executable, PRETEND, *changes))
    return replace(plain, **settings)  # type: ignore[arg-type]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one experiment."""
    return Path(shutil.copytree(HERE / "studies", tmp_path / "project"))


def edit(root: Path, old: str, new: str, file: str = EXPERIMENT) -> None:
    """Change a file's text."""
    text = (root / file).read_text(encoding="utf-8")
    assert old in text
    (root / file).write_text(text.replace(old, new), encoding="utf-8")


def states(study: Study) -> dict[str, str]:
    """Each claim's state in the first measurement."""
    return {claim.name: claim.state for claim in study.measurements[0].claims}


def printed(problems: tuple[Problem, ...]) -> list[str]:
    """Each problem's place and code."""
    return [f"{problem.place}: {problem.code}" for problem in problems]


# ── live ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A live study that was made once, and the progress it showed."""

    root: Path
    cache: Path
    study: Study
    shown: list[object]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Live:
    """A live study."""
    folder = tmp_path_factory.mktemp("live")
    root, cache = Path(shutil.copytree(HERE / "studies", folder / "project")), folder / "cache"
    shown: list[object] = []
    settings = pretending(progress=lambda *event: shown.append(event), cache=cache)
    made = study(root, "pretended", settings)
    return Live(root=root, cache=cache, study=made, shown=shown)


def test_a_live_study_has_no_problems(live: Live) -> None:
    """Everything is there: title, files, digests, declared tables and claims."""
    found = live.study
    assert found.problems == ()
    assert (found.id, found.title, found.notes) == ("pretended", "Pretended", ())
    assert (
        sorted(found.files)
        == sorted(found.inputs)
        == [
            EXPERIMENT,
            "code/pretended/kernels.cu",
            "code/pretended/tile.cuh",
        ]
    )
    assert [table.name for table in found.declared_tables] == ["mismatches", "barriers", "endings"]
    assert found.declared_claims[0].text == "At 32 threads no launch gave a wrong element."
    assert found.declared_claims[0].place.file == EXPERIMENT


def test_a_live_measurement_holds_what_was_measured(live: Live) -> None:
    """Tables in the order declared, samples a launch, conditions, toolchain, options, evidence."""
    (measured,) = live.study.measurements
    record = measured.record
    assert (measured.origin, measured.freshness, measured.changed) == ("live", "fresh", ())
    assert record.machine.id == "pretended-gpu"
    assert [table.name for table in record.tables] == ["mismatches", "endings"]
    assert record.tables[0].rows[1]["wrong"] == (1, 2, 3, 4, 5)
    assert record.tables[0].rows[0]["took"] == (32.0,) * 20
    assert record.conditions["before"] == {"sm_clock_mhz": 1000}
    assert record.toolchain == {"cupy": "0.0", "nvrtc": "0.0"}
    assert record.options == ("--gpu-architecture=sm_90",)
    assert sorted(record.evidence["sass"]) == [
        "sm_75 code/pretended/kernels.cu",
        "sm_90 code/pretended/kernels.cu",
    ]


def test_every_ending_is_an_outcome(live: Live) -> None:
    """A case that hangs, crashes or fails is a row, empty where it left nothing."""
    rows = live.study.measurements[0].record.tables[1].rows
    assert {row["how"]: row["outcome"] for row in rows} == {
        "returns": "returned",
        "hangs": "hung",
        "crashes": "crashed (SIGSEGV)",
        "fails": "cuda error cudaErrorLaunchFailure",
    }
    assert [row["arrived"] for row in rows] == [96, None, None, None]


def test_claims_are_checked_on_the_measurement(live: Live) -> None:
    """Claims over runtime, static and outcome tables, alone and together."""
    assert states(live.study) == {
        "one_warp_is_right": "held",
        "two_warps_are_right": "refuted",
        "one_barrier": "held",
        "faster_with_fewer": "held",
        "only_one_returns": "held",
    }


def test_a_refuted_claim_says_where_and_with_which_values(live: Live) -> None:
    """The assertion's text, its values, its message, and its line rather than the claim's."""
    refuted = live.study.measurements[0].claims[1]
    assert refuted.detail == (
        "`row.wrong == 0`, where row.wrong is 1 to 5 (median 3) in 5 launches; "
        "row is mismatches(threads=64), as expected"
    )
    line = read(HERE / "studies", EXPERIMENT).value
    assert line is not None
    assert line.text.splitlines()[refuted.place.line - 1].strip().startswith("assert row.wrong")


def test_claims_on_machine_code_are_results_of_their_own(live: Live) -> None:
    """A claim that rests on machine code alone is checked without any measurement."""
    assert [(claim.name, claim.state) for claim in live.study.claims] == [("one_barrier", "held")]
    assert [row["barriers"] for row in live.study.static[0].rows] == [1, 0, 1, 0]


def test_progress_is_shown_by_table(live: Live) -> None:
    """What a probe reports, and each case, reaches the caller."""
    assert ("pretended: mismatches", 2, 2) in live.shown
    assert ("pretended: endings", 4, 4) in live.shown


def test_a_live_result_is_remembered(live: Live) -> None:
    """The same bytes on the same machine are not measured again; another driver's are."""
    shown: list[object] = []
    settings = pretending(cache=live.cache, progress=lambda *event: shown.append(event))
    assert study(live.root, "pretended", settings) == live.study
    assert shown == []
    other = (sys.executable, PRETEND, "other-driver")
    again = study(live.root, "pretended", replace(settings, command=other))
    assert again.measurements[0].record.machine.driver == "2.0"
    assert shown != []


def test_a_build_writes_nothing_into_the_project(live: Live) -> None:
    """Only `measure` writes `measurements/`; a study leaves the tree as it was."""
    files = [path.relative_to(live.root) for path in live.root.rglob("*") if path.is_file()]
    there = [path.relative_to(HERE / "studies") for path in (HERE / "studies").rglob("*.*")]
    assert sorted(files) == sorted(there)


def test_studies_run_side_by_side(project: Path) -> None:
    """Several studies come back in the order asked for."""
    shutil.copytree(project / "code" / "pretended", project / "code" / "second")
    ids = ["second", "missing", "pretended"]
    found = start_studies(project, ids, pretending("no-gpu")).collect()
    assert [each.id for each in found] == ids
    assert printed(found[1].problems) == ["code/missing/experiment.py: missing-file"]


# ── without means ────────────────────────────────────────────────────────────────────────────


def test_without_a_gpu_static_claims_are_checked(project: Path) -> None:
    """A machine without a GPU checks machine code, and nothing is a problem."""
    found = study(project, "pretended", pretending("no-gpu"))
    assert (found.problems, found.measurements) == ((), ())
    assert [claim.state for claim in found.claims] == ["held"]


def test_without_a_compiler_static_claims_are_not_checked(project: Path) -> None:
    """A missing compiler is a note and a reason, never "held", and no problem."""
    found = study(project, "pretended", pretending("no-gpu", "no-compiler"))
    assert found.problems == ()
    assert found.notes == ("machine code is not checked here: no NVRTC here: install it",)
    assert [(c.state, c.detail) for c in found.claims] == [
        ("not checked here", "no NVRTC here: install it")
    ]


@pytest.mark.parametrize("insisting", [{"measure": "live"}, {"gpu": True}])
def test_insisting_on_a_gpu_makes_its_absence_a_problem(
    project: Path, insisting: dict[str, object]
) -> None:
    """`measure: live`, and the switch for machines that must have a GPU, refuse to go without."""
    found = study(project, "pretended", pretending("no-gpu", **insisting))
    assert printed(found.problems) == [f"{EXPERIMENT}: no-gpu"]


def test_measuring_live_needs_a_compiler(project: Path) -> None:
    """A GPU without a compiler cannot measure what was asked for."""
    found = study(project, "pretended", pretending("no-compiler", measure="live"))
    assert printed(found.problems) == [f"{EXPERIMENT}: no-compiler"]


# ── recorded ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a record, measured once."""
    root = Path(shutil.copytree(HERE / "studies", tmp_path_factory.mktemp("kept") / "project"))
    assert measure(root, "pretended", pretending()).problems == ()
    return root


@pytest.fixture
def measured(kept: Path, tmp_path: Path) -> Path:
    """A copy of the project with a record."""
    return Path(shutil.copytree(kept, tmp_path / "measured"))


RECORD = "measurements/pretended/pretended-gpu.json"


def test_measuring_keeps_the_record(measured: Path) -> None:
    """`measure` writes one file, which reads back whole."""
    source = read(measured, RECORD).value
    assert source is not None
    record = read_record(source).value
    assert record is not None
    assert record.file == RECORD
    assert [path.name for path in (measured / "measurements").rglob("*.*")] == [
        "pretended-gpu.json"
    ]


def test_a_trial_is_not_kept(project: Path) -> None:
    """With fewer launches than declared a measurement is a trial."""
    checked = measure(project, "pretended", pretending(launches=2))
    assert checked.value is not None
    assert checked.value.launches == {"mismatches": 2, "endings": 1}
    assert not (project / "measurements").exists()


def test_a_record_is_fresh_where_nothing_changed(measured: Path) -> None:
    """Without a GPU the claims are checked on the record."""
    found = study(measured, "pretended", pretending("no-gpu"))
    (kept,) = found.measurements
    assert (kept.origin, kept.freshness, kept.changed) == ("recorded", "fresh", ())
    assert states(found)["one_warp_is_right"] == "held"


def test_recorded_looks_for_no_gpu(measured: Path) -> None:
    """With `measure: recorded` a GPU that is there is not used."""
    found = study(measured, "pretended", pretending(measure="recorded"))
    assert [each.origin for each in found.measurements] == ["recorded"]


def test_live_comes_before_recorded(measured: Path) -> None:
    """A live measurement and the record of the same machine stand side by side."""
    found = study(measured, "pretended", pretending())
    assert [(m.origin, m.freshness) for m in found.measurements] == [
        ("live", "fresh"),
        ("recorded", "fresh"),
    ]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (EXPERIMENT, "launches=5", "launches=6"),
        ("code/pretended/kernels.cu", "load;", "load; "),
        ("code/pretended/tile.cuh", "header", "file"),
    ],
)
def test_a_changed_input_makes_a_record_stale(
    measured: Path, file: str, old: str, new: str
) -> None:
    """One changed character in any input, headers included, and the record is of other code."""
    edit(measured, old, new, file)
    (kept,) = study(measured, "pretended", pretending("no-gpu")).measurements
    assert (kept.freshness, kept.changed) == ("stale", (file,))


def test_a_claim_on_what_a_stale_record_lacks_is_not_checked(measured: Path) -> None:
    """New claims over old tables are no fault of the claim: they are not checked here."""
    edit(measured, "mismatches(threads=32).wrong", "mismatches(threads=31).wrong")
    found = study(measured, "pretended", pretending("no-gpu"))
    assert found.problems == ()
    claim = found.measurements[0].claims[0]
    assert claim.state == "not checked here"
    assert claim.detail.startswith("TableError: mismatches has no row with threads=31")


def test_a_record_of_another_machine_is_foreign(measured: Path) -> None:
    """Relative to a machine with another GPU a fresh record is foreign."""
    source = read(measured, RECORD).value
    assert source is not None
    record = read_record(source).value
    assert record is not None
    other = replace(record, machine=replace(record.machine, name="Another GPU"))
    write_record(measured, other)
    found = study(measured, "pretended", pretending())
    kept = [(m.record.machine.id, m.origin, m.freshness) for m in found.measurements]
    assert kept == [
        ("pretended-gpu", "live", "fresh"),
        ("another-gpu", "recorded", "foreign"),
        ("pretended-gpu", "recorded", "fresh"),
    ]


def test_a_damaged_record_is_a_problem_and_not_used(measured: Path) -> None:
    """A record edited by hand does not count as a measurement."""
    edit(measured, '"seed": 14', '"seed": 15', RECORD)
    found = study(measured, "pretended", pretending("no-gpu"))
    assert printed(found.problems) == [f"{RECORD}: record-damaged"]
    assert found.measurements == ()


def test_a_record_with_other_tables_than_declared_is_damaged(measured: Path) -> None:
    """The right digests do not help a record that lacks a table."""
    source = read(measured, RECORD).value
    assert source is not None
    record = read_record(source).value
    assert record is not None
    write_record(measured, replace(record, tables=record.tables[:1]))
    found = study(measured, "pretended", pretending("no-gpu"))
    assert printed(found.problems) == [f"{RECORD}: record-damaged"]


def test_reported_figures_are_kept_apart(project: Path) -> None:
    """Cited figures are no measurement, and no claim is checked on them."""
    folder = project / "measurements" / "pretended"
    folder.mkdir(parents=True)
    (folder / "other.reported.yml").write_text(
        "machine: Other GPU\ncaptured: 2026-01-02\ntoolchain: nvcc\nsource: A page\n"
        "tables:\n  mismatches:\n    - {threads: 32, wrong: 7}\n",
        encoding="utf-8",
    )
    found = study(project, "pretended", pretending("no-gpu"))
    assert (found.problems, found.measurements) == ((), ())
    assert found.reported[0].tables[0].rows == ({"threads": 32, "wrong": 7},)


# ── broken experiments ───────────────────────────────────────────────────────────────────────


def test_a_compile_error_is_at_the_kernel_s_line(project: Path) -> None:
    """The compiler's message comes through with the place it gives."""
    edit(project, "kernel without", "bad\nkernel without", "code/pretended/kernels.cu")
    found = study(project, "pretended", pretending())
    assert printed(found.problems) == ["code/pretended/kernels.cu:2:5: compile-error"]
    assert found.title == "Pretended"


def test_claims_are_checked_with_assertions_on(
    measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PYTHONOPTIMIZE and `python -O` cannot make a refuted claim hold."""
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    command = (sys.executable, "-O", PRETEND, "no-gpu")
    found = study(measured, "pretended", pretending(command=command))
    assert states(found)["two_warps_are_right"] == "refuted"
