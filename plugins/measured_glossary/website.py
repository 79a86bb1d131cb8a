"""A judged glossary as the files of a site, for MkDocs and for `glossary export` alike.

Comes in: a `Glossary`. Goes out: `Output`s, named by where they stand below the site's sources.
Must not know MkDocs, nor decide what is published.
"""

from __future__ import annotations

import html
import json
import pickle
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from measured_glossary import catalogue, cite, metadata, page, path_pages, proof, published
from measured_glossary.address import Address
from measured_glossary.backlinks import Mention, Named, Written, hand_written, mentions, named
from measured_glossary.bundle import lean
from measured_glossary.diagram import script
from measured_glossary.entry import PlainTerm
from measured_glossary.lab.record import record_bytes
from measured_glossary.lab.study import Study
from measured_glossary.memo import content_digest, digest, files_digest, package, plain_digest
from measured_glossary.metadata import Public
from measured_glossary.path import PATHS
from measured_glossary.path_pages import Stop
from measured_glossary.pipeline import Glossary, Judged
from measured_glossary.problem import Place, Problem
from measured_glossary.published import Published
from measured_glossary.scan import Lines
from measured_glossary.terms import Mention as TermMention
from measured_glossary.terms import (
    Vocabulary,
    ids_of,
    link,
    linked,
    problems,
    targets,
    vocabulary,
)
from measured_glossary.trust.folder import ENTRIES, EntryFolder
from measured_glossary.trust.signoff import Signoff

EXPERIMENTS = "experiments"
ASSETS = "assets/measured-glossary"
TERMS = "terms"
RESERVED = (ENTRIES, EXPERIMENTS, TERMS, PATHS, ASSETS)
STYLESHEETS = (f"{ASSETS}/glossary.css",)
SCRIPTS = (f"{ASSETS}/terms.js", f"{ASSETS}/add-step.js")
ENTRY_BOOST = 4
SCRIPT = f"{ASSETS}/tile-lifecycle.js"  # loaded by the pages that show the diagram


class Output(NamedTuple):  # of which a site has tens of thousands
    """A file of the site: `uri` from its top, and of a page the `title`.

    Only what `is_public` leaves the house. `key` names all that goes into the content and, for a
    page, into its head; `make` gives the content, or is it. What `is_costly` to make is worth
    keeping. A page that `is_large` lists all entries.
    """

    uri: str
    key: bytes
    make: Callable[[], str | bytes] | str | bytes
    is_public: bool
    title: str = ""
    is_costly: bool = False
    is_large: bool = False

    @property
    def content(self) -> str | bytes:
        """The content, made anew where it is not at hand."""
        return self.make if isinstance(self.make, str | bytes) else self.make()

    @property
    def is_page(self) -> bool:
        """Whether it is Markdown that a generator makes a page of."""
        return self.uri.endswith(".md")


def _whole(uri: str, content: str | bytes, *, is_public: bool, title: str = "") -> Output:
    """Give a file whose content is at hand."""
    key = content_digest(content)
    return Output(uri=uri, key=key, make=content, is_public=is_public, title=title)


@dataclass(frozen=True, kw_only=True)
class Website:
    """Everything made from a glossary, sorted by where it stands, and what its pages are of."""

    outputs: tuple[Output, ...]
    glossary: Glossary
    known: Vocabulary
    public: Public | None
    judged: Mapping[str, Judged]
    shelf: _Shelf

    @cached_property
    def published(self) -> Mapping[str, Published]:
        """What may be said of each published entry, by id."""
        return {entry.id: entry for entry in self.public.entries} if self.public else {}


def outputs(
    glossary: Glossary, docs: Path, *, drafts: bool, address: Address | None = None
) -> tuple[Output, ...]:
    """Give every file made from the glossary, sorted by where it stands."""
    return website(glossary, docs, drafts=drafts, address=address).outputs


def website(
    glossary: Glossary, docs: Path, *, drafts: bool, address: Address | None = None
) -> Website:
    """Make the site of a glossary.

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
        *shelf.files(),
    ]
    return Website(
        outputs=tuple(_each_once(out for out in made if out.is_public or drafts)),
        glossary=glossary,
        known=shelf.known,
        public=shelf.public,
        judged={entry_uri(judged.id): judged for judged in glossary.entries},
        shelf=shelf,
    )


def _each_once(shown: Iterable[Output]) -> Iterator[Output]:
    """Give files in the order of where they stand.

    Two experiments may share one: it stands there once, public if one of them is.
    """
    by_uri = dict[str, Output]()
    for out in shown:
        if out.is_public or out.uri not in by_uri or not by_uri[out.uri].is_public:
            by_uri[out.uri] = out
    return (by_uri[uri] for uri in sorted(by_uri))


def with_again(site: Website, judged: Judged) -> tuple[Website, Output]:
    """Give a site with an entry as it is now, and its page; the other pages are as they were."""
    facts = {**site.shelf.facts, judged.id: _facts(judged)}
    names = {**site.shelf.named, judged.id: named(judged.body, site.known)}
    shelf = replace(site.shelf, named=names, facts=facts)
    page = next(_entry(shelf, judged))
    return replace(site, shelf=shelf, judged={**site.judged, page.uri: judged}), page


@dataclass(frozen=True, kw_only=True)
class _Shelf:
    """A glossary with what connects its entries: what may be linked, and who names whom.

    `named` is what each entry's body names; `others` what may be said of the other entries, on a
    draft's page and on a public one; `facts` a digest of what is said of each entry.
    """

    glossary: Glossary
    drafts: bool
    known: Vocabulary
    named: Mapping[str, Named]
    met_in: Mapping[str, tuple[Mention, ...]]
    stops: Mapping[str, Stop]
    turns: Mapping[str, page.Turn]
    others: Mapping[bool, Mapping[str, page.Other]]
    public: Public | None
    facts: Mapping[str, bytes]

    @cached_property
    def around(self) -> bytes:
        """A digest of what every page of an entry is made with."""
        return digest(package(), _site(self.glossary), self.drafts, _place(self.public))

    def files(self) -> Iterator[Output]:
        """Give the files that are made from all published entries together."""
        if not self.public:
            return
        told = [self.facts[entry.id] for entry in self.public.entries]
        frame = digest(package(), _place(self.public))
        for uri, make in catalogue.files(self.public):
            key = digest(uri, frame, () if uri in catalogue.FRAME else told)
            yield Output(uri=uri, key=key, make=make, is_public=True, is_costly=True)
        for entry in self.public.entries:
            uri, make = catalogue.card_of(entry, self.public.title)
            names = [said.name for said in (*entry.authors, *entry.reviews)]
            seen = (entry.term, entry.answer, len(entry.authors), names)
            key = plain_digest(package(), uri, self.public.title, *seen)
            yield Output(uri=uri, key=key, make=make, is_public=True, is_costly=True)


def _shelf(glossary: Glossary, docs: Path, *, drafts: bool, address: Address | None) -> _Shelf:
    known = catalogue.terms(glossary, drafts=drafts)
    pages = [_as_shown(glossary, written) for _, written in hand_written(docs)]
    shown = catalogue.shown(glossary, drafts=drafts)
    stops = path_pages.stops(glossary, docs, drafts=drafts)
    others = {named: _others(glossary, drafts=named) for named in (False, True)}
    texts: list[tuple[bytes, Callable[[], str]]] = [
        *((content_digest(each.markdown), partial(str, each.markdown)) for each in pages),
        *((each.expansion.known.sha256, each.expansion.text) for each in shown),
    ]
    found = _named(glossary, texts, known)
    met_in = mentions(zip(chain(pages, map(_titled, shown)), found, strict=True))
    return _Shelf(
        glossary=glossary,
        drafts=drafts,
        known=known,
        named={each.id: names for each, names in zip(shown, found[len(pages) :], strict=True)},
        met_in=path_pages.met_in(met_in, glossary, stops),
        stops=stops,
        public=catalogue.public(glossary, address) if address else None,
        turns=page.turns(others[drafts]),
        others=others,
        facts={judged.id: _facts(judged) for judged in glossary.entries},
    )


def _titled(judged: Judged) -> Written:
    """Give an entry's page without its Markdown: what that names is known."""
    title = judged.entry.front.term if judged.entry else judged.id
    return Written(uri=entry_uri(judged.id), title=title, own=judged.id)


def _named(
    glossary: Glossary, texts: Sequence[tuple[bytes, Callable[[], str]]], known: Vocabulary
) -> list[Named]:
    """Find what each page names; one that may name other terms now is read again.

    Of each text comes its digest, and what gives it.
    """
    names = sorted((key, ids_of(terms)) for key, terms in known.linked.items())
    ids = sorted((term.id, bool(term.uri)) for term in known.by_id.values())
    made = plain_digest(package(), "named", names, ids)
    keys = [plain_digest(made, sha256) for sha256, _ in texts]

    def find(index: int) -> Named:
        _, text = texts[index]
        return named(text(), known)

    return glossary.memo.values(keys, find)


def _as_shown(glossary: Glossary, written: Written) -> Written:
    """Give a hand-written page with what it shows of what was measured."""
    expanded = glossary.documents.get(written.uri)
    return replace(written, markdown=expanded.body) if expanded else written


def entry_uri(entry_id: str) -> str:
    """Give where an entry's page stands."""
    return f"{ENTRIES}/{entry_id}/index.md"


def has_twin(output: Output) -> bool:
    """Say whether a page's Markdown is published beside it."""
    return output.is_public and output.is_page


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
    is_public, around = _is_public(judged), _around(shelf, judged)
    body, names = judged.expansion.known.sha256, targets(around.names, shelf.known)
    said = (shelf.around, shelf.facts[judged.id], body, names)
    yield Output(
        uri=entry_uri(judged.id),
        key=plain_digest("page", *said, *around.said()),
        make=partial(_rendered, shelf, judged),
        is_public=is_public,
        title=judged.entry.front.term if judged.entry else judged.id,
    )
    if judged.draft.folder and judged.verdict.state != "retracted":
        yield from _beside(judged, judged.draft.folder, shelf.facts[judged.id])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """What stands on an entry's page besides the entry and its verdict; `names` are in its body."""

    names: Sequence[TermMention]
    others: Mapping[str, page.Other]
    met_in: Sequence[tuple[str, str, str]]
    turn: page.Turn

    def said(self) -> tuple[object, ...]:
        """Give all of it but the names, as plain values: the `repr` of others is slow."""
        others = [(each.term, each.answer, each.url) for each in self.others.values()]
        turn = [(each.term, each.answer, each.url) if each else () for each in self.turn]
        return list(self.others), others, self.met_in, turn


def _around(shelf: _Shelf, judged: Judged) -> _Around:
    return _Around(
        names=shelf.named[judged.id].mentions if judged.id in shelf.named else (),
        others=_related(judged, shelf.others[not _is_public(judged)]),
        met_in=[(m.title, f"../../{m.uri}", m.sentence) for m in shelf.met_in.get(judged.id, ())],
        turn=shelf.turns.get(judged.id, (None, None)),
    )


def _is_public(judged: Judged) -> bool:
    return judged.verdict.state in ("published", "retracted")


def _rendered(shelf: _Shelf, judged: Judged) -> str:
    around = _around(shelf, judged)  # anew: of all entries it is much, and takes no time
    uri, own = entry_uri(judged.id), judged.id
    body = linked(judged.body, around.names, shelf.known, page=uri, own=own)
    context = page.PageContext(
        site=_site(shelf.glossary),
        verdict=judged.verdict,
        signoff=judged.signoff,
        others=around.others,
        met_in=around.met_in,
        link=lambda _: body,
        cited=_cited(shelf, judged),
        turn=around.turn,
    )
    return _matter(judged) + page.render(judged, context)


def _facts(judged: Judged) -> bytes:
    """Give a digest of all that is said of an entry: its text, its verdict, who signed it when.

    What this package makes of that is in it too.
    """
    folder, signoff, verdict = judged.draft.folder, judged.signoff, judged.verdict
    return plain_digest(
        package(),
        judged.id,
        judged.entry.sha256 if judged.entry else "",
        files_digest(folder.signatures) if folder else b"",
        verdict.state,
        repr(verdict.reasons),
        verdict.missing,
        _said(signoff) if signoff else (),
    )


def _said(signoff: Signoff) -> tuple[object, ...]:
    """Give which statements hold, and by which registry: that and their bytes say all the rest."""
    signed = (*signoff.authors, *signoff.reviews, *signoff.checks)
    retraction = signoff.retraction.file if signoff.retraction else ""
    registry = signoff.registry
    return signoff.manifest, [s.file for s in signed], retraction, registry.sha256, registry.pinned


def _related(judged: Judged, others: Mapping[str, page.Other]) -> dict[str, page.Other]:
    """Give those of the other entries that this one calls related."""
    named = judged.entry.front.related if judged.entry else ()
    return {each: others[each] for each in named if isinstance(each, str) and each in others}


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


def _beside(judged: Judged, folder: EntryFolder, facts: bytes) -> Iterator[Output]:
    """Give what stands beside an entry's page: its pictures, and what verifies it."""
    for name, raw in folder.files.items():
        if not name.endswith("/entry.md"):
            yield _whole(name, raw, is_public=_is_public(judged))
    if judged.signoff and judged.verdict.state == "published":
        for name, make in proof.files(judged.signoff, folder.signatures):
            uri = f"{ENTRIES}/{judged.id}/{name}"
            yield Output(uri=uri, key=facts + name.encode("ascii"), make=make, is_public=True)


def _index(shelf: _Shelf) -> Output:
    glossary = shelf.glossary
    shown = [e for e in glossary.entries if shelf.drafts or e.verdict.state == "published"]
    connections = _connections(shelf)
    said = [_listed(entry) for entry in shown]
    frame = digest(_site(glossary), _place(shelf.public))
    return Output(
        uri=f"{ENTRIES}/index.md",
        key=plain_digest(package(), "index", said, connections, frame),
        make=lambda: (
            _front_matter({"title": glossary.project.title}, search="exclude: true")
            + page.render_index(_site(glossary), shown, connections)
        ),
        is_public=True,
        title=glossary.project.title,
        is_large=True,
    )


def _listed(judged: Judged) -> tuple[object, ...]:
    """Give what the index, and its head, say of an entry: not its body, nor who signed it."""
    front = judged.entry.front if judged.entry else None
    words = (front.term, front.question, front.answer, front.area, front.aliases) if front else ()
    return judged.id, judged.verdict.state, words


def _place(public: Public | None) -> tuple[object, ...]:
    """Give what every head says of the glossary."""
    return (public.title, public.address, public.licence) if public else ()


def _connections(shelf: _Shelf) -> list[tuple[str, str]]:
    """Give the pairs of terms that belong together: related, or one named on the other's page."""
    names = {
        e.id: e.entry.front.term
        for e in catalogue.shown(shelf.glossary, drafts=shelf.drafts)
        if e.entry
    }
    by_uri = {entry_uri(entry_id): name for entry_id, name in names.items()}
    found: set[tuple[str, str]] = set()
    for judged in catalogue.shown(shelf.glossary, drafts=shelf.drafts):
        front, own = judged.entry.front if judged.entry else None, names[judged.id]
        others = [by_uri.get(mention.uri, "") for mention in shelf.met_in.get(judged.id, ())]
        for other in front.related if front else ():
            others.append(other.term if isinstance(other, PlainTerm) else names.get(other, ""))
        found.update((own, other) if own < other else (other, own) for other in others)
    return sorted((a, b) for a, b in found if a and a != b)


def _disambiguations(shelf: _Shelf) -> Iterator[Output]:
    """Give a page for each name that several entries have."""
    for shared in shelf.known.shared.values():
        lines = [(t.names[0], f"../../{t.uri}", t.answer) for t in shared.terms]
        markdown = page.render_disambiguation(shared.name, lines)
        is_public = not shelf.drafts
        matter = _front_matter({"title": shared.name})
        yield _whole(shared.uri, matter + markdown, is_public=is_public, title=shared.name)


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
            answer=judged.entry.front.answer_alone(),
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
    return _front_matter(values | verdict_meta(judged), search=f"boost: {ENTRY_BOOST}")


def verdict_meta(judged: Judged) -> dict[str, str]:
    """Give what a page says of its verdict, for the audit and for readers' programs."""
    manifest = judged.signoff.manifest if judged.signoff else ""
    return {
        "glossary-entry": judged.id,
        "glossary-verdict": judged.verdict.state,
        "glossary-manifest": manifest,
    }


def _front_matter(values: Mapping[str, str], *, search: str = "") -> str:
    """Give a page's front matter; `search` is what a search of the theme does with the page.

    The index is left out there: it says what the entries say, and is too long for some.
    """
    # A JSON string is a YAML string whatever it holds.
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["---", *lines, *([f"search: {{{search}}}"] if search else []), "---", "", ""])


# ── experiments, records and assets ──────────────────────────────────────────────────────────


def _experiments(glossary: Glossary) -> Iterator[Output]:
    """Give each experiment's page, records and files; public where a public page uses it."""
    public = glossary.public_experiments()
    users: dict[str, list[Judged]] = defaultdict(list)
    for judged in glossary.published():
        for study_id in judged.entry.front.experiments if judged.entry else ():
            users[study_id].append(judged)
    for study_id, study in sorted(glossary.studies.items()):
        is_public, folder = study_id in public, f"{EXPERIMENTS}/{study_id}"
        said = [(user.id, user.draft.term) for user in users[study_id]]
        yield Output(
            uri=f"{folder}/index.md",
            key=digest(package(), "experiment", _site(glossary), pickle.dumps(study), said),
            make=partial(_experiment, _site(glossary), study, users[study_id]),
            is_public=is_public,
            title=study.title,
        )
        for name, content in _records(study):
            yield _whole(f"{folder}/{name}", content, is_public=is_public)
        for name, source in study.files.items():
            yield _whole(name, source.raw, is_public=is_public)


def _experiment(site: page.Site, study: Study, users: Sequence[Judged]) -> str:
    return _front_matter({"title": study.title}) + page.render_experiment(site, study, users)


def _records(study: Study) -> Iterator[tuple[str, bytes]]:
    """Give each record as it was measured, and the machine's signature over it, if there is one."""
    for measured in study.measurements:
        name = page.record_name(measured)
        yield name, record_bytes(measured.record)
        if measured.attestation:
            yield f"{name}.sig", measured.attestation.signature


_all_of = attrgetter(*(field.name for field in fields(Stop)))


def _paths(shelf: _Shelf) -> Iterator[Output]:
    """Give the pages of study paths; what they show is chosen like the rest of the shelf."""
    for made in path_pages.pages(shelf.glossary, shelf.stops, ASSETS):
        content = _front_matter(made.matter) + made.markdown
        yield _whole(made.uri, content, is_public=True, title=made.matter["title"])
    yield Output(
        uri=path_pages.STEPS,
        key=plain_digest(package(), "steps", *map(_all_of, shelf.stops.values())),
        make=partial(path_pages.steps_script, shelf.stops),
        is_public=True,
    )


def _assets() -> Iterator[Output]:
    assets = Path(__file__).parent / "assets"
    for name in ("glossary.css", "terms.js", "filter.js", "search.js"):
        yield _whole(f"{ASSETS}/{name}", lean(assets / name), is_public=True)
    for name, content in path_pages.scripts().items():
        yield _whole(f"{ASSETS}/{name}", content, is_public=True)
    yield _whole(SCRIPT, script(), is_public=True)


# ── hand-written pages ───────────────────────────────────────────────────────────────────────


def link_terms(site: Website, uri: str, markdown: str) -> str:
    """Give a hand-written page with its figures and its terms; generated ones have theirs."""
    expanded = site.glossary.documents.get(uri)
    made = link(expanded.body if expanded else markdown, site.known, page=uri)
    return path_pages.with_control(site.glossary, uri, made)


def reference_faults(glossary: Glossary, docs: Path) -> list[Problem]:
    """Give what is wrong with hand-written pages: what they show, and each `[[term]]`.

    A term must be one that somebody, and not two, have.
    """
    pages = [page for page in hand_written(docs) if "[[" in page[1].markdown]
    known = catalogue.terms(glossary, drafts=True) if pages else vocabulary(())
    unknown = [
        replace(problem, place=replace(problem.place, file=f"{docs.name}/{source.file}"))
        for source, written in pages
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


def with_metadata(site: Website, shown: Shown, *, has_twin: bool) -> str:
    """Put what machines read into a page's head; of a draft nothing is said."""
    judged = site.judged.get(shown.uri)
    if site.public is None or (judged and judged.verdict.state != "published"):
        return shown.html
    head = metadata.Head(
        uri=shown.uri,
        title=shown.title,
        description=shown.description,
        entry=site.published.get(judged.id) if judged else None,
        has_canonical='rel="canonical"' in shown.html,
        twin=shown.uri if has_twin else "",
    )
    return _into_head(shown.html, metadata.tags(head, site.public))


def with_head(site: Website, uri: str, page_html: str, *, preview: bool) -> str:
    """Put the verdict of an entry's page, and the mark of a preview, into the HTML's head."""
    metas = {"glossary-preview": "drafts are shown"} if preview else {}
    judged = site.judged.get(uri)
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
