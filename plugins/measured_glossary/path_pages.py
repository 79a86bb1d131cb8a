"""The pages of study paths: the authors' paths, and the page on which readers compose their own.

Comes in: a judged `Glossary` and the folder of its hand-written pages. Goes out: pages as Markdown,
scripts, and what the paths say of each entry. Must not know MkDocs, nor decide what is published.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from measured_glossary import catalogue
from measured_glossary.backlinks import Mention, hand_written
from measured_glossary.bundle import classic, lean
from measured_glossary.entry import Entry
from measured_glossary.markup import fill, fill_page
from measured_glossary.metadata import ENTRY
from measured_glossary.path import PATHS, Step, StudyPath
from measured_glossary.pipeline import Glossary

LESSONS = "lessons"
INDEX = f"{PATHS}/index.md"
STEPS = f"{PATHS}/steps.js"
SCHEMA = 1  # of a link to a path, and of the file a reader exports; assets/study-path knows it too

_FOLDER = Path(__file__).parent / "assets" / "study-path"
_LESSON = re.compile(rf"{LESSONS}/(?P<number>\d*)(?P<name>[^/]*)/index\.md")
_HEADING = re.compile(r"^# .*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What a step may lead to: an entry, or a hand-written page.

    `group` is an entry's area or what kind of page it is; `related` are ids of entries; `before` is
    the lesson that comes before this one; `state` is empty for what is published.
    """

    id: str
    title: str
    uri: str
    group: str
    answer: str = ""
    related: tuple[str, ...] = ()
    before: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: where it stands, what it says of itself, its Markdown."""

    uri: str
    matter: Mapping[str, str]
    markdown: str


# ── what may be a step ───────────────────────────────────────────────────────────────────────


def stops(glossary: Glossary, docs: Path, *, drafts: bool) -> dict[str, Stop]:
    """Give what may be shown as a step, by its id: entries by area, then lessons in their order."""
    entries = [
        _entry(judged.entry, "" if judged.verdict.state == "published" else judged.verdict.state)
        for judged in catalogue.shown(glossary, drafts=drafts)
        if judged.entry
    ]
    entries.sort(key=lambda stop: (stop.group.casefold(), stop.id))
    return {stop.id: stop for stop in (*entries, *_pages(glossary, docs))}


def _entry(entry: Entry, state: str) -> Stop:
    front = entry.front
    return Stop(
        id=entry.id,
        title=front.question,
        uri=ENTRY.format(entry.id),
        group=front.area,
        answer=front.answer,
        related=tuple(name for name in front.related if isinstance(name, str)),
        state=state,
    )


def _pages(glossary: Glossary, docs: Path) -> Iterator[Stop]:
    """Give the lessons, then the other pages that a path of the authors names."""
    named = _named(glossary)
    titles = {
        written.uri: written.title
        for _, written in hand_written(docs)
        if _LESSON.fullmatch(written.uri) or written.uri in named
    }
    before = ""
    for uri in sorted(filter(_LESSON.fullmatch, titles), key=_lesson_order):
        yield Stop(id=uri, title=titles.pop(uri), uri=uri, group="Lessons", before=before)
        before = uri
    for uri, title in sorted(titles.items()):
        yield Stop(id=uri, title=title, uri=uri, group="Other pages")


def _named(glossary: Glossary) -> frozenset[str]:
    """Give the hand-written pages that the authors' paths lead over."""
    steps = (step for path in glossary.paths for step in path.outline.steps)
    return frozenset(step.page for step in steps if step.page)


def _lesson_order(uri: str) -> tuple[int, str]:
    """Sort lessons by the number that their folder begins with; those without one come last."""
    found = _LESSON.fullmatch(uri)
    number = found["number"] if found else ""
    return (int(number) if number else 1 << 30), uri


# ── pages ────────────────────────────────────────────────────────────────────────────────────


def pages(glossary: Glossary, known: Mapping[str, Stop], assets: str) -> Iterator[Page]:
    """Give the page of all paths and a page for each of the authors'.

    `assets` is where the glossary's scripts and styles stand, below the site's top.
    """
    lines = [(path, f"{path.id}/index.md", len(path.outline.steps)) for path in glossary.paths]
    text = fill_page("paths.md", assets=f"../{assets}", paths=lines)
    yield Page(uri=INDEX, matter={"title": "Study paths"}, markdown=text)
    for path in glossary.paths:
        outline = path.outline
        matter = {"title": outline.title, "description": outline.description}
        yield Page(uri=path.uri, matter=matter, markdown=_path(path, known))


def _path(path: StudyPath, known: Mapping[str, Stop]) -> str:
    """Give the page of a path: what may be shown of it, and how much may not."""
    shown = _shown(path, known)
    steps = [(stop, f"../../{stop.uri}", step.note or "") for step, stop in shown]
    return fill_page(
        "path.md",
        outline=path.outline,
        steps=steps,
        total=len(path.outline.steps),
        take=_link(path, [stop.id for _, stop in shown]),
    )


def _shown(path: StudyPath, known: Mapping[str, Stop]) -> list[tuple[Step, Stop]]:
    return [(s, known[s.target]) for s in path.outline.steps if s.target in known]


def _link(path: StudyPath, targets: list[str]) -> str:
    """Give the link that offers a path to a reader, as readers share theirs."""
    name, steps = quote(path.outline.title, safe=""), ",".join(targets)
    # The index is a folder's index.html whether or not the site's addresses show it.
    return f"../index.html#study-path={SCHEMA}&name={name}&steps={steps}"


def met_in(
    found: Mapping[str, tuple[Mention, ...]], glossary: Glossary, known: Mapping[str, Stop]
) -> dict[str, tuple[Mention, ...]]:
    """Add to the pages that mention an entry the paths that lead over it."""
    made = dict(found)
    for path in glossary.paths:
        shown = _shown(path, known)
        for index, (step, _) in enumerate(shown, 1):
            said = f"step {index} of {len(shown)} of this study path"
            mention = Mention(path.uri, path.outline.title, said)
            made[step.target] = (*made.get(step.target, ()), mention)
    return made


def with_control(glossary: Glossary, uri: str, markdown: str) -> str:
    """Give a hand-written page with the control that adds it to a path, below its heading."""
    if not _LESSON.fullmatch(uri) and uri not in _named(glossary):
        return markdown
    top = "../" * uri.count("/")
    control = fill("add.md", step=uri, url=f"{top}{INDEX}")
    heading = _HEADING.search(markdown)
    at = heading.end() if heading else 0
    return f"{markdown[:at]}\n{control}\n\n{markdown[at:]}"


# ── scripts ──────────────────────────────────────────────────────────────────────────────────


def steps_script(known: Mapping[str, Stop]) -> str:
    """Give what may be a step as a script: a page read from a disk may load no JSON."""
    data = [_as_data(stop, known) for stop in known.values()]
    return f"window.measuredGlossarySteps = {json.dumps(data, separators=(',', ':'))};\n"


def _as_data(stop: Stop, known: Collection[str]) -> dict[str, object]:
    data = {
        "id": stop.id,
        "title": stop.title.replace("`", ""),
        "folder": stop.uri.removesuffix("index.md"),
        "group": stop.group,
        "related": [name for name in stop.related if name in known],
        "before": stop.before,
        "state": stop.state,
    }
    return {key: value for key, value in data.items() if value}


@cache
def scripts() -> dict[str, str]:
    """Give the scripts by name: for every page, and for the page of paths with its style sheet."""
    control = ("store.js", "control.js")
    rest = ("several.js", "share.js", "suggest.js", "element.js", "list.js", "page.js")
    css = lean(_FOLDER / "paths.css")
    return {
        "add-step.js": classic(_FOLDER, control, "equip();"),
        "paths.js": classic(_FOLDER, ("store.js", *rest), f"open({json.dumps(css)});"),
    }
