"""Study paths that authors ship: `paths/<id>.yml`, an order in which to read entries and pages.

Comes in: the project's root, the ids of its entries, the folder of its hand-written pages. Goes
out: `StudyPath`s, or all their faults with their places. Must not know what is published.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from measured_glossary.entry import ID, Id, Line, LongLine
from measured_glossary.problem import Checked, Place, Problem, meant
from measured_glossary.source import Located, parse_yaml, read, validate

PATHS = "paths"
MAX_STEPS = 200

_PAGE = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_.-]*/)+index\.md")
_EXAMPLE = "'lessons/1-first/index.md'"


def _page(text: str) -> str:
    # Only the address of a folder's index is the same in every form of the site.
    if not _PAGE.fullmatch(text):
        raise ValueError(f"expected the index.md of a folder of hand-written pages, as {_EXAMPLE}")
    return text


Page = Annotated[str, Field(max_length=200), AfterValidator(_page)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Step(_Part):
    """One step of a path: an entry or a page, and why it stands here."""

    entry: Annotated[Id | None, Field(description="The id of an entry.")] = None
    page: Annotated[
        Page | None, Field(description="The index.md of a lesson or of another page, below docs/.")
    ] = None
    note: Annotated[LongLine | None, Field(description="Why it is read at this point.")] = None

    @property
    def target(self) -> str:
        """Give the entry's id or where the page stands: what a reader's own path keeps too."""
        return self.entry or self.page or ""

    @model_validator(mode="after")
    def _one_target(self) -> Step:
        if bool(self.entry) == bool(self.page):
            raise ValueError("expected 'entry' or 'page', one of them")
        return self


class Outline(_Part):
    """A study path as its file has it."""

    title: Annotated[Line, Field(description="What the path is called.")]
    description: Annotated[LongLine, Field(description="Where it begins and where it leads.")]
    steps: Annotated[
        tuple[Step, ...],
        Field(min_length=1, max_length=MAX_STEPS, description="What is read, in this order."),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPath:
    """A path that can be shown; `id` is its file's name without `.yml`."""

    id: str
    outline: Outline

    @property
    def uri(self) -> str:
        """Give where its page stands."""
        return f"{PATHS}/{self.id}/index.md"

    def words(self, shown: Collection[str]) -> str:
        """Give what may be said of it in public if only these entries may be shown."""
        steps = self.outline.steps
        notes = [step.note or "" for step in steps if step.page or step.entry in shown]
        return "\n".join([self.outline.title, self.outline.description, *notes])


def read_paths(root: Path, entries: Collection[str], docs: Path) -> Checked[tuple[StudyPath, ...]]:
    """Read every path of a project, in the order of their ids; all faults at once."""
    found = [_read(root, name, entries, docs) for name in _names(root)]
    paths = tuple(checked.value for checked in found if checked.value)
    return Checked(value=paths, problems=tuple(p for each in found for p in each.problems))


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema of a path's file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Outline.model_json_schema(),
        "title": "A study path of a measured glossary",
    }


def _names(root: Path) -> list[str]:
    top = root / PATHS
    paths = sorted(top.iterdir()) if top.is_dir() else []
    return [f"{PATHS}/{path.name}" for path in paths if not path.name.startswith(".")]


def _read(root: Path, file: str, entries: Collection[str], docs: Path) -> Checked[StudyPath]:
    name = PurePosixPath(file)
    if name.suffix != ".yml" or not ID.fullmatch(name.stem):
        return Checked(value=None, problems=(_stray(file),))
    source = read(root, file)
    parsed = parse_yaml(source.value) if source.value else None
    if parsed is None or parsed.value is None:
        return Checked(value=None, problems=parsed.problems if parsed else source.problems)
    outline = validate(Outline, parsed.value, code="path-field")
    steps = [*_unknown(parsed.value, entries, docs), *_repeated(parsed.value)]
    problems = tuple(sorted({*parsed.problems, *outline.problems, *steps}))
    if problems or outline.value is None:
        return Checked(value=None, problems=problems)
    return Checked(value=StudyPath(id=name.stem, outline=outline.value))


# ── what a file's form does not show; read leniently, other faults are reported beside it ────


def _targets(located: Located, key: str) -> Iterator[tuple[str, Place]]:
    """Give what the steps name under a key, each with its place."""
    steps = located.data.get("steps") if isinstance(located.data, dict) else None
    for index, step in enumerate(steps if isinstance(steps, list) else []):
        target = step.get(key) if isinstance(step, dict) else None
        if isinstance(target, str):
            yield target, located.place(("steps", index, key))


def _unknown(located: Located, entries: Collection[str], docs: Path) -> Iterator[Problem]:
    for target, place in _targets(located, "entry"):
        if target not in entries and ID.fullmatch(target):
            hint = meant(target, entries, _known(entries))
            yield _problem(place, "unknown-step", f"there is no entry {target!r}", hint)
    for target, place in _targets(located, "page"):
        if _PAGE.fullmatch(target) and not (docs / target).is_file():
            message = f"there is no page {docs.name}/{target}"
            yield _problem(place, "unknown-step", message, f"write where it stands in {docs.name}/")


def _known(entries: Collection[str]) -> str:
    return f"the entries are: {', '.join(sorted(entries))}" if entries else "there are none so far"


def _repeated(located: Located) -> Iterator[Problem]:
    for key in ("entry", "page"):
        seen: dict[str, Place] = {}
        for target, place in _targets(located, key):
            first = seen.setdefault(target, place)
            if first is not place:
                message = f"{target!r} is a step already, in line {first.line}"
                yield _problem(place, "repeated-step", message, "keep one of the two")


def _stray(file: str) -> Problem:
    message = "is no study path"
    hint = f"call it {PATHS}/ID.yml, with an ID of small letters, digits and single hyphens"
    return _problem(Place(file), "stray-file", message, hint)


def _problem(place: Place, code: str, message: str, hint: str) -> Problem:
    return Problem(place=place, code=code, message=message, hint=hint)


def public_words(paths: Sequence[StudyPath], shown: Collection[str]) -> str:
    """Give what the paths say in public, whatever the entries that are not shown say."""
    return "\n".join(path.words(shown) for path in paths)
