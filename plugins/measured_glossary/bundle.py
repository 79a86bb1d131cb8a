"""Scripts and style sheets as they are published: modules joined, what only people read left out.

Comes in: files of `assets/`. Goes out: text that a browser reads to the same effect. Must not know
what a script does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_SCRIPT_COMMENT = re.compile(r"^\s*(//.*|/\*\*(?s:.*?)\*/)\n", re.MULTILINE)
_STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_BLANKS = re.compile(r"\n\s+")


def classic(folder: Path, modules: Sequence[str], start: str) -> str:
    """Join modules into one scope that nothing outside sees; `start` is its last statement.

    A page opened from `file://` may load no ES modules, so the published form is none.
    """
    texts = [_IMPORT.sub("", (folder / name).read_text(encoding="utf-8")) for name in modules]
    body = "\n".join(lean_script(_EXPORT.sub("", text)) for text in texts)
    return f'(() => {{\n"use strict";\n{body}\n{start}\n}})();\n'


def lean(file: Path) -> str:
    """Give a script or a style sheet, by its suffix."""
    text = file.read_text(encoding="utf-8")
    return lean_style(text) if file.suffix == ".css" else lean_script(text)


def lean_script(text: str) -> str:
    """Leave out comments and indentation; none of our templates goes over a line's end."""
    return _BLANKS.sub("\n", _SCRIPT_COMMENT.sub("", text))


def lean_style(text: str) -> str:
    """Leave out comments and indentation."""
    return _BLANKS.sub("\n", _STYLE_COMMENT.sub("", text)).lstrip()
