"""A body's Markdown into pieces: what the engine expands, and what it leaves as it stands.

Comes in: Markdown text. Goes out: `Text`, `Value` and `Block` pieces, or problems; and text whose
identifiers no renderer makes bold. Must not know what an entry, an expression or a block means.

Two renderers will read the text: Python-Markdown here, and whatever reads the export. Where they
would not agree on what is code, the text is refused; what is left has one meaning.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Located, Source, parse_yaml

Kind = Literal["fence", "code", "comment", "link", "escape", "value", "block"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Markdown that is kept as written; it ends where a value or a block begins."""

    markdown: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """`{{ expression }}` in prose."""

    expression: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """`::: name argument` at the margin, with the YAML options indented below it."""

    name: str
    argument: str
    options: Located
    place: Place


Piece = Text | Value | Block


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A stretch of the text, by offsets, that is not plain prose."""

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
    """What a scan found: regions in the order of the text, and faults."""

    text: str
    regions: tuple[Region, ...]
    faults: tuple[Fault, ...]

    def without(self, *kinds: Kind) -> str:
        """Give the text with regions of these kinds blanked out; offsets stay the same."""
        return "".join(
            re.sub(r"[^\n]", " ", part) if kind in kinds else part for kind, part in self.parts()
        )

    def parts(self) -> Iterator[tuple[Kind | None, str]]:
        """Cut the text at the regions' borders; plain prose has no kind."""
        end = 0
        for region in self.regions:
            yield None, self.text[end : region.start]
            yield region.kind, self.text[region.start : region.end]
            end = region.end
        yield None, self.text[end:]


class Lines:
    """Offsets of a text to places of the file it is a part of."""

    def __init__(self, file: str, text: str, first_line: int) -> None:
        self.file, self.first_line = file, first_line
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, offset: int) -> Place:
        """Give the place of the character at `offset`."""
        row = bisect_right(self.starts, offset) - 1
        return Place(self.file, self.first_line + row, offset - self.starts[row] + 1)


def pieces(source: Source, text: str, first_line: int = 1) -> Checked[tuple[Piece, ...]]:
    """Split `text`, the part of `source` from `first_line` on, into its pieces."""
    markup, lines = scan(text), Lines(source.file, text, first_line)
    problems = [
        Problem(place=lines.at(f.start), code=f.code, message=f.message, hint=f.hint)
        for f in markup.faults
    ]
    found: list[Piece] = []
    for region in _joined(markup):
        part, place = text[region.start : region.end], lines.at(region.start)
        if region.kind == "value":
            found.append(Value(expression=part[2:-2].strip(), place=place))
        elif region.kind == "block":
            block = _block(source, part, place)
            problems += block.problems
            found += [block.value] if block.value else []
        else:
            found.append(Text(markdown=part, place=place))
    return Checked(value=None if problems else tuple(found), problems=tuple(problems))


def _joined(markup: Markup) -> Iterator[Region]:
    """Give values and blocks, and everything between two of them as one region."""
    end = 0
    for region in markup.regions:
        if region.kind in ("value", "block"):
            if region.start > end:
                yield Region(kind="code", start=end, end=region.start)
            yield region
            end = region.end
    if len(markup.text) > end:
        yield Region(kind="code", start=end, end=len(markup.text))


def _block(source: Source, part: str, place: Place) -> Checked[Block]:
    head, _, below = part.partition("\n")
    parsed = parse_yaml(source, below, first_line=place.line + 1)
    options = parsed.value
    if options is None:
        return Checked(value=None, problems=parsed.problems)
    if not isinstance(options.data, dict):
        problem = Problem(
            place=options.place(()),
            code="block-options",
            message="the options of a block are 'key: value' lines",
            hint="write '    key: value', one a line, below the block",
        )
        return Checked(value=None, problems=(problem,))
    _, name, *argument = head.split(maxsplit=2)
    block = Block(name=name, argument="".join(argument).strip(), options=options, place=place)
    return Checked(value=block, problems=parsed.problems)


# ── identifiers ──────────────────────────────────────────────────────────────────────────────

# Two or more underscores, escaped or not, at the start of a name; a web address in plain text, a
# link's label and an escaped backslash are passed over.
IDENTIFIER = r"(?<![\w\\])(?:\\?_){2,}(?=[A-Za-z0-9])(?:\w|\\_)*"
_NAMES = re.compile(
    rf"(?P<skip>\\\\|https?://\S+|\[\^[^\]\n]*\]|(?<=\])\[[^\]\n]*\])|(?P<name>{IDENTIFIER})"
)


def escape_identifiers(markdown: str) -> str:
    """Escape the underscores of names such as `__shared__`, so that none turns bold."""
    markup = scan(markdown)
    return "".join(
        _NAMES.sub(_escaped, part) if kind in (None, "escape") else part
        for kind, part in _names_together(markup)
    )


def _names_together(markup: Markup) -> Iterator[tuple[Kind | None, str]]:
    """Give prose and its escapes as one part, since a name may hold both."""
    prose = ""
    for kind, part in markup.parts():
        if kind in (None, "escape"):
            prose += part
        else:
            yield None, prose
            yield kind, part
            prose = ""
    yield None, prose


def _escaped(found: re.Match[str]) -> str:
    return re.sub(r"\\?_", r"\\_", found["name"]) if found["name"] else found.group()


# ── scanning ─────────────────────────────────────────────────────────────────────────────────

_FENCE = re.compile(r"(?P<prefix>[> \t]*)(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_HEADER = re.compile(
    r"[ \t]*(?:[\w#.+-]+(?=[ \t]|$))?"
    r'(?:[ \t]*(?:title="[^"{}]*"|linenums="\d+"|hl_lines="\d+(?:-\d+)?(?: \d+(?:-\d+)?)*")'
    r"(?=[ \t]|$))*[ \t]*"
)
_FENCE_IN_ITEM = re.compile(r"[> \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)+(?:`{3,}[^`]*|~{3,}.*)$")
_BLOCK = re.compile(r"::: +[a-z][a-z0-9-]*(?: .*)?$")
_QUOTE = re.compile(r"[ ]{0,3}(?:>[ ]?)*")
_ITEM = re.compile(r"(?:[-*+]|\d+\.) +(?=\S)")
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?|===[!+]*) ?\S|\[\^[^\]]+\]:|: {1,3}\S")
# A line that is a block of its own for one renderer or the other: a span ends before it and at
# its end, and what follows it is the first line of something.
_HARD = re.compile(
    r"#|!!!|\?\?\?|={3}|:|<|\||///|\*?\[[^\]]*\]:|[-=_* ]+$|(?:[-*+]|\d+[.)])(?:\s|$)|`{3}|~{3}|\{:"
)
_TOKEN = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])|(?P<code>`+)|(?P<comment><!--)|(?P<value>\{\{)"
    r"|(?P<link><(?:[A-Za-z][A-Za-z0-9+.-]*:|[^\s<>@`]+@)[^\s<>`]*>"
    r"|https?://[^\s<>`{}\[\]()\"'|*\\]+)"
    r"|(?P<target>\]\()"
    r"|(?P<reference>(?m:^ {0,3})\[[^\]\n^][^\]\n]*\]:[^\n]*)"
)
_TARGET = re.compile(r"(?:[^()`\\<\n]|\\.|<(?!!)|\([^()`\n]*\))*\)")


def scan(text: str) -> Markup:
    """Find code, comments, link targets, values and blocks in Markdown."""
    scanner = _Scanner(text)
    scanner.run()
    regions = sorted(scanner.regions, key=lambda region: region.start)
    faults = sorted(scanner.faults, key=lambda fault: (fault.start, fault.code))
    return Markup(text=text, regions=tuple(regions), faults=tuple(faults))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Container:
    """A list item, admonition, tab, footnote or definition that is open.

    `level` counts its indentation in fours (Python-Markdown), `content` is the column its text
    begins at (CommonMark).
    """

    level: int
    content: int


class _Scanner:
    """Reads line by line, as both renderers do before they look for spans."""

    def __init__(self, text: str) -> None:
        self.text, self.rows = text, text.split("\n")
        self.starts = Lines("", text, 0).starts
        self.regions: list[Region] = []
        self.faults: list[Fault] = []
        self.containers: list[_Container] = []
        self.span: tuple[int, int, str] | None = None  # start, end, quote marks
        self.after_blank = self.first = True
        self.in_list = False

    def run(self) -> None:
        row = 0
        while row < len(self.rows):
            row = self._row(row)
        self._end_span()

    def _row(self, row: int) -> int:
        """Read what begins at this row; give the row after it."""
        line = self.rows[row]
        if not line.strip("> \t\r"):
            self._end_span()
            self.after_blank = self.first = True
            return row + 1
        if (fence := _FENCE.match(line)) and not (
            fence["fence"][0] == "`" and "`" in fence["info"]
        ):
            return self._fence(row, fence)
        if line.lstrip(" ").startswith("<!--") and _indent(line) < 4:
            return self._comment(row)
        if line.lstrip().startswith(":::"):
            return self._block(row)
        if _FENCE_IN_ITEM.match(line):
            self._fault(row, "fence-position", "a fence begins behind other text", _OWN_LINE)
        self._prose(row, line)
        return row + 1

    # ── blocks ──

    def _fence(self, row: int, fence: re.Match[str]) -> int:
        self._end_span()
        self._enter(row, _indent(fence["prefix"]))
        if not _HEADER.fullmatch(fence["info"]):
            shown = fence["info"].strip()
            self._fault(row, "fence-header", f"a fence cannot begin with {shown!r}", _FENCE_HEAD)
        close = self._closing_row(row, fence["prefix"], fence["fence"])
        self._region("fence", row, close)
        self.in_list = self.in_list and not self.after_blank
        self.after_blank, self.first = False, True
        return close + 1

    def _closing_row(self, opened: int, prefix: str, fence: str) -> int:
        """Find the row that closes a fence; whatever only one renderer accepts is a fault."""
        for row in range(opened + 1, len(self.rows)):
            line = self.rows[row].expandtabs(4)
            content = line.removeprefix(prefix.expandtabs(4))
            if not line.strip() and ">" not in prefix:
                continue
            if not line.startswith(prefix.expandtabs(4).rstrip()):
                self._fault(row, "fence-indent", "a line stands further left than its fence", _DEEP)
                return row
            if content.rstrip(" \t\r") == fence:
                return row
            if _closes(content, fence):
                self._fault(row, "fence-end", f"{content.strip()!r} may close the fence", _SAME)
        message = f"the fence {fence!r} is not closed"
        self._fault(opened, "unclosed-fence", message, f"write {fence!r} on a line below it")
        return len(self.rows) - 1

    def _comment(self, row: int) -> int:
        """Read a comment that begins a line; it may go over several."""
        self._end_span()
        start = self.text.index("<!--", self.starts[row])
        end = self._comment_end(start)
        last = bisect_right(self.starts, end - 1) - 1
        self.regions.append(Region(kind="comment", start=start, end=end))
        rest = (end, self.starts[last] + len(self.rows[last]))
        if last > row:
            self._long_comment(row, last, self.text[slice(*rest)])
        self._spans(*rest)
        self.containers = []
        self.in_list = False
        self.after_blank = self.first = True
        return last + 1

    def _comment_end(self, start: int) -> int:
        end = self.text.find("-->", start + 4)
        inner = self.text[start + 4 : end if end >= 0 else start + 4]
        if end < 0 or inner.startswith((">", "->")) or "--" in inner or inner.endswith("-"):
            message = "the comment is not closed, or has '--' in it"
            self._fault_at(start, "comment-syntax", message, "write '<!-- … -->'")
        return end + 3 if end >= 0 else len(self.text)

    def _long_comment(self, row: int, last: int, rest: str) -> None:
        if rest.strip():
            message = "text follows a comment of several lines"
            self._fault(last, "comment-syntax", message, "begin a new line after '-->'")
        for inner in range(row + 1, last + 1):
            if _FENCE.match(self.rows[inner]):
                message = "a comment holds a fence"
                self._fault(inner, "comment-syntax", message, "delete the fence or the comment")

    def _block(self, row: int) -> int:
        self._end_span()
        self.containers, self.in_list = [], False
        self.after_blank = self.first = True
        line = self.rows[row].rstrip()
        if line.startswith((" ", "\t")):
            message = "a block stands inside a list, an admonition or a quotation"
            self._fault(row, "block-position", message, "begin the line with ':::' at the margin")
        elif not _BLOCK.match(line):
            self._fault(
                row, "block-syntax", f"{line!r} names no block", "write '::: name argument'"
            )
        else:
            last = self._last_option(row)
            self._region("block", row, last)
            return last + 1
        return row + 1

    def _last_option(self, row: int) -> int:
        last = row
        for below in range(row + 1, len(self.rows)):
            line = self.rows[below]
            if line.strip() and not line.startswith((" ", "\t")):
                break
            last = below if line.strip() else last
        return last

    # ── prose ──

    def _prose(self, row: int, line: str) -> None:
        quote = _quote_marks(line)
        if quote:
            self._enter(row, _indent(line), quoted=line[len(quote) :])
        elif self.first:
            self._enter(row, _indent(line))
        inner = line[len(quote) :] if quote else line.lstrip()
        item = None if quote else _ITEM.match(inner)
        if self.after_blank:
            self.in_list = item is not None
        if (item and self.in_list) or (not quote and _ADMONITION.match(inner)):
            self._open(_indent(line), item)
        self._grow_span(row, line, quote)
        rest = inner[item.end() :] if item else inner
        self.first = bool(_HARD.match(rest.lstrip()))
        self.after_blank = line.startswith("#") or bool(_ADMONITION.match(inner))

    def _enter(self, row: int, indent: int, quoted: str = "") -> None:
        """Leave the containers this line is not part of; refuse what reads as indented code."""
        self.containers = [c for c in self.containers if indent >= 4 * (c.level + 1)]
        limit = 4
        if self.containers:
            top = self.containers[-1]
            limit = min(4 * (top.level + 2), top.content + 4)
        if indent >= limit or (quoted and self.first and _indent(quoted) >= 4):
            message = "an indented line here reads as code, or not, by the renderer"
            self._fault(row, "indented-code", message, _USE_FENCE)

    def _open(self, indent: int, item: re.Match[str] | None) -> None:
        level = indent // 4
        self.containers = [c for c in self.containers if c.level < level]
        if level <= len(self.containers):
            content = indent + (len(item.group()) if item else 4)
            self.containers.append(_Container(level=level, content=content))

    def _grow_span(self, row: int, line: str, quote: str) -> None:
        """Add a line to the paragraph in which code spans are looked for, or begin another."""
        start, end = self.starts[row], self.starts[row] + len(line)
        inner = line[len(quote) :].lstrip()
        if self.span and not self.first and self.span[2] == quote and _goes_on(inner):
            self.span = (self.span[0], end, quote)
        else:
            self._end_span()
            self.span = (start, end, quote)
        if "|" in line:
            self._end_span()

    def _end_span(self) -> None:
        if self.span:
            self._spans(*self.span[:2])
        self.span = None

    def _spans(self, start: int, end: int) -> None:
        """Find what is not prose between two offsets of one paragraph."""
        while token := _TOKEN.search(self.text, start, end):
            kind = token.lastgroup
            start = token.end()
            if kind == "code":
                start = self._code(token, end)
            elif kind == "comment":
                start = self._short_comment(token, end)
            elif kind == "value":
                start = self._value(token, end)
            elif kind == "target":
                start = self._target(token, end)
            elif kind == "reference":
                first = self.text.index("]:", token.start()) + 2
                self.regions.append(Region(kind="link", start=first, end=start))
            else:
                kept: Kind = "escape" if kind == "escape" else "link"
                self.regions.append(Region(kind=kept, start=token.start(), end=start))

    def _code(self, ticks: re.Match[str], end: int) -> int:
        same = re.compile(rf"(?<!`){ticks.group()}(?!`)")
        close = same.search(self.text, ticks.end(), end)
        if close is None:
            message = f"{ticks.group()!r} opens a code span that nothing closes"
            hint = "close it in the same paragraph with as many backticks, or write '\\`'"
            self._fault_at(ticks.start(), "unclosed-code", message, hint)
            return ticks.end()
        if re.search(r"<!--(?!.*-->)", self.text[ticks.end() : close.start()]):
            message = "a code span holds the beginning of a comment"
            self._fault_at(ticks.start(), "comment-syntax", message, _USE_FENCE)
        self.regions.append(Region(kind="code", start=ticks.start(), end=close.end()))
        return close.end()

    def _short_comment(self, token: re.Match[str], end: int) -> int:
        close = self._comment_end(token.start())
        inner = self.text[token.start() : close]
        if close > end or "\n" in inner or "`" in inner:
            message = "a comment inside a line holds a line end or a backtick"
            hint = "give the comment lines of its own, from the margin"
            self._fault_at(token.start(), "comment-syntax", message, hint)
            return token.end()
        self.regions.append(Region(kind="comment", start=token.start(), end=close))
        return close

    def _value(self, token: re.Match[str], end: int) -> int:
        found = re.compile(r"(?P<expression>[^\n]*?)\}\}").match(self.text, token.end(), end)
        expression = found["expression"] if found else ""
        if found is None:
            message, hint = (
                "'{{' is not closed on its line",
                "write '{{ … }}', or '\\{{' to print it",
            )
            self._fault_at(token.start(), "unclosed-value", message, hint)
        elif not expression.strip() or re.search(r"`|<!--|\{\{", expression):
            message = f"{found.group()!r} is not an expression"
            hint = "write '{{ table[key=1].column }}', or '\\{{' to print two braces"
            self._fault_at(token.start(), "value-syntax", message, hint)
        else:
            self.regions.append(Region(kind="value", start=token.start(), end=found.end()))
            return found.end()
        return token.end()

    def _target(self, token: re.Match[str], end: int) -> int:
        target = _TARGET.match(self.text, token.end(), end)
        if target is None:
            return token.end()
        self.regions.append(Region(kind="link", start=token.end() - 1, end=target.end()))
        return target.end()

    # ── findings ──

    def _region(self, kind: Kind, first: int, last: int) -> None:
        end = self.starts[last] + len(self.rows[last])
        self.regions.append(Region(kind=kind, start=self.starts[first], end=end))

    def _fault(self, row: int, code: str, message: str, hint: str) -> None:
        line = self.rows[row]
        column = len(line) - len(line.lstrip()) if line.strip() else 0
        self._fault_at(self.starts[row] + column, code, message, hint)

    def _fault_at(self, start: int, code: str, message: str, hint: str) -> None:
        self.faults.append(Fault(start=start, code=code, message=message, hint=hint))


_OWN_LINE = "give the fence a line of its own, indented as the text of the item"
_FENCE_HEAD = 'write \'```cpp\', with title="…", linenums="1" or hl_lines="2 4-5" behind it'
_DEEP = "indent every line of the code as far as the fence"
_SAME = "close the fence with exactly the signs that opened it, indented the same"
_USE_FENCE = "put code between ``` lines; a list needs a blank line before it"


def _indent(line: str) -> int:
    """Count the columns of white space a line begins with; a tab goes to the next fourth."""
    line = line.expandtabs(4)
    return len(line) - len(line.lstrip(" "))


def _quote_marks(line: str) -> str:
    marks = re.match(r"[ \t]*(?:>[ ]?)+", line)
    return marks.group() if marks else ""


def _goes_on(inner: str) -> bool:
    """Tell whether every renderer takes the line for the rest of a paragraph."""
    return not _HARD.match(inner) and "|" not in inner


def _closes(content: str, fence: str) -> bool:
    """Tell whether some renderer takes the line for the end of the fence."""
    inner = content.strip()
    return _indent(content) < 4 and len(inner) >= len(fence) and not inner.strip(fence[0])
