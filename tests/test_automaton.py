"""Names in a text: what one pattern of all names would find, without trying each."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured_glossary.automaton import find, names

NAME = st.from_regex(r"[ab.+_]{1,3}( [ab.+_]{1,3}){0,2}", fullmatch=True)
TEXT = st.text("ab.+_ -\n()'s\t", max_size=40)


def by_pattern(text: str, known: set[str]) -> list[tuple[int, int]]:
    """Find names with one alternative each, the longest first: the meaning, in one line."""
    blank = r"(?:[ \t]*\n[ \t]*|[ \t]+|-)"
    longest_first = sorted(known, key=lambda name: (-len(name), name))
    one_of = "|".join(blank.join(map(re.escape, name.split(" "))) for name in longest_first)
    pattern = rf"(?<!\w)(?<!\w[-.])(?:{one_of})(?:\(\))?(?![-.]?\w)(?:['’]s?\b)?"
    return [found.span() for found in re.finditer(pattern, text)]


def begins_a_word(name: str) -> bool:
    """Say whether a name's pieces end where a text's do: `.a` in `..a` is cut as it is here."""
    return all(re.fullmatch(r"[ab_]+|[.+]", word) for word in name.split(" "))


@given(TEXT, st.sets(NAME.filter(begins_a_word), min_size=1, max_size=8))
def test_it_finds_what_one_pattern_finds(text: str, known: set[str]) -> None:
    """In any text, for any names, the same stretches as a pattern of alternatives."""
    assert list(find(text, names(known))) == by_pattern(text, known)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a bank conflict.", ["bank conflict"]),
        ("a bank-conflict, a bank\n  conflict", ["bank-conflict", "bank\n  conflict"]),
        ("no bank  \n\nconflict", ["bank"]),
        ("two bank conflicts and a bank", ["bank", "bank"]),
        (r"\_\_sync() and __sync", [r"\_\_sync()", "__sync"]),
        ("the bank's c++ and c++11", ["bank's", "c++"]),
        ("x.bank, x-bank, bankers, bank-like, bank.x", []),
        ("end of bank.", ["bank"]),
    ],
)
def test_what_is_a_name_and_what_only_holds_one(text: str, shown: list[str]) -> None:
    """Blanks may be hyphens or a line's end, underscores escaped; part of a word is no name."""
    known = names(["bank", "bank conflict", "__sync", "c++"])
    assert [text[start:end] for start, end in find(text, known)] == shown


def test_no_names_are_found_nowhere() -> None:
    """A glossary without entries links nothing."""
    assert list(find("any text", names([]))) == []
