"""Entries' bodies, expanded, each only when something that goes into it changed.

Comes in: what gives the expanded Markdown of an entry, and the keys of all that goes into it. Goes
out: an `Expansion` for each. Must not know what is measured, nor what becomes of an entry.

A build without change needs of most bodies no more than their digests: the texts stay in the memo.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from measured_glossary.memo import Memo, Packed, content_digest, packed, plain_digest, unpacked
from measured_glossary.problem import Checked, Problem

Expand = Callable[[int], Checked[str]]


class Known(NamedTuple):  # quick to read from the memo: each entry has one
    """What is known of an expanded body: what is wrong with it, its digest and its headings."""

    problems: tuple[Problem, ...] = ()
    sha256: bytes = b""
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """An expanded body: `text` gives its Markdown, `known` is what is known without it."""

    known: Known = field(default_factory=Known)
    text: Callable[[], str] = str


def expansion(body: Checked[str]) -> Expansion:
    """Give what was expanded just now."""
    return Expansion(known=_known(body), text=partial(str, body.value or ""))


def expansions(keys: Sequence[bytes], expand: Expand, memo: Memo) -> list[Expansion]:
    """Give the bodies of these keys; `expand` is asked for the index of one that is not kept."""
    found: dict[bytes, Known] = dict(memo.load(keys))
    missing = [index for index, key in enumerate(keys) if key not in found]
    fresh: dict[bytes, Packed] = {}
    memo.store(_stored(keys, missing, expand, memo, found, fresh))
    memo.join(keys, found, fresh)
    return [
        Expansion(known=found[key], text=partial(_text, fresh.get(key), memo, key, expand, index))
        for index, key in enumerate(keys)
    ]


def _stored(
    keys: Sequence[bytes],
    missing: Sequence[int],
    expand: Expand,
    memo: Memo,
    found: dict[bytes, Known],
    fresh: dict[bytes, Packed],
) -> Iterator[tuple[bytes, object]]:
    """Give what is to be kept of the missing bodies, and note each in `found` and in `fresh`."""

    def expand_one(index: int) -> tuple[Known, Packed]:
        body = expand(index)
        return _known(body), packed(body.value or "")

    for index, (known, text) in memo.computed(missing, expand_one):
        key = keys[index]
        found[key], fresh[key] = known, text
        yield key, known
        yield _text_key(key), text


def _text_key(key: bytes) -> bytes:
    return plain_digest("text", key)


def _text(made: Packed | None, memo: Memo, key: bytes, expand: Expand, index: int) -> str:
    """Give a text that was made just now, or is kept; one that was dropped is made once more."""
    found: str | None = unpacked(made) if made else memo.get(_text_key(key))
    return (expand(index).value or "") if found is None else found


def _known(body: Checked[str]) -> Known:
    text = body.value or ""
    return Known(body.problems, content_digest(text), tuple(headings(text)))


# ── headings ─────────────────────────────────────────────────────────────────────────────────

# A fence is passed over whole, so that no line of code is taken for a heading.
_HEADING = re.compile(
    r"\n {0,3}(?:(`{3,}|~{3,})[^\n]*\n.*?\n {0,3}\1[`~]*[ \t]*(?=\n|\Z)"
    r"|#{2,6}[ \t]+(?P<text>[^\n]+))",
    re.DOTALL,
)
_MAY_BE_MARKUP = re.compile(r"[^\w\s,.:;?!()'-]")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
_MARKUP = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|[`*]|\\(?=[!-/:-@\[-`{-~])")


def headings(body: str) -> Iterator[str]:
    """Give the text of each heading of expanded Markdown, as HTML."""
    for found in _HEADING.finditer(f"\n{body}"):
        if found["text"]:
            yield _heading(found["text"].rstrip())


def _heading(text: str) -> str:
    if not _MAY_BE_MARKUP.search(text):
        return text
    bare = _MARKUP.sub(r"\1", _CLOSING.sub("", text))
    return html.escape(html.unescape(bare).strip(), quote=False)
