"""The whole site with its drafts, in `preview/`, through MkDocs' own draft mode.

Comes in: the project's root. Goes out: the folder's first page. Must not decide what a draft is;
every page of a preview says that it is one, and the audit refuses the folder.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, ConfigurationError

from measured_glossary.plugin import MeasuredGlossary
from measured_glossary.problem import Place, Problem, Refused

FOLDER = "preview"


def build(root: Path) -> Path:
    """Build the preview and give its `index.html`."""
    try:
        # Opened from the disk, a folder in a link is no page.
        config = load_config(
            str(root / "mkdocs.yml"), site_dir=str(root / FOLDER), use_directory_urls=False
        )
        plugins = [p for p in config.plugins.values() if isinstance(p, MeasuredGlossary)]
        config.plugins.on_startup(command="build", dirty=False)
        for plugin in plugins:
            plugin.preview = True
        # A serve address is what makes MkDocs build drafts, with its own DRAFT badge on them.
        build_site(config, serve_url=config.site_url or "/")
    except (ConfigurationError, Abort, FileNotFoundError) as error:
        raise Refused([_problem(str(error))]) from None
    return root / FOLDER / "index.html"


def _problem(message: str) -> Problem:
    return Problem(place=Place("mkdocs.yml"), code="site-not-built", message=message)
