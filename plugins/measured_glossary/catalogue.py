"""All entries together: what may be linked, what is public of them, and what is made of that.

Comes in: a `Glossary` and the site's address. Goes out: the vocabulary, `Public`, and files by
where they stand. Must not know MkDocs, nor what a page looks like.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from measured_glossary import card, feeds, published
from measured_glossary.address import Address
from measured_glossary.entry import Entry
from measured_glossary.metadata import CARD, ENTRY, SITE_CARD, Public
from measured_glossary.pipeline import Glossary, Judged
from measured_glossary.published import Published
from measured_glossary.terms import Term, Vocabulary, vocabulary


def shown(glossary: Glossary, *, drafts: bool) -> tuple[Judged, ...]:
    """Give the entries that may be shown and linked: the published, or all that can be read."""
    readable = (entry for entry in glossary.entries if entry.entry)
    states = {"published"} if not drafts else {"published", "draft", "outdated", "refused"}
    return tuple(entry for entry in readable if entry.verdict.state in states)


def terms(glossary: Glossary, *, drafts: bool) -> Vocabulary:
    """Give every entry's term; only what is shown has a page and an answer."""
    linked = {entry.id for entry in shown(glossary, drafts=drafts)}
    entries = (judged.entry for judged in glossary.entries if judged.entry)
    return vocabulary(_term(entry, has_page=entry.id in linked) for entry in entries)


def _term(entry: Entry, *, has_page: bool) -> Term:
    return Term(
        id=entry.id,
        names=(entry.front.term, *entry.front.aliases),
        answer=entry.front.answer if has_page else "",
        uri=ENTRY.format(entry.id) if has_page else "",
    )


def public(glossary: Glossary, address: Address) -> Public:
    """Give what everybody may see: the published entries, sorted by id."""
    ids = [judged.id for judged in glossary.published()]
    entries = (
        published.of(judged.entry, judged.signoff, ids)
        for judged in glossary.published()
        if judged.entry and judged.signoff
    )
    return Public(
        title=glossary.project.title,
        address=address,
        entries=tuple(sorted(entries, key=lambda entry: entry.id)),
        licence=glossary.project.licence,
    )


def files(everything: Public) -> Iterator[tuple[str, str | bytes]]:
    """Give the feed, the data, `llms.txt` and the cards, by where each stands."""
    yield from feeds.files(everything).items()
    yield SITE_CARD, _site_card(everything.title)
    for entry in everything.entries:
        yield CARD.format(entry.id), _card(entry, everything.title)


@cache
def _card(entry: Published, title: str) -> bytes:
    """Draw an entry's card; `serve` asks for the same again and again."""
    authors = " and ".join(said.name for said in entry.authors)
    reviewers = " and ".join(said.name for said in entry.reviews)
    below = f"Written by {authors}. Reviewed by {reviewers}."
    return card.draw(heading=entry.term, text=entry.answer, above=title, below=below)


@cache
def _site_card(title: str) -> bytes:
    said = "Numbers measured when the page is built, pages signed by two people."
    return card.draw(heading=title, text=said, above="", below="")
