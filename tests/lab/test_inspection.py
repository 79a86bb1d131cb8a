"""Cases under a tool and cases that hang, with the real worker, a pretended GPU and tool."""

from __future__ import annotations

import shutil
import stat
import sys
import time
from dataclasses import replace
from pathlib import Path
from textwrap import indent

import pytest

from killed_build import held, kill_while_held
from measured_glossary.lab.record import Finding, Record
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import measure, start_studies, study
from measured_glossary.lab.study import Study

HERE = Path(__file__).parent
REPORTS = HERE / "reports"
PRETEND = str(HERE / "workers" / "pretend_gpu.py")
STAND_IN = HERE / "workers" / "compute_sanitizer.py"
EXPERIMENT = "code/watched/experiment.py"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the experiment."""
    return Path(shutil.copytree(HERE / "watched", tmp_path / "project"))


def pretending(*changes: str) -> Settings:
    """Settings whose worker has a pretended GPU."""
    return Settings(command=(sys.executable, PRETEND, *changes))


def install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str, report: str, **edits: str
) -> Path:
    """Put a pretended compute-sanitizer on PATH that behaves so and writes this report."""
    tool = folder / "tool"
    tool.mkdir()
    program = tool / "compute-sanitizer"
    program.write_text(f"#!{sys.executable}\n{STAND_IN.read_text(encoding='utf-8')}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tool / "behaviour").write_text(behaviour)
    for end in ("log", "xml"):
        text = (REPORTS / f"{report}.{end}").read_text(encoding="utf-8")
        for old, new in edits.items():
            text = text.replace(old, new)
        (tool / f"report.{end}").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PATH", str(tool))
    return tool


def watched(project: Path, *changes: str) -> Study:
    """The experiment, studied live."""
    return study(project, "watched", pretending(*changes))


def record(found: Study) -> Record:
    """The one live record of a study without problems."""
    assert found.problems == ()
    (measured,) = found.measurements
    return measured.record


def verdicts(found: Study) -> dict[object, tuple[object, object]]:
    """Each case's verdict and the reason there is none."""
    (table,) = record(found).tables
    return {row["how"]: (row["verdict"], row["reason"]) for row in table.rows}


# ── under a tool ─────────────────────────────────────────────────────────────────────────────


def test_a_case_that_came_to_its_end_under_the_tool_can_be_clean(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clean takes the probe's own line; one whose launch failed has no verdict, and no problem."""
    tool = install(tmp_path, monkeypatch, "old", "racecheck-clean")
    found = watched(project)
    assert verdicts(found) == {
        "returns": ("clean", ""),
        "fails": ("inconclusive", "the probe did not come to its end under the tool"),
    }
    assert record(found).toolchain["compute-sanitizer"] == "2025.3.1.0"
    assert record(found).findings == ()
    assert [claim.state for claim in found.measurements[0].claims] == ["held"]
    asked = (tool / "options.racecheck").read_text(encoding="utf-8").splitlines()
    assert asked[asked.index("--racecheck-report") + 1] == "all"


def test_findings_are_kept_by_the_key_of_their_row(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launch that failed under the tool has its findings too; paths are the project's own."""
    ours = {"code/day14-syncthreads/syncthreads.cu": "code/watched/kernels.cu"}
    install(tmp_path, monkeypatch, "old", "racecheck-errors", **ours)
    found = watched(project)
    assert [verdict for verdict, _ in verdicts(found).values()] == ["findings", "findings"]
    lines = ("code/watched/kernels.cu:34", "code/watched/kernels.cu:35")
    assert record(found).findings[0] == Finding(
        table="racecheck",
        row="threads=32, how='returns', tool='racecheck'",
        severity="error",
        kind="RAW",
        count=2,
        kernel="reverse_without_barrier",
        lines=lines,
    )
    assert len(record(found).findings) == 6
    assert [claim.state for claim in found.measurements[0].claims] == ["refuted"]


@pytest.mark.parametrize(
    ("behaviour", "report", "reason"),
    [
        ("absent", "racecheck-clean", "the tool was not in the probe's process"),
        ("skips", "racecheck-clean", "the probe did not come to its end under the tool"),
        ("skips", "no-driver", "the tool says that it could not do its work"),
        ("watches", "racecheck-clean", "the tool saw no launch"),
        ("hangs", "racecheck-clean", "hung under the tool: the tool gave no summary"),
    ],
)
def test_a_tool_that_saw_nothing_settles_nothing(
    behaviour: str, report: str, reason: str,
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Whatever went wrong with the tool, the row says so and the claim is not checked."""
    install(tmp_path, monkeypatch, behaviour, report)
    found = watched(project)
    assert verdicts(found)["returns"] == ("inconclusive", reason)
    (claim,) = found.measurements[0].claims
    assert claim.state == "not checked here"
    assert reason in claim.detail


def test_without_the_tool_everything_else_is_measured(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that lacks compute-sanitizer makes a record that says so."""
    monkeypatch.setenv("PATH", str(tmp_path))
    found = watched(project)
    assert set(verdicts(found).values()) == {("inconclusive", "compute-sanitizer is not installed")}
    assert "compute-sanitizer" not in record(found).toolchain


def test_a_mistake_in_the_probe_is_a_problem_at_its_line(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the author's is not mistaken for a finding, nor for silence."""
    install(tmp_path, monkeypatch, "old", "racecheck-clean")
    path = project / EXPERIMENT
    text = path.read_text(encoding="utf-8").replace('gpu.fail("cuda', 'gpu.fall("cuda')
    path.write_text(text, encoding="utf-8")
    (problem,) = watched(project).problems
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "gpu.fall" in each)
    assert (problem.code, problem.place.line) == ("probe-error", line)


def test_what_a_tool_wrote_can_be_kept(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks for the reports gets them, a folder for each case and tool."""
    install(tmp_path, monkeypatch, "old", "racecheck-clean")
    settings = replace(pretending(), reports=tmp_path / "reports")
    assert study(project, "watched", settings).problems == ()
    kept = sorted(path.name for path in (tmp_path / "reports" / "watched").iterdir())
    assert kept == ["racecheck-32-fails-racecheck", "racecheck-32-returns-racecheck"]


# ── cases that returned before ───────────────────────────────────────────────────────────────


def test_what_returned_before_shares_a_process_until_one_does_not(project: Path) -> None:
    """A case that fails only behind others returns: what counts is how it ends by itself."""
    first = measure(project, "company", pretending())
    assert first.value is not None
    alone = [row["process"] for row in first.value.tables[0].rows]
    assert len(set(alone)) == len(alone)
    again = measure(project, "company", pretending())
    assert again.value is not None
    rows = {row["how"]: row for row in again.value.tables[0].rows}
    assert {row["outcome"] for row in rows.values()} == {"returned"}
    together = {rows[how]["process"] for how in ("first", "second")}
    others = {rows[how]["process"] for how in ("fails", "third")}
    assert (len(together), len(others), together & others) == (1, 2, set())


@pytest.mark.parametrize("behaviour", ["hangs", "crashes"])
def test_what_returned_before_and_breaks_its_process_is_run_again(
    project: Path, behaviour: str
) -> None:
    """A case that hangs or crashes only behind others costs its process, and nothing else."""
    path = project / "code" / "company" / "experiment.py"
    text = path.read_text(encoding="utf-8").replace('"second"', f'"{behaviour}"')
    path.write_text(text, encoding="utf-8")
    for _ in range(2):
        measured = measure(project, "company", pretending())
        assert measured.value is not None
        assert {row["outcome"] for row in measured.value.tables[0].rows} == {"returned"}


def test_what_an_authors_code_prints_is_told(project: Path) -> None:
    """A probe and a claim that print say so, each time they run, by the experiment's name."""
    path = project / "code" / "company" / "experiment.py"
    text = path.read_text(encoding="utf-8").replace(
        "    met = ", '    print("met", how)\n    met = '
    )
    text = text.replace("    assert all", '    print("claimed\\n\\n  twice")\n    assert all')
    path.write_text(text, encoding="utf-8")
    told: list[str] = []
    found = study(project, "company", replace(pretending(), tell=told.append))
    assert found.problems == ()
    assert set(told) == {
        *(f"company (case) printed: met {how}" for how in ("first", "second", "fails", "third")),
        "company (check) printed: claimed",
        "company (check) printed:   twice",
    }


# ── cases that hang ──────────────────────────────────────────────────────────────────────────


def test_ten_hung_cases_cost_no_more_than_their_limits(project: Path) -> None:
    """Each is killed at its limit, none waits for the others, and all are rows."""
    begun = time.monotonic()
    found = study(project, "endless", pretending())
    took = time.monotonic() - begun
    (table,) = record(found).tables
    assert [row["outcome"] for row in table.rows] == ["hung"] * 10
    assert took < 10 * 2 + 5  # the limits, one behind the other, and the rest of the study
    assert [claim.state for claim in found.measurements[0].claims] == ["held"]


MEASURING = """
import sys
from pathlib import Path
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import study
study(Path.cwd(), "endless", Settings(command=tuple(sys.argv[1:])))
"""


def test_no_worker_outlives_a_build_that_was_killed(project: Path) -> None:
    """A case that hangs holds a pipe here; killed as a whole, nobody is left to stop it."""
    holding = indent(held(project), "    ")
    edit(project, "endless", "    signal.pause()", f"{holding}    signal.pause()")
    kill_while_held([sys.executable, "-c", MEASURING, sys.executable, PRETEND], project)


def test_a_gpu_that_stops_answering_ends_the_measurement(project: Path) -> None:
    """Behind a hung case the GPU is asked; where it is silent no case is begun any more."""
    shown: list[tuple[str, int, int]] = []
    settings = replace(pretending("lost-gpu"), progress=lambda *event: shown.append(event))
    found = study(project, "endless", settings)
    assert {problem.code for problem in found.problems} == {"gpu-lost"}
    assert found.measurements == ()
    assert [event for event in shown if event[0].endswith("endings")] == []


def test_a_gpu_lost_to_one_experiment_is_lost_to_all(project: Path) -> None:
    """What returned before, hangs now and takes the GPU along: no case of another is begun."""
    edit(project, "company", '"second"', '"hangs"')
    edit(project, "endless", "    signal.pause()", '    print("begun")\n    signal.pause()')
    assert measure(project, "company", pretending()).value is not None
    told: list[str] = []
    settings = replace(pretending("lost-gpu"), tell=told.append)
    company, endless = start_studies(project, ["company", "endless"], settings).collect()
    assert [line for line in told if line.startswith("endless")] == []
    for found in (company, endless):
        assert ("gpu-lost", LOST.format("a case of endings")) in reasons(found)


def test_a_gpu_lost_to_a_runtime_probe_is_lost_to_its_cases(project: Path) -> None:
    """A probe that crashes on the GPU is a problem; with the GPU gone, nothing comes behind it."""
    headings = "key={'n': exact('N')}, columns={'wrong': exact('Wrong')}"
    body = "    'One death.'\n    os.kill(os.getpid(), signal.SIGSEGV)\n    yield {}\n\n\n"
    probe = f"@experiment.runtime({headings})\ndef dies(gpu):\n{body}"
    edit(project, "company", "@experiment.outcomes", f"{probe}@experiment.outcomes")
    found = study(project, "company", pretending("lost-gpu"))
    lost = ("gpu-lost", LOST.format("the runtime probes"))
    assert lost in reasons(found)
    assert {code for code, _ in reasons(found)} == {"gpu-lost", "worker-crashed"}


LOST = "the GPU did not answer a trivial launch after {} of company had ended"


def reasons(found: Study) -> list[tuple[str, str]]:
    """Each problem's code and message."""
    return [(problem.code, problem.message) for problem in found.problems]


def edit(project: Path, experiment: str, old: str, new: str) -> None:
    """Change an experiment's text."""
    path = project / "code" / experiment / "experiment.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
