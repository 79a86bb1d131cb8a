"""Names that a reader cannot tell apart.

Comes in: an id or a display name. Goes out: what it reads as, and what is odd about its
characters. Must not know who bears it.

The table of look-alikes is the Unicode Consortium's own (UTS 39) and lies beside this file. The
Python package that carries it reads its data from wherever an environment variable says, and
nothing outside the repository may loosen the gate.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

_TABLE = Path(__file__).with_name("confusables.tsv")
_PUNCTUATION = frozenset(" '’.,-")
# Letters and marks that are drawn as nothing: category M or L, but Default_Ignorable_Code_Point.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0") | frozenset(
    chr(code) for start, end in ((0x180B, 0x1810), (0xFE00, 0xFE10), (0xE0100, 0xE01F0))
    for code in range(start, end)
)  # fmt: skip


def readings(name: str) -> frozenset[str]:
    """Give what a name reads as; two names that share a reading look alike.

    Spaces, punctuation and accents do not count. Case is folded before and after look-alikes are
    replaced: a capital I looks like a small l, and its small letter does not.
    """
    text = unicodedata.normalize("NFKC", name)
    folded = (_skeleton(text).casefold(), _skeleton(text.casefold()).casefold())
    return frozenset(_skeleton("".join(filter(_counts, text))) for text in folded)


def odd_characters(name: str) -> str:
    """Say what in a display name no reader expects there; empty where nothing is."""
    if not name or name != " ".join(name.split(" ")).strip() or "  " in name:
        return "begins, ends or is separated with more than one space"
    if unicodedata.normalize("NFC", name) != name:
        return "is not in Unicode's composed form (NFC)"
    odd = sorted({c for c in name if not _is_expected(c)})
    return f"has {', '.join(map(_describe, odd))}" if odd else ""


def scripts(name: str) -> frozenset[str]:
    """Give which of the scripts that are taken for one another a name's letters are of."""
    words = (unicodedata.name(char, "").split(" ")[0] for char in name if char.isalpha())
    return frozenset(word for word in words if word in _LOOK_ALIKE_SCRIPTS)


_LOOK_ALIKE_SCRIPTS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE"})


def _is_expected(char: str) -> bool:
    category = unicodedata.category(char)
    return char in _PUNCTUATION or (category[0] in "LMN" and char not in _INVISIBLE)


def _counts(char: str) -> bool:
    """Accents have a combining class; the vowel signs of Indic scripts, which do count, none."""
    is_mark = unicodedata.category(char)[0] == "M"
    return char.isalnum() or (is_mark and not unicodedata.combining(char))


def _describe(char: str) -> str:
    return f"U+{ord(char):04X} ({unicodedata.name(char, 'no name')})"


def _skeleton(text: str) -> str:
    table = _look_alikes()
    return "".join(table.get(char, char) for char in unicodedata.normalize("NFKD", text))


@cache
def _look_alikes() -> Mapping[str, str]:
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if not line.startswith("#"))
    return MappingProxyType({char: target for target, chars in pairs for char in chars})
