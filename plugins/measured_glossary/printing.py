"""One build's pages of the glossary, on their way through MkDocs' events.

Comes in: the outputs of a `Website`, and what each event brings. Goes out: MkDocs' files, and the
leaves of the site's folder. Must not know entries or verdicts.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation

from measured_glossary import search
from measured_glossary.aside import Aside
from measured_glossary.memo import FEW, Memo
from measured_glossary.page_key import in_the_way, made_with
from measured_glossary.press import Kept, Press, bind, keeper, print_lean
from measured_glossary.theme import remember_compiled
from measured_glossary.tree import Leaves, Standing, standing, update
from measured_glossary.website import Output, has_twin


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    """The files made from a glossary, and what prints those that are pages.

    `pages` are printed here, `others` are copied; what MkDocs reads itself is only in `files`.
    `why_not` names what forbids to keep pages: then MkDocs reads every one of them itself.
    `drafts` are those of `files` that MkDocs makes and no public site has.
    `keys` are of each printed page, of what it is made of and which files it asked for; `found` is
    the site's folder as it was before. What `is_laid_out` is no leaf any more.
    """

    files: tuple[File, ...] = ()
    pages: tuple[Kept, ...] = ()
    others: tuple[Kept, ...] = ()
    why_not: tuple[str, ...] = ()
    drafts: tuple[File, ...] = ()
    nav: Navigation | None = None
    press: Press | None = None
    keys: tuple[bytes, ...] = ()
    found: Aside[Standing] | None = None
    is_laid_out: bool = False

    def let_go(self) -> None:
        """Look no more at the site's folder."""
        if self.found:
            self.found.close()

    def printed(
        self,
        env: Environment,
        config: MkDocsConfig,
        files: Files,
        memo: Memo,
        site: Path,
        *extra: object,
    ) -> Printing:
        """Print the pages, and make what is costly, where that was not done before.

        A second process looks at the site's folder meanwhile, unless the memo is in memory alone,
        where it would not find anything.
        """
        gc.freeze()  # only what comes now may hold each other: pages and their files
        gc.enable()
        jobs = memo.jobs if memo.file else 1
        found = Aside(partial(_meanwhile, self._left_to_make(memo), memo, site), jobs=jobs)
        if self.nav is None or self.why_not:
            self._mark_drafts()
            return replace(self, found=found)
        if memo.file:
            remember_compiled(env, config)
        print_lean(config, env)
        listed = files.documentation_pages()
        press = Press(
            config=config,
            files=files,
            nav=self.nav,
            env=env,
            memo=memo,
            made_with=made_with(config, self.nav, env, listed, *extra),
            listed=listed,
        )
        printed = press.print(self.pages)
        bind(press, self.pages, [noted for _, noted in printed])
        self._mark_drafts()
        # A page is also another one where a file that it asked for stands elsewhere now.
        keys = tuple(key + noted.sha256 for key, noted in printed)
        return replace(self, press=press, keys=keys, found=found)

    def _left_to_make(self, memo: Memo) -> list[Output]:
        """Make what is costly and was not made before; few of them are left to a second process."""
        costly = [file.output for file in self.others if file.output.is_costly]
        known = memo.known(output.key for output in costly)
        missing = [output for output in costly if output.key not in known]
        if len(missing) < FEW:
            return missing
        _make(missing, memo)
        return []

    def _mark_drafts(self) -> None:
        """Let MkDocs put its badge on the drafts that it makes, now that all links are read.

        Before, it would say of each link to one that it leads out of the site, which has it.
        """
        for file in self.drafts:
            file.inclusion = InclusionLevel.DRAFT

    def show(self, output: Output) -> None:
        """Print one page once more, and put it where it stands on the site."""
        if self.press is None:
            raise LookupError("MkDocs makes the pages itself")
        uri, content = self.press.page(output)
        update(Path(self.press.config.site_dir, uri), content)

    def has_twin(self, file: File) -> bool:
        """Say whether a page that is printed here has its Markdown beside it."""
        return isinstance(file, Kept) and has_twin(file.output)

    def twins(self) -> dict[str, str | bytes]:
        """Give the Markdown of each public page that MkDocs makes itself, by where it stands."""
        own = (each for each in self.files if not isinstance(each, Kept))
        drafts = {each.src_uri for each in self.drafts}
        return {
            each.src_uri: each.content_bytes
            for each in own
            if each.is_documentation_page() and each.src_uri not in drafts
        }

    def listed(self, others: Iterable[File]) -> list[File]:
        """Give these pages and the public ones that are printed here, in the order of all files."""
        if self.press is None:
            return list(others)
        printed = (each for each in self.pages if each.output.is_public)
        known = {each.src_uri for each in (*others, *printed)}
        return [each for each in self.press.files if each.src_uri in known]

    def check_links(self, config: MkDocsConfig) -> None:
        """Let MkDocs say which links of these pages lead to no anchor."""
        for file in self.pages if self.press else ():
            if file.page and self.press:
                level = config.validation.links.anchors
                file.page.validate_anchor_links(files=self.press.files, log_level=level)

    def laid_out(self, folder: Path) -> Printing:
        """Put all files where MkDocs puts its own, for whoever looks at the built site."""
        leaves = self.leaves()
        for uri in leaves.keys:
            update(folder / uri, leaves.load(uri))
        return replace(self, is_laid_out=True)

    def leaves(self) -> Leaves:
        """Give every file that stands nowhere yet."""
        if self.press is None or self.is_laid_out:
            return Leaves(keys={}, load=dict[str, bytes]().__getitem__)
        keys, files = dict[str, bytes](), dict[str, Kept]()
        for page, key in zip(self.pages, self.keys, strict=True):
            for uri in (page.dest_uri, page.src_uri)[: 1 + has_twin(page.output)]:
                keys[uri], files[uri] = key, page
        for file in self.others:
            keys[file.dest_uri], files[file.dest_uri] = file.output.key, file
        return Leaves(keys=keys, load=partial(_content, self.press, files))


def printing(
    config: MkDocsConfig, outputs: Sequence[Output], per_page: Collection[str]
) -> Printing:
    """Give MkDocs' files of these outputs.

    Pages that the search plugin is to read are MkDocs' own.
    """
    why, kept = tuple(in_the_way(config, per_page)), keeper(config)
    files: list[File] = [
        _generated(config, each)
        if why or (each.is_page and not search.covers(each.uri))
        else kept(each)
        for each in outputs
    ]
    own = [file for file in files if isinstance(file, Kept)]
    both = list(zip(files, outputs, strict=True))
    return Printing(
        files=tuple(files),
        pages=tuple(file for file in own if file.output.is_page),
        others=tuple(file for file in own if not file.output.is_page),
        why_not=why,
        drafts=tuple(f for f, out in both if not (out.is_public or isinstance(f, Kept))),
    )


def _generated(config: MkDocsConfig, output: Output) -> File:
    """Give a file that MkDocs makes a page of, if it is one."""
    level = InclusionLevel.NOT_IN_NAV
    return File.generated(config, output.uri, content=output.content, inclusion=level)


def _make(outputs: Sequence[Output], memo: Memo) -> None:
    """Make files, and keep them."""
    memo.keep([output.key for output in outputs], lambda index: outputs[index].content)


def _meanwhile(left: Sequence[Output], memo: Memo, site: Path) -> Standing:
    """Do what need not be done before pages are printed."""
    _make(left, memo)
    return standing(site, memo)


def _content(press: Press, files: Mapping[str, Kept], uri: str) -> bytes:
    """Give what a file holds: a page's HTML, its Markdown beside it, or any other content."""
    file = files[uri]
    if file.output.is_page:
        text, page = press.content(file)
        return page if uri == file.dest_uri else text.encode("utf-8")
    found = press.memo.get(file.output.key) if file.output.is_costly else None
    content: str | bytes = file.output.content if found is None else found
    return content.encode("utf-8") if isinstance(content, str) else content
