"""A page of the glossary: an entry, its evidence and its verdict in Markdown.

Comes in: an `Entry`, studies, the verdict and the sign-off. Goes out: Markdown that needs neither
MkDocs nor JavaScript to be complete. Must not decide anything, nor read the clock or a file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from markupsafe import Markup

from measured_glossary import beside, blocks, proof
from measured_glossary.asked import Asked, fence
from measured_glossary.body import Block, Piece, Text, Value, escape_identifiers
from measured_glossary.cells import grid
from measured_glossary.entry import Entry, FrontMatter, Measured, PlainTerm
from measured_glossary.gate import State, Verdict
from measured_glossary.graph import Node, draw, neighbours
from measured_glossary.lab.study import Measurement, Study
from measured_glossary.lab.table import Row, Table, shown, wrapped
from measured_glossary.markup import fill, fill_page, inert
from measured_glossary.problem import Checked, Problem
from measured_glossary.readings import is_static, readings
from measured_glossary.trust.signoff import Signoff

Connections = Sequence[tuple[str, str]]  # pairs of terms, by their names

_BANNERS: dict[State, tuple[str, str]] = {
    "published": ("", ""),
    "draft": (
        "This is a draft, and may be wrong.",
        "An entry is published once a named author and a second, named reviewer have signed it.",
    ),
    "outdated": (
        "This is a draft again, and may be wrong.",
        "It was signed, and something in it has changed since.",
    ),
    "refused": ("Refused.", "Something in it is wrong; it is shown so that it can be mended."),
    "retracted": ("Retracted.", "It was published once and is withdrawn."),
}
MANY_LINES = 20  # of machine code's counts, which are alike: more of them are folded away
MOST_DRAWN = 150  # terms; a picture of more is a ball of wool
MANY_TERMS, FEW_TERMS = 13, 5  # from how many on a list has headings, and what one of them needs
_ASSETS = "../assets/measured-glossary"
_BYLINE = ("Written by", "Reviewed by", "Written on", "Last checked on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What the glossary is, as its pages name it.

    `index_url`, `experiments_url` and `paths_url` lead from an entry's page to the index, to the
    folder of the experiments' pages and to the page of study paths; `repository` is the address
    below which the project's files are found.
    """

    title: str
    index_url: str = ""
    experiments_url: str = ""
    paths_url: str = ""
    repository: str = ""
    licence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """Another term, as a link to it reads; without `url` it has no page to link to."""

    term: str
    answer: str = ""
    url: str = ""


Turn = tuple[Other | None, Other | None]  # what stands before and after an entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A term as lists show it; `state` is empty for a published one."""

    term: str
    question: str
    answer: str
    area: str
    aliases: tuple[str, ...]
    url: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a body may show: its experiments' studies and its expressions' values.

    `top` leads from the page's folder to the site's top.
    """

    studies: tuple[Study, ...]
    evaluate: Callable[[Value], Checked[str]]
    repository: str = ""
    top: str = "../../"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    """What stands around a body.

    `others` are the entries that may be linked, by id; `met_in` the pages that mention this one:
    title, url, sentence. `link` links the terms in a body; `cited` are the forms in which a
    published entry is cited: what each is called, its language, its text. `turn` are the entries
    before and after it in the index.
    """

    site: Site
    verdict: Verdict
    signoff: Signoff | None = None
    others: Mapping[str, Other]
    met_in: Sequence[tuple[str, str, str]] = ()
    link: Callable[[str], str] = str
    cited: Sequence[tuple[str, str, str]] = ()
    turn: Turn = (None, None)


class Judged(Protocol):
    """An entry with its verdict; `entry` is `None` where it could not be parsed."""

    @property
    def id(self) -> str:
        """The entry's id."""

    @property
    def entry(self) -> Entry | None:
        """The entry."""

    @property
    def body(self) -> str:
        """What `expand` gave for it."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on it."""


# ── an entry ─────────────────────────────────────────────────────────────────────────────────


def expand(page: Measured, evidence: Evidence) -> Checked[str]:
    """Expand the body: values and blocks in place, everything else as written.

    The gate needs the problems and a draft's page the text: what failed is marked in it.
    """
    parts: list[str] = []
    problems: list[Problem] = []
    for index, piece in enumerate(page.pieces):
        part = _piece(page, piece, evidence, f"mg-{index}")
        parts.append(_FAILED[type(piece)] if part.value is None else part.value)
        problems += part.problems
    return Checked(value="".join(parts).strip(), problems=tuple(problems))


_FAILED = {
    Value: '<mark class="mg-fault">[a value that could not be found]</mark>',
    Block: '\n<p class="mg-fault"><mark>A block that could not be shown stands here.</mark></p>\n',
}


def _piece(page: Measured, piece: Piece, evidence: Evidence, ident: str) -> Checked[str]:
    if isinstance(piece, Text):
        return Checked(value=escape_identifiers(piece.markdown))
    if isinstance(piece, Value):
        value = evidence.evaluate(piece)
        printed = None if value.value is None else inert(value.value)
        return Checked(value=printed, problems=value.problems)
    asked = Asked(
        page=page,
        block=piece,
        options=None,
        studies=evidence.studies,
        repository=evidence.repository,
        top=evidence.top,
        ident=ident,
    )
    block = blocks.expand(asked)
    shown = None if block.value is None else f"\n{block.value.strip()}\n"
    return Checked(value=shown, problems=block.problems)


def render(judged: Judged, context: PageContext) -> str:
    """Give the page of an entry; of a retracted one, only that, why and since when."""
    retraction = context.signoff.retraction if context.signoff else None
    if context.verdict.state == "retracted" and retraction:
        said = retraction.statement
        return fill_page("retracted.md", id=judged.id, date=str(said.date), reason=said.reason)
    if judged.entry is None:
        return fill_page("unreadable.md", id=judged.id, banner=_banner(context.verdict))
    front = judged.entry.front
    return fill_page(
        "entry.md",
        id=judged.id,
        front=front,
        site=context.site,
        area_url=_area_url(context.site, front.area),
        body=Markup(context.link(judged.body)),  # noqa: S704 - `expand` made every value inert
        banner=_banner(context.verdict),
        verify=_verify(judged, context),
        cite=_cite(context),
        turn=context.turn,
        **_foot(front, context),
    )


def _verify(judged: Judged, context: PageContext) -> Markup | str:
    """Say how a reader verifies a published page, with this project and without it."""
    signoff = context.signoff
    if signoff is None or context.verdict.state != "published":
        return ""
    registry = signoff.registry
    pinned = "as pinned outside the repository" if registry.pinned else "not pinned in this build"
    return fill(
        "verify.md",
        id=judged.id,
        lines=proof.lines(signoff),
        manifest=signoff.manifest,
        registry=registry.sha256,
        pinned=pinned,
        fence=Markup("```"),
    )


def _cite(context: PageContext) -> Markup | str:
    """Say how the entry is cited, each form in a fence that nothing in it can close."""
    forms = [
        (name, language, fence(text), Markup(text))  # noqa: S704 - inside that fence
        for name, language, text in context.cited
    ]
    return fill("cite.md", forms=forms) if forms else ""


def _foot(front: FrontMatter, context: PageContext) -> dict[str, object]:
    related = [_related(item, context.others) for item in front.related]
    return {
        "linked": [other for other in related if other.url],
        "unlinked": [other for other in related if not other.url],
        "met_in": context.met_in,
        "byline": _byline(context.signoff),
    }


def _related(item: str | PlainTerm, others: Mapping[str, Other]) -> Other:
    if isinstance(item, PlainTerm):
        return Other(term=item.term)
    return others.get(item, Other(term=item.replace("-", " ")))


def _area_url(site: Site, area: str) -> str:
    """Give the address of an area's heading in the index, by the rule of the usual renderers."""
    anchor = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", area).strip().lower())
    return f"{site.index_url}#{anchor}" if site.index_url else ""


def _banner(verdict: Verdict) -> Markup:
    """Say that a page is not published, why, and what is missing."""
    heading, text = _BANNERS[verdict.state]
    return fill(
        "banner.html",
        state=verdict.state,
        heading=heading,
        text=text,
        missing=[_wanted(missing) for missing in verdict.missing],
        reasons=verdict.reasons,
    )


def _wanted(missing: str) -> tuple[str, str]:
    """Tell what is missing from the command behind it, where there is one."""
    what, _, command = missing.partition(": ")
    return (what, command) if command.startswith("glossary ") else (missing, "")


def _byline(signoff: Signoff | None) -> list[tuple[str, str]]:
    """Give the byline from verified statements alone; what none of them says is pending."""
    if signoff is None:
        return [(name, "") for name in _BYLINE]
    values = (
        " and ".join(signed.person.name for signed in signoff.authors),
        "; ".join(
            f"{signed.person.name} on {signed.on} ({', '.join(signed.statement.scope)})"
            for signed in signoff.reviews
        ),
        str(signoff.author.on) if signoff.author else "",
        str(signoff.last_checked or ""),
    )
    return list(zip(_BYLINE, values, strict=True))


# ── other pages ──────────────────────────────────────────────────────────────────────────────


def render_index(site: Site, shown: Sequence[Judged], connections: Connections = ()) -> str:
    """Give the glossary's index: every shown term, by the alphabet and by area, and connected."""
    terms = sorted((_line(judged) for judged in shown), key=lambda line: _sort_key(line.term))
    areas: dict[str, list[Line]] = defaultdict(list)
    for line in terms:
        areas[line.area].append(line)
    drawn = connections if len(terms) <= MOST_DRAWN else ()
    return fill_page(
        "index.md",
        site=site,
        assets=_ASSETS,
        terms=terms,
        letters=_by_letter(terms),
        areas=sorted((area, lines) for area, lines in areas.items() if area),
        graph=draw(_nodes(terms, drawn), drawn) if drawn else "",
        connected=neighbours(drawn).items(),
    )


def _by_letter(terms: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    """Give sorted terms by their first letters; a short list needs no headings.

    Letters with few terms share a heading, "A to D".
    """
    if len(terms) < MANY_TERMS:
        return [("", list(terms))]
    groups: list[list[Line]] = []
    for _, same in groupby(terms, key=lambda line: _letter(line.term)):
        if groups and len(groups[-1]) < FEW_TERMS:
            groups[-1] += same
        else:
            groups.append(list(same))
    return [(_span(group), group) for group in groups]


def _span(lines: Sequence[Line]) -> str:
    first, last = _letter(lines[0].term), _letter(lines[-1].term)
    return first if first == last else f"{first} to {last}"


def _letter(term: str) -> str:
    return _sort_key(term)[0][:1].upper()


def _nodes(terms: Sequence[Line], connections: Connections) -> list[Node]:
    """Give each shown term, and each related one that has no page."""
    pages = {line.term: line for line in terms}
    others = {name for pair in connections for name in pair} - pages.keys()
    nodes = [
        # A picture is HTML, in which nobody turns a page's source into its address.
        Node(name=name, area=line.area, url=line.url.removesuffix(".md") + ".html")
        for name, line in pages.items()
    ]
    return nodes + [Node(name=name, area="") for name in sorted(others)]


def _line(judged: Judged) -> Line:
    front = judged.entry.front if judged.entry else None
    return Line(
        term=front.term if front else judged.id,
        question=front.question if front else "",
        answer=front.answer if front else "",
        area=front.area if front else "",
        aliases=front.aliases if front else (),
        url=f"{judged.id}/index.md",
        state="" if judged.verdict.state == "published" else judged.verdict.state,
    )


def _sort_key(term: str) -> tuple[str, str]:
    """Sort by letters and digits alone: `__syncthreads()` stands under S."""
    return re.sub(r"[\W_]", "", term).casefold(), term


def turns(others: Mapping[str, Other]) -> dict[str, Turn]:
    """Give each entry's neighbours in the index's order, by its id."""
    order = sorted(others, key=lambda one: _sort_key(others[one].term))
    shown = [None, *(others[one] for one in order), None]
    return {one: (shown[place], shown[place + 2]) for place, one in enumerate(order)}


def render_disambiguation(name: str, lines: Sequence[tuple[str, str, str]]) -> str:
    """Give the page of a name that several terms have: each term, its address, its answer."""
    return fill_page("disambiguation.md", name=name, lines=lines)


def render_experiment(site: Site, study: Study, users: Sequence[Judged]) -> str:
    """Give the page of an experiment: machines side by side, claims, records, how to repeat it."""
    return fill_page(
        "experiment.md",
        site=site,
        study=study,
        users=[_line(judged) for judged in users],
        machines=blocks.machines([study], ident="mg-machine"),
        differing=beside.summary(study),
        tables=[_table(study, table) for table in study.declared_tables if _is_read(study, table)],
        claims=blocks.claim_list([(study, claim) for claim in study.declared_claims]),
        records=[_record(run) for run in study.measurements],
        reproduce=blocks.reproduce([study], [judged.id for judged in users]),
        is_static=is_static(study),
        expected=_expected(study),
    )


def _is_read(study: Study, table: Table) -> bool:
    return bool(readings([study], table.name))


def _table(study: Study, table: Table) -> Markup:
    """Give a table as the one machine has it, or of several machines side by side."""
    if table in beside.shared(study):
        return beside.figure(study, table, ident=f"mg-{table.name}")
    (reading,) = readings([study], table.name)
    read = reading.table or table
    figure = blocks.figure(reading, read, read.columns, ident=f"mg-{table.name}")
    lines = len(grid(read, read.columns).lines)
    if read.kind != "static" or lines <= MANY_LINES:
        return figure
    return fill("folded.html", lines=lines, text=read.text, figure=figure)


def record_name(run: Measurement) -> str:
    """Give the name of a record's file on the site: a live one is not the one in the project."""
    live = ".live" if run.origin == "live" else ""
    return f"{run.record.machine.id}{live}.json"


def _record(run: Measurement) -> dict[str, str]:
    record = run.record
    return {
        "label": f"{record.machine.name}, {record.captured[:10]}, {run.origin}",
        "name": record_name(run),
        "digest": record.digest,
        "attested_by": run.attestation.by if run.attestation else "",
    }


def _expected(study: Study) -> dict[str, object]:
    """Give what a reader who repeats the experiment may compare with: the first record's values."""
    if not study.measurements:
        return {}
    record = study.measurements[0].record
    lines = [
        f"{Row(table, row)!r}: {column.label}: {shown(wrapped(column, row[column.name]))}"
        for table in record.tables
        for row in table.rows
        for column in table.columns
        if row[column.name] is not None
    ]
    return {
        "machine": record.machine.name,
        "id": record.machine.id,
        "day": record.captured[:10],
        "lines": fill("expected.html", lines=lines),
    }
