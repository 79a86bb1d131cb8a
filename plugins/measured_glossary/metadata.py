"""What a page's head says to machines: JSON-LD, canonical address, Open Graph.

Comes in: what is published, and what a page is. Goes out: HTML for the head. Must not know drafts:
whatever it is given is public.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from measured_glossary.address import Address
from measured_glossary.published import Published, Said

ENTRY = "glossary/{}/index.md"
INDEX = "glossary/index.md"
FEED = "glossary/feed.xml"
CARD = "assets/measured-glossary/cards/{}.png"
SITE_CARD = "assets/measured-glossary/site-card.png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A page: where it stands, what it is called, and the entry it shows, if it shows one.

    `has_canonical` says that the theme has written the canonical address already; `twin` is where
    the page's Markdown stands, or nothing.
    """

    uri: str
    title: str
    description: str
    entry: Published | None = None
    has_canonical: bool = False
    twin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """The glossary as everybody may see it."""

    title: str
    address: Address
    entries: Sequence[Published] = field(default=())
    licence: str = ""


def tags(head: Head, public: Public) -> str:
    """Give the tags of a page's head, as one line of HTML."""
    url = public.address.page(head.uri)
    links = [(public.address.file(FEED), "application/atom+xml", public.title)]
    if head.twin:
        links.append((public.address.file(head.twin), "text/markdown", "Markdown"))
    made = [] if head.has_canonical else [f'<link rel="canonical" href="{html.escape(url)}">']
    made += [_alternate(*link) for link in links]
    made += [f'<meta property="{k}" content="{html.escape(v)}">' for k, v in _graph(head, public)]
    made.append('<meta name="twitter:card" content="summary_large_image">')
    if data := _data(head, public):
        made.append(f'<script type="application/ld+json">{_json(data)}</script>')
    return "".join(made)


def _alternate(url: str, kind: str, title: str) -> str:
    # The blank means nothing to who reads words. Material asks the folder of each link that says
    # exactly "alternate" for a site map, and takes it for a translation.
    named = f'type="{kind}" title="{html.escape(title)}"'
    return f'<link rel=" alternate" {named} href="{html.escape(url)}">'


def _graph(head: Head, public: Public) -> list[tuple[str, str]]:
    entry = head.entry
    card = CARD.format(entry.id) if entry else SITE_CARD
    said = f"{entry.term}: {entry.answer}" if entry else public.title
    return [
        ("og:type", "article" if entry else "website"),
        ("og:site_name", public.title),
        ("og:title", entry.question if entry else head.title),
        ("og:description", head.description),
        ("og:url", public.address.page(head.uri)),
        ("og:image", public.address.file(card)),
        ("og:image:width", "1200"),
        ("og:image:height", "630"),
        ("og:image:alt", said),
        *([("article:modified_time", str(entry.updated))] if entry else []),
    ]


# ── JSON-LD ──────────────────────────────────────────────────────────────────────────────────


def _data(head: Head, public: Public) -> dict[str, Any] | None:
    if head.entry:
        graph = [_article(head.entry, public), _term(head.entry, public), _set(public)]
    elif head.uri == INDEX:
        terms = [{"@id": _term_id(entry, public)} for entry in public.entries]
        named = [_term(entry, public) for entry in public.entries]
        graph = [{**_set(public), "hasDefinedTerm": terms}, *named]
    else:
        return None
    return {"@context": "https://schema.org", "@graph": graph}


def _set(public: Public) -> dict[str, Any]:
    url = public.address.page(INDEX)
    return {"@type": "DefinedTermSet", "@id": f"{url}#terms", "name": public.title, "url": url}


def _term_id(entry: Published, public: Public) -> str:
    return f"{public.address.page(ENTRY.format(entry.id))}#term"


def _term(entry: Published, public: Public) -> dict[str, Any]:
    made = {
        "@type": "DefinedTerm",
        "@id": _term_id(entry, public),
        "name": entry.term,
        "alternateName": list(entry.aliases),
        "description": entry.answer,
        "termCode": entry.id,
        "url": public.address.page(ENTRY.format(entry.id)),
        "inDefinedTermSet": {"@id": f"{public.address.page(INDEX)}#terms"},
    }
    return {key: value for key, value in made.items() if value}


def _article(entry: Published, public: Public) -> dict[str, Any]:
    url = public.address.page(ENTRY.format(entry.id))
    made: Mapping[str, Any] = {
        "@type": "TechArticle",
        "@id": f"{url}#article",
        "headline": entry.question,
        "abstract": entry.answer,
        "url": url,
        "mainEntityOfPage": url,
        "about": {"@id": f"{url}#term"},
        "articleSection": entry.area,
        "image": public.address.file(CARD.format(entry.id)),
        "author": _people(entry.authors),
        "reviewedBy": _people(entry.reviews),
        "datePublished": str(entry.published_on),
        "dateModified": str(entry.updated),
        "lastReviewed": str(entry.last_reviewed),
        "citation": sorted({source.url for source in entry.sources}),
        "identifier": f"sha256:{entry.manifest}",
        "license": public.licence,
    }
    return {key: value for key, value in made.items() if value}


def _people(said: Sequence[Said]) -> list[dict[str, str]]:
    return [{"@type": "Person", "name": one.name} for one in said]


def _json(data: Any) -> str:
    """Give JSON that ends no script element, whatever a text in it says."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
