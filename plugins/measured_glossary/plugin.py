"""MkDocs hooks and nothing else: each calls one function of the engine.

Comes in: MkDocs' configuration and events. Goes out: generated files, or a `PluginError` before
the last good site is wiped. Must not decide anything: that is `pipeline`'s and `gate`'s.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from mkdocs.config import base, config_options
from mkdocs.config.base import ValidationError
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel, get_files
from mkdocs.structure.pages import Page

from measured_glossary import pipeline, search, status, website
from measured_glossary.address import Address
from measured_glossary.lab.study import Measure
from measured_glossary.problem import Problem, Refused, to_text
from measured_glossary.progress import Tenths

log = get_plugin_logger("measured-glossary")

WATCHED = ("glossary", "code", "measurements", "paths")
SWITCHED_OFF = (
    "measured-glossary: 'enabled: false' would switch the gate off; to build without a glossary, "
    "remove the plugin from mkdocs.yml"
)


class Options(base.Config):  # type: ignore[no-untyped-call] # MkDocs types no subclass hook
    """What `mkdocs.yml` may say. No option loosens the gate."""

    enabled = config_options.Type(bool, default=True)
    measure = config_options.Choice(("auto", "live", "recorded"), default="auto")


class MeasuredGlossary(BasePlugin[Options]):  # type: ignore[no-untyped-call] # as above
    """The adapter between MkDocs and the engine."""

    def __init__(self) -> None:
        self.preview = False
        self.started: pipeline.Started | None = None
        self.glossary: pipeline.Glossary | None = None
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
            self.started.studies.give_up()
        root = project_root(config)
        measure = cast(Measure, self.config.measure)
        found = pipeline.settings_for(root, measure, os.environ, Tenths(log.info))
        settings = replace(found, docs=config.docs_dir)
        with refusals():
            self.started, self.glossary = pipeline.start(root, settings), None
        config.watch.extend(str(root / name) for name in WATCHED if (root / name).is_dir())
        config.extra_css.extend(website.STYLESHEETS)
        config.extra_javascript.extend(website.SCRIPTS)
        return config

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Collect, check and decide; refuse here, while the last good site still stands."""
        started, self.started = self.started, None
        if started is None:
            raise PluginError("another plugin swallowed the on_config event of measured-glossary")
        with refusals():
            refuse_foreign(get_files(config))
            self.glossary = pipeline.finish(started, datetime.datetime.now(datetime.UTC).date())
            refuse(website.reference_faults(self.glossary, Path(config.docs_dir)))
            if not self.preview:
                pipeline.refuse_wrong_evidence(self.glossary)
        for line in status.summary(self.glossary):
            log.info(line)

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the generated pages; what is not published exists in `serve` and previews only."""
        with refusals():
            refuse_foreign(files)  # again: another plugin may have made some
        docs, address = Path(config.docs_dir), address_of(config)
        made = website.outputs(self._built(), docs, drafts=self.preview, address=address)
        self.twins = {out.uri: out.content for out in made if website.has_twin(out)}
        for output in made:
            level = InclusionLevel.NOT_IN_NAV if output.is_public else InclusionLevel.DRAFT
            file = File.generated(config, output.uri, content=output.content, inclusion=level)
            files.append(file)
        return files

    @event_priority(-50)
    def on_page_markdown(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Link the terms of a hand-written page, once other plugins have completed its text."""
        uri, is_generated = page.file.src_uri, page.file.generated_by is not None
        if is_generated:
            page.meta |= {"search": search.EXCLUDED} if search.covers(uri) else {}
            return markdown
        linked = website.link_terms(self._built(), uri, markdown, drafts=self.preview)
        self.twins[uri] = linked
        return linked

    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Put the verdict into the page's head, where readers' tools and the audit find it."""
        uri, address = page.file.src_uri, address_of(config)
        output = search.with_worker(output)
        made = website.with_head(self._built(), uri, output, preview=self.preview)
        if address is None:
            return made
        shown = website.Shown(
            uri=uri,
            title=config.site_name if page.is_homepage else str(page.title),
            description=str(page.meta.get("description") or config.site_description or ""),
            html=made,
        )
        return website.with_metadata(self._built(), shown, address, twins=self.twins)

    def on_post_template(self, output: str, *, template_name: str, config: MkDocsConfig) -> str:
        """Let the search box of a page without a source, as 404.html, ask our worker too."""
        return search.with_worker(output)

    @event_priority(-50)  # after the search plugin's, before that of Material's offline plugin
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Write the Markdown of each public page where its source stands, for `llms.txt`."""
        complete_search(config, self._built(), drafts=self.preview)
        for uri, content in self.twins.items():
            path = Path(config.site_dir, uri)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)

    def _built(self) -> pipeline.Glossary:
        if self.glossary is None:
            raise PluginError("the gate of measured-glossary has not run: nothing is published")
        return self.glossary


def project_root(config: MkDocsConfig) -> Path:
    """Give the folder of `mkdocs.yml`, which is the project's root."""
    return Path(config.config_file_path).resolve().parent


def address_of(config: MkDocsConfig) -> Address | None:
    """Give where the site will stand, if `site_url` says so."""
    if not config.site_url:
        return None
    return Address(base=config.site_url, has_folders=config.use_directory_urls)


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
