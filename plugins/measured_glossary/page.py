"""A page of the glossary: an entry, its evidence and its verdict in Markdown.

Comes in: an `Entry`, studies, the verdict and the sign-off. Goes out: Markdown that needs neither
MkDocs nor JavaScript to be complete. Must not decide anything, nor read the clock or a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from measured_glossary import blocks
from measured_glossary.body import Block, Text, Value, escape_identifiers
from measured_glossary.entry import Entry, PlainTerm
from measured_glossary.gate import State, Verdict
from measured_glossary.lab.study import Study
from measured_glossary.markup import fill, inert
from measured_glossary.problem import Checked, Problem
from measured_glossary.trust.signoff import Signoff

_HEADINGS: dict[State, tuple[str, str]] = {
    "published": ("", ""),
    "draft": (
        "Draft.",
        "It stays one until a named author and a different named reviewer sign it.",
    ),
    "outdated": ("Draft again.", "It was signed, and something has changed since."),
    "refused": ("Refused.", "Something in it is wrong; it is shown here so that it can be mended."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What the glossary is, as its pages name it; `repository` is where its files are found."""

    title: str
    index_url: str = ""
    repository: str = ""
    licence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """Another entry, as a link to it reads; without `url` it cannot be linked."""

    term: str
    answer: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an entry's body may show: its experiments' studies and its expressions' values."""

    studies: tuple[Study, ...]
    evaluate: Callable[[Value], Checked[str]]
    repository: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    """What stands around the body.

    `others` are the entries that may be linked, by id; `met_in` the pages that mention this one:
    title, url, sentence.
    """

    site: Site
    verdict: Verdict
    signoff: Signoff | None = None
    others: Mapping[str, Other]
    met_in: Sequence[tuple[str, str, str]] = ()


# ── an entry ─────────────────────────────────────────────────────────────────────────────────


def expand(entry: Entry, evidence: Evidence) -> Checked[str]:
    """Expand the body: values and blocks in place, everything else as written.

    The gate needs the problems, the page needs the text: what failed is marked as such in it.
    """
    parts: list[str] = []
    problems: list[Problem] = []
    for index, piece in enumerate(entry.pieces):
        part = _piece(entry, piece, evidence, f"mg-{index}")
        parts.append(part.value if part.value is not None else _FAULT[type(piece)])
        problems += part.problems
    return Checked(value="".join(parts).strip(), problems=tuple(problems))


def _piece(
    entry: Entry, piece: Text | Value | Block, evidence: Evidence, ident: str
) -> Checked[str]:
    if isinstance(piece, Text):
        return Checked(value=escape_identifiers(piece.markdown))
    if isinstance(piece, Value):
        value = evidence.evaluate(piece)
        text = None if value.value is None else inert(value.value)
        return Checked(value=text, problems=value.problems)
    asked = blocks.Asked(
        entry=entry,
        block=piece,
        options=None,
        studies=evidence.studies,
        repository=evidence.repository,
        ident=ident,
    )
    block = blocks.expand(asked)
    expanded = None if block.value is None else f"\n{block.value.strip()}\n"
    return Checked(value=expanded, problems=block.problems)


_FAULT = {
    Value: '<mark class="mg-fault">[a value that could not be found]</mark>',
    Block: '\n<p class="mg-fault"><mark>A block that could not be shown stands here.</mark></p>\n',
}


def render(entry: Entry, body: str, context: PageContext) -> str:
    """Give the whole page around an expanded body."""
    front = entry.front
    return fill(
        "entry.md",
        front=front,
        site=context.site,
        body=Markup(body),  # noqa: S704 - made by `expand`, every value in it inert
        banner=banner(context.verdict),
        related=[_related(item, context.others) for item in front.related],
        met_in=context.met_in,
        sources=front.sources,
        byline=_byline(entry, context.signoff),
        note="",
    )


def _related(item: str | PlainTerm, others: Mapping[str, Other]) -> Other:
    if isinstance(item, PlainTerm):
        return Other(term=item.term)
    return others.get(item, Other(term=item.replace("-", " ")))


def banner(verdict: Verdict) -> Markup:
    """Say that a page is not published, why, and what is missing."""
    heading, text = _HEADINGS[verdict.state]
    return fill(
        "banner.html",
        state=verdict.state,
        heading=heading,
        text=text,
        missing=verdict.missing,
        reasons=verdict.reasons,
    )


def _byline(entry: Entry, signoff: Signoff | None) -> list[tuple[str, str]]:
    """Give the byline from verified statements only; what none of them says stays empty."""
    if signoff is None:
        return [
            (name, "") for name in ("Written by", "Reviewed by", "Written on", "Last checked on")
        ]
    authors = [signed.person.name for signed in signoff.authors]
    reviews = [
        f"{s.person.name} on {s.on} (key {s.key.public.fingerprint})" for s in signoff.reviews
    ]
    written = str(signoff.author.on) if signoff.author else ""
    return [
        ("Written by", " and ".join(authors)),
        ("Reviewed by", "; ".join(reviews)),
        ("Written on", written),
        ("Last checked on", str(signoff.last_checked or "")),
    ]
