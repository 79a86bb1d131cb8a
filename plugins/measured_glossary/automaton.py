"""Names found in a text in one pass, however many names there are.

Comes in: names in one form: small letters, single blanks, and a text. Goes out: the stretches of it
that are names, the longest first. Must not know what a name stands for.

A pattern of ten thousand alternatives tries each of them at each word. Here the text is cut into
words, blanks and signs once, and each begins or continues a name by one look into a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

# In Markdown an underscore may be escaped; a blank may be a hyphen or the end of a line. What was
# blanked out is one piece.
_PIECE = re.compile(r"\w+(?:\\_\w*)*|(?:\\_\w*)+|[ \t]*\n[ \t]*|[ \t]+|-|\x00+|.", re.DOTALL)
_BLANKS = frozenset(" \t\n-")
# Behind a name may stand a call's parentheses and a possessive, and no more of a word.
_END = re.compile(r"(?:\(\))?(?![-.]?\w)(?:['’]s?\b)?")


@dataclass(frozen=True, slots=True)
class Names:
    """Names, and what they begin with: each cut behind every one of its pieces."""

    whole: frozenset[str]
    begun: frozenset[str]


def names(known: Iterable[str]) -> Names:
    """Arrange names by their pieces."""
    whole = frozenset(filter(None, known))
    ends = ((name, end) for name in whole for end in accumulate(map(len, _PIECE.findall(name))))
    return Names(whole=whole, begun=frozenset(name[:end] for name, end in ends))


def find(text: str, known: Names) -> Iterator[tuple[int, int]]:
    """Give where names stand, from left to right; of two that begin together the longer."""
    pieces: list[str] = _PIECE.findall(text)
    starts = tuple(accumulate(map(len, pieces), initial=0))
    spelt = [piece.replace("\\_", "_") for piece in pieces] if "\\_" in text else pieces
    passed = 0
    for index in [at for at, piece in enumerate(spelt) if piece in known.begun]:
        if starts[index] >= passed and not _is_inside_word(pieces, index):
            ends = _ends(spelt, index, known)
            found = (_END.match(text, starts[end]) for end in reversed(ends))
            if tail := next(filter(None, found), None):
                passed = tail.end()
                yield starts[index], passed


def _is_inside_word(pieces: Sequence[str], index: int) -> bool:
    """Tell whether a word goes on here: neither 'x.warp' nor 'sub-warp' names a warp."""
    before = pieces[index - 1] if index else " "
    joined = index > 1 and before in "-." and _is_word(pieces[index - 2])
    return joined or _is_word(before)


def _is_word(piece: str) -> bool:
    return piece[-1] == "_" or piece[-1].isalnum()


def _ends(spelt: Sequence[str], index: int, known: Names) -> list[int]:
    """Give the pieces behind which a name ends that begins with this one, the shortest first."""
    name, ends = "", []
    for at in range(index, len(spelt)):
        name += " " if spelt[at][0] in _BLANKS else spelt[at]
        if name not in known.begun:
            break
        if name in known.whole:
            ends.append(at + 1)
    return ends
