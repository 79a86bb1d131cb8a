"""Where hand-written pages mention an entry.

Comes in: the folder of hand-written pages. Goes out: for each entry the pages that link to it,
with the sentence. Must not know verdicts: what a page may show of a draft is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measured_glossary.source import read
from measured_glossary.trust.folder import ENTRIES

_TITLE = re.compile(r"^#\s+(.+?)\s*(?:\{.*\})?$", re.MULTILINE)
_LINK = re.compile(rf"\]\((?:\.\./)*{ENTRIES}/([a-z0-9-]+)/(?:index\.md)?(?:#[^)\s]*)?\)")
_MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*`]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\[])")


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """A page that mentions an entry: its address below the site, its title, the sentence."""

    uri: str
    title: str
    sentence: str


def mentions(docs: Path, entry_ids: tuple[str, ...]) -> dict[str, tuple[Mention, ...]]:
    """Find, for each entry, the first sentence of every hand-written page that links to it."""
    found: dict[str, list[Mention]] = {entry_id: [] for entry_id in entry_ids}
    for path in sorted(docs.rglob("*.md")):
        uri = path.relative_to(docs).as_posix()
        source = read(docs, uri).value
        for entry_id, sentence in _links(source.text if source else ""):
            if entry_id in found and all(m.uri != uri for m in found[entry_id]):
                title = _TITLE.search(source.text if source else "")
                name = _plain(title.group(1)) if title else uri
                found[entry_id].append(Mention(uri, name, sentence))
    return {entry_id: tuple(sorted(each)) for entry_id, each in found.items()}


def _links(text: str) -> Iterator[tuple[str, str]]:
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in _SENTENCE.split(" ".join(paragraph.split())):
            for link in _LINK.finditer(sentence):
                yield link.group(1), _plain(sentence)


def _plain(text: str) -> str:
    return _MARKUP.sub(lambda m: m.group(1) or "", text).strip("# ")
