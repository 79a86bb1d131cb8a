"""What a worker answers, mode by mode: whatever an author gets wrong is a problem at its line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from measured_glossary.lab.answer import CaseAnswer, Checks, Described, Measured, Tabled
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.protocol import LIFELINE
from measured_glossary.lab.runner import Model
from measured_glossary.lab.sass import Kernel, Sass
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.warm import WarmWorker
from measured_glossary.problem import Problem

HERE = Path(__file__).parent
EXPERIMENT = "code/pretended/experiment.py"
TEXT = (HERE / "studies" / EXPERIMENT).read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX")


class Asking:
    """Asks one worker about the experiment, edited: `text` is what it is shown."""

    def __init__(self, folder: Path, edits: Sequence[str]) -> None:
        pretend = str(HERE / "workers" / "pretend_gpu.py")
        settings = Settings(command=(sys.executable, pretend))
        self.bench = Bench(experiment="pretended", folder=folder, settings=settings)
        self.text = TEXT
        for old, new in zip(edits[::2], edits[1::2], strict=True):
            assert old in self.text
            self.text = self.text.replace(old, new)
        self.bench.lay_out({EXPERIMENT: self.text.encode()})

    def problems(
        self, model: type[Model], mode: str, limit_s: float = 30, **data: Any
    ) -> tuple[Problem, ...]:
        """Ask, and give the problems."""
        return self.bench.ask(model, mode, limit_s, **data).problems

    def line(self, problem: Problem) -> str:
        """Give the line that a problem points at."""
        assert problem.place.file == EXPERIMENT
        return self.text.splitlines()[problem.place.line - 1].strip()


GPU: dict[str, Any] = {"cubins": [], "seed": 1, "launches": None}


# ── describe ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("import os", "import os os", "experiment-syntax", "import os os"),
        ("import os", "import no_such_module", "experiment-error", "import no_such_module"),
        ("import os", "import os; 1 / 0", "experiment-error", "import os; 1 / 0"),
        ("import os", "raise SystemExit(0)", "experiment-error", "raise SystemExit(0)"),
        ("import os", "x = bytearray(1 << 40)", "experiment-error", "x = bytearray(1 << 40)"),
        ("@experiment.claim\n", "@experiment.claims\n", "experiment-error", "@experiment.claims"),
        (
            "assert mismatches(threads=32).wrong == 0",
            "mismatches(threads=32)",
            "claim-without-assert",
            "@experiment.claim",
        ),
    ],
)
def test_a_declaration_s_fault_has_its_line(
    tmp_path: Path, old: str, new: str, code: str, line: str
) -> None:
    """Syntax, exceptions and exits of the file are problems, at the line they came from."""
    asking = Asking(tmp_path, [old, new])
    (problem,) = asking.problems(Described, "describe")
    assert (problem.code, asking.line(problem)) == (code, line)


@pytest.mark.parametrize(
    ("new", "hint"),
    [
        ("import os os", "Python gave up at 'import os os'"),
        ("import os; raise SystemExit(1)", "take it out: the file declares an experiment"),
        ("import os; exit()", "take it out: the file declares an experiment"),
        ("import no_such_module", "import it inside the probe that needs it"),
        ("import os; open('gone')", "only declarations belong on the top level"),
        ("import os; oss", ""),
    ],
)
def test_a_declaration_s_fault_says_what_to_type(tmp_path: Path, new: str, hint: str) -> None:
    """Python's message alone does not say what such a file may hold."""
    (problem,) = Asking(tmp_path, ["import os", new]).problems(Described, "describe")
    assert problem.hint.startswith(hint)
    assert bool(problem.hint) == bool(hint)


def test_a_syntax_error_has_its_column(tmp_path: Path) -> None:
    """The place is the sign at which Python gave up."""
    (problem,) = Asking(tmp_path, ["import os", "import os os"]).problems(Described, "describe")
    assert problem.place.column == len("import os o")


def test_a_file_that_does_not_end_is_told_as_such(tmp_path: Path) -> None:
    """An endless loop on the top level is no kernel that hangs."""
    asking = Asking(tmp_path, ["import os", "import os\nwhile True: pass"])
    (problem,) = asking.problems(Described, "describe", limit_s=2)
    assert problem.code == "worker-hung"
    assert problem.hint.startswith("executing the file did not end")


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("raise SystemExit(0)", "write 'assert …'"),
        ("1 / 0", "a claim reads its tables and asserts"),
    ],
)
def test_a_claim_that_ends_or_fails_says_what_a_claim_is(
    tmp_path: Path, tables: list[dict[str, Any]], statement: str, hint: str
) -> None:
    """An exit is neither a claim that holds nor one that is refuted."""
    line = "assert mismatches(threads=32).wrong == 0"
    asking = Asking(tmp_path / "asking", [line, f"{line}; {statement}"])
    measured = [{"tables": tables, "other_code": False}]
    (problem,) = asking.problems(Checks, "check", measurements=measured, reasons={})
    assert problem.code == "claim-error"
    assert problem.hint.startswith(hint)


def test_a_file_without_an_experiment_is_a_problem(tmp_path: Path) -> None:
    """The worker looks for the name `experiment`, and says so."""
    asking = Asking(tmp_path, [TEXT, "experiment = 5\n"])
    (problem,) = asking.problems(Described, "describe")
    assert (problem.code, problem.place.line) == ("experiment-missing", 0)


def test_all_misuses_are_reported_at_once(tmp_path: Path) -> None:
    """Faults of several probes and claims come together, each at its line."""
    edits = ['    """One block size."""\n', "", "def one_barrier(barriers)", "def one_barrier(b)"]
    asking = Asking(tmp_path, [*edits, "launches=5", "launches=0"])
    found = [problem.code for problem in asking.problems(Described, "describe")]
    assert found == ["docstring-missing", "probe-declaration", "claim-table"]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("os._exit(0)", "worker-no-result"),
        ("os._exit(4)", "worker-crashed"),
        ("os.abort()", "worker-crashed"),
        ("signal.pause()", "worker-hung"),
    ],
)
def test_what_ends_the_worker_is_a_problem(tmp_path: Path, statement: str, code: str) -> None:
    """A file that ends or hangs its worker does no more than that."""
    asking = Asking(tmp_path, ["import signal\n", f"import signal; {statement}\n"])
    (problem,) = asking.problems(Described, "describe", limit_s=2)
    assert (problem.code, problem.place.file) == (code, EXPERIMENT)


@pytest.mark.parametrize("statement", ["os._exit(0)", "os._exit(4)", "os.kill(os.getpid(), 9)"])
@pytest.mark.parametrize(
    ("mode", "old", "data"),
    [
        ("describe", "import signal\n", {}),
        ("run", "gpu.progress(index + 1, 2)", GPU),
        ("case 1 of endings", 'return {"arrived": 96}', {**GPU, "probe": "endings", "case": 0}),
        ("check", "assert mismatches(threads=32).wrong == 0", {"reasons": {}}),
    ],
)
def test_what_ends_the_worker_is_named(
    tmp_path: Path,
    tables: list[dict[str, Any]],
    mode: str,
    old: str,
    data: dict[str, Any],
    statement: str,
) -> None:
    """Whatever was asked of it, a worker that its file ended says where to look."""
    new = f"{old.strip()}; {statement}\n" if mode == "describe" else statement
    asking = Asking(tmp_path / "asking", [old, new])
    data = {**data, "measurements": [{"tables": tables, "other_code": False}]}
    ran = asking.bench.run(Described, mode.split()[0], 30, **data)
    (problem,) = asking.bench.answer_of(ran, mode).problems
    assert problem.hint.startswith("something in the file ends the process, as os._exit and os.")
    assert ("the system killed it" in problem.hint) == ("kill" in statement)


def test_a_compiler_that_ends_its_worker_is_not_the_file_s_fault(tmp_path: Path) -> None:
    """No author code runs beside the compiler; what a crash of ours printed is quoted."""
    asking = Asking(tmp_path, ["import signal\n", "import signal; os._exit(4)\n"])
    ran = asking.bench.run(Described, "describe", 30)
    assert asking.bench.answer_of(ran, "compile").problems[0].hint == ""
    ours = replace(ran, outcome="crashed (exit 1)")
    assert asking.bench.answer_of(ours, "describe").problems[0].hint == ""


def test_a_dead_worker_s_output_is_quoted(tmp_path: Path) -> None:
    """The problem shows how the worker ended, and what it had printed last."""
    asking = Asking(tmp_path, ["import os\n", "import os; print('so far'); os.abort()\n"])
    (problem,) = asking.problems(Described, "describe")
    assert "the worker (describe) ended after" in problem.message
    assert "crashed (SIGABRT)" in problem.message
    assert "    | so far" in problem.message


# ── probes ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"wrong": wrong', '"wrongs": wrong', "row 1 has an undeclared column 'wrongs'"),
        ('"wrong": wrong', "1: wrong", "row 1 has an undeclared column 1"),
        ("(32, 64)", "(32, 32)", "row 2 repeats the key threads=32"),
        ("[threads] * 20", "[float('nan')] * 20", "found 20 samples, expected a finite number"),
        ("[threads] * 20", "[threads] * 19", "found 19 samples, expected at least 20 samples"),
        ("[0] * gpu.launches", "[0]", "found 1 samples, expected 5 counts, one a launch"),
        ("in enumerate((32, 64))", "in ()", "mismatches yields 'no row', expected rows, as dicts"),
        ("yield {", "yield 5, {", "mismatches yields \"(5, {'threads': 32,"),
    ],
)
def test_a_row_that_does_not_fit_is_a_problem(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """Rows are checked against their columns, at the line of the probe."""
    asking = Asking(tmp_path, [old, new])
    problem = asking.problems(Measured, "run", **GPU)[0]
    assert (problem.code, asking.line(problem)) == ("probe-row", "@experiment.runtime(")
    assert message in problem.message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"threads": threads,', '"threads": 10**5000,', "mismatches: row 1, column 'threads': "),
        ("[0] * gpu.launches", "[10**5000] * gpu.launches", "row 1, column 'wrong': found 5 samp"),
        ("[threads] * 20", "[10**5000] * 20", "row 1, column 'took': found 20 samples, expected"),
        ("yield {", "yield 10**5000, {", "mismatches yields 'a tuple that cannot be printed'"),
        ("for index,", "raise ValueError(10**5000)\n    for index,", "ValueError: a whole number"),
    ],
)
def test_a_number_too_long_to_print_is_a_problem(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """Python prints no number of thousands of digits: the probe is at fault, not the worker."""
    (problem, *_) = Asking(tmp_path, [old, new]).problems(Measured, "run", **GPU)
    assert (problem.code[:6], message in problem.message) == ("probe-", True)


@pytest.mark.parametrize("new", ['return {"arrived": 10**5000}', "return 10**5000"])
def test_a_case_s_number_too_long_to_print_is_a_problem(tmp_path: Path, new: str) -> None:
    """A case that gives such a number has no row."""
    asking = Asking(tmp_path, ['return {"arrived": 96}', new])
    (problem,) = asking.problems(CaseAnswer, "case", probe="endings", case=0, **GPU)
    assert problem.code == "probe-row"
    assert "a whole number of 16,610 bits" in problem.message


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("of=100", "of=10**5000", "probe-column"),
        ("launches=5", "launches=10**5000", "probe-declaration"),
        ("limit_s=1", "limit_s=10**5000", "probe-declaration"),
        ('[{"how": how}', '[{"how": 10**5000}', "probe-declaration"),
        ('[{"how": how}', '[{"how": float("inf")}', "probe-declaration"),
        ('[{"how": how}', '[{"who": 10**5000}', "probe-declaration"),
        ('title="Pretended"', "title=10**5000", "experiment-declaration"),
        ('["kernels.cu"]', '["kernels.cu"], options=10**5000', "experiment-declaration"),
    ],
)
def test_a_declared_number_too_long_to_print_is_a_problem(
    tmp_path: Path, old: str, new: str, code: str
) -> None:
    """What a declaration holds is told in words, whatever Python can print of it."""
    found = Asking(tmp_path, [old, new]).problems(Described, "describe")
    assert {problem.code for problem in found} == {code}


def test_many_faults_of_one_kind_are_counted(tmp_path: Path, listing: str) -> None:
    """One slip that is in every row does not fill the screen."""
    asking = Asking(tmp_path, ['"local": local}', '"other": local}'])
    sass = {f"sm_{number}": [listing] for number in range(75, 95)}
    found = asking.problems(Tabled, "static", sass=sass)
    assert len(found) == 6
    *told, last = [problem.message for problem in sorted(found)]
    assert [message.partition(" row ")[2][0] for message in told] == list("11223")
    assert last.endswith("… and 35 faults more like these")


def test_an_exception_in_a_probe_is_at_its_line(tmp_path: Path) -> None:
    """A probe that raises gives the line of the author's file, not of what it called."""
    asking = Asking(tmp_path, ["gpu.progress(index + 1, 2)", "gpu.progress(index)"])
    (problem,) = asking.problems(Measured, "run", **GPU)
    assert (problem.code, asking.line(problem)) == ("probe-error", "gpu.progress(index)")
    assert problem.message.startswith("TypeError: ")


@pytest.fixture
def listing(tmp_path: Path) -> str:
    """Machine code with one kernel, in a file."""
    kernel = Kernel(
        name="k", symbol="k", registers=1, local_bytes=2, shared_bytes=3, instructions=("NOP",)
    )
    path = tmp_path / "sass.json"
    path.write_text(json.dumps(Sass(code=(kernel,)).to_data()), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sass.count(architecture, name,", "sass.count(architecture, 'no',", "no kernel 'no'"),
        ("sass.kernels(architecture)", "sass.kernels('sm_1')", "not compiled for 'sm_1'"),
    ],
)
def test_a_static_probe_that_asks_for_what_is_not_there(
    tmp_path: Path, listing: str, old: str, new: str, message: str
) -> None:
    """An unknown kernel or architecture is a problem that names the known ones."""
    asking = Asking(tmp_path, [old, new])
    (problem,) = asking.problems(Tabled, "static", sass={"sm_90": [listing]})
    assert (problem.code, message in problem.message) == ("probe-error", True)


def test_architectures_come_oldest_first(tmp_path: Path, listing: str) -> None:
    """`sm_120` is newer than `sm_90`, whatever their letters say."""
    bench = Asking(tmp_path, []).bench
    answer = bench.ask(Tabled, "static", 30, sass={"sm_120": [listing], "sm_90": [listing]}).value
    assert answer is not None
    assert [row["architecture"] for row in answer.tables[0].rows] == ["sm_90", "sm_120"]
    assert answer.tables[0].rows[0]["local"] == 2


@pytest.mark.parametrize(
    ("new", "code"),
    [
        ("return 96", "probe-row"),
        ('return {"arrived": None}', "probe-row"),
        ('return {"other": 1}', "probe-row"),
        ("raise ValueError", "probe-error"),
        ("raise SystemExit(3)", "probe-error"),
    ],
)
def test_a_case_s_own_fault_is_no_outcome(tmp_path: Path, new: str, code: str) -> None:
    """Only a CUDA error, a hang or a crash is an outcome; a fault of the probe is a problem."""
    asking = Asking(tmp_path, ['return {"arrived": 96}', new])
    found = asking.problems(CaseAnswer, "case", probe="endings", case=0, **GPU)
    assert {problem.code for problem in found} == {code}


def test_a_case_s_time_begins_with_its_launch(tmp_path: Path) -> None:
    """Loading the file and the GPU does not count as the case's time, nor as its hanging."""
    asking = Asking(tmp_path, ["import signal\n", "import signal; os._exit(0)\n"])
    ran = asking.bench.run(CaseAnswer, "case", 30, probe="endings", case=0, **GPU)
    assert not ran.begun


# ── claims ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """The runtime table, measured."""
    answer = Asking(tmp_path / "measured", []).bench.ask(Measured, "run", 30, **GPU).value
    assert answer is not None
    yield [table.model_dump() for table in answer.tables]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('wrong == 0, "as', 'wrong == 5, "as', "RacyComparison: equality with '5' would hold"),
        ("(threads=32).wrong", "(threads=31).wrong", "TableError: mismatches has no row with"),
        ("(threads=32).wrong", "(threads=32).right", "TableError: mismatches has no column"),
        ("where(threads=64)", "where(threads=65)", "TableError: mismatches has no row with"),
    ],
)
def test_a_claim_that_cannot_be_decided_is_a_problem(
    tmp_path: Path, tables: list[dict[str, Any]], old: str, new: str, message: str
) -> None:
    """A claim that raises anything but an AssertionError is neither held nor refuted."""
    asking = Asking(tmp_path / "asking", [old, new])
    measured = [{"tables": tables, "other_code": False}]
    (problem,) = asking.problems(Checks, "check", measurements=measured, reasons={})
    assert (problem.code, problem.message.startswith(message)) == ("claim-error", True)
    assert new in asking.line(problem)


@pytest.mark.parametrize(
    ("new", "detail"),
    [
        ("assert 10**5000 == len(mismatches)", "len(mismatches) is 2"),
        ("x = 10**5000; assert x == 1", "`x == 1`, where x is a whole number of 16,610 bits"),
        ("x = [10**5000]; assert x == 1", "`x == 1`"),
        ("assert 1 == 2, 10**5000", "`1 == 2`, a whole number of 16,610 bits"),
        ("raise AssertionError(10**5000)", "a whole number of 16,610 bits"),
    ],
)
def test_a_refutation_tells_a_number_too_long_to_print(
    tmp_path: Path, tables: list[dict[str, Any]], new: str, detail: str
) -> None:
    """A claim that computes such a number is refuted in words."""
    asking = Asking(tmp_path / "asking", ["assert mismatches(threads=32).wrong == 0", new])
    measured = [{"tables": tables, "other_code": False}]
    answer = asking.bench.ask(Checks, "check", 30, measurements=measured, reasons={}).value
    assert answer is not None
    result = answer.measurements[0][0]
    assert (result.state, detail in result.detail) == ("refuted", True)


def test_an_ambiguous_ratio_refutes(tmp_path: Path, tables: list[dict[str, Any]]) -> None:
    """Times that overlap do not show what the claim says."""
    edits = ["def faster_with_fewer(mismatches, barriers)", "def faster_with_fewer(mismatches)"]
    edits += ["took / mismatches(threads=32)", "took / mismatches(threads=64)"]
    asking = Asking(tmp_path / "asking", edits)
    measured = [{"tables": tables, "other_code": False}]
    answer = asking.bench.ask(Checks, "check", 30, measurements=measured, reasons={}).value
    assert answer is not None
    result = answer.measurements[0][3]
    assert (result.name, result.state) == ("faster_with_fewer", "refuted")
    assert "overlap: their ratio is ambiguous" in result.detail


def test_a_missing_table_has_its_reason(tmp_path: Path) -> None:
    """A claim whose table is not here is not checked, and the reason is the one given."""
    bench = Asking(tmp_path, []).bench
    measured = [{"tables": [], "other_code": False}]
    reasons = {"barriers": "no compiler"}
    answer = bench.ask(Checks, "check", 30, measurements=measured, reasons=reasons).value
    assert answer is not None
    results = answer.measurements[0]
    assert {result.state for result in results} == {"not checked here"}
    assert results[0].detail == "there is no table mismatches here"
    assert results[2].detail == "no compiler"


def test_an_error_left_behind_on_the_gpu_is_not_the_next_one_s(tmp_path: Path) -> None:
    """A launch that failed after the answer ends its worker, and not another's measurement."""
    left = """import os, sys, types

def fail():
    raise RuntimeError("an illegal address, of a launch that nobody waited for")

device = types.SimpleNamespace(synchronize=fail)
sys.modules["cupy"] = types.SimpleNamespace(cuda=types.SimpleNamespace(Device=lambda: device))
"""
    asking, plain = Asking(tmp_path / "one", ["import os\n", left]), Asking(tmp_path / "other", [])
    with closing(WarmWorker(asking.bench.settings.command)) as warm:
        benches = [replace(each.bench, warm=warm) for each in (asking, plain)]
        ran = [bench.run_warm(Measured, "run", 30, **GPU) for bench in benches]
    assert [(each.outcome, each.answer.problems) for each in ran] == [("returned", ())] * 2
    assert all(each.answer.value for each in ran)


def test_a_worker_that_stays_gives_author_code_no_input(tmp_path: Path) -> None:
    """Its standard input names the requests; to author code it is empty, each time."""
    asking = Asking(tmp_path, ["import os", "import os, sys; assert sys.stdin.read() == ''"])
    with closing(WarmWorker(asking.bench.settings.command)) as warm:
        bench = replace(asking.bench, warm=warm)
        ran = [bench.run_warm(Measured, "run", 30, **GPU) for _ in range(2)]
    assert [(each.outcome, each.answer.problems) for each in ran] == [("returned", ())] * 2


@pytest.mark.parametrize("is_passed_on", [True, False])
def test_a_pipe_that_a_tool_did_not_pass_on_ends_nothing(
    tmp_path: Path, is_passed_on: bool
) -> None:
    """Its number may be that of another file, or of none: the worker does its work in silence."""
    request = tmp_path / "request.json"
    request.write_text('{"schema": 1, "mode": "machine"}', encoding="utf-8")
    with (tmp_path / "other").open("w+") as other:
        done = subprocess.run(
            [sys.executable, Path(__file__).parent / "workers" / "pretend_gpu.py", request],
            env={**os.environ, LIFELINE: f"{other.fileno()} 1"},
            pass_fds=[other.fileno()] if is_passed_on else [],
            capture_output=True,
            start_new_session=True,
            check=True,
        )
    assert done.stderr == b""
    assert (tmp_path / "result.json").is_file()
