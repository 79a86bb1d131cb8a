"""What a regular expression cannot match, seen without trying it.

Comes in: a compiled expression. Goes out: what each of its matches holds, and whether one may
begin with a sign. Must not know what is looked for: it reads the expression as `re` itself does.
Of what it does not know it says nothing, so that no match is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

Signs = tuple[str, ...]
Parts = Iterable[tuple[Any, Any]]
UNKNOWN: Signs = ("",)  # every text holds it
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_WIDTHLESS = frozenset({"AT", "ASSERT", "ASSERT_NOT"})
_CATEGORIES = {
    f"CATEGORY_{name}": re.compile(sign)
    for name, sign in (
        ("DIGIT", r"\d"),
        ("NOT_DIGIT", r"\D"),
        ("SPACE", r"\s"),
        ("NOT_SPACE", r"\S"),
        ("WORD", r"\w"),
        ("NOT_WORD", r"\W"),
    )
}


@cache
def signs(regex: re.Pattern[str]) -> Signs:
    """Give texts of which whatever is matched holds at least one: the fewest and longest."""
    return min(_signs(_parsed(regex)), key=_cost)


def may_begin(regex: re.Pattern[str], sign: str) -> bool:
    """Say whether a match where this sign stands is possible; an empty one may be anywhere."""
    return any(_beginning(_parsed(regex), sign))


@cache
def _parsed(regex: re.Pattern[str]) -> Parts:
    """Give the parts of an expression; one where case makes no difference has a part unknown."""
    if regex.flags & ~(re.UNICODE | re.MULTILINE | re.DOTALL | re.VERBOSE):
        return (("UNKNOWN", None),)
    parser: Any = re._parser  # type: ignore[attr-defined] # of the standard library, without a name
    parts: Parts = parser.parse(regex.pattern, regex.flags)
    return parts


def _signs(parts: Parts) -> Iterator[Signs]:
    """Give what must be in a match, once for each part that says anything, and `UNKNOWN`."""
    yield UNKNOWN
    literal = ""
    for kind, value in parts:
        name = str(kind)
        literal = literal + chr(value) if name == "LITERAL" else ""
        if literal:
            yield (literal,)
        elif name == "IN" and all(str(each) == "LITERAL" for each, _ in value):
            yield tuple(chr(sign) for _, sign in value)
        elif _is_once(name, value):
            yield from _signs(value[-1])
        elif name == "BRANCH":
            each = [min(_signs(branch), key=_cost) for branch in value[-1]]
            yield tuple(sign for some in each for sign in some)


def _is_once(name: str, value: Any) -> bool:
    """Say whether a part is another one, at least once, with no flag of its own."""
    return not value[1] if name == "SUBPATTERN" else name in _REPEATS and value[0] > 0


def _cost(found: Signs) -> tuple[bool, int, int]:
    return "" in found, len(found), -min(map(len, found))


def _beginning(parts: Parts, sign: str) -> tuple[bool, bool]:
    """Say whether a match may begin with a sign, and whether it may be empty."""
    for kind, value in parts:
        name = str(kind)
        if name in _WIDTHLESS:
            continue
        begins, is_empty = _of_part(name, value, sign)
        if begins or not is_empty:
            return begins, is_empty
    return False, True


def _of_part(name: str, value: Any, sign: str) -> tuple[bool, bool]:
    if name == "LITERAL":
        return chr(value) == sign, False
    if name == "IN":
        return _is_in(value, sign), False
    if name == "SUBPATTERN" and not value[1]:  # no flag of its own
        return _beginning(value[-1], sign)
    if name in _REPEATS:
        begins, is_empty = _beginning(value[-1], sign)
        return begins, is_empty or value[0] == 0
    if name == "BRANCH":
        each = [_beginning(branch, sign) for branch in value[-1]]
        return any(begins for begins, _ in each), any(is_empty for _, is_empty in each)
    return True, True


def _is_in(items: Parts, sign: str) -> bool:
    is_in, expected = False, True
    for kind, value in items:
        name = str(kind)
        if name == "NEGATE":
            expected = False
        elif name == "CATEGORY":
            is_in = is_in or bool(_CATEGORIES[str(value)].match(sign))
        else:
            low, high = value if name == "RANGE" else (value, value)
            is_in = is_in or low <= ord(sign) <= high
    return is_in is expected
