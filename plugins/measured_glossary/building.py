"""One build in MkDocs' hands: what each of its events is answered with.

Comes in: MkDocs' configuration, and what each event brings. Goes out: generated files, pages and
the site's folder, or a `PluginError`. Must not decide anything: that is `pipeline`'s and `gate`'s.
"""

from __future__ import annotations

import datetime
import errno
import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any, cast

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import Files, get_files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from measured_glossary import pipeline, search, status, website
from measured_glossary.address import Address
from measured_glossary.lab.settings import Measure
from measured_glossary.page_key import after_all
from measured_glossary.press import named
from measured_glossary.printing import Printing, printing
from measured_glossary.problem import Place, Problem, Refused, to_text
from measured_glossary.progress import Tenths
from measured_glossary.stage import Stage, enter
from measured_glossary.theme import hasten, remember_own
from measured_glossary.tree import NotWritten, publish, standing
from measured_glossary.trust.ahead import Ahead

log = get_plugin_logger("measured-glossary")

WATCHED = ("glossary", "code", "measurements", "paths")
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
TO_BE_WRITTEN = {
    errno.ENOTDIR: "move this away: a folder of the site is to stand there",
    errno.ENOENT: "make the folder that this link leads to, or delete the link",
    **dict.fromkeys(FULL, "free some space there, and build again"),
}
NOT_RUN = "the gate of measured-glossary has not run: nothing is published"


class Building:
    """A build, from MkDocs' first event to its last; `options` are the plugin's.

    With `is_preview` drafts have pages too, and nothing is refused for wrong evidence.
    """

    def __init__(
        self, config: MkDocsConfig, options: Mapping[str, Any], *, is_preview: bool
    ) -> None:
        self.config, self.options, self.is_preview = config, options, is_preview
        self.root = Path(config.config_file_path).resolve().parent
        self.started: pipeline.Started | None = None
        self.glossary: pipeline.Glossary | None = None
        self.site: website.Website | None = None
        self.stage: Stage | None = None
        self.printing = Printing()
        self.twins: dict[str, str | bytes] = {}

    def start(self, ahead: Ahead | None) -> None:
        """Set experiments running; `ahead` verifies signatures already, or nothing does yet."""
        prepare(self.config, keep=self.options["cache"])
        settings = settings_of(self.root, self.config, self.options)
        try:
            with refusals():
                self.started = pipeline.start(self.root, settings, ahead)
        except PluginError:
            if ahead:
                ahead.close()
            raise
        extend(self.root, self.config)
        self.stage = enter(self.config)

    def judge(self) -> None:
        """Wait for what was started, and decide; raise what refuses the whole site."""
        started, self.started = self.started, None
        if started is None:
            raise PluginError(NOT_RUN)
        with refusals():
            refuse_foreign(get_files(self.config))
            self.glossary = pipeline.finish(started, today())
            refuse(website.reference_faults(self.glossary, Path(self.config.docs_dir)))
            if not self.is_preview:
                pipeline.refuse_wrong_evidence(self.glossary)
        for line in status.summary(self.glossary):
            log.info(line)

    def with_pages(self, files: Files) -> Files:
        """Add the glossary's pages to MkDocs' files."""
        with refusals():
            refuse_foreign(files)  # again: another plugin may have made some
        docs, address = Path(self.config.docs_dir), address_of(self.config)
        self.site = website.website(self.judged(), docs, drafts=self.is_preview, address=address)
        self.printing = printing(self.config, self.site.outputs, self.options["per_page"])
        if why := ", ".join(self.printing.why_not):
            log.info("each page is made anew, since these may look at others: %s", why)
        for file in self.printing.files:
            files.append(file)
        self.twins = self.printing.twins()
        return files

    def with_titles(self, nav: Navigation) -> Navigation:
        """Give the navigation with the titles of pages that nobody has read yet."""
        self.printing = replace(self.printing, nav=named(nav))
        return nav

    def print(self, env: Environment, files: Files) -> None:
        """Print what changed."""
        config, memo = self.config, self.judged().memo
        site = self.stage.site if self.stage else Path(config.site_dir)
        self.printing = self.printing.printed(env, config, files, memo, site, self.is_preview)
        if who := ", ".join(after_all(config)):
            log.info("each page is laid out anew for what looks at the built site: %s", who)
            self.printing = self.printing.laid_out(Path(config.site_dir))

    def linked(self, markdown: str, page: Page) -> str:
        """Give a page's Markdown, in one written by hand with its terms linked."""
        uri = page.file.src_uri
        if page.file.generated_by is not None:
            page.meta.update({"search": search.EXCLUDED} if search.covers(uri) else {})
            return markdown
        linked = website.link_terms(self._site(), uri, markdown)
        self.twins[uri] = linked
        return linked

    def with_head(self, output: str, page: Page) -> str:
        """Give a page's HTML with what its head says of it."""
        uri, asking = page.file.src_uri, search.with_worker(output)
        made = website.with_head(self._site(), uri, asking, preview=self.is_preview)
        shown, has_twin = shown_of(page, self.config, made), self.printing.has_twin(page.file)
        return website.with_metadata(self._site(), shown, has_twin=has_twin or uri in self.twins)

    @staticmethod
    def with_search_box(output: str) -> str:
        """Give a page's HTML whose search box asks our worker."""
        return search.with_worker(output)

    def complete(self) -> None:
        """Write what stands beside the pages, and complete the search's index."""
        complete_search(self.config, self.judged(), drafts=self.is_preview)
        write_twins(self.config, self.twins)

    def publish(self) -> None:
        """Bring the site's folder to what was built, unless the build was given up."""
        self.printing.check_links(self.config)
        if self.stage and not self.stage.is_given_up():
            found, memo = self.printing.found, self.judged().memo
            leaves = self.printing.leaves()
            with writing(self.root):
                known = found.value() if found else standing(self.stage.site, memo)
                change = publish(self.stage.site, self.stage.folder, leaves, memo, known)
            log.info("%d files written, %d deleted, %d as they were", *astuple(change))
        self.let_go()

    def show_again(self, entry_id: str) -> None:
        """Make the page of an entry as it is now, beside the others as they were built last."""
        judged = pipeline.judged_again(self.judged(), entry_id, today())
        self.site, page = website.with_again(self._site(), judged)
        self.printing.show(page)

    def give_up(self) -> None:
        """Stop what was started and nobody waited for."""
        if self.started:
            self.started.give_up()

    def fail(self, error: Exception | None) -> None:
        """Let go; say of a full disk that it is one where MkDocs was writing, too."""
        self.let_go()
        if isinstance(error, OSError) and error.errno in FULL:
            raise not_written(self.root, error) from None

    def let_go(self) -> None:
        """Let go of what a build holds besides its values."""
        gc.enable()
        self.printing.let_go()
        if self.stage:
            self.stage.leave()
        if self.glossary:
            self.glossary.memo.close()
        self.stage = None

    def judged(self) -> pipeline.Glossary:
        """Give the glossary, once its gate has run."""
        if self.glossary is None:
            raise PluginError(NOT_RUN)
        return self.glossary

    def _site(self) -> website.Website:
        if self.site is None:
            raise PluginError(NOT_RUN)
        return self.site


def prepare(config: MkDocsConfig, *, keep: bool) -> None:
    """Look for no values that hold each other until pages are printed: there are none.

    To `keep` is to remember what Jinja compiled, too.
    """
    if gc.get_freeze_count():  # `serve` builds again: the build before the last one may go
        gc.unfreeze()
        gc.collect()
    gc.disable()
    remember_own(wanted=keep)
    if keep:
        hasten(config)


def extend(root: Path, config: MkDocsConfig) -> None:
    """Add what every page loads, and the folders that `serve` is to watch."""
    config.watch.extend(str(root / name) for name in WATCHED if (root / name).is_dir())
    config.extra_css.extend(website.STYLESHEETS)
    config.extra_javascript.extend(website.SCRIPTS)


def address_of(config: MkDocsConfig) -> Address | None:
    """Give where the site will stand, if `site_url` says so."""
    if not config.site_url:
        return None
    return Address(base=config.site_url, has_folders=config.use_directory_urls)


def today() -> datetime.date:
    """Give the date, the one thing a build takes from the clock."""
    return datetime.datetime.now(datetime.UTC).date()


def settings_of(root: Path, config: MkDocsConfig, options: Mapping[str, Any]) -> pipeline.Settings:
    """Give the engine's settings."""
    found = pipeline.settings_for(
        root,
        cast(Measure, options["measure"]),
        os.environ,
        Tenths(log.info),
        today=today() if options["cache"] else None,
    )
    return replace(found, docs=config.docs_dir, lab=replace(found.lab, tell=log.info))


def shown_of(page: Page, config: MkDocsConfig, page_html: str) -> website.Shown:
    """Give a page as it stands after all templates."""
    return website.Shown(
        uri=page.file.src_uri,
        title=config.site_name if page.is_homepage else str(page.title),
        description=str(page.meta.get("description") or config.site_description or ""),
        html=page_html,
    )


def write_twins(config: MkDocsConfig, twins: Mapping[str, str | bytes]) -> None:
    """Write Markdown beside the pages made from it."""
    for uri, content in twins.items():
        path = Path(config.site_dir, uri)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def complete_search(config: MkDocsConfig, glossary: pipeline.Glossary, *, drafts: bool) -> None:
    """Put the glossary's documents into the search index, if a search plugin has written one."""
    index = Path(config.site_dir, search.FILE)
    if index.is_file():
        ours = search.documents(glossary, drafts=drafts, has_folders=config.use_directory_urls)
        index.write_text(search.merged(index.read_text("utf-8"), ours), "utf-8")


def refuse_foreign(files: Files) -> None:
    """Refuse hand-written files that stand where only the glossary's may."""
    refuse(website.foreign_files(file.src_uri for file in files))


def refuse(problems: Sequence[Problem]) -> None:
    """Refuse to go on with problems."""
    if problems:
        raise Refused(problems)


class GlossaryRefused(PluginError):  # noqa: N818 - the outcome's own name, as `Refused`
    """The engine's refusal in the form of MkDocs' clean error; `problems` says why."""

    def __init__(
        self, problems: tuple[Problem, ...], what: str = "the glossary is refused"
    ) -> None:
        super().__init__(f"{what}\n{to_text(problems)}")
        self.problems = problems


@contextmanager
def refusals() -> Iterator[None]:
    """Turn the engine's refusal into MkDocs' clean error."""
    try:
        yield
    except Refused as refused:
        raise GlossaryRefused(refused.problems) from None


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Turn what the system refuses in the site's folder into MkDocs' clean error."""
    try:
        yield
    except NotWritten as error:
        raise not_written(root, error) from None


def not_written(root: Path, error: OSError) -> GlossaryRefused:
    """Give what the system refused as MkDocs' clean error.

    Of a file that MkDocs was writing it may not say which: that one is among the temporary ones.
    """
    path = Path(error.filename2 or error.filename or gettempdir())
    place = path.relative_to(root) if path.is_relative_to(root) else path
    problem = Problem(
        place=Place(place.as_posix()),
        code="cannot-write",
        message=f"cannot be written: {error.strerror}",
        hint=TO_BE_WRITTEN.get(error.errno or 0, "let this build write there, and repeat it"),
    )
    return GlossaryRefused((problem,), "the site is not written")
