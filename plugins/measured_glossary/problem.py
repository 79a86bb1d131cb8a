"""Problems as values: where, what kind, what was found, what to type.

Comes in: facts a check has found. Goes out: `Problem`s, printed as text, as GitHub
annotations or as JSON. Knows nothing of YAML, files, entries or MkDocs.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

T = TypeVar("T")
Format = Literal["text", "github", "json"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file of the project; lines and columns count from 1.

    `file` is relative to the project's root and written with `/`; line 0 means the whole file.
    """

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Print as `file`, `file:line` or `file:line:column`."""
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n)]
        return ":".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault: `code` names its kind (a heading of the problems page), `hint` what to type.

    Problems sort by place and code, then as people count: row 2 stands before row 10.
    """

    place: Place
    code: str
    message: str
    hint: str = ""

    def __lt__(self, other: Problem) -> bool:
        """Say whether this one is told first."""
        return self._order < other._order

    @property
    def _order(self) -> tuple[Place, str, tuple[tuple[str, int], ...], str]:
        counted = re.findall(r"(\D*)(\d*)", self.message)
        return self.place, self.code, tuple((t, int(n or 0)) for t, n in counted), self.hint

    def __str__(self) -> str:
        """Print as `file:line:column: code: message`, the hint on a line of its own."""
        first = f"{self.place}: {self.code}: {self.message}"
        return f"{first}\n    {self.hint}" if self.hint else first


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Generic[T]):
    """What a check gives: the value, or `None` where the problems forbid one."""

    value: T | None
    problems: tuple[Problem, ...] = field(default=())


class Refused(Exception):  # noqa: N818 - the outcome's own name, not an "error"
    """The work was refused; `problems` says why. Caught in `plugin` and `cli` only."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__(to_text(self.problems))


@contextmanager
def writing(file: str) -> Iterator[None]:
    """Tell cleanly what the system refuses to write."""
    try:
        yield
    except OSError as error:
        message = f"cannot be written: {error.strerror}"
        hint = "look at the folder's permissions and at the space that is left"
        place = Place(file)
        problem = Problem(place=place, code="cannot-write", message=message, hint=hint)
        raise Refused([problem]) from None


def meant(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Ask whether the known name that is closest to another one was meant, or say `otherwise`."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise


def to_text(problems: Iterable[Problem]) -> str:
    """Print problems for a terminal, sorted by place."""
    return "\n".join(str(problem) for problem in sorted(set(problems)))


def to_json(problems: Iterable[Problem]) -> list[dict[str, object]]:
    """Give problems as JSON values: file, line, column, code, message, hint."""
    return [
        {
            "file": p.place.file,
            "line": p.place.line,
            "column": p.place.column,
            "code": p.code,
            "message": p.message,
            "hint": p.hint,
        }
        for p in sorted(set(problems))
    ]


def to_github(problems: Iterable[Problem]) -> str:
    """Print problems as GitHub workflow commands, which annotate the changed lines."""
    return "\n".join(_annotation(problem) for problem in sorted(set(problems)))


def render(problems: Iterable[Problem], form: Format) -> str:
    """Print problems in the asked form."""
    if form == "json":
        return json.dumps(to_json(problems), indent=2)
    return to_github(problems) if form == "github" else to_text(problems)


def _annotation(problem: Problem) -> str:
    place = problem.place
    where = {"file": place.file, "line": place.line, "col": place.column, "title": problem.code}
    fields = ",".join(f"{key}={_escape(str(value), ',:')}" for key, value in where.items() if value)
    message = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    return f"::error {fields}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    """Escape what a workflow command reads as syntax; `more` for property values."""
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text
