"""What the site's search knows of the glossary: terms, other names, answers, questions, headings.

Comes in: a judged `Glossary`; an index as a search plugin wrote it; a page's HTML. Goes out: an
entry's documents; the index with them; the page with our own worker. Must not know MkDocs, nor take
a page's 600 words: an entry is found by what its author says in few.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from measured_glossary import catalogue
from measured_glossary.address import Address
from measured_glossary.entry import Entry
from measured_glossary.expansion import Known
from measured_glossary.metadata import ENTRY, INDEX
from measured_glossary.pipeline import Glossary
from measured_glossary.trust.folder import ENTRIES
from measured_glossary.website import ASSETS, EXPERIMENTS, TERMS

Doc = dict[str, Any]  # in the form of Material's search: title and text are HTML

FILE = "search/search_index.json"
WORKER = f"{ASSETS}/search.js"
EXCLUDED = {"exclude": True}  # what a page says of itself to the search plugin
_COVERED = tuple(f"{folder}/" for folder in (ENTRIES, EXPERIMENTS, TERMS))
_CODE = re.compile(r"`+([^`]+)`+")
# In the worker an entry's answer counts for more than the title of a page written by hand.
BOOST = 10


def covers(place: str) -> bool:
    """Say whether a page, by its source or its address, is one whose words are left out."""
    return place.startswith(_COVERED)


def documents(glossary: Glossary, *, drafts: bool, has_folders: bool) -> list[Doc]:
    """Give a document for each page made from the glossary; of a draft only if `drafts` are shown.

    `has_folders` says that a page is called by its folder. Pages that tell entries of one name
    apart are left out: that name finds the entries themselves.
    """
    address = Address(base="", has_folders=has_folders)
    shown = catalogue.shown(glossary, drafts=drafts)
    return [
        _titled(address, INDEX, glossary.project.title),
        *(_entry(address, each.entry, each.expansion.known) for each in shown if each.entry),
        *(_titled(address, uri, title) for uri, title in _experiments(glossary, drafts=drafts)),
    ]


def _titled(address: Address, uri: str, title: str) -> Doc:
    """Give a page that is found by its title alone: its words are those of entries."""
    return {"location": _location(address, uri), "title": _escaped(title), "text": ""}


def _entry(address: Address, entry: Entry, body: Known) -> Doc:
    front = entry.front
    made: Doc = {
        "boost": BOOST,
        "location": _location(address, ENTRY.format(entry.id)),
        "title": _escaped(front.term),
        "text": _CODE.sub(r"<code>\1</code>", _escaped(front.answer)),
        "question": _escaped(front.question.replace("`", "")),
    }
    if front.aliases:  # the theme shows tags below a result, and they count in its own search too
        made["tags"] = [_escaped(alias) for alias in front.aliases]
    if body.headings:  # a heading's anchor follows from its text, and the worker knows the rule
        made["sections"] = list(body.headings)
    return made


def _experiments(glossary: Glossary, *, drafts: bool) -> Iterator[tuple[str, str]]:
    public = glossary.public_experiments()
    for study_id, study in sorted(glossary.studies.items()):
        if drafts or study_id in public:
            yield f"{EXPERIMENTS}/{study_id}/index.md", study.title


def _location(address: Address, uri: str) -> str:
    """Give where a page stands below the site's top, as the search's results name it."""
    return address.page(uri).lstrip("/")


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)


# ── the index ────────────────────────────────────────────────────────────────────────────────


def merged(index: str, ours: Sequence[Doc]) -> str:
    """Put our documents into an index as a search plugin wrote it, in that plugin's form.

    What it holds itself of the pages that our documents cover is left out.
    """
    data = json.loads(index)
    data["docs"] = [doc for doc in data["docs"] if not covers(doc["location"])]
    data["docs"] += ours if _is_of_material(data) else map(_plain, ours)
    data.pop("index", None)  # MkDocs' own, built before ours came; the reader's browser builds one
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _is_of_material(data: dict[str, Any]) -> bool:
    """Say whether the index is one whose texts are HTML and whose documents may say more."""
    return "pipeline" in data["config"]


def _plain(doc: Doc) -> Doc:
    """Give a document as MkDocs' own search takes it: plain, with all that is found in its text."""
    names, headings = doc.get("tags", ()), doc.get("sections", ())
    parts = [doc["text"], ", ".join(names), doc.get("question", ""), *headings]
    text = re.sub(r"</?code>", "", "\n".join(filter(None, parts)))
    return {
        "location": doc["location"],
        "title": html.unescape(doc["title"]),
        "text": html.unescape(text),
    }


# ── pages ────────────────────────────────────────────────────────────────────────────────────

_THEIRS = re.compile(
    r'(?P<begin><script id="__config"[^>]*>[^<]*"search": ?"[^"]*?)'
    r'assets/javascripts/workers/search\.[0-9a-f]+\.min\.js"'
)


def with_worker(page_html: str) -> str:
    """Give a page whose search box asks our worker; a page of another theme as it is."""
    begin = page_html.rfind('<script id="__config"')
    if begin < 0:
        return page_html
    config = _THEIRS.sub(rf'\g<begin>{WORKER}"', page_html[begin:], count=1)
    return page_html[:begin] + config
