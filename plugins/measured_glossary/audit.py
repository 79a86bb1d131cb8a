"""The second fence: a pass over a built tree that trusts nothing that built it.

Comes in: a folder of files, and what may be in it. Goes out: problems. Must not know which
generator made the tree, nor write anything.

Every page under the entries' path is a published entry with the byline and manifest of its
verdict, and nothing that can be recognised of any other entry occurs in any file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

from measured_glossary.problem import Place, Problem
from measured_glossary.trace import BINARY_SUFFIXES, Opaque, hits, look_for, texts, traces

ENTRIES, RECORDS = "glossary", "measurements/"
PAGES = frozenset({".html", ".htm", ".md"})
BYLINE_CLASS = "mg-byline"
_FRONT_LINE = re.compile(r'^(glossary-[a-z]+): *"?([^"\n]*)"?$', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicEntry:
    """An entry that may be shown: its verdict, its manifest, and the names of its byline."""

    verdict: str
    manifest: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a tree may and must hold.

    `hidden` maps each entry that must not be seen to its files by path. `known` are files whose
    content may occur whatever a draft says: hand-written pages, published sources, the theme.
    """

    public: Mapping[str, PublicEntry]
    hidden: Mapping[str, Mapping[str, bytes]]
    known: Mapping[str, bytes] = field(default_factory=dict)


def audit(site: Path, expected: Expectation) -> tuple[Problem, ...]:
    """Audit a built tree; an empty answer means that it may be deployed."""
    if not site.is_dir() or not any(site.iterdir()):
        return (_problem("", "audit-no-site", "is no folder with a built site in it"),)
    search = _Search(expected)
    found: list[Problem] = []
    seen: set[str] = set()
    for path, problem in _files(site):
        if problem or path is None:
            found += [problem] if problem else []
            continue
        name = path.relative_to(site).as_posix()
        raw = path.read_bytes()
        found += _page_problems(name, raw, expected, seen)
        found += search.problems(name, raw)
    missing = expected.public.keys() - seen
    found += [_missing_page(entry) for entry in missing]
    return tuple(sorted(set(found)))


def _files(site: Path) -> Iterator[tuple[Path | None, Problem | None]]:
    for folder, folders, names in os.walk(site):
        folders.sort()
        for name in sorted([*names, *folders]):
            path = Path(folder) / name
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                place = path.relative_to(site).as_posix()
                yield None, _problem(place, "audit-link", "is a link, or no plain file")
            elif path.is_file():
                yield path, None


# ── pages ────────────────────────────────────────────────────────────────────────────────────


def _page_problems(
    name: str, raw: bytes, expected: Expectation, seen: set[str]
) -> Iterator[Problem]:
    suffix = PurePosixPath(name).suffix.lower()
    head = _Head(raw.decode("utf-8", "replace"), suffix) if suffix in PAGES else None
    if head and "glossary-preview" in head.values:
        yield _problem(name, "audit-preview", "is a page of a preview, which shows drafts")
    if entry := _entry_of(name):
        yield from _entry_problems(name, entry, head, expected, seen)
    elif head and head.values.keys() - {"glossary-preview"}:
        said = "says it is an entry's page and does not stand where entries do"
        yield _problem(name, "audit-unpublished", said)


def _entry_of(name: str) -> str | None:
    """Give the entry a file belongs to by its path; the index and feeds belong to none."""
    top, _, below = name.partition("/")
    first = below.partition("/")[0]
    if top.casefold() != ENTRIES or not below:
        return None
    if "/" in below:
        return first
    stem, suffix = PurePosixPath(first).stem, PurePosixPath(first).suffix.lower()
    return stem if suffix in PAGES and stem != "index" else None


def _entry_problems(
    name: str, entry: str, head: _Head | None, expected: Expectation, seen: set[str]
) -> Iterator[Problem]:
    public = expected.public.get(entry)
    if public is None:
        said = f"stands where entries do, and {entry!r} is not published"
        yield _problem(name, "audit-unpublished", said)
        return
    if head is None or not _is_main_page(name):
        return
    seen.add(entry)
    wanted = {"glossary-entry": entry, "glossary-verdict": public.verdict}
    wanted |= {"glossary-manifest": public.manifest} if public.verdict == "published" else {}
    for key, value in wanted.items():
        if head.values.get(key) != [value]:
            said = f"says {key} is {head.values.get(key)}, and the verdict says {value!r}"
            yield _problem(name, "audit-verdict", said)
    yield from _byline_problems(name, head, public)


def _is_main_page(name: str) -> bool:
    return PurePosixPath(name).stem == "index" or name.count("/") == 1


def _byline_problems(name: str, head: _Head, public: PublicEntry) -> Iterator[Problem]:
    if public.verdict != "published":
        return
    if head.bylines != 1:
        said = f"has {head.bylines} bylines, and a page has one"
        yield _problem(name, "audit-byline", said)
    for person in public.names:
        if person not in head.byline_text:
            said = f"does not name {person!r}, who signed it, in its byline"
            yield _problem(name, "audit-byline", said)


def _missing_page(entry: str) -> Problem:
    said = f"the entry {entry!r} is published, and the tree has no page of it"
    return _problem(f"{ENTRIES}/{entry}", "audit-missing-page", said)


class _Head(HTMLParser):
    """What a page says of itself: its `glossary-…` values, its bylines and what stands in them."""

    def __init__(self, page: str, suffix: str) -> None:
        super().__init__()
        self.values: dict[str, list[str]] = {}
        self.bylines, self.byline_text = 0, ""
        self._byline_tag, self._depth = "", 0
        if suffix == ".md" and page.startswith("---\n"):
            for key, value in _FRONT_LINE.findall(page[: page.find("\n---", 3) + 1]):
                self.values.setdefault(key, []).append(value)
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the verdict's values, and enter a byline."""
        given = {key: value or "" for key, value in attrs}
        if tag == "meta" and given.get("name", "").startswith("glossary-"):
            self.values.setdefault(given["name"], []).append(given.get("content", ""))
        if BYLINE_CLASS in given.get("class", "").split():
            self.bylines += 1
            self._byline_tag, self._depth = tag, 0
        self._depth += bool(self._byline_tag) and tag == self._byline_tag

    def handle_endtag(self, tag: str) -> None:
        """Leave a byline with the tag that opened it."""
        self._depth -= bool(self._byline_tag) and tag == self._byline_tag
        if self._depth == 0:
            self._byline_tag = ""

    def handle_data(self, data: str) -> None:
        """Collect a byline's text."""
        if self._byline_tag:
            self.byline_text += data


# ── traces of what must not be seen ──────────────────────────────────────────────────────────


class _Search:
    """Looks for traces of hidden entries that no known file explains."""

    def __init__(self, expected: Expectation) -> None:
        self.known = {hashlib.sha256(raw).hexdigest() for raw in expected.known.values()}
        self.copies = {
            hashlib.sha256(raw).hexdigest(): file
            for files in expected.hidden.values()
            for file, raw in files.items()
            if raw.strip()
        }
        self.traces = _hidden_traces(expected.hidden)
        self.needles = {
            needle: file
            for entry, files in expected.hidden.items()
            for file in files
            for needle in _paths(file, is_public=entry in expected.public)
        }
        self.needles.update(self.copies)
        self._forget_known(expected.known)

    def _forget_known(self, known: Mapping[str, bytes]) -> None:
        wanted, explained = look_for(self.traces), set[str]()
        for name, raw in known.items() if self.traces else ():
            if name.endswith(".map"):
                continue  # a theme's source map: known as a whole, and large
            for text in _texts_or_nothing(name, raw):
                explained |= hits(text, wanted)
                for needle in [n for n in self.needles if n in text]:
                    del self.needles[needle]
        self.wanted = look_for(self.traces.keys() - explained)

    def problems(self, name: str, raw: bytes) -> Iterator[Problem]:
        digest = hashlib.sha256(raw).hexdigest()
        if digest in self.copies and digest not in self.known:
            said = f"is a copy of {self.copies[digest]}, which is not published"
            yield _problem(name, "audit-copied-file", said)
        yield from self._traces_in(name, [name.replace("/", " / ")])
        if digest in self.known:
            return
        try:
            yield from self._traces_in(name, texts(name, raw))
        except Opaque as opaque:
            said = f"{opaque}, so nobody can say what is in it"
            yield _problem(name, "audit-opaque-file", said)

    def _traces_in(self, name: str, read: Iterable[str]) -> Iterator[Problem]:
        for text in read:
            found = {trace: self.traces[trace] for trace in hits(text, self.wanted)}
            found |= {needle: file for needle, file in self.needles.items() if needle in text}
            if found:
                trace, file = min(found.items(), key=lambda item: (-len(item[0]), item))
                said = f"holds {trace!r}, which is of {file} and not published"
                yield _problem(name, "audit-leak", said)
                return


def _hidden_traces(hidden: Mapping[str, Mapping[str, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry, files in sorted(hidden.items()):
        for file, raw in sorted(files.items()):
            if file.startswith(RECORDS):
                continue  # numbers and machines' names; a copy of the file is what tells
            for text in (_own_name(entry, file), *_texts_or_nothing(file, raw)):
                is_binary = PurePosixPath(file).suffix.lower() in BINARY_SUFFIXES
                for trace in traces(text):
                    if not is_binary or len(trace) >= 8:
                        found.setdefault(trace, file)
    return found


def _paths(file: str, *, is_public: bool) -> Iterator[str]:
    """Give how an address of a hidden file's page or folder begins."""
    top, folder, *_ = file.split("/")
    if top == ENTRIES and not is_public:
        yield from (f"{ENTRIES}/{folder}/", f"../{folder}/", f"{ENTRIES}/{folder}.html")
    elif top != ENTRIES:
        yield from (f"{top}/{folder}/", f"experiments/{folder}/")


def _own_name(entry: str, file: str) -> str:
    return f"{entry} {PurePosixPath(file).stem}"


def _texts_or_nothing(name: str, raw: bytes) -> list[str]:
    try:
        return list(texts(name, raw))
    except Opaque:
        return []


def _problem(name: str, code: str, message: str) -> Problem:
    hint = "do not deploy this tree; build it anew, and audit again"
    return Problem(place=Place(name or "."), code=code, message=message, hint=hint)
