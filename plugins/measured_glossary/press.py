"""The glossary's pages as MkDocs makes a page, each only when something that goes into it changed.

Comes in: outputs of a `Website`, and MkDocs' configuration, files, navigation and templates. Goes
out: pages in the memo. Must not know entries or verdicts: an output's key says what it is made of.

MkDocs walks over every page at every build. So it is not told that these are pages: to it they are
files that links may lead to. They are rendered here, with its own `Page` and its own templates, in
as many processes as there are cores.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import jinja2
from mkdocs.commands.build import get_context
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils.templates import TemplateContext

from measured_glossary import lean
from measured_glossary.memo import Memo, Packed, digest, packed
from measured_glossary.page_key import SEARCH
from measured_glossary.website import Output

MKDOCS = logging.getLogger("mkdocs")
DRAFT = (
    '<div class="mkdocs-draft-marker" title="This page will not be included into the built site.">'
    "DRAFT</div>"
)
HIGHLIGHT = "pymdownx.highlight"
MANY = 2000  # pages
Hook = Callable[..., Any]


class Kept(File):
    """A file that links may lead to and that MkDocs leaves alone: it is written from the memo."""

    output: Output

    @property
    def src_path(self) -> str:
        """The same as `src_uri`, as the system writes it."""
        return os.path.normpath(self.src_uri)

    @src_path.setter
    def src_path(self, path: str) -> None:
        self.src_uri = path  # as it is: there are thousands, and none comes from a disk

    def is_documentation_page(self) -> bool:
        """Say no: MkDocs need not read it."""
        return False

    def copy_file(self, dirty: bool = False) -> None:
        """Leave it alone."""


class Notes(NamedTuple):  # quick to read from the memo: each page has some
    """What is known of a printed page besides its content.

    `title` is its title, `anchors` where links may lead to on it; `links` are the anchors that it
    leads to: on which file, which anchor, the link as written. `kept` is each file of ours that it
    looked for, `asked` each other and where that stood, `said` what MkDocs had to say: by which
    logger, how loud, which words. `sha256` is of all this.
    """

    title: str
    anchors: tuple[str, ...]
    links: tuple[tuple[str, str, str], ...]
    kept: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]
    said: tuple[tuple[str, int, str], ...]
    sha256: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """What every page is printed with; `made_with` is a digest of all of it.

    `listed` are the pages that MkDocs knows, which templates may look at: it would look through
    all files for each page.
    """

    config: MkDocsConfig
    files: Files
    nav: Navigation
    env: jinja2.Environment
    memo: Memo
    made_with: bytes
    listed: Sequence[File]

    def key(self, page: Kept) -> bytes:
        """Give the key of a page's content: its Markdown and its HTML."""
        is_public = page.output.is_public
        return digest("printed", self.made_with, page.src_uri, is_public, page.output.key)

    def print(self, pages: Sequence[Kept]) -> list[tuple[bytes, Notes]]:
        """Print what is not in the memo, or asked for files that stand elsewhere now.

        Give the key of each page, and what is known of it.
        """
        keys = [self.key(page) for page in pages]
        known, found = self.memo.known(keys), self._noted(keys)
        holds = self._holds()
        missing = [
            index
            for index, key in enumerate(keys)
            if key not in known or key not in found or not holds(found[key])
        ]
        fresh: dict[bytes, Notes] = {}
        self.memo.store(self._stored(pages, keys, missing, fresh))
        notes = {_note(key): fresh[key] if key in fresh else found[key] for key in keys}
        self.memo.join(notes, notes, [_note(key) for key in fresh])
        return [(key, fresh[key] if key in fresh else found[key]) for key in keys]

    def content(self, page: Kept) -> tuple[str, bytes]:
        """Give a page's Markdown and its HTML."""
        key = self.key(page)
        found: tuple[str, bytes] | None = self.memo.get(key)
        return found or self._one(page)[0]

    def page(self, output: Output) -> tuple[str, bytes]:
        """Print one page, and keep nothing: where it stands, its HTML."""
        file = keeper(self.config)(output)
        return file.dest_uri, self._one(file)[0][1]

    def _noted(self, keys: Sequence[bytes]) -> dict[bytes, Notes]:
        by_note = {_note(key): key for key in keys}
        return {by_note[note]: value for note, value in self.memo.load(by_note)}

    def _holds(self) -> Callable[[Notes], bool]:
        """Give what says whether every file that a page looked for still stands where it stood."""
        files = self.files.src_uris
        kept = {uri for uri, file in files.items() if isinstance(file, Kept)}

        def holds(notes: Notes) -> bool:
            others = all(_stands(files.get(uri)) == where for uri, where in notes.asked)
            return others and kept.issuperset(notes.kept)

        return holds

    def _stored(
        self,
        pages: Sequence[Kept],
        keys: Sequence[bytes],
        missing: Sequence[int],
        fresh: dict[bytes, Notes],
    ) -> Iterator[tuple[bytes, object]]:
        """Give what is to be kept of the missing pages, and note each in `fresh`."""

        def print_one(index: int) -> tuple[Packed, Notes]:
            content, notes = self._one(pages[index])
            return packed(content), notes

        shared = _sharing()
        parts = in_turn(missing, lambda index: pages[index].output.is_large)
        made = chain.from_iterable(self.memo.computed(part, print_one) for part in parts)
        for index, (content, notes) in made:
            fresh[keys[index]] = notes = shared(notes)
            yield keys[index], content
            yield _note(keys[index]), notes

    def _one(self, file: Kept) -> tuple[tuple[str, bytes], Notes]:
        """Print a page as MkDocs does: the same events, the same template, the same checks."""
        content = file.output.content
        file.content_string = content if isinstance(content, str) else content.decode("utf-8")
        listed, asked = file.page, _Asked(self.files)
        page = listed or Page(None, file, self.config)
        with _heard() as said:
            made = self._made(page, asked)
        notes = Notes(
            title=str(page.title),
            anchors=tuple(sorted(page.present_anchor_ids or ())),
            links=tuple(_links(page)),
            kept=tuple(sorted(asked.kept)),
            asked=tuple(sorted(asked.others.items())),
            said=tuple(said),
        )
        text, file.page, file._content = file.content_string, listed, None  # a page is large
        return (text, made), notes._replace(sha256=digest(notes))

    def _made(self, page: Page, files: Files) -> bytes:
        config, events = self.config, self.config.plugins
        config._current_page = page  # as MkDocs' own build does, for extensions that ask
        try:
            page = events.on_pre_page(page, config=config, files=files)
            page.read_source(config)
            page.markdown = events.on_page_markdown(
                page.markdown or "", page=page, config=config, files=files
            )
            page.render(config, files)
            page.content = events.on_page_content(
                page.content or "", page=page, config=config, files=files
            )
            return self._filled(page).encode("utf-8", "xmlcharrefreplace")
        finally:
            page.active, config._current_page = False, None

    def _filled(self, page: Page) -> str:
        config, events = self.config, self.config.plugins
        page.active = True
        context = get_context(self.nav, self.listed, config, page)
        template = self.env.get_template(str(page.meta.get("template", "main.html")))
        context = events.on_page_context(context, page=page, config=config, nav=self.nav)
        if isinstance(page.file, Kept) and not page.file.output.is_public:
            page.content = DRAFT + (page.content or "")
        return events.on_post_page(template.render(context), page=page, config=config)


def in_turn(missing: Sequence[int], is_large: Callable[[int], bool]) -> tuple[Sequence[int], ...]:
    """Give pages in parts, of which each is printed when those before are.

    A large page takes long, so it is begun early, behind the one that is printed before processes
    part. Where it lists thousands it takes as much memory as all else here, and comes last.
    """
    large = [index for index in missing if is_large(index)]
    small = [index for index in missing if not is_large(index)]
    if len(missing) > MANY:
        return small, large
    return ([*small[:1], *large, *small[1:]],)


def print_lean(config: MkDocsConfig, env: jinja2.Environment) -> None:
    """Leave out what libraries do again and again and what no page shows.

    Jinja asks for a template's time whenever it is filled. Python-Markdown looks for markup where
    there can be none, and Material's search for its marks. Pygments derives what every kind of word
    looks like for each block of code, from a style: it is given none, since words get classes here,
    unless the site has their looks written into the page.
    """
    env.auto_reload = False
    hooks = config.plugins.events["page_context"]
    hooks[:] = [_sparing(hook, config.plugins._event_origins) for hook in hooks]
    if lean.__name__ not in config.markdown_extensions:
        config.markdown_extensions.append(lean.__name__)
    options = config.mdx_configs.get(HIGHLIGHT) or {}
    if HIGHLIGHT in config.markdown_extensions and not options.get("noclasses"):
        config.mdx_configs[HIGHLIGHT] = {**options, "pygments_style": ()}


def _sparing(hook: Hook, origins: dict[Hook, str]) -> Hook:
    """Give a hook as it is; a search plugin's, so that it passes over pages that hold no mark."""
    if origins.get(hook) not in SEARCH:
        return hook

    def on_page_context(context: TemplateContext, *, page: Page, **known: Any) -> Any:
        is_marked = not isinstance(page.file, Kept) or "data-search-" in (page.content or "")
        return hook(context, page=page, **known) if is_marked else None

    origins[on_page_context] = origins[hook]
    return on_page_context


def keeper(config: MkDocsConfig) -> Callable[[Output], Kept]:
    """Give what makes the file of an output, as MkDocs' other pages may link to it.

    Such files differ in what they are called and hold, as `_pages` has it of their pages.
    """
    model = Kept("", None, config.site_dir, config.use_directory_urls)
    model.inclusion = InclusionLevel.NOT_IN_NAV  # where there is a draft, links lead to it
    model.generated_by = "measured-glossary"

    def kept(output: Output) -> Kept:
        file, uri = Kept.__new__(Kept), output.uri
        vars(file).update(vars(model))
        file.src_uri, file.output = uri, output
        file.dest_uri = f"{uri.removesuffix('.md')}.html" if output.is_page else uri
        return file

    return kept


def named(nav: Navigation) -> Navigation:
    """Give the pages that the navigation lists without a title their own: nobody reads them yet."""
    for page in nav.pages:
        if isinstance(page.file, Kept) and not page.title:
            page.title = page.file.output.title
    return nav


def bind(press: Press, pages: Sequence[Kept], notes: Sequence[Notes]) -> None:
    """Let MkDocs' pages check their links to these, and say what was said of these.

    What is wrong with a draft is told by its verdict, and keeps nobody from seeing the others.
    """
    page_of = _pages(press.config)
    for file, noted in zip(pages, notes, strict=True):
        page = file.page or page_of(file, noted.title)
        page.present_anchor_ids = set(noted.anchors)
        page.links_to_anchors = {}
        for uri, anchor, link in noted.links:
            if target := press.files.src_uris.get(uri):
                page.links_to_anchors.setdefault(target, {})[anchor] = link
        for name, level, text in noted.said:
            is_public = file.output.is_public
            logging.getLogger(name).log(level if is_public else min(level, logging.INFO), text)


def _pages(config: MkDocsConfig) -> Callable[[Kept, str], Page]:
    """Give what makes the page of a file as MkDocs does, several times faster for many.

    Such pages differ in file and title alone, and in what follows from the file's address.
    """
    model = Page("", keeper(config)(Output(uri="", key=b"", make="", is_public=True)), config)
    bases = model.canonical_url, model.abs_url

    def page(file: Kept, title: str) -> Page:
        made = file.page = copy(model)
        made.file, made.title, made.toc, made.meta = file, title, copy(model.toc), {}
        made.canonical_url, made.abs_url = (base and base + made.url for base in bases)
        return made

    return page


def _note(key: bytes) -> bytes:
    return digest("notes", key)


def _stands(file: File | None) -> str:
    return f"{file.inclusion.name} {file.url}" if file else ""


def _sharing() -> Callable[[Notes], Notes]:
    """Give what lets notes hold each anchor and each asked file once: thousands name the same."""
    known: dict[object, Any] = {}

    def shared(notes: Notes) -> Notes:
        anchors, kept, asked = (
            tuple(known.setdefault(each, each) for each in several)
            for several in (notes.anchors, notes.kept, notes.asked)
        )
        return notes._replace(anchors=anchors, kept=kept, asked=asked)

    return shared


def _links(page: Page) -> Iterator[tuple[str, str, str]]:
    """Give what has to be looked for later: not what is found on the page itself."""
    own = page.present_anchor_ids or ()
    for file, links in (page.links_to_anchors or {}).items():
        for anchor, link in links.items():
            if file is not page.file or anchor not in own:
                yield file.src_uri, anchor, link


class _Asked(Files):
    """The site's files, with a note of each that was asked for.

    Where a file of ours stands follows from what it is called.
    """

    def __init__(self, files: Files) -> None:
        self._src_uris = files._src_uris
        self.kept: set[str] = set()
        self.others: dict[str, str] = {}

    def get_file_from_path(self, path: str) -> File | None:
        """Give a file, and note where it stands."""
        file = self._src_uris.get(path) or super().get_file_from_path(path)  # mostly as written
        if isinstance(file, Kept):
            self.kept.add(file.src_uri)
        else:
            self.others[path] = _stands(file)
        return file


class _Ear(logging.Handler):
    """Keeps what is said instead of printing it."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.said: list[tuple[str, int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        self.said.append((record.name, record.levelno, record.getMessage()))


@contextmanager
def _heard() -> Iterator[list[tuple[str, int, str]]]:
    ear, handlers = _Ear(), MKDOCS.handlers[:]
    MKDOCS.handlers[:] = [ear]
    try:
        yield ear.said
    finally:
        MKDOCS.handlers[:] = handlers
