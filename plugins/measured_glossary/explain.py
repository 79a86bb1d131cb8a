"""What each problem code means: the sections of `problems/*.md`, kept inside the package.

Comes in: a code. Goes out: its section. Must not know who raises it.
"""

from __future__ import annotations

import difflib
import re
from importlib import resources


def sections() -> dict[str, str]:
    """Give every code's explanation in Markdown, sorted by code."""
    found: dict[str, str] = {}
    folder = resources.files("measured_glossary") / "problems"
    for file in folder.iterdir():
        if file.name.endswith(".md"):
            parts = re.split(r"^## +`?([a-z0-9-]+)`?[ \t]*$", file.read_text("utf-8"), flags=re.M)
            found |= dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))
    return dict(sorted(found.items()))


def near(code: str) -> list[str]:
    """Give the codes that look like a mistyped one, best first."""
    return difflib.get_close_matches(code, sections(), n=3, cutoff=0.5)
