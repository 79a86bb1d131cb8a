"""What programs read of a glossary: an Atom feed, its data as JSON with a schema, `llms.txt`.

Comes in: what is published. Goes out: the files' content, the same bytes for the same input. Must
not know drafts, nor read a clock: every date is one that somebody signed.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from measured_glossary.entry import CitedSource
from measured_glossary.metadata import CARD, ENTRY, FEED, INDEX, Public
from measured_glossary.published import Published, Said

DATA = "glossary/glossary.json"
SCHEMA = "glossary/glossary.schema.json"
LLMS = "llms.txt"


def files() -> Mapping[str, Callable[[Public], str]]:
    """Give what writes each file, by where the file stands."""
    return {
        FEED: atom,
        DATA: glossary_json,
        SCHEMA: lambda _: _text(json_schema()),
        LLMS: llms,
    }


# ── the feed ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    """Something that happened to an entry: it was published, or somebody checked it again."""

    entry: Published
    on: datetime.date
    title: str
    anchor: str = ""


def atom(public: Public) -> str:
    """Give the Atom feed: entries as they were published and as they were checked again."""
    news = sorted(_news(public), key=lambda n: (-n.on.toordinal(), n.entry.id, n.title))
    latest = max((one.on for one in news), default=datetime.date(1970, 1, 1))
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{escape(public.title)}</title>",
        f"<id>{escape(public.address.page(INDEX))}</id>",
        f'<link rel="self" href="{escape(public.address.file(FEED))}"/>',
        f'<link href="{escape(public.address.page(INDEX))}"/>',
        f"<updated>{_moment(latest)}</updated>",
        *(line for one in news for line in _item(one, public)),
        "</feed>",
    ]
    return "\n".join([*lines, ""])


def _news(public: Public) -> Iterator[_News]:
    for entry in public.entries:
        yield _News(entry=entry, on=entry.published_on, title=entry.question)
        for check in entry.checks:
            title = f"Checked again by {check.name}: {entry.question}"
            yield _News(entry=entry, on=check.on, title=title, anchor=f"#checked-{check.on}")


def _item(news: _News, public: Public) -> Iterator[str]:
    entry, url = news.entry, public.address.page(ENTRY.format(news.entry.id))
    # The digest is part of the identity: a new version of an entry is news.
    identity = news.anchor or f"#{entry.manifest[:16]}"
    yield "<entry>"
    yield f"<title>{escape(news.title)}</title>"
    yield f"<id>{escape(url + identity)}</id>"
    yield f'<link href="{escape(url)}"/>'
    yield f"<updated>{_moment(news.on)}</updated>"
    for author in entry.authors:
        yield f"<author><name>{escape(author.name)}</name></author>"
    yield f'<category term="{escape(entry.area)}"/>'
    yield f"<summary>{escape(f'{entry.term}: {entry.answer}')}</summary>"
    yield "</entry>"


def _moment(day: datetime.date) -> str:
    return f"{day}T00:00:00Z"


# ── the data ─────────────────────────────────────────────────────────────────────────────────


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class SignedBy(_Part):
    """A verified statement."""

    name: str
    date: datetime.date
    scope: tuple[str, ...] = Field(default=(), description="What a reviewer looked at.")


class EntryData(_Part):
    """A published entry."""

    id: str
    url: str
    term: str
    question: str
    answer: str
    aliases: tuple[str, ...]
    area: str
    applies_to: str
    related: tuple[str, ...] = Field(description="Ids of other entries of this file.")
    experiments: tuple[str, ...]
    sources: tuple[CitedSource, ...]
    authors: tuple[SignedBy, ...]
    reviews: tuple[SignedBy, ...]
    checks: tuple[SignedBy, ...]
    manifest: str = Field(description="SHA-256 of the list of files that these people signed.")
    markdown: str = Field(description="The address of the page as Markdown, if it is published.")
    card: str = Field(description="The address of a picture of 1200 by 630 for links to the page.")


class GlossaryData(_Part):
    """All published entries of a glossary."""

    schema_url: str = Field(alias="$schema")
    title: str
    url: str
    licence: str
    entries: tuple[EntryData, ...]


def glossary_json(public: Public) -> str:
    """Give the data of all published entries."""
    data = GlossaryData(
        **{"$schema": public.address.file(SCHEMA)},
        title=public.title,
        url=public.address.page(INDEX),
        licence=public.licence,
        entries=tuple(_entry_data(entry, public) for entry in public.entries),
    )
    return data.model_dump_json(indent=2, by_alias=True) + "\n"  # as `_text` writes it, and faster


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema of the data."""
    schema = GlossaryData.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _entry_data(entry: Published, public: Public) -> EntryData:
    page = ENTRY.format(entry.id)
    return EntryData(
        id=entry.id,
        url=public.address.page(page),
        term=entry.term,
        question=entry.question,
        answer=entry.answer,
        aliases=entry.aliases,
        area=entry.area,
        applies_to=entry.applies_to,
        related=entry.related,
        experiments=entry.experiments,
        sources=entry.sources,
        authors=_signed(entry.authors),
        reviews=_signed(entry.reviews),
        checks=_signed(entry.checks),
        manifest=entry.manifest,
        markdown=public.address.source(page),
        card=public.address.file(CARD.format(entry.id)),
    )


def _signed(said: tuple[Said, ...]) -> tuple[SignedBy, ...]:
    return tuple(SignedBy(name=one.name, date=one.on, scope=one.scope) for one in said)


def _text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


# ── llms.txt ─────────────────────────────────────────────────────────────────────────────────


def llms(public: Public) -> str:
    """Give `llms.txt`: what this is, and each entry's Markdown, or its page, with its answer."""
    lines = [
        f"# {public.title}",
        "",
        "> Each entry is measured when the site is built and signed by an author and a reviewer.",
        "> Figures are live (measured by the build), recorded (measured earlier, on the machine",
        "> named) or reported (somebody else's, cited). Quote a figure with its machine.",
        "",
        "## Entries",
        "",
        *(_llms_line(entry, public) for entry in public.entries),
        *([] if public.entries else ["None is published yet."]),
        "",
        "## Data",
        "",
        f"- [All entries as JSON]({public.address.file(DATA)}): with [schema]"
        f"({public.address.file(SCHEMA)})",
        f"- [Atom feed]({public.address.file(FEED)}): published and checked again",
    ]
    return "\n".join([*lines, ""])


def _llms_line(entry: Published, public: Public) -> str:
    page = ENTRY.format(entry.id)
    url = public.address.source(page) or public.address.page(page)
    return f"- [{entry.term}]({url}): {entry.answer}"
