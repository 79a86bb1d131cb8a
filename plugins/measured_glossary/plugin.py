"""MkDocs hooks and nothing else: each calls one function of the engine.

Comes in: MkDocs' configuration and events. Goes out: generated files, or a `PluginError` before
the last good site is wiped. Must not decide anything: that is `pipeline`'s and `gate`'s.
"""

from __future__ import annotations

import datetime
import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from jinja2 import Environment
from mkdocs.config import base, config_options
from mkdocs.config.base import ValidationError
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure.files import Files, get_files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils.templates import TemplateContext

import measured_glossary.rarely  # noqa: F401 - what it does, it does for the imports below too
from measured_glossary import pipeline, search, status, website
from measured_glossary.address import Address
from measured_glossary.lab.study import Measure
from measured_glossary.memo import Memo
from measured_glossary.press import named
from measured_glossary.printing import Printing, printing
from measured_glossary.problem import Problem, Refused, to_text
from measured_glossary.progress import Tenths
from measured_glossary.stage import Stage, enter
from measured_glossary.theme import hasten, remember_own
from measured_glossary.tree import publish, standing
from measured_glossary.trust.folder import ENTRIES

if TYPE_CHECKING:
    from mkdocs.livereload import LiveReloadServer

log = get_plugin_logger("measured-glossary")

WATCHED = ("glossary", "code", "measurements", "paths")
SWALLOWED = "another plugin swallowed the on_config event of measured-glossary"
SWITCHED_OFF = (
    "measured-glossary: 'enabled: false' would switch the gate off; to build without a glossary, "
    "remove the plugin from mkdocs.yml"
)


class Options(base.Config):  # type: ignore[no-untyped-call] # MkDocs types no subclass hook
    """What `mkdocs.yml` may say. No option loosens the gate."""

    enabled = config_options.Type(bool, default=True)
    measure = config_options.Choice(("auto", "live", "recorded"), default="auto")
    cache = config_options.Type(bool, default=True)
    per_page = config_options.ListOfItems(config_options.Type(str), default=[])


class MeasuredGlossary(BasePlugin[Options]):  # type: ignore[no-untyped-call] # as above
    """The adapter between MkDocs and the engine."""

    def __init__(self) -> None:
        self.preview = False
        self.started: pipeline.Started | None = None
        self.glossary: pipeline.Glossary | None = None
        self.site: website.Website | None = None
        self.stage: Stage | None = None
        self.printing = Printing()
        self.twins: dict[str, str | bytes] = {}

    def load_config(
        self, options: dict[str, Any], config_file_path: str | None = None
    ) -> tuple[base.ConfigErrors, base.ConfigWarnings]:
        """Read the options; an unknown one is an error: it was meant to do something."""
        errors, warnings = super().load_config(options, config_file_path)
        return [*errors, *((name, ValidationError(text)) for name, text in warnings)], []

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Refuse `--dirty`, which keeps withdrawn pages; remember whether drafts are shown."""
        if dirty:
            raise PluginError("--dirty keeps the pages of withdrawn entries: build without it")
        self.preview = command == "serve"

    @event_priority(100)
    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Start measuring at once; the kernels run while MkDocs and other plugins get ready."""
        if not self.config.enabled:
            raise PluginError(SWITCHED_OFF)
        if self.started is not None:  # `serve` gave up on the build before this one
            self.started.give_up()
        _prepare(config, keep=self.config.cache)
        settings = settings_of(config, self.config)
        with refusals():
            self.started, self.glossary = pipeline.start(project_root(config), settings), None
        _extend(config)
        self.stage, self.twins = enter(config), {}
        return config

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Collect, check and decide; refuse here, while the last good site still stands."""
        started, self.started = self.started, None
        if started is None:
            raise PluginError(SWALLOWED)
        with refusals():
            refuse_foreign(get_files(config))
            self.glossary = pipeline.finish(started, today())
            refuse(website.reference_faults(self.glossary, Path(config.docs_dir)))
            if not self.preview:
                pipeline.refuse_wrong_evidence(self.glossary)
        for line in status.summary(self.glossary):
            log.info(line)

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the generated pages; what is not published exists in `serve` and previews only."""
        with refusals():
            refuse_foreign(files)  # again: another plugin may have made some
        self.site = website_of(config, self._built(), drafts=self.preview)
        self.printing = printing(config, self.site.outputs, self.config.per_page)
        if why := ", ".join(self.printing.why_not):
            log.info("each page is made anew, since these may look at others: %s", why)
        for file in self.printing.files:
            files.append(file)
        self.twins = self.printing.twins()
        return files

    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
        """Remember the navigation: every page shows it."""
        self.printing = replace(self.printing, nav=named(nav))
        return nav

    @event_priority(-100)
    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> Environment:
        """Print the pages of the glossary, now that everything is known that goes into them."""
        memo, site = self._built().memo, self.stage.site if self.stage else Path(config.site_dir)
        self.printing = self.printing.printed(env, config, files, memo, site, self.preview)
        return env

    def on_template_context(
        self, context: TemplateContext, *, template_name: str, config: MkDocsConfig
    ) -> TemplateContext:
        """Let the site map list the pages that MkDocs knows as files."""
        context["pages"] = self.printing.listed(context["pages"])
        return context

    @event_priority(-50)
    def on_page_markdown(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Link the terms of a hand-written page, once other plugins have completed its text."""
        uri, is_generated = page.file.src_uri, page.file.generated_by is not None
        if is_generated:
            page.meta.update({"search": search.EXCLUDED} if search.covers(uri) else {})
            return markdown
        linked = website.link_terms(self._made(), uri, markdown)
        self.twins[uri] = linked
        return linked

    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Put the verdict into the page's head, where readers' tools and the audit find it."""
        uri, asking = page.file.src_uri, search.with_worker(output)
        made = website.with_head(self._made(), uri, asking, preview=self.preview)
        shown, has_twin = shown_of(page, config, made), self.printing.has_twin(page.file)
        return website.with_metadata(self._made(), shown, has_twin=has_twin or uri in self.twins)

    def on_post_template(self, output: str, *, template_name: str, config: MkDocsConfig) -> str:
        """Let the search box of a page without a source, as 404.html, ask our worker too."""
        return search.with_worker(output)

    @event_priority(-50)  # after the search plugin's, before that of Material's offline plugin
    def _complete(self, *, config: MkDocsConfig) -> None:
        """Write the Markdown of each public page where its source stands, for `llms.txt`."""
        complete_search(config, self._built(), drafts=self.preview)
        write_twins(config, self.twins)

    @event_priority(-1000)  # after all that write to the site
    def _publish(self, *, config: MkDocsConfig) -> None:
        """Bring the site's folder up to date; a strict build that warned leaves it as it is."""
        self.printing.check_links(config)
        if self.stage and not self.stage.is_given_up():
            bring_up_to_date(self.stage, self.printing, self._built().memo)
        self.on_build_error()

    on_post_build = CombinedEvent(_complete, _publish)

    def on_build_error(self, *, error: Exception | None = None) -> None:
        """Let go of what a build holds; after an error the last good site is as it was."""
        let_go(self.printing, self.stage, self.glossary)
        self.stage = None

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[..., None]
    ) -> LiveReloadServer:
        """Show an edited entry at once; the build follows."""
        from measured_glossary.eager import attach  # and with it a server, which no build needs

        return attach(server, project_root(config) / ENTRIES, partial(_show_again, self))

    def _made(self) -> website.Website:
        if self.site is None:
            raise PluginError(NOT_RUN)
        return self.site

    def _built(self) -> pipeline.Glossary:
        if self.glossary is None:
            raise PluginError(NOT_RUN)
        return self.glossary


def _show_again(plugin: MeasuredGlossary, entry_id: str) -> None:
    """Make the page of an entry as it is now, beside the others as they were built last."""
    judged = pipeline.judged_again(plugin._built(), entry_id, today())
    plugin.site, page = website.with_again(plugin._made(), judged)
    plugin.printing.show(page)


NOT_RUN = "the gate of measured-glossary has not run: nothing is published"


def project_root(config: MkDocsConfig) -> Path:
    """Give the folder of `mkdocs.yml`, which is the project's root."""
    return Path(config.config_file_path).resolve().parent


def _prepare(config: MkDocsConfig, *, keep: bool) -> None:
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


def _extend(config: MkDocsConfig) -> None:
    """Add what every page loads, and the folders that `serve` is to watch."""
    root = project_root(config)
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


def settings_of(config: MkDocsConfig, options: Options) -> pipeline.Settings:
    """Give the engine's settings."""
    found = pipeline.settings_for(
        project_root(config),
        cast(Measure, options.measure),
        os.environ,
        Tenths(log.info),
        today=today() if options.cache else None,
    )
    return replace(found, docs=config.docs_dir, lab=replace(found.lab, tell=log.info))


def website_of(
    config: MkDocsConfig, glossary: pipeline.Glossary, *, drafts: bool
) -> website.Website:
    """Give everything that is made from a glossary, for this site."""
    docs, address = Path(config.docs_dir), address_of(config)
    return website.website(glossary, docs, drafts=drafts, address=address)


def shown_of(page: Page, config: MkDocsConfig, page_html: str) -> website.Shown:
    """Give a page as it stands after all templates."""
    return website.Shown(
        uri=page.file.src_uri,
        title=config.site_name if page.is_homepage else str(page.title),
        description=str(page.meta.get("description") or config.site_description or ""),
        html=page_html,
    )


def let_go(printing: Printing, stage: Stage | None, glossary: pipeline.Glossary | None) -> None:
    """Let go of what a build holds besides its values."""
    gc.enable()
    printing.let_go()
    if stage:
        stage.leave()
    if glossary:
        glossary.memo.close()


def bring_up_to_date(stage: Stage, printing: Printing, memo: Memo) -> None:
    """Bring the site's folder to what was built."""
    found = printing.found.value() if printing.found else standing(stage.site, memo)
    change = publish(stage.site, stage.folder, printing.leaves(), memo, found)
    log.info("%d files written, %d deleted, %d as they were", *astuple(change))


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

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(f"the glossary is refused\n{to_text(problems)}")
        self.problems = problems


@contextmanager
def refusals() -> Iterator[None]:
    """Turn the engine's refusal into MkDocs' clean error."""
    try:
        yield
    except Refused as refused:
        raise GlossaryRefused(refused.problems) from None
