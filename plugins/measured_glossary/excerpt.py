"""Code and a section's name into the lines a page shows.

Comes in: a source file with `--8<-- [start:NAME]` and `[end:NAME]` behind comment signs. Goes out:
an `Excerpt` with its lines, where they stand and their digest, or problems. Must not know what
language it cuts, or what was compiled.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from measured_glossary.problem import Checked, Place, Problem, meant
from measured_glossary.source import Source

_ANY = re.compile(r"(?<!-)-{2,}8<-{2,}")
_MARKER = re.compile(
    r"[ \t]*(?:(?://+|#+|/\*+|--|;+|%+|<!--|\{#)[ \t]*)?"
    r"--8<--[ \t]*\[[ \t]*(?P<kind>start|end)[ \t]*:[ \t]*(?P<name>[A-Za-z][A-Za-z0-9_-]*)[ \t]*\]"
    r"[ \t]*(?:\*+/|-->|#\})?[ \t]*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Lines of a file without marker lines and common indentation.

    `first_line` and `last_line` count from 1. `sha256` is of the raw bytes of these lines of the
    file, line ends included, so `sed -n 'FIRST,LASTp' FILE | sha256sum` gives it too.
    """

    file: str
    section: str | None
    lines: tuple[str, ...]
    first_line: int
    last_line: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marker:
    kind: str
    name: str
    row: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """The rows between two markers: from `first` up to, not including, `end`."""

    name: str
    first: int
    end: int


def cut(source: Source, section: str | None) -> Checked[Excerpt]:
    """Cut a section out of a file; `None` gives the whole file without marker lines.

    A fault in any marker of the file refuses every cut of it.
    """
    rows = _rows(source)
    markers, problems = _markers(source.file, rows)
    found, more = _pair(source.file, rows, markers)
    problems += more
    wanted = {s.name: s for s in found}.get(section) if section else _whole(rows)
    if wanted is None and not problems:
        problems.append(_missing(source.file, str(section), found))
    if wanted is None or problems:
        return Checked(value=None, problems=tuple(sorted(problems)))
    return _excerpt(source, rows, wanted, section)


def sections(source: Source) -> tuple[str, ...]:
    """List the names of a file's sections, in the order they begin."""
    rows = _rows(source)
    found, _ = _pair(source.file, rows, _markers(source.file, rows)[0])
    return tuple(s.name for s in sorted(found, key=lambda s: s.first))


def _rows(source: Source) -> list[str]:
    rows = [row.removesuffix("\r") for row in source.text.split("\n")]
    return rows[:-1] if rows[-1] == "" else rows


def _whole(rows: list[str]) -> _Section:
    return _Section(name="", first=0, end=len(rows))


def _markers(file: str, rows: list[str]) -> tuple[list[_Marker], list[Problem]]:
    """Read the marker lines; a line with the scissors that is no marker is a problem."""
    markers, problems = [], []
    for row, line in enumerate(rows):
        scissors = _ANY.search(line)
        if not scissors:
            continue
        if marker := _MARKER.fullmatch(line):
            at = scissors.start() + 1
            markers.append(_Marker(kind=marker["kind"], name=marker["name"], row=row, column=at))
        else:
            place = Place(file, row + 1, scissors.start() + 1)
            message = f"{line.strip()[:60]!r} is not a marker line"
            problems.append(_problem(place, "section-marker", message, _MARK))
    return markers, problems


def _pair(
    file: str, rows: list[str], markers: list[_Marker]
) -> tuple[list[_Section], list[Problem]]:
    """Pair starts with ends; sections may overlap, but each name stands once."""
    opened: dict[str, _Marker] = {}
    closed: dict[str, _Section] = {}
    problems = []
    for marker in markers:
        name, start = marker.name, opened.get(marker.name)
        place = Place(file, marker.row + 1, marker.column)
        if fault := _fault(marker, start is not None, name in closed):
            problems.append(_problem(place, *fault))
        if marker.kind == "start":
            opened.setdefault(name, marker)
        elif start is not None:
            closed[name] = _Section(name=name, first=start.row + 1, end=marker.row)
            del opened[name]
            if not list(_kept(rows, closed[name])):
                message = f"the section {name!r} has no line in it"
                place = Place(file, start.row + 1, start.column)
                problems.append(_problem(place, "section-empty", message, "move its markers"))
    for name, marker in opened.items():
        place = Place(file, marker.row + 1, marker.column)
        hint = f"write '--8<-- [end:{name}]' behind a comment sign below it"
        message = f"the section {name!r} is not closed"
        problems.append(_problem(place, "section-unclosed", message, hint))
    return list(closed.values()), problems


def _fault(marker: _Marker, is_open: bool, is_closed: bool) -> tuple[str, str, str] | None:
    """Say what is wrong with a marker, given what stands above it."""
    name = marker.name
    if marker.kind == "start" and is_open:
        return ("section-nested", f"{name!r} begins inside itself", f"close {name!r} first")
    if marker.kind == "start" and is_closed:
        message = f"{name!r} begins a second time"
        return ("section-doubled", message, "give each section a name of its own")
    if marker.kind == "end" and not is_open:
        message = f"{name!r} ends here and " + ("ended above" if is_closed else "has not begun")
        return ("section-end-first", message, f"write '--8<-- [start:{name}]' above it")
    return None


def _kept(rows: list[str], section: _Section) -> Iterator[int]:
    """Give the rows to show: no marker lines, no empty lines at either end."""
    kept = [r for r in range(section.first, section.end) if not _ANY.search(rows[r])]
    filled = [r for r in kept if rows[r].strip()]
    return (r for r in kept if filled and filled[0] <= r <= filled[-1])


def _excerpt(
    source: Source, rows: list[str], wanted: _Section, section: str | None
) -> Checked[Excerpt]:
    kept = list(_kept(rows, wanted))
    if not kept:
        problem = _problem(
            Place(source.file), "section-empty", "the file has no line in it", "write the code"
        )
        return Checked(value=None, problems=(problem,))
    raw = source.raw.split(b"\n")
    last = kept[-1] + 1
    span = b"\n".join(raw[kept[0] : last]) + (b"\n" if last < len(raw) else b"")
    excerpt = Excerpt(
        file=source.file,
        section=section,
        lines=_dedented([rows[r] for r in kept]),
        first_line=kept[0] + 1,
        last_line=last,
        sha256=hashlib.sha256(span).hexdigest(),
    )
    return Checked(value=excerpt)


def _dedented(lines: list[str]) -> tuple[str, ...]:
    """Remove the white space all lines begin with; tabs and blanks are not the same."""
    return tuple(textwrap.dedent("\n".join(lines)).split("\n"))


def _missing(file: str, section: str, found: list[_Section]) -> Problem:
    names = sorted(s.name for s in found)
    message = f"{file} has no section {section!r}; its sections are: {', '.join(names) or 'none'}"
    mark = f"write '--8<-- [start:{section}]' and '[end:{section}]' behind comment signs"
    return _problem(Place(file), "section-missing", message, meant(section, names, mark))


_MARK = "write '// --8<-- [start:name]' or '// --8<-- [end:name]' on a line of its own"


def _problem(place: Place, code: str, message: str, hint: str) -> Problem:
    return Problem(place=place, code=code, message=message, hint=hint)
