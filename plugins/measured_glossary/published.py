"""What may be said of a published entry outside its page, from verified statements alone.

Comes in: an entry and its complete sign-off. Goes out: a `Published`. Must not know feeds, heads,
citations or where the page stands: those are made from this value and from nothing else.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from measured_glossary.entry import CitedSource, Entry
from measured_glossary.trust.signed import Signed
from measured_glossary.trust.signoff import Signoff


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Who vouched for an entry, on which day, and what of it they looked at."""

    name: str
    on: datetime.date
    scope: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published entry: its words, its people and the digest of what they signed.

    `related` are the ids of published entries.
    """

    id: str
    term: str
    question: str
    answer: str
    aliases: tuple[str, ...]
    area: str
    applies_to: str
    related: tuple[str, ...]
    experiments: tuple[str, ...]
    sources: tuple[CitedSource, ...]
    authors: tuple[Said, ...]
    reviews: tuple[Said, ...]
    checks: tuple[Said, ...]
    manifest: str

    @property
    def published_on(self) -> datetime.date:
        """Give the day on which the second of both signatures was there."""
        return max(max(said.on for said in self.authors), min(said.on for said in self.reviews))

    @property
    def last_reviewed(self) -> datetime.date:
        """Give the day of the latest review or check."""
        return max(said.on for said in (*self.reviews, *self.checks))

    @property
    def updated(self) -> datetime.date:
        """Give the day of the latest signature of any kind."""
        return max(self.published_on, self.last_reviewed)


def of(entry: Entry, signoff: Signoff, public: Collection[str]) -> Published:
    """Give what may be said of an entry; `public` are the ids of all published ones."""
    front = entry.front
    return Published(
        id=entry.id,
        term=front.term,
        question=front.question,
        answer=front.answer.replace("`", ""),
        aliases=front.aliases,
        area=front.area,
        applies_to=front.applies_to,
        related=tuple(r for r in front.related if isinstance(r, str) and r in public),
        experiments=front.experiments,
        sources=front.sources,
        authors=_said(signoff.authors),
        reviews=_said(signoff.reviews),
        checks=_said(signoff.checks),
        manifest=signoff.manifest,
    )


def _said(signed: Sequence[Signed]) -> tuple[Said, ...]:
    return tuple(Said(name=s.person.name, on=s.on, scope=tuple(s.statement.scope)) for s in signed)
