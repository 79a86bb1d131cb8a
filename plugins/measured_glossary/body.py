"""A body's Markdown into pieces: what the engine expands, and what it leaves as it stands.

Comes in: Markdown text. Goes out: `Text`, `Value` and `Block` pieces, or problems; and text whose
identifiers no renderer makes bold. Must not know what an entry, an expression or a block means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.scan import Kind, Lines, Markup, scan
from measured_glossary.source import Located, Source, parse_yaml


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


def pieces(source: Source, text: str, first_line: int = 1) -> Checked[tuple[Piece, ...]]:
    """Split `text`, the part of `source` from `first_line` on, into its pieces."""
    markup, lines = scan(text), Lines(source.file, text, first_line)
    problems = [
        Problem(place=lines.at(f.start), code=f.code, message=f.message, hint=f.hint)
        for f in markup.faults
    ]
    found: list[Piece] = []
    for kind, start, part in _expanded_or_kept(markup):
        if kind == "value":
            found.append(Value(expression=part[2:-2].strip(), place=lines.at(start)))
        elif kind == "block":
            block = _block(source, part, lines.at(start))
            problems += block.problems
            found += [block.value] if block.value else []
        else:
            found.append(Text(markdown=part, place=lines.at(start)))
    return Checked(value=None if problems else tuple(found), problems=tuple(problems))


def _expanded_or_kept(markup: Markup) -> Iterator[tuple[Kind | None, int, str]]:
    """Give values and blocks with their offsets, and all that stands between two of them."""
    start, kept = 0, ""
    for kind, part in markup.parts():
        if kind in ("value", "block"):
            if kept:
                yield None, start - len(kept), kept
            yield kind, start, part
            kept = ""
        else:
            kept += part
        start += len(part)
    if kept:
        yield None, start - len(kept), kept


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
# link's label and an escaped backslash are passed over. It begins with the sign that it begins at,
# and asks afterwards what stands before it: so `re` does not stop at every other sign of a text.
_BEHIND = r"(?<![\w\\].)(?:(?<=_)|_)(?:\\?_)+(?=[A-Za-z0-9])(?:\w|\\_)*"
IDENTIFIER = rf"[\\_]{_BEHIND}"
_NAMES = re.compile(
    r"[\\_h\[](?:(?P<skip>(?<=\\)\\|(?<=h)ttps?://\S+|(?<=\[)\^[^\]\[\n]*\]|(?<=\]\[)[^\]\n]*\])"
    rf"|(?<=[\\_]){_BEHIND})"
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
    written = found.group()
    return re.sub(r"\\?_", r"\\_", written) if found["skip"] is None else written
