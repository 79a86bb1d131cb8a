"""The whole site with its drafts, in `preview/`, through MkDocs' own draft mode.

Comes in: the project's root. Goes out: the folder's first page. Must not decide what a draft is;
every page of a preview says that it is one, and the audit refuses the folder.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import MkDocsException

from measured_glossary.building import GlossaryRefused, log
from measured_glossary.plugin import MeasuredGlossary
from measured_glossary.problem import Place, Problem, Refused
from measured_glossary.project import hint_above

FOLDER = "preview"
CONFIG = "mkdocs.yml"


def _tell_nobody(line: str) -> None:
    """Keep a line to oneself."""


def build(
    root: Path, tell: Callable[[str], object] = _tell_nobody, *, use_cache: bool = True
) -> Path:
    """Build the preview and give its `index.html`; `tell` says how far the work is."""
    if not (root / CONFIG).is_file():
        hint = hint_above(root) or _START
        raise Refused([_problem("missing-file", "there is no such file", hint)])
    with _told(tell) as told:
        try:
            # Opened from the disk, an address that ends in a folder is no page.
            site_dir = str(root / FOLDER)
            config = load_config(str(root / CONFIG), site_dir=site_dir, use_directory_urls=False)
            _build(config, use_cache=use_cache)
        except MkDocsException as error:
            raise Refused(_reasons(error, told)) from None
    return root / FOLDER / "index.html"


def _build(config: MkDocsConfig, *, use_cache: bool) -> None:
    ours = [each for each in config.plugins.values() if isinstance(each, MeasuredGlossary)]
    if not ours:
        raise Refused([_problem("no-plugin", "measured-glossary is not among its plugins", _ADD)])
    for plugin in ours:
        plugin.config.cache = plugin.config.cache and use_cache
    for name, plugin in config.plugins.items():
        if name.rpartition("/")[2] == "offline":  # Material's: search from the disk
            plugin.config["enabled"] = True
    # What makes plugins and MkDocs build drafts; MkDocs puts its own DRAFT badge on them.
    config.plugins.on_startup(command="serve", dirty=False)
    build_site(config, serve_url=config.site_url or "/")


_START = "glossary init writes one, with all that a glossary needs"
_ADD = "write '  - measured-glossary' below 'plugins:'"


def _problem(code: str, message: str, hint: str = "") -> Problem:
    return Problem(place=Place(CONFIG), code=code, message=message, hint=hint)


# ── what MkDocs says when it gives up ────────────────────────────────────────────────────────


def _reasons(error: MkDocsException, told: list[str]) -> list[Problem]:
    """Give our own refusal, or what MkDocs warned of, or its last word."""
    for cause in (error, error.__context__):
        if isinstance(cause, GlossaryRefused):
            return list(cause.problems)
    return [_problem("site-not-built", text) for text in told or [error.format_message()]]


class _Told(logging.Handler):
    """Keeps warnings and errors instead of printing them; passes on what our plugin tells."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []
        self.tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one, or pass it on."""
        if record.levelno >= logging.WARNING:
            self.lines.append(record.getMessage())
        elif record.name == log.logger.name:
            self.tell(record.getMessage())


@contextmanager
def _told(tell: Callable[[str], object]) -> Iterator[list[str]]:
    logger, handler = logging.getLogger("mkdocs"), _Told(tell)
    level = log.logger.level
    logger.addHandler(handler)
    log.logger.setLevel(logging.INFO)
    try:
        yield handler.lines
    finally:
        log.logger.setLevel(level)
        logger.removeHandler(handler)
