"""A judged glossary as the files of a site, for MkDocs and for `glossary export` alike.

Comes in: a `Glossary`. Goes out: `Output`s, named by where they stand below the site's sources.
Must not know MkDocs, nor decide what is published.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from measured_glossary import catalogue, cite, metadata, page, path_pages, proof, published
from measured_glossary.address import Address
from measured_glossary.backlinks import Mention, Written, hand_written, mentions
from measured_glossary.bundle import lean
from measured_glossary.diagram import script
from measured_glossary.entry import PlainTerm
from measured_glossary.lab.record import record_bytes
from measured_glossary.lab.study import Study
from measured_glossary.metadata import Public
from measured_glossary.path import PATHS
from measured_glossary.path_pages import Stop
from measured_glossary.pipeline import Glossary, Judged
from measured_glossary.problem import Place, Problem
from measured_glossary.scan import Lines
from measured_glossary.terms import Vocabulary, link, problems
from measured_glossary.trust.folder import ENTRIES, EntryFolder

EXPERIMENTS = "experiments"
ASSETS = "assets/measured-glossary"
TERMS = "terms"
RESERVED = (ENTRIES, EXPERIMENTS, TERMS, PATHS, ASSETS)
STYLESHEETS = (f"{ASSETS}/glossary.css",)
SCRIPTS = (f"{ASSETS}/terms.js", f"{ASSETS}/add-step.js")
ENTRY_BOOST = 4
SCRIPT = f"{ASSETS}/tile-lifecycle.js"  # loaded by the pages that show the diagram


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A file of the site: `uri` from its top; only what `is_public` leaves the house."""

    uri: str
    content: str | bytes
    is_public: bool


def outputs(
    glossary: Glossary, docs: Path, *, drafts: bool, address: Address | None = None
) -> tuple[Output, ...]:
    """Give every file made from the glossary, sorted by where it stands.

    Feeds, data and cards hold absolute addresses: without `address` there are none.
    """
    shelf = _shelf(glossary, docs, drafts=drafts, address=address)
    made = [
        *_assets(),
        _index(shelf),
        *(out for judged in glossary.entries for out in _entry(shelf, judged)),
        *_disambiguations(shelf),
        *_experiments(glossary),
        *_paths(shelf),
        *(Output(uri=uri, content=made, is_public=True) for uri, made in shelf.files()),
    ]
    shown = (out for out in made if out.is_public or drafts)
    # Two experiments may share a file: it stands there once, public if one of them is.
    by_uri = {out.uri: out for out in sorted(shown, key=lambda out: (out.uri, out.is_public))}
    return tuple(by_uri.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shelf:
    """A glossary with what connects its entries: what may be linked, and who names whom.

    `others` are what an entry may say of the others, by whether it may name drafts.
    """

    glossary: Glossary
    drafts: bool
    known: Vocabulary
    met_in: Mapping[str, tuple[Mention, ...]]
    stops: Mapping[str, Stop]
    public: Public | None
    turns: Mapping[str, page.Turn]
    others: Mapping[bool, Mapping[str, page.Other]]

    def files(self) -> Iterator[tuple[str, str | bytes]]:
        """Give the files that are made from all published entries together."""
        return catalogue.files(self.public) if self.public else iter(())


def _shelf(glossary: Glossary, docs: Path, *, drafts: bool, address: Address | None) -> _Shelf:
    known = catalogue.terms(glossary, drafts=drafts)
    pages = [
        *(_as_shown(glossary, written) for _, written in hand_written(docs)),
        *(
            Written(uri=entry_uri(e.id), title=e.entry.front.term, markdown=e.body, own=e.id)
            for e in catalogue.shown(glossary, drafts=drafts)
            if e.entry
        ),
    ]
    stops = path_pages.stops(glossary, docs, drafts=drafts)
    others = {named: _others(glossary, drafts=named) for named in (False, True)}
    return _Shelf(
        glossary=glossary,
        drafts=drafts,
        known=known,
        met_in=path_pages.met_in(mentions(pages, known), glossary, stops),
        stops=stops,
        public=catalogue.public(glossary, address) if address else None,
        turns=page.turns(others[drafts]),
        others=others,
    )


def _as_shown(glossary: Glossary, written: Written) -> Written:
    """Give a hand-written page with what it shows of what was measured."""
    expanded = glossary.documents.get(written.uri)
    return replace(written, markdown=expanded.body) if expanded else written


def entry_uri(entry_id: str) -> str:
    """Give where an entry's page stands."""
    return f"{ENTRIES}/{entry_id}/index.md"


def has_twin(output: Output) -> bool:
    """Say whether a page's Markdown is published beside it."""
    return output.is_public and output.uri.endswith(".md")


def foreign_files(uris: Iterable[str]) -> list[Problem]:
    """Say which hand-written files stand where only generated ones may."""
    return [
        Problem(
            place=Place(uri),
            code="foreign-page",
            message="stands among the hand-written pages where only generated ones may",
            hint=f"move it to another folder than {', '.join(RESERVED)}",
        )
        for uri in sorted(uris)
        if uri.casefold().startswith(tuple(f"{folder}/" for folder in RESERVED))
    ]


# ── entries and their index ──────────────────────────────────────────────────────────────────


def _entry(shelf: _Shelf, judged: Judged) -> Iterator[Output]:
    is_public = judged.verdict.state in ("published", "retracted")
    uri = entry_uri(judged.id)
    context = page.PageContext(
        site=_site(shelf.glossary),
        verdict=judged.verdict,
        signoff=judged.signoff,
        others=shelf.others[not is_public],
        met_in=[(m.title, f"../../{m.uri}", m.sentence) for m in shelf.met_in.get(judged.id, ())],
        link=partial(link, known=shelf.known, page=uri, own=judged.id),
        cited=_cited(shelf, judged),
        turn=shelf.turns.get(judged.id, (None, None)),
    )
    markdown = _matter(judged) + page.render(judged, context)
    yield Output(uri=uri, content=markdown, is_public=is_public)
    if judged.draft.folder and judged.verdict.state != "retracted":
        for name, raw in _beside(judged, judged.draft.folder):
            yield Output(uri=name, content=raw, is_public=is_public)


def _cited(shelf: _Shelf, judged: Judged) -> tuple[tuple[str, str, str], ...]:
    """Give the forms in which a published entry is cited."""
    if judged.verdict.state != "published" or not judged.entry or not judged.signoff:
        return ()
    entry, title = published.of(judged.entry, judged.signoff, ()), shelf.glossary.project.title
    url = shelf.public.address.page(entry_uri(judged.id)) if shelf.public else ""
    return (
        ("As text", "text", cite.plain(entry, title, url)),
        ("BibTeX", "bibtex", cite.bibtex(entry, title, url)),
        ("Citation file (CFF)", "yaml", cite.cff(entry, title, url)),
    )


def _beside(judged: Judged, folder: EntryFolder) -> Iterator[tuple[str, bytes]]:
    """Give what stands beside an entry's page: its pictures, and what verifies it."""
    for name, raw in folder.files.items():
        if not name.endswith("/entry.md"):
            yield name, raw
    if judged.signoff and judged.verdict.state == "published":
        for name, raw in proof.files(judged.signoff, folder.signatures):
            yield f"{ENTRIES}/{judged.id}/{name}", raw


def _index(shelf: _Shelf) -> Output:
    glossary = shelf.glossary
    shown = [e for e in glossary.entries if shelf.drafts or e.verdict.state == "published"]
    markdown = page.render_index(_site(glossary), shown, _connections(shelf))
    matter = _front_matter({"title": glossary.project.title})
    return Output(uri=f"{ENTRIES}/index.md", content=matter + markdown, is_public=True)


def _connections(shelf: _Shelf) -> list[tuple[str, str]]:
    """Give the pairs of terms that belong together: related, or one named on the other's page."""
    names = {
        e.id: e.entry.front.term
        for e in catalogue.shown(shelf.glossary, drafts=shelf.drafts)
        if e.entry
    }
    by_uri = {entry_uri(entry_id): name for entry_id, name in names.items()}
    found: set[tuple[str, ...]] = set()
    for judged in catalogue.shown(shelf.glossary, drafts=shelf.drafts):
        front = judged.entry.front if judged.entry else None
        for other in front.related if front else ():
            named = other.term if isinstance(other, PlainTerm) else names.get(other, "")
            found.add(tuple(sorted((names[judged.id], named))))
        for mention in shelf.met_in.get(judged.id, ()):
            found.add(tuple(sorted((names[judged.id], by_uri.get(mention.uri, "")))))
    return sorted((a, b) for a, b in found if a and a != b)


def _disambiguations(shelf: _Shelf) -> Iterator[Output]:
    """Give a page for each name that several entries have."""
    for shared in shelf.known.shared.values():
        lines = [(t.names[0], f"../../{t.uri}", t.answer) for t in shared.terms]
        markdown = page.render_disambiguation(shared.name, lines)
        is_public = not shelf.drafts
        matter = _front_matter({"title": shared.name})
        yield Output(uri=shared.uri, content=matter + markdown, is_public=is_public)


def _site(glossary: Glossary) -> page.Site:
    project = glossary.project
    return page.Site(
        title=project.title,
        index_url="../index.md",
        experiments_url=f"../../{EXPERIMENTS}",
        paths_url=f"../../{path_pages.INDEX}",
        repository=project.repository,
        licence=project.licence,
    )


def _others(glossary: Glossary, *, drafts: bool) -> dict[str, page.Other]:
    """Give what an entry may say of the others; of drafts only a draft says anything."""
    shown = glossary.entries if drafts else glossary.published()
    return {
        judged.id: page.Other(
            term=judged.entry.front.term,
            answer=judged.entry.front.answer,
            url=f"../{judged.id}/index.md",
        )
        for judged in shown
        if judged.entry and judged.verdict.state != "retracted"
    }


def _matter(judged: Judged) -> str:
    """Give the front matter of a page: what the audit compares, and nothing an author wrote."""
    values = {"title": judged.id, "glossary-entry": judged.id}
    if judged.entry and judged.verdict.state != "retracted":
        front = judged.entry.front
        values |= {"title": front.term, "description": front.answer}
    # A search of the theme ranks an entry above the pages that only mention its term.
    return _front_matter(values | verdict_meta(judged), boost=ENTRY_BOOST)


def verdict_meta(judged: Judged) -> dict[str, str]:
    """Give what a page says of its verdict, for the audit and for readers' programs."""
    manifest = judged.signoff.manifest if judged.signoff else ""
    return {
        "glossary-entry": judged.id,
        "glossary-verdict": judged.verdict.state,
        "glossary-manifest": manifest,
    }


def _front_matter(values: Mapping[str, str], boost: int = 1) -> str:
    # A JSON string is a YAML string whatever it holds.
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    search = [f"search: {{boost: {boost}}}"] if boost != 1 else []
    return "\n".join(["---", *lines, *search, "---", "", ""])


# ── experiments, records and assets ──────────────────────────────────────────────────────────


def _experiments(glossary: Glossary) -> Iterator[Output]:
    """Give each experiment's page, records and files; public where a public page uses it."""
    for study_id, study in sorted(glossary.studies.items()):
        users = [e for e in glossary.entries if e.entry and study_id in e.entry.front.experiments]
        is_public = study_id in glossary.public_experiments()
        public_users = [u for u in users if u.verdict.state == "published"]
        markdown = page.render_experiment(_site(glossary), study, public_users)
        matter = _front_matter({"title": study.title})
        folder = f"{EXPERIMENTS}/{study_id}"
        yield Output(uri=f"{folder}/index.md", content=matter + markdown, is_public=is_public)
        for name, content in _records(study):
            yield Output(uri=f"{folder}/{name}", content=content, is_public=is_public)
        for name, source in study.files.items():
            yield Output(uri=name, content=source.raw, is_public=is_public)


def _records(study: Study) -> Iterator[tuple[str, bytes]]:
    """Give each record as it was measured, and the machine's signature over it, if there is one."""
    for measured in study.measurements:
        name = page.record_name(measured)
        yield name, record_bytes(measured.record)
        if measured.attestation:
            yield f"{name}.sig", measured.attestation.signature


def _paths(shelf: _Shelf) -> Iterator[Output]:
    """Give the pages of study paths; what they show is chosen like the rest of the shelf."""
    for made in path_pages.pages(shelf.glossary, shelf.stops, ASSETS):
        content = _front_matter(made.matter) + made.markdown
        yield Output(uri=made.uri, content=content, is_public=True)
    script = path_pages.steps_script(shelf.stops)
    yield Output(uri=path_pages.STEPS, content=script, is_public=True)


def _assets() -> Iterator[Output]:
    assets = Path(__file__).parent / "assets"
    for name in ("glossary.css", "terms.js", "filter.js", "search.js"):
        yield Output(uri=f"{ASSETS}/{name}", content=lean(assets / name), is_public=True)
    for name, content in path_pages.scripts().items():
        yield Output(uri=f"{ASSETS}/{name}", content=content, is_public=True)
    yield Output(uri=SCRIPT, content=script(), is_public=True)


# ── hand-written pages ───────────────────────────────────────────────────────────────────────


def link_terms(glossary: Glossary, uri: str, markdown: str, *, drafts: bool) -> str:
    """Give a hand-written page with its figures and its terms; generated ones have theirs."""
    expanded = glossary.documents.get(uri)
    markdown = expanded.body if expanded else markdown
    linked = link(markdown, catalogue.terms(glossary, drafts=drafts), page=uri)
    return path_pages.with_control(glossary, uri, linked)


def reference_faults(glossary: Glossary, docs: Path) -> list[Problem]:
    """Give what is wrong with hand-written pages: what they show, and each `[[term]]`.

    A term must be one that somebody, and not two, have.
    """
    known = catalogue.terms(glossary, drafts=True)
    unknown = [
        replace(problem, place=replace(problem.place, file=f"{docs.name}/{source.file}"))
        for source, written in hand_written(docs)
        for problem in problems(written.markdown, known, Lines(source.file, written.markdown, 1))
    ]
    return [*glossary.faults, *unknown]


# ── a page's head ────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A page as the generator made it: where it stands, its title and description, its HTML."""

    uri: str
    title: str
    description: str
    html: str


def with_metadata(
    glossary: Glossary, shown: Shown, address: Address, *, twins: Collection[str]
) -> str:
    """Put what machines read into a page's head; of a draft nothing is said."""
    judged = next((e for e in glossary.entries if entry_uri(e.id) == shown.uri), None)
    if judged and judged.verdict.state != "published":
        return shown.html
    public = catalogue.public(glossary, address)
    head = metadata.Head(
        uri=shown.uri,
        title=shown.title,
        description=shown.description,
        entry=next((e for e in public.entries if judged and e.id == judged.id), None),
        has_canonical='rel="canonical"' in shown.html,
        twin=shown.uri if shown.uri in twins else "",
    )
    return _into_head(shown.html, metadata.tags(head, public))


def with_head(glossary: Glossary, uri: str, page_html: str, *, preview: bool) -> str:
    """Put the verdict of an entry's page, and the mark of a preview, into the HTML's head."""
    metas = {"glossary-preview": "drafts are shown"} if preview else {}
    judged = next((e for e in glossary.entries if entry_uri(e.id) == uri), None)
    if judged:
        metas |= verdict_meta(judged)
    if preview or (judged and judged.verdict.state != "published"):
        metas["robots"] = "noindex"
    tags = "".join(
        f'<meta name="{name}" content="{html.escape(value)}">' for name, value in metas.items()
    )
    return _into_head(page_html, tags)


def _into_head(page_html: str, tags: str) -> str:
    return re.sub(r"</head>", lambda end: tags + end.group(), page_html, count=1)
