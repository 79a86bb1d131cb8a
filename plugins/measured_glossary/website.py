"""A judged glossary as the files of a site, for MkDocs and for `glossary export` alike.

Comes in: a `Glossary`. Goes out: `Output`s, named by where they stand below the site's sources.
Must not know MkDocs, nor decide what is published.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from measured_glossary import page, proof
from measured_glossary.backlinks import Mention, mentions
from measured_glossary.diagram import script
from measured_glossary.lab.record import record_bytes
from measured_glossary.pipeline import Glossary, Judged
from measured_glossary.problem import Place, Problem
from measured_glossary.trust.folder import ENTRIES, EntryFolder

EXPERIMENTS = "experiments"
ASSETS = "assets/measured-glossary"
RESERVED = (ENTRIES, EXPERIMENTS, ASSETS)
STYLESHEETS = (f"{ASSETS}/glossary.css",)
SCRIPT = f"{ASSETS}/tile-lifecycle.js"  # loaded by the pages that show the diagram


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A file of the site: `uri` from its top; only what `is_public` leaves the house."""

    uri: str
    content: str | bytes
    is_public: bool


def outputs(glossary: Glossary, docs: Path, *, drafts: bool) -> tuple[Output, ...]:
    """Give every file made from the glossary, sorted by where it stands."""
    found = mentions(docs, tuple(entry.id for entry in glossary.entries))
    made = [
        *_assets(),
        _index(glossary, drafts=drafts),
        *(out for judged in glossary.entries for out in _entry(glossary, judged, found)),
        *_experiments(glossary),
    ]
    shown = (out for out in made if out.is_public or drafts)
    # Two experiments may share a file: it stands there once, public if one of them is.
    by_uri = {out.uri: out for out in sorted(shown, key=lambda out: (out.uri, out.is_public))}
    return tuple(by_uri.values())


def entry_uri(entry_id: str) -> str:
    """Give where an entry's page stands."""
    return f"{ENTRIES}/{entry_id}/index.md"


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


def _entry(
    glossary: Glossary, judged: Judged, found: dict[str, tuple[Mention, ...]]
) -> Iterator[Output]:
    is_public = judged.verdict.state in ("published", "retracted")
    context = page.PageContext(
        site=_site(glossary),
        verdict=judged.verdict,
        signoff=judged.signoff,
        others=_others(glossary),
        met_in=[(m.title, f"../../{m.uri}", m.sentence) for m in found.get(judged.id, ())],
    )
    markdown = _matter(judged) + page.render(judged, context)
    yield Output(uri=entry_uri(judged.id), content=markdown, is_public=is_public)
    if judged.draft.folder and judged.verdict.state != "retracted":
        for name, raw in _beside(judged, judged.draft.folder):
            yield Output(uri=name, content=raw, is_public=is_public)


def _beside(judged: Judged, folder: EntryFolder) -> Iterator[tuple[str, bytes]]:
    """Give what stands beside an entry's page: its pictures, and what verifies it."""
    for name, raw in folder.files.items():
        if not name.endswith("/entry.md"):
            yield name, raw
    if judged.signoff and judged.verdict.state == "published":
        for name, raw in proof.files(judged.signoff, folder.signatures):
            yield f"{ENTRIES}/{judged.id}/{name}", raw


def _index(glossary: Glossary, *, drafts: bool) -> Output:
    shown = [e for e in glossary.entries if drafts or e.verdict.state == "published"]
    markdown = page.render_index(_site(glossary), shown)
    matter = _front_matter({"title": glossary.project.title})
    return Output(uri=f"{ENTRIES}/index.md", content=matter + markdown, is_public=True)


def _site(glossary: Glossary) -> page.Site:
    project = glossary.project
    return page.Site(
        title=project.title,
        index_url="../index.md",
        experiments_url=f"../../{EXPERIMENTS}",
        repository=project.repository,
        licence=project.licence,
    )


def _others(glossary: Glossary) -> dict[str, page.Other]:
    """Give what each entry may say of another; a draft gives neither link nor answer."""
    return {
        judged.id: page.Other(
            term=judged.entry.front.term,
            answer=judged.entry.front.answer,
            url=f"../{judged.id}/index.md",
        )
        for judged in glossary.published()
        if judged.entry
    }


def _matter(judged: Judged) -> str:
    """Give the front matter of a page: what the audit compares, and nothing an author wrote."""
    values = {"title": judged.id, "glossary-entry": judged.id}
    if judged.entry and judged.verdict.state != "retracted":
        front = judged.entry.front
        values |= {"title": front.term, "description": front.answer}
    return _front_matter(values | verdict_meta(judged))


def verdict_meta(judged: Judged) -> dict[str, str]:
    """Give what a page says of its verdict, for the audit and for readers' programs."""
    manifest = judged.signoff.manifest if judged.signoff else ""
    return {
        "glossary-entry": judged.id,
        "glossary-verdict": judged.verdict.state,
        "glossary-manifest": manifest,
    }


def _front_matter(values: dict[str, str]) -> str:
    # A JSON string is a YAML string whatever it holds.
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["---", *lines, "---", "", ""])


# ── experiments, records and assets ──────────────────────────────────────────────────────────


def _experiments(glossary: Glossary) -> Iterator[Output]:
    """Give each experiment's page, records and files; public where a published entry uses it."""
    for study_id, study in sorted(glossary.studies.items()):
        users = [e for e in glossary.entries if e.entry and study_id in e.entry.front.experiments]
        is_public = any(user.verdict.state == "published" for user in users)
        public_users = [u for u in users if u.verdict.state == "published"]
        markdown = page.render_experiment(_site(glossary), study, public_users)
        matter = _front_matter({"title": study.title})
        folder = f"{EXPERIMENTS}/{study_id}"
        yield Output(uri=f"{folder}/index.md", content=matter + markdown, is_public=is_public)
        for measured in study.measurements:
            raw = record_bytes(measured.record)
            name = f"{folder}/{measured.record.machine.id}.json"
            yield Output(uri=name, content=raw, is_public=is_public)
        for name, source in study.files.items():
            yield Output(uri=name, content=source.raw, is_public=is_public)


def _assets() -> Iterator[Output]:
    css = resources.files("measured_glossary") / "assets" / "glossary.css"
    yield Output(uri=STYLESHEETS[0], content=css.read_bytes(), is_public=True)
    yield Output(uri=SCRIPT, content=script(), is_public=True)


# ── a page's head ────────────────────────────────────────────────────────────────────────────


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
    return re.sub(r"</head>", lambda end: tags + end.group(), page_html, count=1)
