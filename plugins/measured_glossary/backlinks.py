"""Where pages mention an entry, with the sentence.

Comes in: pages as Markdown, and the terms. Goes out: for each entry the pages that link to it or
name it. Must not know verdicts: it is given what may be shown.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from measured_glossary.scan import scan
from measured_glossary.source import Source, read
from measured_glossary.terms import Mention as TermMention
from measured_glossary.terms import Vocabulary
from measured_glossary.terms import mentions as term_mentions
from measured_glossary.trust.folder import ENTRIES

_TITLE = re.compile(r"^#\s+(.+?)\s*(?:\{.*\})?$", re.MULTILINE)
_MATTER = re.compile(r"\A---\n.*?\n---(?=\n)", re.DOTALL)
_LINK = re.compile(rf"\]\((?:\.\./)*{ENTRIES}/([a-z0-9-]+)/(?:index\.md)?(?:#[^)\s]*)?\)")
_FORCED = re.compile(r"\[\[!?([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[A-Za-z/][^<>]*>|[*`]|\\(?=[!-/:-@\[-`{-~])")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\[*_\\])")
# A paragraph ends at an empty line; a list's item, a quotation and a table's row stand alone too.
_BORDER = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d+\.)[ \t]|[ \t]*[>|#])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A page: where it stands, its title, its Markdown, and the entry it is the page of."""

    uri: str
    title: str
    markdown: str = ""
    own: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """A page that mentions an entry: its address below the site, its title, the sentence."""

    uri: str
    title: str
    sentence: str


def hand_written(docs: Path) -> Iterator[tuple[Source, Written]]:
    """Give every hand-written page as it lies there; its front matter is blanked out."""
    for path in sorted(docs.rglob("*.md")):
        uri = path.relative_to(docs).as_posix()
        if source := read(docs, uri).value:
            text = _MATTER.sub(lambda matter: "\n" * matter[0].count("\n"), source.text)
            title = _TITLE.search(text)
            name = _plain(title.group(1)) if title else uri
            yield source, Written(uri=uri, title=name, markdown=text)


class Named(NamedTuple):  # quick to read from the memo: each page has one
    """What a text names: each mention of a term, and each entry with its first sentence there."""

    mentions: tuple[TermMention, ...]
    sentences: tuple[tuple[str, str], ...]


def named(text: str, known: Vocabulary) -> Named:
    """Find what a page's Markdown names and links to."""
    found, first = term_mentions(text, known), dict[str, int]()
    for offset, entry_id in sorted(_places(text, found)):
        first.setdefault(entry_id, offset)
    sentences = tuple((entry_id, sentence_at(text, at)) for entry_id, at in first.items())
    return Named(mentions=found, sentences=sentences)


def mentions(pages: Iterable[tuple[Written, Named]]) -> dict[str, tuple[Mention, ...]]:
    """Give, for each entry, the first sentence of every other page that links to it or names it."""
    found: dict[str, list[Mention]] = defaultdict(list)
    for page, names in pages:
        for entry_id, sentence in names.sentences:
            if entry_id != page.own:
                found[entry_id].append(Mention(page.uri, page.title, sentence))
    return {entry_id: tuple(sorted(each)) for entry_id, each in found.items()}


def _places(text: str, found: Iterable[TermMention]) -> Iterator[tuple[int, str]]:
    """Give where a text links to an entry or names one term; a shared name is nobody's."""
    if f"{ENTRIES}/" in text:
        for link in _LINK.finditer(scan(text).without("fence", "code", "comment")):
            yield link.start(), link.group(1)
    for mention in found:
        if len(mention.ids) == 1:
            yield mention.start, mention.ids[0]


def sentence_at(text: str, offset: int) -> str:
    """Give the sentence around an offset as plain words; in a table's row there is none."""
    start = max((b.end() for b in _BORDER.finditer(text, 0, offset)), default=0)
    end = _BORDER.search(text, offset)
    paragraph = text[start : end.start() if end else len(text)]
    if paragraph.lstrip().startswith("|"):
        return ""
    begins = [0, *(found.end() for found in _SENTENCE_END.finditer(paragraph)), len(paragraph)]
    last = max(index for index, at in enumerate(begins) if at <= offset - start)
    return _plain(paragraph[begins[last] : begins[min(last + 1, len(begins) - 1)]])


def _plain(text: str) -> str:
    words = _FORCED.sub(lambda found: found[2] or found[1], text)
    bare = html.unescape(_MARKUP.sub(lambda found: found[1] or "", words))
    return re.sub(r"^(?:[-+>#\d.\s]+\s)?", "", " ".join(bare.split())).strip()
