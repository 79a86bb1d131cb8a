"""An entry: its front matter, validated, and the pieces of its body.

Comes in: the source of an `entry.md`. Goes out: an `Entry`, or all its faults with their places;
and the JSON Schema editors complete the front matter with. Must not know what was measured, who
signed, or what a page looks like.
"""

from __future__ import annotations

import codecs
import datetime
import hashlib
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from measured_glossary import prose, wording
from measured_glossary.body import Piece, pieces
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.prose import Quotable, byline_in
from measured_glossary.scan import Lines, Markup, scan
from measured_glossary.source import LF_HINT, Located, Source, decode, mended, parse_yaml, validate

PENDING = "pending"
UNCHECKED = "not checked against the source"
MAX_ID, MAX_PERSON_ID = 60, 39
MAX_ENTRY_BYTES = 256 << 10

# Faults that keep an entry back and still let its author see the page.
_READABLE = frozenset(
    {"unlisted-quote", "unused-quote", "typed-number", "unbacked-word", "dead-claim-link"}
)

# Windows keeps some names for itself, whatever stands behind their dot.
ID = re.compile(r"(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z)[a-z0-9](?:-?[a-z0-9])*")
_CLAIM = re.compile(r"(?:(?P<experiment>[a-z0-9](?:-?[a-z0-9])*)\.)?(?P<name>[a-z][a-z0-9_]*)")
_URL = re.compile(r"https://[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?(?:[/?#]\S*)?")
_CLAIMLESS = "expected at least one claim of the experiments, which back nothing by themselves"
_UNMEASURED = "expected 'experiments' too, those that make the claims"
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!cf)(?<!vs)[.!?][\"”')]*\s+(?=[A-Z_`\"“])")


# ── fields ───────────────────────────────────────────────────────────────────────────────────


def _plain(text: str) -> str:
    """Refuse what a free text must not hold; it is printed in many places and never as markup."""
    if not text.strip() or text != text.strip():
        raise ValueError("expected a text without blanks at its ends")
    if not text.isprintable():
        raise ValueError("expected one line, without control characters and special blanks")
    if re.search(r"<[A-Za-z/!?]", text):
        raise ValueError("expected a text without HTML ('<' before a letter)")
    if "{{" in text:
        raise ValueError("expected a text without '{{': values stand in the body only")
    if byline_in(text) is not None:
        raise ValueError("expected a text that does not read as a byline")
    return text


def _question(text: str) -> str:
    if not text.endswith("?"):
        raise ValueError("expected a question that ends with '?'")
    return text


def _sentence(text: str) -> str:
    if not text.endswith("."):
        raise ValueError("expected a sentence that ends with a full stop")
    if _SENTENCE_END.search(text):
        raise ValueError("expected one sentence")
    return text


def _id(text: str) -> str:
    if not ID.fullmatch(text):
        raise ValueError("expected small letters, digits and single hyphens, as in 'warp-size'")
    return text


def _claim(text: str) -> str:
    if not _CLAIM.fullmatch(text):
        raise ValueError("expected 'claim_name' or 'experiment-id.claim_name'")
    return text


def _url(text: str) -> str:
    if not _URL.fullmatch(text) or not text.isascii() or re.search(r"[\s<>\"'`{}|\\^]", text):
        raise ValueError("expected a web address that begins with 'https://'")
    return text


def _date(text: Any) -> Any:
    if not isinstance(text, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError("expected a date such as 2026-11-29")
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError("expected a day the calendar has") from None


def _different(items: tuple[Any, ...]) -> tuple[Any, ...]:
    for index, item in enumerate(items):
        if item in items[:index]:
            raise ValueError(f"expected each once, and {item!r} stands twice")
    return items


Line = Annotated[str, Field(max_length=100), AfterValidator(_plain)]
LongLine = Annotated[str, Field(max_length=300), AfterValidator(_plain)]
Id = Annotated[str, Field(max_length=MAX_ID), AfterValidator(_id)]
PersonId = Annotated[str, Field(max_length=MAX_PERSON_ID), AfterValidator(_id)]
ClaimName = Annotated[str, Field(max_length=130), AfterValidator(_claim)]
Url = Annotated[str, Field(max_length=500), AfterValidator(_url)]
Day = Annotated[datetime.date, BeforeValidator(_date)]


_NOT_ASKED: frozenset[str] = frozenset()  # one for all: there are thousands of parts


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    def __setstate__(self, state: dict[Any, Any]) -> None:
        """Come out of the memo without a set of the fields that were given: nobody asks for it."""
        super().__setstate__({**state, "__pydantic_fields_set__": _NOT_ASKED})


class PlainTerm(_Part):
    """A related term that has no entry yet."""

    term: Annotated[Line, Field(description="The term, as readers know it.")]


class CitedSource(_Part):
    """What was read, which version of it, when, and what is quoted from it."""

    title: Annotated[LongLine, Field(description="The document's title.")]
    version: Annotated[Line | None, Field(description="Its version; needed for a quote.")] = None
    section: Annotated[Line | None, Field(description="The section; needed for a quote.")] = None
    url: Annotated[Url, Field(description="Where it is, with https.")]
    accessed: Annotated[Day, Field(description="The day it was read, as in 2026-11-29.")]
    quotes: Annotated[
        tuple[LongLine, ...],
        AfterValidator(_different),
        Field(description="The passages quoted in the body, word for word, at most 300 signs."),
    ] = ()
    checked: Annotated[
        Literal["not checked against the source"] | None,
        Field(description="Says that nobody has read the source's own text; then no quotes."),
    ] = None

    @model_validator(mode="after")
    def _quotes_can_be_found(self) -> CitedSource:
        if self.quotes and self.checked:
            raise ValueError(f"expected no quotes from a source that is {UNCHECKED!r}")
        if self.quotes and not (self.version and self.section):
            raise ValueError("expected a version and a section, since the source is quoted")
        return self


class NamedPeople(_Part):
    """Who wrote the entry and who is asked to review it; the dates come from signatures."""

    written_by: Annotated[PersonId, Field(description="The author's id, or 'pending'.")]
    reviewed_by: Annotated[
        PersonId | None, Field(description="The nominated reviewer's id, or 'pending'.")
    ] = None
    also_by: Annotated[
        tuple[PersonId, ...], AfterValidator(_different), Field(description="Ids of co-authors.")
    ] = ()

    @property
    def authors(self) -> tuple[str, ...]:
        """Give the authors' ids; none while the byline is pending."""
        return () if self.written_by == PENDING else (self.written_by, *self.also_by)

    @property
    def nominated(self) -> str:
        """Give the id of the reviewer who is asked, or nothing."""
        return "" if self.reviewed_by in (None, PENDING) else str(self.reviewed_by)

    @model_validator(mode="after")
    def _two_people(self) -> NamedPeople:
        if self.nominated and self.nominated in self.authors:
            raise ValueError("expected a reviewer who is not an author")
        if self.written_by == PENDING and self.also_by:
            raise ValueError("expected the first author in 'written_by' before a co-author")
        return self


class Diagram(_Part):
    """The interactive diagram of the page."""

    name: Annotated[Id, Field(description="Which diagram, as in tile-lifecycle.")]
    presets: Annotated[
        tuple[Id, ...], AfterValidator(_different), Field(description="The cases it offers.")
    ] = ()
    alt: Annotated[
        str,
        Field(max_length=600, description="What it shows, the result included, in words."),
        AfterValidator(_plain),
    ]


class Misconception(_Part):
    """What is said and is wrong, and who says it."""

    claim: Annotated[LongLine, Field(description="What is said, in the words it is said in.")]
    url: Annotated[Url, Field(description="Where it is said, with https.")]


def _kind_of_related(item: Any) -> str:
    return "id" if isinstance(item, str) else "term"


Related = Annotated[
    Annotated[Id, Tag("id")] | Annotated[PlainTerm, Tag("term")], Discriminator(_kind_of_related)
]


class FrontMatter(_Part):
    """The front matter of an entry."""

    term: Annotated[Line, Field(description="The term, as readers search for it.")]
    question: Annotated[
        LongLine, AfterValidator(_question), Field(description="The question: the page's title.")
    ]
    answer: Annotated[
        LongLine, AfterValidator(_sentence), Field(description="The answer, in one sentence.")
    ]
    aliases: Annotated[
        tuple[Line, ...], AfterValidator(_different), Field(description="Other names of the term.")
    ] = ()
    area: Annotated[Line, Field(description="The part of the subject, as in 'Memory'.")]
    applies_to: Annotated[Line, Field(description="What hardware it holds for, as in 'CC 7.5'.")]
    experiments: Annotated[
        tuple[Id, ...],
        AfterValidator(_different),
        Field(description="The folders below code/ that the page measures with."),
    ] = ()
    claims: Annotated[
        tuple[ClaimName, ...],
        AfterValidator(_different),
        Field(
            description="The experiments' claims the page rests on: name, or experiment-id.name.",
            validate_default=True,
        ),
    ] = ()
    related: Annotated[
        tuple[Related, ...],
        AfterValidator(_different),
        Field(description="Ids of entries, or 'term: …' for one that has no entry."),
    ] = ()
    sources: Annotated[tuple[CitedSource, ...], Field(description="What the page cites.")] = ()
    byline: Annotated[NamedPeople, Field(description="The people; dates come from signatures.")]
    diagram: Annotated[Diagram | None, Field(description="The page's diagram.")] = None
    misconceptions: Annotated[
        tuple[Misconception, ...], Field(description="What is said elsewhere and is wrong.")
    ] = ()

    def answer_alone(self) -> str:
        """Give the answer for where its question is not: 'Yes' and 'No' bring it along."""
        needs_question = self.answer.split(maxsplit=1)[0].rstrip(",.:;!").lower() in {"yes", "no"}
        return f"{self.question} {self.answer}" if needs_question else self.answer

    @field_validator("claims")
    @classmethod
    def _rest_on_experiments(cls, claims: tuple[str, ...], info: ValidationInfo) -> Any:
        experiments = info.data.get("experiments")
        if experiments is None:  # it has a fault of its own
            return claims
        if bool(experiments) != bool(claims):
            raise ValueError(_CLAIMLESS if experiments else _UNMEASURED)
        for claim in claims:
            owner = claim.rpartition(".")[0]
            if owner and owner not in experiments:
                raise ValueError(f"expected {owner!r} of {claim!r} among the experiments")
        return claims


class Measured(Protocol):
    """A page that shows what was measured: an entry, or one written by hand."""

    @property
    def front(self) -> Asks:
        """What it asks of the lab."""

    @property
    def located(self) -> Located:
        """Its front matter, with the place of each part."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Its body."""


class Asks(Protocol):
    """What a page's front matter asks of the lab."""

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments it shows."""

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims it rests on."""

    @property
    def diagram(self) -> Diagram | None:
        """Its diagram."""


# ── parsing ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry as written: `raw` is what stands in its `file`.

    Its text, its front matter's places and its body's pieces are made when asked for: few builds
    need those of many.
    """

    id: str
    file: str
    raw: bytes = b""
    front: FrontMatter

    @property
    def sha256(self) -> str:
        """The SHA-256 of its file, in hexadecimal."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def source(self) -> Source:
        """Its file, decoded."""
        return decode(self.file, self.raw).value or Source(self.file, self.raw, "")

    @property
    def located(self) -> Located:
        """Its front matter as plain data, with each part's place."""
        source = self.source
        matter, *_ = _split(source)
        top = Located(None, self.file, {(): (1, 1)})
        return parse_yaml(source, matter, first_line=2).value or top

    @property
    def linked(self) -> tuple[tuple[str, Place], ...]:
        """The files of its folder that its body names, each with its place."""
        source = self.source
        _, body, first_line, _ = _split(source)
        if "](" not in body and "]:" not in body:
            return ()
        return tuple(prose.files_linked(scan(body), Lines(source.file, body, first_line)))

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Its body."""
        source = self.source
        _, body, first_line, _ = _split(source)
        return pieces(source, body, first_line).value or ()


def parse(id: str, source: Source) -> Checked[Entry]:
    """Parse and check an entry; all faults at once, sorted by place.

    Quotes that do not match the sources leave the entry readable; any other fault does not.
    """
    problems = _id_problems(id, source)
    matter, body, first_line, broken = _split(source)
    if broken:
        return Checked(value=None, problems=(*problems, broken))
    parsed = parse_yaml(source, matter, first_line=2)
    located = parsed.value
    front = validate(FrontMatter, located, code="entry-field") if located else None
    inner = pieces(source, body, first_line)
    lines = Lines(source.file, body, first_line)
    problems += [*parsed.problems, *(front.problems if front else ()), *inner.problems]
    meant = mended(FrontMatter, located) if located else None
    problems += _prose_problems(scan(body), lines, meant)
    found = tuple(sorted(set(problems)))
    is_readable = all(problem.code in _READABLE for problem in found)
    if not is_readable or not front or not front.value or not located or inner.value is None:
        return Checked(value=None, problems=found)
    entry = Entry(id=id, file=source.file, raw=source.raw, front=front.value)
    return Checked(value=entry, problems=found)


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema of the front matter, for editors."""
    schema = FrontMatter.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Front matter of a measured glossary's entry",
    }


def _id_problems(id: str, source: Source) -> list[Problem]:
    if ID.fullmatch(id) and len(id) <= MAX_ID:
        return []
    message = f"{id!r} is not an entry's id"
    hint = f"name the folder in small letters, digits and hyphens, at most {MAX_ID}"
    return [_problem(Place(source.file), "entry-id", message, hint)]


def _split(source: Source) -> tuple[str, str, int, Problem | None]:
    """Give front matter, body and the body's first line, or what is wrong with the borders."""
    if len(source.raw) > MAX_ENTRY_BYTES:
        message = f"is larger than {MAX_ENTRY_BYTES} bytes"
        return "", "", 0, _problem(Place(source.file), "oversized-file", message, "make two of it")
    if source.raw.startswith(codecs.BOM_UTF8):
        message = "begins with a byte order mark, which nobody sees and everybody signs"
        place = Place(source.file, 1, 1)
        return (
            "",
            "",
            0,
            _problem(place, "byte-order-mark", message, "save it as UTF-8 without one"),
        )
    if "\r" in source.text:
        place = source.at(source.text.index("\r"))
        message = "the line ends with CR LF; signatures are over LF"
        return "", "", 0, _problem(place, "crlf-line-ends", message, LF_HINT)
    lines = source.text.split("\n")
    if lines[0] != "---":
        message = f"expected '---', found {lines[0][:40]!r}"
        return "", "", 0, _problem(Place(source.file, 1, 1), "no-front-matter", message, _MATTER)
    if "---" not in lines[1:]:
        message = "the front matter is not closed"
        place = Place(source.file, 1, 1)
        return "", "", 0, _problem(place, "unclosed-front-matter", message, _MATTER)
    close = lines.index("---", 1)
    matter = "".join(line + "\n" for line in lines[1:close])
    return matter, "\n".join(lines[close + 1 :]), close + 2, None


def _prose_problems(markup: Markup, lines: Lines, located: Located | None) -> list[Problem]:
    """Check what the body and the answer say, whatever else is wrong with the front matter."""
    if located is None:
        return prose.lint(markup, lines, None)
    found = prose.lint(markup, lines, quotable(located))
    found += wording.lint(markup, lines, backing(located))
    answer = located.data.get("answer") if isinstance(located.data, dict) else None
    words = wording.sweeping(answer) if isinstance(answer, str) else ""
    if words and not _items(located.data, "claims") and not _items(located.data, "sources"):
        message = f"answer: {words!r} has no claim behind it, nor a source"
        found.append(_problem(located.place(("answer",)), "unbacked-word", message, _BEHIND))
    return found


def backing(located: Located) -> wording.Backing:
    """Give what may stand behind a page's sentences, read as leniently as what it may quote."""
    sources = [each for each in _items(located.data, "sources") if isinstance(each, dict)]
    return wording.Backing.of(
        claims=(claim for claim in _items(located.data, "claims") if isinstance(claim, str)),
        sections=(str(each["section"]) for each in sources if each.get("section")),
    )


def quotable(located: Located) -> list[Quotable]:
    """Give what the body may quote, read leniently: other faults are reported elsewhere."""
    found = []
    for i, source in enumerate(_items(located.data, "sources")):
        for j, quote in enumerate(_items(source, "quotes")):
            if isinstance(quote, str):
                place = located.place(("sources", i, "quotes", j))
                found.append(Quotable(text=quote, place=place, must=True))
    for i, misconception in enumerate(_items(located.data, "misconceptions")):
        claim = misconception.get("claim") if isinstance(misconception, dict) else None
        if isinstance(claim, str):
            place = located.place(("misconceptions", i))
            found.append(Quotable(text=claim, place=place, must=False))
    return found


def _items(data: Any, key: str) -> list[Any]:
    items = data.get(key) if isinstance(data, dict) else None
    return items if isinstance(items, list) else []


_BEHIND = "name the claim below 'claims', or who says it below 'sources', or say less"
_MATTER = "begin the file with '---', the front matter and another '---', each on its own line"


def _problem(place: Place, code: str, message: str, hint: str) -> Problem:
    return Problem(place=place, code=code, message=message, hint=hint)
