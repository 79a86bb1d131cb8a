"""Workers that answer, hang, die, flood, lie: the runner says what happened and goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from measured_glossary.lab.answer import Tabled
from measured_glossary.lab.process import MAX_LOG_BYTES, Output, environment, read_from
from measured_glossary.lab.runner import Ran, run_worker
from measured_glossary.lab.settings import Progress
from measured_glossary.problem import Place, Problem

STAND_IN = Path(__file__).parent / "workers" / "stand_in.py"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX")


def ran(
    behaviour: str,
    folder: Path,
    *,
    limit_s: float = 30,
    start_limit_s: float = 30,
    progress: Progress | None = None,
) -> Ran[Tabled]:
    """Run the stand-in worker."""
    return run_worker(
        Tabled,
        {"mode": "static"},
        folder=folder,
        limit_s=limit_s,
        start_limit_s=start_limit_s,
        progress=progress,
        command=(sys.executable, str(STAND_IN), behaviour),
    )


def watched(folder: Path) -> int:
    """Make a pipe that tells whether a child that holds it is alive."""
    os.mkfifo(folder / "alive")
    return os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)


def test_an_answer_is_read_with_its_problems_and_progress(tmp_path: Path) -> None:
    """A worker that answers gives its value, its problems, its progress and what it printed."""
    seen: list[tuple[str, int, int]] = []
    done = ran("answers", tmp_path, progress=lambda *event: seen.append(event))
    assert (done.outcome, done.begun, done.detail) == ("returned", True, "")
    assert done.answer.value == Tabled(tables=[])
    assert done.answer.problems == (
        Problem(place=Place("a.py", 3), code="a-code", message="m", hint=""),
    )
    assert seen == [("rows", 1, 2), ("rows", 2, 2)]
    assert done.log == "half a line, then progress"


def test_a_worker_that_hangs_is_killed_at_its_limit(tmp_path: Path) -> None:
    """Hanging costs the limit and little more."""
    done = ran("hangs", tmp_path, limit_s=0.3)
    assert (done.outcome, done.begun) == ("hung", True)
    assert 0.3 <= done.seconds < 10


def test_a_worker_that_never_begins_is_told_from_one_that_hangs(tmp_path: Path) -> None:
    """Time before the work begins is counted against another limit, and is not its outcome."""
    done = ran("never begins", tmp_path, start_limit_s=4)
    assert (done.outcome, done.begun, done.log) == ("hung", False, "waiting\n")


def test_only_the_first_begin_starts_the_clock(tmp_path: Path) -> None:
    """Author code cannot put its limit off by saying that it begins, again and again."""
    done = ran("begins again and again", tmp_path, limit_s=0.3)
    assert done.outcome == "hung"


@pytest.mark.parametrize(
    ("behaviour", "limit_s", "outcome"),
    [("hangs with a child", 0.3, "hung"), ("leaves a child", 30, "returned")],
)
def test_children_are_killed_too(
    tmp_path: Path, behaviour: str, limit_s: float, outcome: str
) -> None:
    """A child that ignores SIGTERM is gone, whether its parent hung or ended well."""
    alive = watched(tmp_path)
    done = ran(behaviour, tmp_path, limit_s=limit_s)
    assert done.outcome == outcome
    assert done.log == "the child is there\n"
    assert os.read(alive, 10) == b"x"
    assert os.read(alive, 10) == b""  # nobody holds the other end: a living child would
    os.close(alive)


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [("segfaults", "crashed (SIGSEGV)"), ("exits early", "crashed (exit 3)")],
)
def test_a_crash_is_named(tmp_path: Path, behaviour: str, outcome: str) -> None:
    """A signal is called by its name and an exit status by its number."""
    done = ran(behaviour, tmp_path)
    assert done.outcome == outcome
    assert done.answer.value is None


def test_what_a_crashed_worker_printed_is_kept(tmp_path: Path) -> None:
    """The log holds what came before the crash."""
    assert ran("segfaults", tmp_path).log == "about to fail\n"


def test_a_flood_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    """Output beyond the cap is dropped from the middle, with a note, and the answer still read."""
    done = ran("floods", tmp_path)
    assert done.outcome == "returned"
    assert done.log.startswith("the first line\n")
    assert done.log.endswith("the last line\n")
    assert "bytes dropped" in done.log
    assert MAX_LOG_BYTES < len(done.log) < MAX_LOG_BYTES + 100


def printed(program: str) -> tuple[Output, list[int], int]:
    """Read what a program prints with `say` and `tell`; give the progress and the memory held."""
    seen: list[int] = []
    output = Output(progress=lambda task, done, total: seen.append(done))
    command = [sys.executable, "-u", "-c", PRINTER + program]
    tracemalloc.start()
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:
        read_from(process, lambda: output).join()
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return output, seen, held


PRINTER = """
import sys
say = lambda text: (sys.stdout.write(text), sys.stdout.flush())
tell = lambda done: say('\\x1e{"task": "t", "done": %d, "total": 9}\\n' % done)
"""


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("tell(1); say('first' + 'x' * (4 << 20) + 'last')", [1]),
        ("say('first' + 'x' * (4 << 20)); tell(1); say('x' * (4 << 20) + 'last')", [1]),
        ("say('first' + 'x' * ((1 << 16) - 15)); tell(1); say('x' * (4 << 20) + 'last')", [1]),
        ("say('first' + 'x' * (4 << 20) + 'last'); tell(1); tell(2)", [1, 2]),
        ("say('first' + 'x' * 9 + chr(30)); say('x' * (4 << 20) + 'last'); tell(1)", [1]),
    ],
)
def test_a_line_without_an_end_keeps_its_beginning_and_its_end(
    program: str, told: list[int]
) -> None:
    """Progress before, inside and behind a long line is told, and little of the line is held."""
    output, seen, held = printed(program)
    text = output.text()
    assert seen == told
    assert (text[:9], text[-9:]) == ("firstxxxx", "xxxxxlast")
    assert f"… {output.dropped:,} bytes dropped …" in text
    assert len(output.head) + len(output.tail) == MAX_LOG_BYTES
    assert held < 4 * MAX_LOG_BYTES


def test_progress_that_does_not_end_is_output() -> None:
    """What begins like progress and never ends is kept as it was printed."""
    output, seen, _ = printed("say('so far'); say(chr(30) + '{\"task\": ')")
    assert (output.text(), seen) == ('so far\x1e{"task": ', [])


@pytest.mark.parametrize(
    ("behaviour", "detail"),
    [
        ("half a file", "Unterminated string"),
        ("links its file", "symbolic link"),
        ("lies about its schema", "less than or equal to 1, found 7"),
        ("lies about its mode", "it answers 'run', asked was 'static'"),
        ("adds a key", "'verdict' is not a key used here"),
        ("writes NaN", "NaN is not a number"),
    ],
)
def test_a_damaged_result_is_not_used(tmp_path: Path, behaviour: str, detail: str) -> None:
    """An answer that is not what was asked is refused, and the detail says why."""
    done = ran(behaviour, tmp_path)
    assert done.outcome == "damaged result"
    assert detail in done.detail
    assert done.answer.value is None


def test_no_result_is_no_answer(tmp_path: Path) -> None:
    """A worker that ends well and writes nothing has not answered."""
    assert ran("never writes", tmp_path).outcome == "no result"


def test_a_worker_sees_no_secrets_and_no_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens, agents and the real home stay outside; the choice of a GPU gets through."""
    monkeypatch.setenv("GITHUB_TOKEN", "a-token")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("NVIDIA_API_KEY", "a-key")
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    seen = json.loads(ran("prints its environment", tmp_path).log)
    hidden = {"GITHUB_TOKEN", "SSH_AUTH_SOCK", "NVIDIA_API_KEY", "PYTHONOPTIMIZE"}
    assert not hidden & seen.keys()
    assert seen["CUDA_VISIBLE_DEVICES"] == "0"
    assert seen["HOME"] == seen["TMPDIR"] == str(tmp_path)
    assert seen["stdin"] == ""


def test_the_environment_is_an_allow_list(tmp_path: Path) -> None:
    """A variable that nobody thought of does not reach a worker."""
    seen = environment({"PATH": "/bin", "SOMETHING": "new", "CUDA_HOME": "/cuda"}, tmp_path)
    assert seen["PATH"] == "/bin"
    assert seen["CUDA_HOME"] == "/cuda"
    assert "SOMETHING" not in seen


def test_workers_run_side_by_side(tmp_path: Path) -> None:
    """Several workers at once keep their answers and their logs apart."""
    behaviours = ["answers", "exits early", "segfaults", "hangs"]
    folders = [tmp_path / name.replace(" ", "-") for name in behaviours]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda *each: ran(*each, limit_s=1), behaviours, folders))
    assert [each.outcome for each in done] == [
        "returned",
        "crashed (exit 3)",
        "crashed (SIGSEGV)",
        "hung",
    ]
