"""Names found in a text in one pass, however many names there are.

Comes in: names in one form: small letters, single blanks, and a text. Goes out: the stretches of it
that are names, the longest first. Must not know what a name stands for.

A pattern of ten thousand alternatives tries each of them at each word. Here the text is cut into
words, blanks and signs once, and each begins or continues a name by one look into a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# In Markdown an underscore may be escaped; a blank may be a hyphen or the end of a line.
_PIECE = re.compile(r"(?P<word>(?:\\?_|[^\W_])+)|(?P<blank>[ \t]*\n[ \t]*|[ \t]+|-)|.", re.DOTALL)
_BEGIN = re.compile(r"(?<!\w)(?<!\w[-.])")
# Behind a name may stand a call's parentheses and a possessive, and no more of a word.
_END = re.compile(r"(?:\(\))?(?![-.]?\w)(?:['’]s?\b)?")
_BLANK, _NAME_ENDS = " ", ""


@dataclass(frozen=True, slots=True)
class Names:
    """Names by their pieces: a table leads from each piece to those that may follow it."""

    table: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word, a blank or a sign: how names spell it, and where it stands."""

    spelt: str
    start: int
    end: int


def names(known: Iterable[str]) -> Names:
    """Arrange names by their pieces."""
    table: dict[str, Any] = {}
    for name in filter(None, known):
        at = table
        for piece in _pieces(name):
            at = at.setdefault(piece.spelt, {})
        at[_NAME_ENDS] = True
    return Names(table)


def find(text: str, known: Names) -> Iterator[tuple[int, int]]:
    """Give where names stand, from left to right; of two that begin together the longer."""
    pieces, passed = tuple(_pieces(text)), 0
    for index, piece in enumerate(pieces):
        may_begin = piece.spelt in known.table and piece.start >= passed
        if may_begin and (end := _end(text, pieces, index, known)):
            passed = end
            yield piece.start, end


def _end(text: str, pieces: Sequence[_Piece], index: int, known: Names) -> int:
    """Give where the longest name that begins with a piece ends, or nothing."""
    if not _BEGIN.match(text, pieces[index].start):
        return 0
    at, ends = known.table, []
    for i in range(index, len(pieces)):
        if (spelt := pieces[i].spelt) not in at:
            break
        at = at[spelt]
        if _NAME_ENDS in at:
            ends.append(pieces[i].end)
    found = (_END.match(text, end) for end in reversed(ends))
    return next((tail.end() for tail in found if tail), 0)


def _pieces(text: str) -> Iterator[_Piece]:
    for found in _PIECE.finditer(text):
        spelt = _BLANK if found.lastgroup == "blank" else found.group().replace("\\_", "_")
        yield _Piece(spelt, found.start(), found.end())
