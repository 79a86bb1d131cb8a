"""How long work is shown: one line in a terminal, few lines in a log."""

from __future__ import annotations

import io

from measured_glossary.progress import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def shown(stream: io.StringIO, task: str = "copy: rows", total: int = 1000) -> str:
    """What a whole task leaves on a stream."""
    progress = Progress(stream)
    for done in range(total + 1):
        progress(task, done, total)
    return stream.getvalue()


def test_a_log_gets_a_line_for_each_tenth() -> None:
    """A thousand steps are eleven lines, the first and the last among them."""
    lines = shown(io.StringIO()).splitlines()
    assert len(lines) == 11
    assert lines[0] == "copy: rows: 0 of 1,000"
    assert lines[-1] == "copy: rows: 1,000 of 1,000"


def test_a_terminal_gets_one_line() -> None:
    """It is redrawn in place, and ends when the task does."""
    text = shown(Terminal(), total=3)
    assert text.count("\n") == 1
    assert text.endswith("\r\x1b[Kcopy: rows  3 of 3\n")


def test_tasks_are_told_apart() -> None:
    """Two tasks side by side each have their tenths."""
    stream = io.StringIO()
    progress = Progress(stream)
    for task in ("one", "two", "one", "two"):
        progress(task, 1, 2)
    assert stream.getvalue() == "one: 1 of 2\ntwo: 1 of 2\n"


def test_a_task_without_steps_is_shown() -> None:
    """Nothing to do is no division by zero."""
    stream = io.StringIO()
    Progress(stream)("empty", 0, 0)
    assert stream.getvalue() == "empty: 0 of 0\n"


def test_a_line_that_stays_takes_the_place_of_the_one_that_is_redrawn() -> None:
    """In a terminal nothing is left of a task's line in front of it; a log has it as it is."""
    terminal, log = Terminal(), io.StringIO()
    progress = Progress(terminal)
    progress("copy: rows", 1, 3)
    progress.say("copy printed: 7")
    assert terminal.getvalue().endswith("1 of 3\r\x1b[Kcopy printed: 7\n")
    Progress(log).say("copy printed: 7")
    assert log.getvalue() == "copy printed: 7\n"
