"""Prose into sentences and sections, by offsets.

Comes in: Markdown whose code, values and links are masked. Goes out: where each sentence and each
section begins and ends. Must not know what a sentence says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A list's item, a table's row, a heading, a note and a titled box stand alone, as paragraphs do.
_BORDER = re.compile(
    r"\n[> \t]*(?=\n)"
    r"|\n(?=[> \t]*(?:(?:[-*+]|\d+[.)])[ \t]|[|#]|\[\^[^\]\n]+\]:|!!!|\?\?\?|===|:::))"
)
_MARKS = re.compile(r"[>\s]*(?:(?:[-*+]|\d+[.)])[ \t]+)*")
_ABBREVIATED = r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\bSec\.)(?<!\bNo\.)"
_END = re.compile(rf"[.!?]{_ABBREVIATED}[”“\"’'»)\]*_]*[>\s]+(?=[\"“‘'«\[*_`({{]*[A-Z])(?!\(\d)")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$|^(\S.*)\n {0,3}(=+|-+)[ \t]*$", re.M)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Give where each sentence begins and ends; marks and white space before it are no part."""
    for start, end in _cut(text, _BORDER, 0, len(text)):
        marks = _MARKS.match(text, start, end)
        for first, last in _cut(text, _END, marks.end() if marks else start, end):
            inner = text[first:last].strip("> \t\n")
            if inner:
                begin = text.index(inner[0], first)
                yield begin, begin + len(inner)


def _cut(text: str, border: re.Pattern[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a stretch behind each border."""
    begin = start
    for found in border.finditer(text, start, end):
        yield begin, found.end()
        begin = found.end()
    yield begin, end


def headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Give each heading: where it begins and ends, its level and its title."""
    for found in _HEADING.finditer(text):
        if found[1]:
            yield *found.span(), len(found[1]), found[2]
        else:
            yield *found.span(), 1 if found[4].startswith("=") else 2, found[3]


def sections(text: str, title: str) -> Iterator[tuple[int, int]]:
    """Give where each section begins and ends whose title begins with `title`, those in it too."""
    begin, level = -1, 0
    for start, _, depth, words in headings(text):
        if begin >= 0 and depth <= level:
            yield begin, start
            begin = -1
        if begin < 0 and words.strip("*_` ").casefold().startswith(title):
            begin, level = start, depth
    if begin >= 0:
        yield begin, len(text)
