"""Adding a person to the registry's text, in the place and the manner of the lines around.

Comes in: the registry's text and who joins. Goes out: the new text, which reads as a registry, or
what is wrong with it. Must not write anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Source, decode, parse_yaml
from measured_glossary.trust.registry import read_registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    """Who joins, all as text: the registry's reader says what is wrong with it."""

    id: str
    name: str
    kind: str
    may: tuple[str, ...]
    areas: tuple[str, ...]
    key: str
    not_before: str
    not_after: str = ""
    vouched_by: str = ""


def add_person(source: Source, newcomer: Newcomer) -> Checked[str]:
    """Give the registry's text with a person more, first among the people."""
    located = parse_yaml(source)
    if located.value is None or located.problems:
        return Checked(value=None, problems=located.problems)
    text = re.sub(r"^people:[ \t]*\[[ \t]*\][ \t]*$", "people:", source.text, count=1, flags=re.M)
    if not re.search(r"^people:[ \t]*$", text, flags=re.M):
        text = f"{text.rstrip()}\npeople:\n"
    _, column = located.value.places.get(("people", 0), (0, 0))
    indent = " " * (column - 3 if column > 2 else 2)
    block = "".join(f"{indent}{line}\n" for line in _lines(newcomer))
    text = re.sub(
        r"^people:[ \t]*\n", lambda found: found.group() + block, text, count=1, flags=re.M
    )
    lines = _lines(newcomer)
    first = text[: text.index(block)].count("\n") + 1
    added = range(first, first + len(lines))
    checked = _checked(source.file, text)
    told = (_as_asked(problem, added, lines) for problem in checked.problems)
    return Checked(value=checked.value, problems=tuple(told))


def _as_asked(problem: Problem, added: range, lines: Sequence[str]) -> Problem:
    """Put a problem where it can be seen: the text with the newcomer in it was never written.

    What is wrong with the newcomer has no place but the option it came from.
    """
    file, line = problem.place.file, problem.place.line
    there = rf"{re.escape(file)}:(\d+)(?::\d+)?"
    message = re.sub(there, lambda found: _moved(file, int(found[1]), added), problem.message)
    if line not in added:
        after = len(added) if line > added[-1] else 0
        return replace(problem, place=replace(problem.place, line=line - after), message=message)
    field = lines[line - added[0]].strip("- ").partition(":")[0]
    said = message.partition(": ")[2] if problem.code == "people-field" else message
    option = {"id": "ID", "keys": "--key"}.get(field, f"--{field.replace('_', '-')}")
    hint = problem.hint or "nothing was written"
    return replace(problem, place=Place(file), message=f"{option}: {said}", hint=hint)


def _moved(file: str, line: int, added: range) -> str:
    """Name a line as it is in the file; one of the newcomer's is in none."""
    if line in added:
        return "who would be added"
    return f"{file}:{line - len(added) if line > added[-1] else line}"


def _lines(newcomer: Newcomer) -> list[str]:
    fields = [
        ("name", _quoted(newcomer.name)),
        ("kind", newcomer.kind),
        ("may", f"[{', '.join(newcomer.may)}]"),
        ("areas", f"[{', '.join(map(_quoted, newcomer.areas))}]" if newcomer.areas else ""),
        ("vouched_by", newcomer.vouched_by),
    ]
    days = [("not_before", newcomer.not_before), ("not_after", newcomer.not_after)]
    return [
        f"- id: {newcomer.id}",
        *(f"  {name}: {value}" for name, value in fields if value),
        "  keys:",
        f"    - key: {newcomer.key}",
        *(f"      {name}: {value}" for name, value in days if value),
    ]


def _quoted(text: str) -> str:
    plain = re.fullmatch(r"[^\W\d_][\w .'’-]*", text)
    return text if plain else json.dumps(text, ensure_ascii=False)


def _checked(file: str, text: str) -> Checked[str]:
    source = decode(file, text.encode("utf-8"))
    if source.value is None:
        return Checked(value=None, problems=source.problems)
    registry = read_registry(source.value)
    return Checked(value=text if registry.value else None, problems=registry.problems)
