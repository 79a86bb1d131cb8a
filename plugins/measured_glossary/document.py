"""Hand-written pages that show what was measured: their front matter names `experiments`.

Comes in: the folder of the site's sources. Goes out: `Document`s, or problems at their place. Must
not know what was measured, nor that pages without the key exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from measured_glossary import wording
from measured_glossary.body import Piece, pieces
from measured_glossary.entry import CitedSource, ClaimName, Diagram, Id, backing, quotable
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.prose import quotations
from measured_glossary.scan import Lines, scan
from measured_glossary.source import Located, Source, parse_yaml, read, validate

_BORDER = "---\n"


class Matter(BaseModel):
    """What the page asks of the lab; the other keys are the site generator's."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    experiments: tuple[Id, ...]
    claims: tuple[ClaimName, ...] = ()
    diagram: Diagram | None = None
    sources: tuple[CitedSource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page as written; `uri` says where it stands below the sources."""

    uri: str
    front: Matter
    located: Located
    pieces: tuple[Piece, ...]

    @property
    def top(self) -> str:
        """The way from the page's folder to the site's top."""
        return "../" * self.uri.count("/")


def read_documents(docs: Path) -> Checked[tuple[Document, ...]]:
    """Read every page that names experiments; all faults at once."""
    found = [checked for path in sorted(docs.rglob("*.md")) for checked in _document(docs, path)]
    documents = tuple(checked.value for checked in found if checked.value)
    return Checked(value=documents, problems=tuple(p for each in found for p in each.problems))


def _document(docs: Path, path: Path) -> Iterator[Checked[Document]]:
    """Give the page, or nothing where it asks for none of this."""
    uri = path.relative_to(docs).as_posix()
    source = read(docs.parent, f"{docs.name}/{uri}").value
    if source is None or not source.text.startswith(_BORDER):
        return  # the generator says what is wrong with it
    matter, border, body = source.text.removeprefix(_BORDER).partition(f"\n{_BORDER}")
    if not border or "experiments:" not in matter:
        return
    parsed = parse_yaml(source, f"{matter}\n", first_line=2)
    if parsed.value is None:
        yield Checked(value=None, problems=parsed.problems)
    elif _asks(parsed.value.data):
        yield _read(uri, source, parsed.value, Body(body, matter.count("\n") + 4))


def _asks(data: Any) -> bool:
    return isinstance(data, dict) and "experiments" in data


@dataclass(frozen=True, slots=True)
class Body:
    """The text behind the front matter, and the line it begins in."""

    text: str
    first_line: int


def _read(uri: str, source: Source, located: Located, body: Body) -> Checked[Document]:
    front = validate(Matter, located, code="page-field")
    inner = pieces(source, body.text, body.first_line)
    problems = (*_misplaced(uri, source), *front.problems, *inner.problems)
    if problems or front.value is None or inner.value is None:
        return Checked(value=None, problems=problems)
    made = Document(uri=uri, front=front.value, located=located, pieces=inner.value)
    return Checked(value=made, problems=tuple(_said(source, body, located)))


def _said(source: Source, body: Body, located: Located) -> list[Problem]:
    """Check what the page asserts and quotes; its markup is the site's own."""
    markup, lines = scan(body.text), Lines(source.file, body.text, body.first_line)
    asserted = wording.lint(markup, lines, backing(located))
    return [*quotations(markup, lines, quotable(located)), *asserted]


def _misplaced(uri: str, source: Source) -> Iterator[Problem]:
    """Its links to the site's other files must hold wherever the page is built to."""
    if uri.rpartition("/")[2] != "index.md":
        yield Problem(
            place=Place(source.file),
            code="page-place",
            message="names experiments, and is not the index.md of a folder",
            hint=f"move it to {source.file.removesuffix('.md')}/index.md",
        )
