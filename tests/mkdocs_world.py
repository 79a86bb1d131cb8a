"""MkDocs as its users start it, without a process for each build.

Comes in: a `Site` and the words behind `mkdocs`. Goes out: exit status, what was printed, the
built folder. Must not know what is right.
"""

from __future__ import annotations

import gzip
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from mkdocs.__main__ import cli

from site_world import Site

_MAIN = r'<div [^>]*role="main">(.*?)</div>\s*</div>\s*</div>\s*<footer'  # of the theme mkdocs


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a run of MkDocs came to."""

    status: int
    output: str
    folder: Path

    def text(self, name: str) -> str:
        """Give a file of the built site, unpacked."""
        raw = (self.folder / name).read_bytes()
        return (gzip.decompress(raw) if name.endswith(".gz") else raw).decode("utf-8")

    def holds(self, name: str) -> bool:
        """Say whether the built site has this file."""
        return (self.folder / name).is_file()

    def files_with(self, text: str) -> list[str]:
        """Give the files in which a text occurs, packed or not, by name or by content."""
        names = (p.relative_to(self.folder).as_posix() for p in self.folder.rglob("*"))
        return [n for n in sorted(names) if text in n or (self.holds(n) and self._occurs(text, n))]

    def main(self, page: str) -> str:
        """Give the main element of a page: what the glossary made, without the theme around it."""
        found = re.search(_MAIN, self.text(page), re.S)
        assert found, f"{page} has no main element"
        return "\n".join(line.strip() for line in found[1].splitlines() if line.strip()) + "\n"

    def traces_of(self, entry: str) -> list[str]:
        """Give where an entry's id occurs, the glossary's own scripts and styles aside."""
        return [name for name in self.files_with(entry) if not name.startswith("assets/")]

    def _occurs(self, text: str, name: str) -> bool:
        raw = (self.folder / name).read_bytes()
        return text.encode() in (gzip.decompress(raw) if name.endswith(".gz") else raw)


def mkdocs(site: Site, *words: str) -> Built:
    """Run `mkdocs build` in a site's folder."""
    arguments = ["build", "--config-file", str(site.root / "mkdocs.yml"), *words]
    with pytest.MonkeyPatch.context() as patched, fresh_logs():
        patched.chdir(site.root)
        done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    return Built(status=done.exit_code, output=done.output, folder=site.root / "site")


@contextmanager
def fresh_logs() -> Iterator[None]:
    """Let MkDocs say again what it said before, and leave its loggers as they were."""
    main = logging.getLogger("mkdocs")
    before = main.propagate, main.level
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("mkdocs")]:
        logging.getLogger(name).filters.clear()  # one of them drops what was logged once
    yield
    main.propagate, main.level = before
