"""What of a text can be recognised elsewhere: rare words, phrases, names and digests.

Comes in: the bytes of files, those of a draft and those of a built site alike. Goes out: sets of
traces that can be intersected. Must not know entries, verdicts or where files lie.

Both sides are brought to one form (words in small letters, without markup, escapes or
compression), so that a sentence is recognised in a search index as well as in a page.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import html
import io
import json
import re
import urllib.parse
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

PHRASE_WORDS = 5
MIN_WORD, MIN_WORD_IN_BINARY = 5, 8
MAX_DEPTH = 4
MAX_UNPACKED_BYTES = 256 << 20

_WORD = re.compile(r"[^\W_]+")
_IDENTIFIER = re.compile(r"\w+_\w+")
_TAG = re.compile(r"<[^<>]*>")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\([nrt])")
_DATA_URI = re.compile(r"base64,([A-Za-z0-9+/]{16,}={0,2})")
_PRINTABLE = re.compile(rb"[ -~]{8,}")
_TEXT_CHUNK = re.compile(rb"[zi]TXt")

# What is read as text, and what is looked into only as far as its printable strings and text
# chunks go.
_TEXT_NAMES = """
atom bib css csv cu cuh h hpp htm html ics js json jsonld map md mjs py rss sh svg tex toml txt vtt
webmanifest xml yaml yml
"""
_BINARY_NAMES = "avif bmp eot gif ico jpeg jpg otf png ttf webp woff woff2"
TEXT_SUFFIXES = frozenset(f".{name}" for name in _TEXT_NAMES.split())
BINARY_SUFFIXES = frozenset(f".{name}" for name in _BINARY_NAMES.split())


class Opaque(Exception):  # noqa: N818 - a finding, told by the caller
    """A file whose content cannot be seen, so nothing can be said about it."""


def traces(text: str) -> frozenset[str]:
    """Give the words, identifiers and phrases by which a text can be recognised."""
    folded = text.casefold()
    words = _WORD.findall(folded)
    names = set(map(_bare, _IDENTIFIER.findall(folded)))
    rare = {word for word in words if _is_telling(word)}
    phrases = zip(*(words[start:] for start in range(PHRASE_WORDS)), strict=False)
    return frozenset(rare | names | {" ".join(p) for p in phrases if _is_phrase(p)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Traces to look for, arranged so that a large text is read once and quickly."""

    single: frozenset[str]
    phrases: Mapping[str, frozenset[str]]


def look_for(searched: Iterable[str]) -> Wanted:
    """Arrange traces to be looked for: single words, and phrases by their first word."""
    phrases: dict[str, set[str]] = defaultdict(set)
    single: set[str] = set()
    for trace in searched:
        first, blank, _ = trace.partition(" ")
        (phrases[first] if blank else single).add(trace)
    return Wanted(
        single=frozenset(single),
        phrases={word: frozenset(found) for word, found in phrases.items()},
    )


def hits(text: str, wanted: Wanted) -> set[str]:
    """Give the traces that occur in a text."""
    folded = text.casefold()
    words = _WORD.findall(folded)
    found = wanted.single.intersection(words)
    if "_" in folded:
        found |= {n for n in map(_bare, _IDENTIFIER.findall(folded)) if n in wanted.single}
    for start, word in enumerate(words):
        if word in wanted.phrases:
            phrase = " ".join(words[start : start + PHRASE_WORDS])
            if phrase in wanted.phrases[word]:
                found |= {phrase}
    return set(found)


def _bare(name: str) -> str:
    return name.strip("_")


def _is_telling(word: str) -> bool:
    return len(word) >= MIN_WORD and not word.isdigit()


def _is_phrase(words: tuple[str, ...]) -> bool:
    """Numbers and single letters are in every table and every kernel."""
    return sum(len(word) > 2 and word.isalpha() for word in words) >= PHRASE_WORDS - 1


def texts(name: str, raw: bytes, depth: int = MAX_DEPTH) -> Iterator[str]:
    """Give every reading of a file as text: unpacked, unescaped, without markup.

    Raises `Opaque` for a file that cannot be looked into.
    """
    if depth == 0:
        raise Opaque("is packed too often")
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in {".gz", ".svgz"} or raw[:2] == b"\x1f\x8b":
        inner = name[:-3] if suffix == ".gz" else "packed.svg"
        yield from texts(inner, _unzip(raw), depth - 1)
    elif raw[:4] == b"PK\x03\x04":
        yield from _archive(raw, depth)
    elif suffix in BINARY_SUFFIXES:
        yield from _binary(raw)
    elif (suffix in TEXT_SUFFIXES and b"\0" not in raw) or _is_text(raw):
        yield from _text(raw.decode("utf-8", "replace"), suffix, depth)
    else:
        raise Opaque(f"is of a kind ({suffix or 'no suffix'}) that cannot be looked into")


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in raw


def _unzip(raw: bytes) -> bytes:
    try:
        with gzip.open(io.BytesIO(raw)) as stream:
            unpacked = stream.read(MAX_UNPACKED_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise Opaque("is not the gzip file it says it is") from None
    if len(unpacked) > MAX_UNPACKED_BYTES:
        raise Opaque(f"unpacks to more than {MAX_UNPACKED_BYTES} bytes")
    return unpacked


def _archive(raw: bytes, depth: int) -> Iterator[str]:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if sum(info.file_size for info in archive.infolist()) > MAX_UNPACKED_BYTES:
                raise Opaque(f"unpacks to more than {MAX_UNPACKED_BYTES} bytes")
            for info in archive.infolist():
                yield info.filename
                if not info.is_dir():
                    yield from texts(info.filename, archive.read(info), depth - 1)
    except (zipfile.BadZipFile, RuntimeError, zlib.error, NotImplementedError):
        raise Opaque("is a ZIP file that cannot be read") from None


def _binary(raw: bytes) -> Iterator[str]:
    for found in _PRINTABLE.finditer(raw):
        yield found.group().decode("ascii")
    for chunk in _TEXT_CHUNK.finditer(raw):
        yield from _packed_chunk(raw, chunk.start())


def _packed_chunk(raw: bytes, start: int) -> Iterator[str]:
    """Give the text of a PNG's compressed text chunk; what does not unpack is no such chunk."""
    length = int.from_bytes(raw[max(start - 4, 0) : start], "big")
    body = raw[start + 4 : start + 4 + length]
    for offset in (m.start() for m in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", body)):
        try:
            unpacked = zlib.decompressobj().decompress(body[offset:], 1 << 20)
        except zlib.error:
            continue
        yield unpacked.decode("utf-8", "replace")


def _text(text: str, suffix: str, depth: int) -> Iterator[str]:
    yield from _readings(text)
    if suffix in {".json", ".map", ".webmanifest", ".jsonld"}:
        for string in _json_strings(text):
            yield from _readings(string)
    for found in _DATA_URI.finditer(text):
        try:
            inner = base64.b64decode(found[1], validate=True)
        except binascii.Error:
            continue
        yield from texts("inline.svg" if _is_text(inner) else "inline.png", inner, depth - 1)


def _readings(text: str) -> Iterator[str]:
    """Give a text as written, and unescaped with markup taken out in either way."""
    plain = html.unescape(_ESCAPE.sub(_unescape, text))
    yield text
    yield _TAG.sub("", plain)
    yield _TAG.sub(" ", plain)
    if "%" in text:
        yield urllib.parse.unquote(text, errors="replace")
    if "<" in plain:
        yield plain


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else " "


def _json_strings(text: str) -> Iterator[str]:
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
