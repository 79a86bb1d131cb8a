"""Expanded bodies: known without their text, which is there whenever somebody asks for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from measured_glossary.expansion import Expansion, expansions, headings
from measured_glossary.memo import FILE, Memo, digest
from measured_glossary.problem import Checked, Place, Problem

KEYS = [digest(number) for number in range(60)]


def expand(index: int) -> Checked[str]:
    """Give a body; of every tenth there is none, and every third has a problem."""
    told = (Problem(place=Place("entry.md"), code="some-code", message=f"{index}"),)
    text = None if index % 10 == 0 else f"Words.\n\n## Heading {index}\n"
    return Checked(value=text, problems=told if index % 3 == 0 else ())


def refuse(index: int) -> Checked[str]:
    """Fail: nothing is to be expanded."""
    raise AssertionError(f"{index} was expanded")


def values(made: list[Expansion]) -> list[tuple[object, str]]:
    """Give all there is."""
    return [(each.known, each.text()) for each in made]


@pytest.fixture
def memo(tmp_path: Path) -> Iterator[Memo]:
    """A memo with all bodies."""
    made = Memo(tmp_path, jobs=2)
    expansions(KEYS, expand, made)
    yield made
    made.close()


def test_a_body_is_what_was_expanded() -> None:
    """Text, problems and headings are there, in the order of the keys, also without a file."""
    made = expansions(KEYS, expand, Memo(jobs=2))
    for index, each in enumerate(made):
        body = expand(index)
        assert each.text() == (body.value or "")
        assert each.known.problems == body.problems
        assert each.known.headings == ((f"Heading {index}",) if body.value else ())
    assert len({each.known.sha256 for each in made}) == 55  # six are empty


def test_a_kept_body_is_not_expanded_again(memo: Memo) -> None:
    """What is known of it and its text are what they were."""
    assert values(expansions(KEYS, refuse, memo)) == values(expansions(KEYS, expand, Memo()))


def test_a_text_that_was_dropped_is_made_once_more(memo: Memo, tmp_path: Path) -> None:
    """The memo may drop any value at any time."""
    kept = expansions(KEYS, expand, memo)
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("delete from kept")
    database.close()
    assert values(kept) == values(expansions(KEYS, expand, Memo()))


def test_another_key_is_another_body(memo: Memo) -> None:
    """One edit expands one body."""
    asked: list[int] = []

    def expand_noting(index: int) -> Checked[str]:
        asked.append(index)
        return expand(index)

    keys = [*KEYS[:7], digest("edited"), *KEYS[8:]]
    assert len(expansions(keys, expand_noting, memo)) == 60
    assert asked == [7]


def test_headings_are_plain_html() -> None:
    """Marks are gone, code fences are passed over, characters of HTML are escaped."""
    body = "## A `b` & *c*\n\n```text\n## no\n```\n\n### [D](e.md) ###\n\n# title\n"
    assert list(headings(body)) == ["A b &amp; c", "D"]
