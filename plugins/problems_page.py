"""Completes docs/problems.md with every code the engine can print.

Comes in: the sections that `glossary explain` prints. Goes out: the rest of one page. Must not
know what an entry is; it is a MkDocs hook of this site and not part of the package.
"""

from __future__ import annotations

from mkdocs.structure.pages import Page

from measured_glossary import explain

PAGE = "problems.md"


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Append a section for each code to the problems page; leave other pages alone."""
    return f"{markdown}\n\n{sections()}\n" if page.file.src_uri == PAGE else markdown


def sections() -> str:
    """Give every code's explanation under a heading that `#code` links to."""
    found = explain.sections().items()
    return "\n\n".join(f"## `{code}`\n\n{text}" for code, text in found)
