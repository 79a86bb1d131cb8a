"""Sites to look at: one of test entries that are published, and the project's own with its drafts.

Comes in: a folder to build in. Goes out: a built site. Must not know what is expected of it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config

from measured_glossary import preview
from site_world import Site, new_site

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "https://test.example/sub/path/"
COPIED = ("docs/stylesheets", "docs/javascripts", "plugins/problems_page.py",
          "plugins/accessible_theme.py")  # fmt: skip
PROJECT = ("docs", "glossary", "code", "measurements", "mkdocs.yml", "plugins/problems_page.py",
           "plugins/accessible_theme.py")  # fmt: skip
CACHE = ".cache/measured-glossary"

ENTRY = """\
---
term: {term}
question: What is {term}?
answer: {answer}
aliases: [{aliases}]
area: {area}
applies_to: CC 7.5 and newer
related: [{related}]
byline:
  written_by: test-author
---

{body}
"""
HOME = """\
# Home

Each block has at least one warp, and a block barrier holds all of its warps.

A bank is named by two entries, and `warp` in code by none.
"""
LESSON = """\
# Lesson on __syncthreads

Here `__syncthreads()` is used: __syncthreads, syncthreads, sync threads, block barrier; again
syncthreads, sync threads and block barrier.

```cpp
__syncthreads();
```
"""
ENTRIES = {
    "syncthreads": {
        "term": "__syncthreads()",
        "answer": "It is a barrier for one thread block.",
        "aliases": "syncthreads, sync threads, block barrier",
        "area": "Execution model",
        "related": "warp",
        "body": "Each warp waits there.\n\n```cpp\n__syncthreads();\n```",
    },
    "warp": {
        "term": "warp",
        "answer": "A warp is 32 threads that the hardware schedules together.",
        "aliases": "",
        "area": "Execution model",
        "related": "syncthreads",
        "body": "It has lanes.",
    },
    "bank-conflict": {
        "term": "bank conflict",
        "answer": "Two lanes ask one bank of shared memory for different words.",
        "aliases": "bank",
        "area": "Memory",
        "related": "",
        "body": "Lanes of a warp wait for each other.",
    },
    "memory-bank": {
        "term": "memory bank",
        "answer": "It is a part of shared memory that serves one word at a time.",
        "aliases": "bank",
        "area": "Memory",
        "related": "bank-conflict",
        "body": "There are 32.\n\n## How wide is one?\n\nFour bytes.",
    },
}
DRAFT = {
    "term": "draftcanary",
    "answer": "It is answercanary.",
    "aliases": "aliascanary",
    "area": "Areacanary",
    "related": "",
    "body": "Its bodycanary.",
}
CANARIES = ("draftcanary", "answercanary", "aliascanary", "areacanary", "bodycanary")


def published(root: Path, cache: Path) -> Site:
    """Give a glossary with four published entries and a draft, in this project's own theme."""
    files = {f"glossary/{name}/entry.md": ENTRY.format(**e) for name, e in ENTRIES.items()}
    files["glossary/draft/entry.md"] = ENTRY.format(**DRAFT)
    files |= {"docs/index.md": HOME, "docs/lesson.md": LESSON, "mkdocs.yml": _configuration()}
    site = new_site(root, cache, files)
    for name in COPIED:
        _copy(name, root)
    for name in ENTRIES:
        site.publish(name)
    return site


def _configuration() -> str:
    """Give this project's configuration, with pages of the test's own."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = "nav: [{Home: index.md}, {Lesson: lesson.md}, {Glossary: glossary/index.md}]\n\n"
    return re.sub(r"^nav:\n.*?(?=^\S)", nav, text, count=1, flags=re.MULTILINE | re.DOTALL)


def _copy(name: str, root: Path) -> None:
    source, target = ROOT / name, root / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=ignored)
    elif source.exists():
        shutil.copy2(source, target)


@contextmanager
def settings(values: Mapping[str, str]) -> Iterator[None]:
    """Set what the configuration reads from the environment, for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def build_published(site: Site, folder: Path, *, offline: bool = False) -> Path:
    """Build the published site for a sub-path, or to be read from a disk."""
    given = {
        "SITE_URL": ADDRESS,
        "GLOSSARY_MEASURE": "recorded",
        "OFFLINE": "true" if offline else "false",
    }
    with settings(given):
        config = load_config(str(site.root / "mkdocs.yml"), site_dir=str(folder))
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    return folder


def build_preview(root: Path) -> Path:
    """Build the project's own site with its drafts, from a copy; compiled kernels are reused."""
    for name in (*PROJECT, CACHE):
        _copy(name, root)
    with settings({"SITE_URL": ADDRESS, "GLOSSARY_MEASURE": "recorded", "OFFLINE": "false"}):
        return preview.build(root).parent
