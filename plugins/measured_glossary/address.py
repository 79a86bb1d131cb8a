"""Where a site stands, and what the files of its sources are called there.

Comes in: the site's address and how its generator names pages. Goes out: absolute addresses. Must
not know what stands at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

_INDEX = "index.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A site's address with its path.

    `has_folders` says that pages are called by their folder, `has_sources` that the Markdown of a
    page stands beside it.
    """

    base: str
    has_folders: bool = True
    has_sources: bool = True

    def page(self, uri: str) -> str:
        """Give the address of a page, named by its Markdown file below the site's sources."""
        folder, is_index = uri.removesuffix(_INDEX), uri.endswith(_INDEX)
        if not self.has_folders:
            return self.file(f"{uri.removesuffix('.md')}.html")
        return self.file(folder if is_index else f"{uri.removesuffix('.md')}/")

    def source(self, uri: str) -> str:
        """Give the address of a page's Markdown, or nothing where it is not published."""
        return self.file(uri) if self.has_sources else ""

    def file(self, uri: str) -> str:
        """Give the address of a file that is not turned into a page."""
        return f"{self.base.rstrip('/')}/{quote(uri)}"
