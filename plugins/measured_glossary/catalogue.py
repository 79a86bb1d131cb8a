"""All entries together: what may be linked, what is public of them, and what is made of that.

Comes in: a `Glossary` and the site's address. Goes out: the vocabulary, `Public`, and files by
where they stand. Must not know MkDocs, nor what a page looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from measured_glossary import feeds, published
from measured_glossary.address import Address
from measured_glossary.metadata import CARD, ENTRY, SITE_CARD, Public
from measured_glossary.pipeline import Glossary, Judged
from measured_glossary.published import Published
from measured_glossary.terms import Term, Vocabulary, vocabulary

FRAME = frozenset({feeds.SCHEMA, SITE_CARD})  # the files into which no entry goes


def shown(glossary: Glossary, *, drafts: bool) -> tuple[Judged, ...]:
    """Give the entries that may be shown and linked: the published, or all that can be read."""
    readable = (entry for entry in glossary.entries if entry.entry)
    states = {"published"} if not drafts else {"published", "draft", "outdated", "refused"}
    return tuple(entry for entry in readable if entry.verdict.state in states)


def terms(glossary: Glossary, *, drafts: bool) -> Vocabulary:
    """Give every entry's term; only what is shown has a page and an answer."""
    linked = {entry.id for entry in shown(glossary, drafts=drafts)}
    entries = (each for each in glossary.entries if each.entry and each.draft.term)
    return vocabulary(_term(each, has_page=each.id in linked) for each in entries)


def _term(judged: Judged, *, has_page: bool) -> Term:
    term, entry = judged.draft.term, judged.entry
    if term is None or entry is None or not has_page:
        return term or Term(id=judged.id, names=())
    return replace(term, answer=entry.front.answer_alone(), uri=ENTRY.format(entry.id))


def public(glossary: Glossary, address: Address) -> Public:
    """Give what everybody may see: the published entries, sorted by id."""
    ids = frozenset(judged.id for judged in glossary.published())
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


def files(everything: Public) -> Iterator[tuple[str, Callable[[], str | bytes]]]:
    """Give the feed, the data, `llms.txt` and the site's card: where each stands, what makes it."""
    for uri, make in feeds.files().items():
        yield uri, partial(make, everything)
    yield SITE_CARD, partial(_site_card, everything.title)


def card_of(entry: Published, title: str) -> tuple[str, Callable[[], bytes]]:
    """Give where an entry's card stands, and what draws it."""
    return CARD.format(entry.id), partial(_card, entry, title)


def _card(entry: Published, title: str) -> bytes:
    authors = " and ".join(said.name for said in entry.authors)
    reviewers = " and ".join(said.name for said in entry.reviews)
    below = f"Written by {authors}. Reviewed by {reviewers}."
    return _drawn(heading=entry.term, text=entry.answer, above=title, below=below)


def _site_card(title: str) -> bytes:
    said = "Numbers measured when the page is built, pages signed by two people."
    return _drawn(heading=title, text=said, above="", below="")


def _drawn(**texts: str) -> bytes:
    from measured_glossary import card  # and with it Pillow, which most builds do not need

    return card.draw(**texts)
