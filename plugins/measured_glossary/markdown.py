"""A Python-Markdown extension: names such as `__shared__` in plain prose stay as they are typed.

Comes in: the text of hand-written pages. Goes out: the same text, in which no such name turns
bold. Must not know entries or values: those are expanded before Markdown is read.

Use it as `measured_glossary.markdown` in the list of Markdown extensions.
"""

from __future__ import annotations

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.util import ETX, STX

from measured_glossary.body import IDENTIFIER

# Below code, escapes, links and HTML, which take their text first; above all that emphasizes.
PRIORITY = 75


class IdentifierProcessor(InlineProcessor):
    """Keeps the underscores of a name, in the form Python-Markdown itself gives an escape."""

    def handleMatch(  # type: ignore[override]  # noqa: N802 - the host's name and types
        self, m: re.Match[str], data: str
    ) -> tuple[str, int, int]:
        """Give the name, and the stretch of `data` it stands for."""
        return m.group().replace("_", f"{STX}{ord('_')}{ETX}"), m.start(), m.end()


class IdentifierExtension(Extension):
    """Registers the processor."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the host's name
        """Put the processor above those for bold and italic text."""
        processor = IdentifierProcessor(IDENTIFIER, md)
        md.inlinePatterns.register(processor, "measured_glossary_identifier", PRIORITY)


def makeExtension(**options: Any) -> IdentifierExtension:  # noqa: N802 - the host's name
    """Give the extension to Python-Markdown, which looks for this function."""
    return IdentifierExtension(**options)
