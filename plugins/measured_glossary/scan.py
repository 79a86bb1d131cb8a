"""Markdown text into regions: what is code, comment, link target, value or block, by offsets.

Comes in: Markdown text. Goes out: `Markup`, its regions and what is wrong with it. Must not know
files, entries or what a value means.

Two renderers read the text: Python-Markdown here, and whatever reads the export, CommonMark as a
rule. Where they would not agree on what is code, that is a fault. Admonitions, tabs, footnotes and
definitions, which CommonMark does not have, are read as Python-Markdown reads them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from measured_glossary.problem import Place

Kind = Literal["fence", "code", "comment", "link", "escape", "value", "block"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A stretch of the text that is not plain prose, by offsets."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong at an offset of the text."""

    start: int
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Markup:
    """What a scan found: regions and faults in the order of the text."""

    text: str
    regions: tuple[Region, ...]
    faults: tuple[Fault, ...]

    def without(self, *kinds: Kind) -> str:
        """Give the text with regions of these kinds blanked out; offsets stay the same."""
        return "".join(blanked(part) if kind in kinds else part for kind, part in self.parts())

    def parts(self) -> Iterator[tuple[Kind | None, str]]:
        """Cut the text at the regions' borders; plain prose has no kind."""
        end = 0
        for region in self.regions:
            yield None, self.text[end : region.start]
            yield region.kind, self.text[region.start : region.end]
            end = region.end
        yield None, self.text[end:]


def blanked(text: str) -> str:
    """Give as many blanks as the text has signs; line ends stay."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


class Lines:
    """Offsets of a text to places of the file it is a part of."""

    def __init__(self, file: str, text: str, first_line: int) -> None:
        self.file, self.first_line = file, first_line
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def row(self, offset: int) -> int:
        """Give the row of the character at `offset`, from 0."""
        return bisect_right(self.starts, offset) - 1

    def at(self, offset: int) -> Place:
        """Give the place of the character at `offset`."""
        row = self.row(offset)
        return Place(self.file, self.first_line + row, offset - self.starts[row] + 1)


@lru_cache(maxsize=4)  # several ask, one after the other, for the same text
def scan(text: str) -> Markup:
    """Find code, comments, link targets, escapes, values and blocks in Markdown."""
    found = _Findings(text)
    _Rows(found).run()
    regions = sorted(found.regions, key=lambda region: region.start)
    faults = sorted(found.faults, key=lambda fault: (fault.start, fault.code))
    return Markup(text=text, regions=tuple(regions), faults=tuple(faults))


class _Findings:
    """The text and what has been found in it so far."""

    def __init__(self, text: str) -> None:
        self.text, self.rows = text, text.split("\n")
        self.lines = Lines("", text, 0)
        self.regions: list[Region] = []
        self.faults: list[Fault] = []

    def start(self, row: int) -> int:
        return self.lines.starts[row]

    def end(self, row: int) -> int:
        return self.lines.starts[row] + len(self.rows[row])

    def region(self, kind: Kind, start: int, end: int) -> int:
        self.regions.append(Region(kind=kind, start=start, end=end))
        return end

    def fault(self, start: int, code: str, message: str, hint: str) -> None:
        self.faults.append(Fault(start=start, code=code, message=message, hint=hint))

    def row_fault(self, row: int, code: str, message: str, hint: str) -> None:
        line = self.rows[row]
        column = len(line) - len(line.lstrip()) if line.strip() else 0
        self.fault(self.start(row) + column, code, message, hint)


# ── rows: what stands on lines of its own, as both renderers see it before they look for spans ──

_FENCE = re.compile(r"(?P<prefix>[> \t]*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
_HEADER = re.compile(
    r"[ \t]*(?:[\w#.+-]+(?=[ \t]|$))?"
    r'(?:[ \t]*(?:title="[^"{}]*"|linenums="\d+"|hl_lines="\d+(?:-\d+)?(?: \d+(?:-\d+)?)*")'
    r"(?=[ \t]|$))*[ \t]*"
)
_FENCE_IN_ITEM = re.compile(r"[> \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)+(?:`{3,}[^`]*|~{3,}.*)$")
_NOTE_INSIDE = re.compile(r"[> \t]*(?:(?:[-*+]|\d+[.)]) +)*(?<=[> \t])\[\^[^\]]*\]:")
_INSIDE = "a block stands inside a list, an admonition or a quotation"
_AT_MARGIN = "begin the line at the margin"
_BLOCK_INSIDE = re.compile(r"[> \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?<=[> \t]):::[ \t]")
_BLOCK = re.compile(r"::: +[a-z][a-z0-9-]*(?: .*)?$")
_QUOTE = re.compile(r"[ \t]*(?:>[ ]?)+")
_ITEM = re.compile(r"(?:[-*+]|\d+\.) +(?=\S)")
_TITLED = re.compile(r"(?:!!!|\?\?\?\+?|===[!+]*) ?\S|\[\^[^\]]+\]:|: {1,3}\S")
# A line that is a block of its own for one renderer or the other: a paragraph ends before it and
# with it, and what follows is the first line of something.
_HARD = re.compile(
    r"#|!!!|\?\?\?|={3}|:|<|\||///|\*?\[[^\]]*\]:|[-=_* ]+$|(?:[-*+]|\d+[.)])(?:\s|$)|`{3}|~{3}|\{:"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Container:
    """A list item, admonition, tab, footnote or definition that is open.

    `level` counts its indentation in fours (Python-Markdown), `content` is the column its text
    begins at (CommonMark). Two empty lines end it if it is `tight`.
    """

    level: int
    content: int
    tight: bool


class _Containers:
    """What the lines to come are inside of, if they are indented."""

    def __init__(self) -> None:
        self.inner: list[_Container] = []

    def leave(self, indent: int) -> int:
        """Leave what a line so indented is not part of; give the indentation that is code."""
        if not self.inner:
            return 4
        self.inner = [c for c in self.inner if indent >= 4 * (c.level + 1)]
        levels = [c.level + 1 for c in self.inner]
        contents = [c.content for c in self.inner if indent >= c.content]
        return 4 + min(4 * max(levels, default=0), max(contents, default=0))

    def open(self, indent: int, mark: int, *, tight: bool) -> None:
        """Enter what begins at `indent` with a mark of that width."""
        level = indent // 4
        self.inner = [c for c in self.inner if c.level < level]
        if level <= len(self.inner):
            self.inner.append(_Container(level=level, content=indent + mark, tight=tight))

    def gap(self) -> None:
        """Leave what two empty lines end."""
        if any(container.tight for container in self.inner):
            self.inner = []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paragraph:
    """Lines, by offsets, that every renderer reads as one text.

    `quote` are the quotation marks before each, `level` is the indentation of the first in fours.
    """

    start: int
    end: int
    quote: str
    level: int


class _Rows:
    """Reads a text row by row."""

    def __init__(self, found: _Findings) -> None:
        self.found = found
        self.containers = _Containers()
        self.paragraph: _Paragraph | None = None
        self.in_list = False
        self._begin()

    def _begin(self) -> None:
        """Take what comes next for the first line of something."""
        self.after_blank = self.first = True

    def run(self) -> None:
        row = 0
        while row < len(self.found.rows):
            row = self._row(row)
        self._end_paragraph()

    def _row(self, row: int) -> int:
        """Read what begins at this row; give the row after it."""
        line = self.found.rows[row]
        if not line.strip("> \t\r"):
            self._end_paragraph()
            self._begin()
            if row and not self.found.rows[row - 1].strip():
                self.containers.gap()
        elif fence := _FENCE.match(line):
            return self._fence(row, fence)
        elif line.lstrip(" ").startswith("<!--") and _indent(line) < 4:
            return self._comment(row)
        elif line.lstrip().startswith((":::", ":: ")):  # the second forgot a colon
            return self._block(row)
        else:
            self._prose(row, line)
        return row + 1

    def _fence(self, row: int, fence: re.Match[str]) -> int:
        self._end_paragraph()
        self._enter(row, _indent(fence["prefix"]))
        if not _HEADER.fullmatch(fence["info"]):
            message = f"a fence cannot begin with {_short(fence['info'].strip())!r}"
            self.found.row_fault(row, "fence-header", message, _FENCE_HEAD)
        last = _closing_row(self.found, row, fence["prefix"].expandtabs(4), fence["fence"])
        self.found.region("fence", self.found.start(row), self.found.end(last))
        self.in_list = self.in_list and not self.after_blank
        self.after_blank, self.first = False, True
        return last + 1

    def _comment(self, row: int) -> int:
        """Read a comment that begins a line; it may go over several."""
        self._end_paragraph()
        found = self.found
        start = found.text.index("<!--", found.start(row))
        end = found.region("comment", start, _comment_end(found, start))
        last = found.lines.row(end - 1)
        _check_comment(found, row, last, end)
        self.containers.leave(0)
        self._begin()
        return last + 1

    def _block(self, row: int) -> int:
        self._end_paragraph()
        self.containers.leave(0)
        self._begin()
        line = self.found.rows[row].rstrip()
        if line.startswith((" ", "\t")):
            self.found.row_fault(row, "block-position", _INSIDE, _AT_MARGIN)
        elif not _BLOCK.match(line):
            message, hint = f"{_short(line)!r} names no block", "write '::: name argument'"
            self.found.row_fault(row, "block-syntax", message, hint)
        else:
            last = _last_option(self.found.rows, row)
            self.found.region("block", self.found.start(row), self.found.end(last))
            return last + 1
        return row + 1

    def _prose(self, row: int, line: str) -> None:
        self._check_position(row, line)
        quote = _quote_marks(line)
        inner = line[len(quote) :] if quote else line.lstrip()
        item = None if quote else _ITEM.match(inner)
        if quote or self.first or (not item and _HARD.match(inner)):
            self._enter(row, _indent(line), quoted=inner if quote else "")
        if self.after_blank:
            self.in_list = item is not None
        titled = not quote and self._opens(inner, _indent(line))
        if (item and self.in_list) or titled:
            mark = len(item.group()) if item else 4
            self.containers.open(_indent(line), mark, tight=inner.startswith("["))
        self._grow_paragraph(row, line, quote)
        rest = inner[item.end() :] if item else inner
        self.first = bool(_HARD.match(rest.lstrip()))
        self.after_blank = line.startswith("#") or titled

    def _check_position(self, row: int, line: str) -> None:
        if _FENCE_IN_ITEM.match(line):
            message = "a fence begins behind other text"
            self.found.row_fault(row, "fence-position", message, _OWN_LINE)
        if _NOTE_INSIDE.match(line):
            message = "a footnote's text stands inside something else"
            self.found.row_fault(row, "footnote-position", message, "begin it at the margin")
        if ":::" in line and _BLOCK_INSIDE.match(line):
            self.found.row_fault(row, "block-position", _INSIDE, _AT_MARGIN)

    def _opens(self, inner: str, indent: int) -> bool:
        """Tell whether the line opens an admonition, a tab, a footnote or a definition."""
        if inner.startswith(("[", ":")) and (indent or (inner[0] == ":" and self.first)):
            return False  # footnotes and definitions stand at the margin, these below their term
        return indent % 4 == 0 and _TITLED.match(inner) is not None

    def _enter(self, row: int, indent: int, quoted: str = "") -> None:
        """Leave the containers this line is not part of; refuse what reads as indented code."""
        limit = self.containers.leave(indent)
        if indent >= limit or (self.first and _indent(quoted) >= 4):
            message = "for some renderers this line is code, by its indentation"
            self.found.row_fault(row, "indented-code", message, _USE_FENCE)

    def _grow_paragraph(self, row: int, line: str, quote: str) -> None:
        """Add a line to the paragraph in which spans are looked for, or begin another."""
        new = _Paragraph(
            start=self.found.start(row),
            end=self.found.end(row),
            quote=quote,
            level=_indent(line) // 4,
        )
        inner = line[len(quote) :].lstrip()
        goes_on = not self.first and not _HARD.match(inner) and "|" not in inner
        old = self.paragraph
        if old and goes_on and old.quote == quote and old.level <= new.level:
            new = replace(old, end=new.end)
        else:
            self._end_paragraph()
        self.paragraph = new
        if "|" in line:
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        if self.paragraph:
            _Spans(self.found, self.paragraph.start, self.paragraph.end).run()
        self.paragraph = None


def _closing_row(found: _Findings, opened: int, prefix: str, fence: str) -> int:
    """Find the row that closes a fence; what only one renderer takes for its end is a fault."""
    for row in range(opened + 1, len(found.rows)):
        line = found.rows[row].expandtabs(4)
        content = line.removeprefix(prefix)
        if line.rstrip() == prefix.rstrip() or not (line.strip() or ">" in prefix):
            continue
        if not line.startswith(prefix):
            message = "a line stands further left than its fence"
            found.row_fault(row, "fence-indent", message, _DEEP)
            return row
        if content.rstrip() == fence:
            return row
        if _may_close(content, fence):
            message = f"for some renderers {_short(content.strip())!r} closes the fence"
            found.row_fault(row, "fence-end", message, _SAME)
    message, hint = "the fence is not closed", f"write {_short(fence)!r} on a line below it"
    found.row_fault(opened, "unclosed-fence", message, hint)
    return len(found.rows) - 1


def _may_close(content: str, fence: str) -> bool:
    inner = content.strip()
    return _indent(content) < 4 and len(inner) >= len(fence) and not inner.strip(fence[0])


def _comment_end(found: _Findings, start: int) -> int:
    """Give the offset behind a comment; one that renderers end at different signs is a fault."""
    end = found.text.find("-->", start + 4)
    inner = found.text[start + 4 : end] if end >= 0 else ""
    if end < 0 or inner.startswith((">", "->")) or "--" in inner or inner.endswith("-"):
        message = "the comment is not closed, or has '--' in it"
        found.fault(start, "comment-syntax", message, "write '<!-- … -->'")
    return end + 3 if end >= 0 else len(found.text)


def _check_comment(found: _Findings, row: int, last: int, end: int) -> None:
    """Check a comment that begins a line: for CommonMark its last line is HTML to the end."""
    if found.text[end : found.end(last)].strip():
        message = "text follows a comment that begins its line"
        found.fault(end, "comment-syntax", message, "begin a new line behind '-->'")
    for inner in range(row + 1, last + 1):
        if _FENCE.match(found.rows[inner]):
            message = "a comment holds a fence"
            found.row_fault(inner, "comment-syntax", message, "delete the fence or the comment")


def _last_option(rows: list[str], row: int) -> int:
    """Give the last indented row below a block's first; empty rows between them belong to it."""
    last = row
    for below in range(row + 1, len(rows)):
        if rows[below].strip() and not rows[below].startswith((" ", "\t")):
            break
        last = below if rows[below].strip() else last
    return last


def _indent(line: str) -> int:
    """Count the columns of white space a line begins with; a tab goes to the next fourth."""
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    return len(margin.expandtabs(4))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _quote_marks(line: str) -> str:
    marks = _QUOTE.match(line)
    return marks.group() if marks else ""


# ── spans: what stands inside a paragraph ────────────────────────────────────────────────────

# It begins with the signs that begin one, and asks afterwards which it was: so `re` does not stop
# at every other sign of a text.
_TOKEN = re.compile(
    r"[\\`<{\]\[h](?:"
    r"(?<=\\)(?P<escape>[!-/:-@\[-`{-~])|(?<=`)(?P<ticks>`*)"
    r"|(?<=<)(?P<comment>!--)|(?<=\{)(?P<value>\{)"
    r"|(?<=<)(?P<auto>(?:[A-Za-z][A-Za-z0-9+.-]*:|[^\s<>@`]+@)[^\s<>`]*>)"
    r"|(?<=h)(?P<address>ttps?://[^\s<>`{}\[\]()\"'|*\\]+)"
    r"|(?<=\])(?P<target>\()"
    r"|(?<=\[)(?P<reference>(?!\^)[^\]\[]*\]:))"
)
_BEGINNING = re.compile(r"[> \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)*")
_TARGET = re.compile(r"(?:[^()`\\<\n]|\\.|<(?!!)|\([^()`\n]*\))*\)")


class _Spans:
    """Reads one paragraph from left to right."""

    def __init__(self, found: _Findings, start: int, end: int) -> None:
        self.found, self.text, self.at, self.end = found, found.text, start, end
        self.unclosed_until = start  # no '}}' stands before this offset
        self.no_reference_until = start  # nor does a link's definition begin before this one

    def run(self) -> None:
        while token := _TOKEN.search(self.text, self.at, self.end):
            self.at = self._token(token)

    def _token(self, token: re.Match[str]) -> int:
        """Read what begins with this token; give the offset behind it."""
        start, end = token.span()
        match token.lastgroup:
            case "escape":
                return self.found.region("escape", start, end)
            case "auto" | "address":
                return self.found.region("link", start, end)
            case "reference":
                return self._reference(start, end)
            case "ticks":
                return self._code(start, end)
            case "comment":
                return self._comment(start, end)
            case "value":
                return self._value(start, end)
        return self._target(start, end)

    def _reference(self, start: int, end: int) -> int:
        """Read the definition of a link, if that is what begins the line."""
        if start < self.no_reference_until:
            return start + 1
        begin, line_end = self.text.rfind("\n", 0, start) + 1, self.text.find("\n", end, self.end)
        line_end = line_end if line_end >= 0 else self.end
        if begin < self.at or not _BEGINNING.fullmatch(self.text, begin, start):
            self.no_reference_until = line_end  # whatever comes on this line has this before it
            return start + 1
        return self.found.region("link", end, line_end)

    def _code(self, start: int, end: int) -> int:
        ticks = self.text[start:end]
        close = re.compile(rf"(?<!`){ticks}(?!`)").search(self.text, end, self.end)
        if close is None:
            message = f"{_short(ticks)!r} opens a code span that nothing closes"
            self.found.fault(start, "unclosed-code", message, _CLOSE_CODE)
            return end
        if self.text.rfind("<!--", end, close.start()) > self.text.rfind("-->", end, close.start()):
            message = "a code span holds the beginning of a comment"
            self.found.fault(start, "comment-syntax", message, _USE_FENCE)
        return self.found.region("code", start, close.end())

    def _comment(self, start: int, end: int) -> int:
        close = _comment_end(self.found, start)
        if close > self.end or re.search(r"[\n`]", self.text[start:close]):
            message = "a comment inside a line holds a line end or a backtick"
            hint = "give the comment lines of its own, from the margin"
            self.found.fault(start, "comment-syntax", message, hint)
        row = self.found.lines.row(start)
        if _BEGINNING.fullmatch(self.text, self.found.start(row), start):
            _check_comment(self.found, row, row, close)
        return self.found.region("comment", start, min(close, self.end))

    def _value(self, start: int, end: int) -> int:
        close = self._closing_braces(end)
        again = self.text.find("{{", end, close) if close >= 0 else -1
        if close < 0 or again >= 0:
            return self._unclosed(start, end, again)
        expression = self.text[end:close]
        if not expression.strip() or re.search(r"`|<!--", expression):
            message = f"{_short(expression.strip())!r} is no expression"
            hint = "write '{{ table[key=1].column }}', or '\\{{' to print two braces"
            self.found.fault(start, "value-syntax", message, hint)
            return self.found.region("escape", start, close + 2)
        return self.found.region("value", start, close + 2)

    def _unclosed(self, start: int, end: int, again: int) -> int:
        """Say that a value has no end before another begins, or the line ends."""
        limit = again if again >= 0 else self.unclosed_until
        brace = self.text.find("}", end, limit)
        if brace < 0:
            message, hint = (
                "'{{' is not closed on its line",
                "write '{{ … }}', or '\\{{' to print it",
            )
            self.found.fault(start, "unclosed-value", message, hint)
            return end
        written = self.text[start : brace + 1]
        message = f"{_short(written)!r} is closed by one brace"
        self.found.fault(start, "unclosed-value", message, f"write '{_short(written)}}}'")
        # What is wrong with it has been said: its braces are no attribute list.
        return self.found.region("escape", start, brace + 1)

    def _closing_braces(self, at: int) -> int:
        """Give the offset of the next `}}` of the line, or -1."""
        if at <= self.unclosed_until:
            return -1
        line_end = self.text.find("\n", at, self.end)
        line_end = line_end if line_end >= 0 else self.end
        close = self.text.find("}}", at, line_end)
        if close < 0:
            self.unclosed_until = line_end
        return close

    def _target(self, start: int, end: int) -> int:
        target = _TARGET.match(self.text, end, self.end)
        if target is None:
            message = "the link's target is not closed on its line, or is not plain"
            self.found.fault(start, "link-syntax", message, "write '](https://…)', or '\\](…'")
            return end
        return self.found.region("link", end - 1, target.end())


_OWN_LINE = "give the fence a line of its own, indented as the text of the item"
_FENCE_HEAD = 'write \'```cpp\', with title="…", linenums="1" or hl_lines="2 4-5" behind it'
_DEEP = "indent every line of the code as far as the fence"
_SAME = "close the fence with exactly the signs that opened it, indented the same"
_USE_FENCE = "put code between ``` lines; a list needs a blank line before it"
_CLOSE_CODE = "close it in the same paragraph with as many backticks, or write '\\`'"
