"""The second fence: a pass over a built tree that trusts nothing that built it.

Comes in: a folder of files, and what may be in it. Goes out: problems. Must not know which
generator made the tree, nor write anything.

Every page under the entries' path is a published entry with the byline and manifest of its
verdict, and nothing that can be recognised of any other entry occurs in any file.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

from measured_glossary.memo import side_by_side
from measured_glossary.problem import Place, Problem
from measured_glossary.scan import scan
from measured_glossary.trace import (
    BINARY_SUFFIXES,
    TEXT_SUFFIXES,
    Opaque,
    hits,
    literals,
    look_for,
    spotted,
    texts,
    traces,
    unpacked,
)

Progress = Callable[[str, int, int], None]
TASK = "files audited"
ENTRIES, RECORDS = "glossary", "measurements/"
# What a browser or a server may show as a page, and where an entry's own page may stand.
_PAGE_NAMES = "asp aspx htm html jsp markdown md mht mhtml php phtml shtm shtml xht xhtml xml"
PAGES = frozenset(f".{name}" for name in _PAGE_NAMES.split())
MAIN_PAGES = ("/index.html", "/index.htm", "/index.md", ".html", ".htm", ".md")
INDEXES = frozenset({"index.html", "index.htm", "index.md", "index.xml", "feed.xml"})
SIGNERS, PACKED = "allowed_signers", b"\x1f\x8b"
_MARKDOWN = frozenset({".md", ".markdown"})
_NO_PAGES = (TEXT_SUFFIXES | BINARY_SUFFIXES) - PAGES
BYLINE_CLASS = "mg-byline"
MIN_TRACE_IN_BINARY = 8
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


def _silent(task: str, done: int, total: int) -> None:
    """Show nothing."""


def audit(
    site: Path, expected: Expectation, *, jobs: int = 1, progress: Progress = _silent
) -> tuple[Problem, ...]:
    """Audit a built tree, `jobs` files at once; an empty answer means that it may be deployed."""
    paths, found = _files(site)
    if not paths and not found:
        return (_problem("", "audit-no-site", "is no folder with a built site in it"),)
    search = _Search(expected)

    def look(number: int) -> _Looked:
        name = paths[number].relative_to(site).as_posix()
        try:
            return _look(name, paths[number].read_bytes(), expected, search)
        except OSError as error:
            return _Looked(problems=(_unreadable(site, error),), entry="")

    seen: set[str] = set()
    for done, looked in enumerate(side_by_side(look, range(len(paths)), jobs), 1):
        found += looked.problems
        seen |= {looked.entry}
        progress(TASK, done, len(paths))
    found += [_missing_page(entry) for entry in expected.public.keys() - seen]
    return tuple(sorted(set(found)))


def _files(site: Path) -> tuple[list[Path], list[Problem]]:
    """Give the plain files of a tree, and what is wrong with the others."""
    files: list[Path] = []
    found: list[Problem] = []

    def refused(error: OSError) -> None:
        if error.filename != str(site):
            found.append(_unreadable(site, error))

    for folder, folders, names in os.walk(site, onerror=refused):
        folders.sort()
        for path in (Path(folder, name) for name in sorted([*names, *folders])):
            try:
                mode = path.lstat().st_mode
            except OSError as error:
                refused(error)
                continue
            if stat.S_ISREG(mode):
                files.append(path)
            elif not stat.S_ISDIR(mode):
                place = path.relative_to(site).as_posix()
                found.append(_problem(place, "audit-link", "is a link, or no plain file"))
    return files, found


def _unreadable(site: Path, error: OSError) -> Problem:
    place = Path(error.filename or site).relative_to(site).as_posix()  # a failed read names none
    return _problem(place, "unreadable-file", f"cannot be read: {error.strerror}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """What a file was found to be: faulty or not, and the page of which entry, if of any."""

    problems: tuple[Problem, ...]
    entry: str


def _look(name: str, raw: bytes, expected: Expectation, search: _Search) -> _Looked:
    entry = _entry_of(name) or ""
    has_page = entry in expected.public and _is_main_page(name, entry)
    found = (*_page_problems(name, raw, expected), *search.problems(name, raw))
    return _Looked(problems=found, entry=entry if has_page else "")


# ── pages ────────────────────────────────────────────────────────────────────────────────────


def _page_problems(name: str, raw: bytes, expected: Expectation) -> Iterator[Problem]:
    kind = _page_kind(name)
    head = _head_of(_page_text(name, raw), kind) if kind else None
    if head and "glossary-preview" in head.values:
        yield _problem(name, "audit-preview", "is a page of a preview, which shows drafts")
    if entry := _entry_of(name):
        is_list = PurePosixPath(name).name == SIGNERS and b"<" not in raw
        yield from _entry_problems(name, entry, None if is_list else head, expected)
    elif head and head.values.keys() - {"glossary-preview"}:
        said = "says it is an entry's page and does not stand where entries do"
        yield _problem(name, "audit-unpublished", said)


def _page_kind(name: str) -> str:
    """Give by which suffix a file may be shown as a page, packed or in some language too.

    What has no suffix is shown as whatever it looks like.
    """
    suffixes = [suffix.strip().lower() for suffix in PurePosixPath(name).suffixes] or [".html"]
    found = [suffix for suffix in suffixes if suffix in PAGES]
    return found[-1] if found and suffixes[-1] not in _NO_PAGES else ""


def _page_text(name: str, raw: bytes) -> str:
    if not raw.startswith(PACKED):
        return raw.decode("utf-8", "replace")
    try:
        return next(unpacked(name, raw), "")
    except Opaque:
        return ""  # which is a problem of its own


def _entry_of(name: str) -> str | None:
    """Give the entry a file belongs to by its path; the index and feeds belong to none."""
    top, _, below = name.partition("/")
    if top.casefold() != ENTRIES or not below:
        return None
    first, is_folder, _ = below.partition("/")
    if is_folder:
        return first
    is_own = below.removesuffix(".gz") in INDEXES
    return first.partition(".")[0] or first if _page_kind(name) and not is_own else None


def _entry_problems(
    name: str, entry: str, head: _Head | None, expected: Expectation
) -> Iterator[Problem]:
    public = expected.public.get(entry)
    if public is None:
        said = f"stands where entries do, and {entry!r} is not published"
        yield _problem(name, "audit-unpublished", said)
        return
    if head is None:
        return
    if not _is_main_page(name.removesuffix(".gz"), entry):
        said = f"may be shown as a page, and is not the one page of {entry!r}"
        yield _problem(name, "audit-unpublished", said)
        return
    wanted = {"glossary-entry": entry, "glossary-verdict": public.verdict}
    wanted |= {"glossary-manifest": public.manifest} if public.verdict == "published" else {}
    for key, value in wanted.items():
        if head.values.get(key) != [value]:
            said = f"says {key} is {head.values.get(key)}, and the verdict says {value!r}"
            yield _problem(name, "audit-verdict", said)
    yield from _byline_problems(name, head, public)


def _is_main_page(name: str, entry: str) -> bool:
    return name in {f"{ENTRIES}/{entry}{end}" for end in MAIN_PAGES}


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


# ── what a page says of itself ───────────────────────────────────────────────────────────────

# What a browser takes for a comment, a program, a style or a tag. What stands inside one of them,
# in an attribute's value for instance, is no tag; and what is shown as code is written `&lt;`.
_ATTRIBUTE = r"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*"|'[^']*'|[^\s"'>][^\s>]*+|(?=>)))?"""
_OPENED = rf"[^\s/>]*+(?>[\s/]*+{_ATTRIBUTE})*+[\s/]*+>"
_USUAL = r'(?-i:[a-z][a-z0-9]*+(?: [a-z][a-z-]*+="[^"]*+")*+>)'  # the same, where it is so written
_ELEMENT = re.compile(
    r"<(?:!--(?:-?>|.*?(?:--!?>|\Z))"
    rf"|(?P<raw>script|style)(?=[\s/>]){_OPENED}.*?(?:(?=</(?P=raw)[\s/>])|\Z)"
    rf"|(?P<end>/?)(?P<tag>{_USUAL}|[a-z]{_OPENED}))",
    re.DOTALL | re.IGNORECASE,
)
_TAG_NAME = re.compile(r"[^\s/>]+")


@dataclass(slots=True)
class _Head:
    """What a page says of itself: its `glossary-…` values, its bylines and what stands in them."""

    values: dict[str, list[str]] = field(default_factory=dict)
    bylines: int = 0
    byline_text: str = ""

    def say(self, key: str, value: str) -> None:
        """Add a value."""
        self.values.setdefault(key, []).append(value)


def _head_of(page: str, suffix: str) -> _Head:
    """Read a page's verdict and byline, of Markdown in the front matter and in raw HTML."""
    head = _Head()
    if suffix in _MARKDOWN and page.startswith("---\n"):
        end = page.find("\n---", 3) + 1
        for key, value in _FRONT_LINE.findall(page[:end]):
            head.say(key, value)
        page = page[end:]
    for mark in _outside_code(page) if suffix in _MARKDOWN else _marks(page):
        if mark.key:
            head.say(mark.key, mark.text)
        else:
            head.bylines += 1
            head.byline_text += mark.text
    return head


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """A tag that says something of the page: a `glossary-…` value, or without a key a byline.

    `end` is where it ends, with what stands in it.
    """

    key: str
    text: str
    end: int


def _outside_code(page: str) -> list[_Mark]:
    """Give the marks of Markdown, without what is code to every renderer.

    Where renderers may not agree on what is code, that reading counts which finds more. Marks stand
    at the top: of most pages what follows the last one's paragraph need not be read.
    """
    if not _may_hold_marks(page):
        return []
    marks = list(_marks(page))
    cut = page.find("\n\n", max((mark.end for mark in marks), default=len(page))) + 1
    if cut and not _may_hold_marks(page[cut:]):
        markup = scan(page[:cut])
        found = list(_marks(markup.without("fence", "code")))
        if not markup.faults and all(mark.end < cut for mark in found):
            return found
    markup = scan(page)
    found = list(_marks(markup.without("fence", "code")))
    return max(marks, found, key=len) if markup.faults else found


def _may_hold_marks(text: str) -> bool:
    """Say whether any reading of a text may find a mark in it."""
    return "<meta" in text.lower() or BYLINE_CLASS in html.unescape(text)


def _marks(page: str) -> Iterator[_Mark]:
    """Give what a page's tags say of it."""
    for found in _ELEMENT.finditer(page):
        tag = found["tag"] or ""
        spelt = html.unescape(tag) if "&" in tag else tag
        if not ("glossary-" in spelt or BYLINE_CLASS in spelt):
            continue
        given = _Attributes(found[0]).given
        if _name(found) == "meta" and given.get("name", "").startswith("glossary-"):
            yield _Mark(key=given["name"], text=given.get("content", ""), end=found.end())
        elif BYLINE_CLASS in given.get("class", "").split():
            text, end = _inside(page, found)
            yield _Mark(key="", text=text, end=end)


def _inside(page: str, opened: re.Match[str]) -> tuple[str, int]:
    """Give the text up to the tag that closes this one, and where that ends."""
    text, end, depth = "", opened.end(), 1
    for found in _ELEMENT.finditer(page, end):
        text += page[end : found.start()]
        end = found.end()
        if _name(found) == _name(opened):
            depth += -1 if found["end"] else 1
        if depth == 0:
            return html.unescape(text), end
    return html.unescape(text + page[end:]), len(page)


def _name(found: re.Match[str]) -> str:
    name = _TAG_NAME.match(found["tag"] or "")
    return name.group().lower() if name else ""


class _Attributes(HTMLParser):
    """The attributes of one tag; of two by one name a browser takes the first."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.given: dict[str, str] = {}
        self.feed(tag)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what is given."""
        self.given = {key: value or "" for key, value in reversed(attrs)}


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
        addresses = {
            address: file
            for entry, files in expected.hidden.items()
            for file in files
            for address in _paths(file, is_public=entry in expected.public)
        }
        self.owners = {**self.traces, **addresses, **self.copies}
        self.wanted, self.literals = look_for(self.traces), literals({**addresses, **self.copies})
        explained = self._explained(expected.known)
        self.wanted = look_for(self.traces.keys() - explained)
        self.literals = literals({**addresses, **self.copies}.keys() - explained)

    def _explained(self, known: Mapping[str, bytes]) -> set[str]:
        """Give what known files hold; a theme's source map is known as a whole, and large."""
        read = (f for f in known.items() if not f[0].endswith(".map")) if self.owners else ()
        return {
            each for file in read for text in _texts_or_nothing(*file) for each in self._in(text)
        }

    def _in(self, text: str) -> set[str]:
        return hits(text, self.wanted) | spotted(text, self.literals)

    def problems(self, name: str, raw: bytes) -> Iterator[Problem]:
        digest = hashlib.sha256(raw).hexdigest()
        if digest in self.copies and digest not in self.known:
            said = f"is a copy of {self.copies[digest]}, which is not published"
            yield _problem(name, "audit-copied-file", said)
        yield from self._traces_in(name, [name.replace("/", " / ")])
        if digest in self.known:
            return
        try:
            yield from self._traces_in(
                name, texts(name, raw) if self.owners else unpacked(name, raw)
            )
        except Opaque as opaque:
            said = f"{opaque}, so nobody can say what is in it"
            yield _problem(name, "audit-opaque-file", said)

    def _traces_in(self, name: str, read: Iterable[str]) -> Iterator[Problem]:
        for text in read:
            if found := self._in(text) if self.owners else ():
                trace = min(found, key=lambda found: (-len(found), found))
                said = f"holds {trace!r}, which is of {self.owners[trace]} and not published"
                yield _problem(name, "audit-leak", said)
                return


# Names of other entries, who own them; in which order a draft has them, an index may have them too.
_RELATED = re.compile(rb"^related:.*(?:\n[ \t-].*)*", re.MULTILINE)


def _hidden_traces(hidden: Mapping[str, Mapping[str, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry, files in sorted(hidden.items()):
        for file, raw in sorted(files.items()):
            if file.startswith(RECORDS):
                continue  # numbers and machines' names; a copy of the file is what tells
            own = _RELATED.sub(b"related:", raw, 1) if file.endswith("/entry.md") else raw
            is_binary = PurePosixPath(file).suffix.lower() in BINARY_SUFFIXES
            for text in (_own_name(entry, file), *_texts_or_nothing(file, own)):
                for trace in traces(text):
                    if not is_binary or len(trace) >= MIN_TRACE_IN_BINARY:
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
