"""A kernel file and everything it includes, read once.

Comes in: the project's root and a file's name. Goes out: the closure, name → `Source`, or the
place of each `#include` that leads nowhere. Must not know compilers or experiments.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Source, read

# A line that ends in a backslash goes on in the next one, in a comment and in a directive too.
_SPLICE = re.compile(r"\\\r?\n")

# What may hold a quote or a comment sign that is none; only comments are blanked.
_TOKEN = re.compile(
    r"""(?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
      | (?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"
      | [A-Za-z_]\w* | [0-9](?:'?[\w.])*
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    """,
    re.VERBOSE | re.DOTALL,
)

_INCLUDE = re.compile(
    r"""^[ \t]*(?P<sign>\#|%:)[ \t]*include(?:_next)?(?![A-Za-z_0-9])[ \t]*
        (?: "(?P<quoted>[^"\n]*)" | <(?P<angled>[^>\n]*)> | (?P<other>[^\r\n]*) )""",
    re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Include:
    name: str
    form: str  # "quoted", "angled" or "other"
    place: Place


def closure(root: Path, file: str) -> Checked[dict[str, Source]]:
    """Read `file` and, through all its includes, every file of the project that it is made of.

    `"x"` is looked for beside the including file, then from the root; `<x>` from the root only,
    and is a toolkit's own header where the project has none. What stands behind an `#if` counts
    whether or not it is compiled.
    """
    first = read(root, file)
    found: dict[str, Source] = {} if first.value is None else {file: first.value}
    problems = list(first.problems)
    waiting = list(found.values())
    while waiting:
        for include in _includes(waiting.pop(0)):
            target = _resolve(root, include)
            problems += target.problems
            if target.value and target.value.file not in found:
                found[target.value.file] = target.value
                waiting.append(target.value)
    return Checked(value=None if problems else found, problems=tuple(problems))


def _includes(source: Source) -> Iterator[_Include]:
    """Yield the `#include`s of a file, without those in comments."""
    spliced, splices = _without_splices(source.text)
    for match in _INCLUDE.finditer(_TOKEN.sub(_blank_comment, spliced)):
        form = match.lastgroup or "other"
        place = source.at(_original(match.start("sign"), splices))
        yield _Include(name=match[form].strip(), form=form, place=place)


def _without_splices(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Join continued lines; the list holds where each splice was and how long."""
    splices = [(found.start(), len(found.group())) for found in _SPLICE.finditer(text)]
    return _SPLICE.sub("", text), splices


def _original(offset: int, splices: list[tuple[int, int]]) -> int:
    for start, length in splices:
        if start <= offset:
            offset += length
    return offset


def _blank_comment(match: re.Match[str]) -> str:
    # A block comment reads as a space, even one that runs over several lines.
    return match.group() if match["comment"] is None else " " * len(match.group())


def _resolve(root: Path, include: _Include) -> Checked[Source]:
    """Read the included file; neither value nor problem for a toolkit's header."""
    if include.form == "other":
        return _refuse(include, "macro-include", f"includes {include.name!r}, not a named file")
    names = _candidates(include)
    if not names:
        return _refuse(include, "outside-include", f"{include.name!r} is outside the project")
    for name in names:
        target = read(root, name)
        if not any(p.code == "missing-file" for p in target.problems):
            return target
    if include.form == "angled":
        return Checked(value=None)
    return _refuse(include, "missing-include", f"there is no {' or '.join(map(repr, names))}")


def _candidates(include: _Include) -> list[str]:
    folders = ["", posixpath.dirname(include.place.file)] if include.form == "quoted" else [""]
    names = [posixpath.normpath(posixpath.join(at, include.name)) for at in reversed(folders)]
    inside = [name for name in names if not name.startswith(("/", "../")) and "\\" not in name]
    return list(dict.fromkeys(inside))


_HINTS = {
    "macro-include": 'name the file: #include "file.cuh"',
    "outside-include": "copy the file into the project and include it from there",
    "missing-include": "create the file, or write <…> for a header of the CUDA toolkit",
}


def _refuse(include: _Include, code: str, message: str) -> Checked[Source]:
    problem = Problem(place=include.place, code=code, message=message, hint=_HINTS[code])
    return Checked(value=None, problems=(problem,))
