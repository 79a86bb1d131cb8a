"""MkDocs hooks and nothing else: each is answered by the build under way.

Comes in: MkDocs' configuration and events. Goes out: generated files, or a `PluginError` before
the last good site is wiped. Must not decide anything, nor load what a build is made with before
one begins: signatures are verified meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jinja2 import Environment
from mkdocs.config import base, config_options
from mkdocs.config.base import ValidationError
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils.templates import TemplateContext

import measured_glossary.rarely  # noqa: F401 - what it does, it does for the imports below too
from measured_glossary.aside import cores
from measured_glossary.trust.ahead import Ahead, verified_ahead
from measured_glossary.trust.folder import ENTRIES, entry_ids

if TYPE_CHECKING:
    from mkdocs.livereload import LiveReloadServer

    from measured_glossary.building import Building

NOT_RUN = (
    "another plugin swallowed the on_config event of measured-glossary: the gate has not run, and "
    "nothing is published"
)
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
    """The adapter between MkDocs and a build."""

    def __init__(self) -> None:
        self.root = Path()
        self.is_preview = False
        self.ahead: Ahead | None = None
        self.building: Building | None = None

    def load_config(
        self, options: dict[str, Any], config_file_path: str | None = None
    ) -> tuple[base.ConfigErrors, base.ConfigWarnings]:
        """Read the options; an unknown one is an error: it was meant to do something."""
        self.root = Path(config_file_path or "mkdocs.yml").resolve().parent
        errors, warnings = super().load_config(options, config_file_path)
        return [*errors, *((name, ValidationError(text)) for name, text in warnings)], []

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Refuse `--dirty`, which keeps withdrawn pages; remember whether drafts are shown."""
        if dirty:
            raise PluginError("--dirty keeps the pages of withdrawn entries: build without it")
        self.is_preview = command == "serve"
        with suppress(OSError):  # there is no such folder: the build says it, and what to do
            self.ahead = verified_ahead(self.root, entry_ids(self.root), cores())

    @event_priority(100)
    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Start measuring at once; the kernels run while MkDocs and other plugins get ready."""
        if not self.config.enabled:
            raise PluginError(SWITCHED_OFF)
        from measured_glossary.building import Building  # takes a while: see above

        if self.building:  # `serve` may have given up on the build before this one
            self.building.give_up()
        ahead, self.ahead = self.ahead, None
        self.building = Building(config, self.config, is_preview=self.is_preview)
        self.building.start(ahead)
        return config

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Collect, check and decide; refuse here, while the last good site still stands."""
        self._build().judge()

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the generated pages; what is not published exists in `serve` and previews only."""
        return self._build().with_pages(files)

    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
        """Remember the navigation: every page shows it."""
        return self._build().with_titles(nav)

    @event_priority(-100)
    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> Environment:
        """Print the pages of the glossary, now that everything is known that goes into them."""
        self._build().print(env, files)
        return env

    def on_template_context(
        self, context: TemplateContext, *, template_name: str, config: MkDocsConfig
    ) -> TemplateContext:
        """Let the site map list the pages that MkDocs knows as files."""
        context["pages"] = self._build().printing.listed(context["pages"])
        return context

    @event_priority(-50)
    def on_page_markdown(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Link the terms of a hand-written page, once other plugins have completed its text."""
        return self._build().linked(markdown, page)

    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Put the verdict into the page's head, where readers' tools and the audit find it."""
        return self._build().with_head(output, page)

    def on_post_template(self, output: str, *, template_name: str, config: MkDocsConfig) -> str:
        """Let the search box of a page without a source, as 404.html, ask our worker too."""
        return self._build().with_search_box(output)

    @event_priority(-50)  # after the search plugin's, before that of Material's offline plugin
    def _complete(self, *, config: MkDocsConfig) -> None:
        """Write the Markdown of each public page where its source stands, for `llms.txt`."""
        self._build().complete()

    @event_priority(-1000)  # after all that write to the site
    def _publish(self, *, config: MkDocsConfig) -> None:
        """Bring the site's folder up to date; a strict build that warned leaves it as it is."""
        self._build().publish()

    on_post_build = CombinedEvent(_complete, _publish)

    @event_priority(-1000)  # when the others have let go: it may say what the error was
    def on_build_error(self, *, error: Exception | None = None) -> None:
        """Let go of what a build holds; after an error the last good site is as it was."""
        if self.building:
            self.building.fail(error)

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[..., None]
    ) -> LiveReloadServer:
        """Show an edited entry at once; the build follows."""
        from measured_glossary.eager import attach  # and with it a server, which no build needs

        return attach(server, self.root / ENTRIES, lambda entry: self._build().show_again(entry))

    def _build(self) -> Building:
        if self.building is None:
            raise PluginError(NOT_RUN)
        return self.building
