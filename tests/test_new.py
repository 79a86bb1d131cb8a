"""`glossary init` and `glossary new`: what they ask, write and refuse, in a terminal or not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from measured_glossary import cli
from measured_glossary.entry import Entry, parse
from measured_glossary.source import read

GLOSSARY = (sys.executable, "-m", "measured_glossary.cli")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty glossary, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init"]) == 0
    return tmp_path


def entry(root: Path, entry_id: str) -> Entry:
    """An entry without faults."""
    source = read(root, f"glossary/{entry_id}/entry.md").value
    assert source
    checked = parse(entry_id, source)
    assert checked.problems == ()
    assert checked.value
    return checked.value


# ── init ─────────────────────────────────────────────────────────────────────────────────────


def test_what_stood_there_already_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that is not empty gets its glossary, and nothing in it is touched or unmentioned."""
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    assert cli.main(["init", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "left   a.txt, b.txt, c.txt and 1 more, which stood there already\n" in told
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "a.txt"


def test_a_new_folder_has_nothing_to_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Git's own folder is nobody's work."""
    (tmp_path / "g" / ".git").mkdir(parents=True)
    assert cli.main(["init", str(tmp_path / "g")]) == 0
    assert "left " not in capsys.readouterr().out


def test_a_glossary_is_begun_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says that a glossary stands there, and what is meant instead."""
    assert cli.main(["init"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"glossary/settings.yml: file-exists: a glossary stands in {root.name} already",
        "    glossary new TERM adds an entry to it",
    ]


def test_a_glossary_is_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of that name is told as what it is."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert cli.main(["init", str(tmp_path / "file")]) == 2
    assert "is a file: name a folder" in capsys.readouterr().err


# ── new, outside a terminal ──────────────────────────────────────────────────────────────────


def test_options_give_what_would_be_asked(root: Path) -> None:
    """Every answer has an option, and nothing is asked."""
    options = {
        "--question": "How wide is a warp?",
        "--answer": "It is 32 lanes wide.",
        "--area": "Hardware",
        "--applies-to": "CC 9.0",
    }
    words = [word for option in options.items() for word in option]
    assert cli.main(["new", "warp width", "--without-experiment", *words]) == 0
    front = entry(root, "warp-width").front
    assert (front.question, front.answer) == ("How wide is a warp?", "It is 32 lanes wide.")
    assert (front.area, front.applies_to, front.experiments) == ("Hardware", "CC 9.0", ())


def test_the_area_is_one_that_the_glossary_has(root: Path) -> None:
    """A glossary of another subject is not given an area of this one."""
    assert cli.main(["new", "one", "--without-experiment", "--area", "Optics"]) == 0
    assert cli.main(["new", "two", "--without-experiment"]) == 0
    assert entry(root, "two").front.area == "Optics"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--question", "no question"], "question: expected a question that ends with '?'"),
        (["--answer", "One. Two."], "answer: expected one sentence"),
        (["--area", ""], "area: "),
        (["--id", "../evil"], "'../evil' is not an entry's id"),
        (["--with-experiment", "--without-experiment"], "not allowed with argument"),
    ],
)
def test_what_no_entry_can_have_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    """The fault is told in the words of the option, and nothing is written."""
    try:
        status = cli.main(["new", "warp", *words])
    except SystemExit as left:
        status = int(str(left.code))
    assert status == 2
    assert message in capsys.readouterr().err
    assert not (root / "glossary" / "warp").exists()


def test_a_term_is_needed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal nobody can be asked for it."""
    assert cli.main(["new"]) == 2
    assert "the term is missing" in capsys.readouterr().err


@pytest.mark.parametrize("term", ["../evil", "C:\\evil", "/etc/evil", "~evil"])
def test_an_id_that_was_made_is_told(
    root: Path, capsys: pytest.CaptureFixture[str], term: str
) -> None:
    """Whatever the term, the folder is one below `glossary/`, and the reader learns which."""
    assert cli.main(["new", term, "--without-experiment"]) == 0
    made = capsys.readouterr().out.split("\n")[0]
    entry_id = made.removeprefix("id     ").partition(",")[0]
    assert made.endswith("made from the term; --id NAME gives another")
    assert entry_id.endswith("evil")
    assert [path.name for path in (root / "glossary").iterdir() if path.is_dir()] == [entry_id]


def test_an_id_that_was_given_needs_no_words(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who names the folder knows it."""
    assert cli.main(["new", "Warp!", "--id", "warp", "--without-experiment"]) == 0
    assert capsys.readouterr().out.startswith("wrote  glossary/warp/entry.md\n")


def test_a_glossary_with_study_paths_is_told_to_take_the_entry_up(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is a path, its file is named with the step to write; elsewhere nothing is."""
    assert cli.main(["new", "warp", "--without-experiment"]) == 0
    assert "then:" not in capsys.readouterr().out
    (root / "paths").mkdir()
    (root / "paths" / "up.yml").write_text("", encoding="utf-8")
    assert cli.main(["new", "lane", "--without-experiment"]) == 0
    assert "then:  a step '- entry: lane' in paths/up.yml\n" in capsys.readouterr().out


# ── new, in a terminal ───────────────────────────────────────────────────────────────────────


def typed(root: Path, words: list[str], lines: str) -> tuple[int, str]:
    """Give the exit status and the screen of a command in a terminal where lines are typed."""
    pty = pytest.importorskip("pty")
    here, there = pty.openpty()
    with subprocess.Popen(
        [*GLOSSARY, *words], cwd=root, stdin=there, stdout=there, stderr=there, close_fds=True
    ) as running:
        os.close(there)
        os.write(here, lines.encode())
        shown = b""
        while part := read_some(here):
            shown += part
        status = running.wait()
    os.close(here)
    return status, shown.decode().replace("\r\n", "\n")


def read_some(terminal: int) -> bytes:
    """Read what a terminal shows next, or nothing once nobody writes to it any more."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def test_a_terminal_is_asked(root: Path) -> None:
    """Each answer is taken, and an empty one stands for what is in brackets."""
    lines = "What is a lane?\nA lane is one thread of a warp.\n\n\nno\n"
    status, screen = typed(root, ["new", "lane"], lines)
    assert status == 0
    assert "[What does lane mean in CUDA?]" in screen
    assert "[Execution model]" in screen
    front = entry(root, "lane").front
    assert (front.question, front.answer) == ("What is a lane?", "A lane is one thread of a warp.")
    assert (front.area, front.experiments) == ("Execution model", ())


def test_an_answer_that_will_not_do_is_asked_again(root: Path) -> None:
    """The fault is told at once, and the other answers are kept."""
    lines = "no question\nWhat is a lane?\n\nMemory\n\n\n"
    status, screen = typed(root, ["new", "lane"], lines)
    assert status == 0
    assert "  expected a question that ends with '?', found 'no question'\n" in screen
    front = entry(root, "lane").front
    assert (front.question, front.area) == ("What is a lane?", "Memory")
    assert front.experiments == ("lane",)


def test_nobody_is_asked_for_an_entry_that_is_there(root: Path) -> None:
    """That it stands there already is told before the first question."""
    assert cli.main(["new", "lane", "--without-experiment"]) == 0
    status, screen = typed(root, ["new", "lane"], "")
    assert status == 1
    assert "glossary/lane/entry.md: file-exists: stands here already" in screen
    assert "Enter takes" not in screen


def test_what_an_option_gives_is_not_asked(root: Path) -> None:
    """With every option nothing is asked, in a terminal too; the term is asked if it is missing."""
    words = ["--question", "Is it?", "--answer", "It is.", "--area", "A", "--applies-to", "B"]
    status, screen = typed(root, ["new", *words, "--with-experiment"], "lane\n")
    assert status == 0
    assert "The term: " in screen
    assert "]: " not in screen
    assert entry(root, "lane").front.question == "Is it?"


def test_the_end_of_the_input_writes_nothing(root: Path) -> None:
    """Who leaves in the middle of the questions has begun nothing."""
    status, screen = typed(root, ["new", "lane"], "What is a lane?\n\x04")
    assert status == cli.INTERRUPTED
    assert "interrupted" in screen
    assert not (root / "glossary" / "lane").exists()


# ── what is written works ────────────────────────────────────────────────────────────────────


def test_the_test_of_a_new_experiment_passes(root: Path) -> None:
    """It doctors a table and sees each claim refuted, without a GPU and without a compiler."""
    assert cli.main(["new", 'it\'s a "bank" conflict \\']) == 0
    ran = pytest_in(root, "tests/test_experiment_it_s_a_bank_conflict.py")
    assert ran.returncode == 0, ran.stdout
    assert "4 passed" in ran.stdout


def test_the_test_of_a_new_experiment_fails_where_a_claim_says_nothing(root: Path) -> None:
    """A claim that asserts nothing of its table is found by it."""
    assert cli.main(["new", "lane"]) == 0
    experiment = root / "code" / "lane" / "experiment.py"
    text = experiment.read_text(encoding="utf-8")
    weak = text.replace("assert row.wrong == 0", "assert row.wrong >= 0")
    assert weak != text
    experiment.write_text(weak, encoding="utf-8")
    ran = pytest_in(root, "tests/test_experiment_lane.py")
    assert ran.returncode == 1
    assert "1 failed, 3 passed" in ran.stdout


def pytest_in(root: Path, file: str) -> subprocess.CompletedProcess[str]:
    """Run one test file in a glossary, as its author would."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
