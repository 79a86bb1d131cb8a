"""Where MkDocs writes a site to, until all of it is there.

Comes in: MkDocs' configuration. Goes out: the same with another `site_dir`, and back. Must not know
what is written. MkDocs empties its folder before it builds: so the last good site is not that one.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.utils import CountHandler

_MKDOCS = logging.getLogger("mkdocs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A folder in place of the site's; `counter` counts what MkDocs warns of."""

    config: MkDocsConfig
    site: Path
    scratch: TemporaryDirectory[str]
    counter: CountHandler

    @property
    def folder(self) -> Path:
        """The folder that MkDocs writes to."""
        return Path(self.scratch.name)

    def is_given_up(self) -> bool:
        """Say whether MkDocs warned of anything in a strict build: it will fail."""
        return self.config.strict and bool(self.counter.get_counts())

    def leave(self) -> None:
        """Give MkDocs its folder back."""
        self.config.site_dir = str(self.site)
        _MKDOCS.removeHandler(self.counter)
        self.scratch.cleanup()


def enter(config: MkDocsConfig) -> Stage:
    """Let MkDocs write to another folder."""
    counter = CountHandler()
    counter.setLevel(logging.WARNING)
    _MKDOCS.addHandler(counter)
    scratch = TemporaryDirectory(prefix="glossary-", ignore_cleanup_errors=True)
    stage = Stage(config=config, site=Path(config.site_dir), scratch=scratch, counter=counter)
    config.site_dir = scratch.name
    return stage
