"""What of a text can be recognised elsewhere: rare words, phrases, names and digests.

Comes in: the bytes of files, those of a draft and those of a built site alike. Goes out: sets of
traces that can be intersected. Must not know entries, verdicts or where files lie.

Both sides are brought to one form (words in small letters, without markup, escapes or
compression), so that a sentence is recognised in a search index as well as in a page. A text is
read once however many traces are looked for: it is cut into words by what works on whole strings,
and its words are compared as sets.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import html
import io
import json
import re
import sys
import unicodedata
import urllib.parse
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

PHRASE_WORDS = 5
MIN_WORD = 5
MAX_DEPTH = 4
MAX_UNPACKED_BYTES = 256 << 20

_BETWEEN = re.compile(r"\W")
_IDENTIFIER = re.compile(r"\w+_\w+")
_QUOTED = re.compile(r"%[0-9a-fA-F]{2}")
_TAG = re.compile(r"<[^<>]*>")
# What ends a tag or a comment elsewhere than at the next `>`, and markup as a browser reads it.
_ODD_VALUE = re.compile(r"""=\s*+(?:"[^"<>&]*+[<>&]|'[^'<>&]*+[<>&])""")
_ODD_COMMENT = re.compile(r"<!--(?:[^<>-]|-(?!-!?>))*+[<>]")
_MARKUP = re.compile(
    r"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|(?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)"
    r"""|/?[a-z](?:=\s*+(?:"[^"]*"|'[^']*')|[^>])*+(?:>|\Z))""",
    re.DOTALL | re.IGNORECASE,
)
# Escapes of programs; and of style sheets, where a blank ends one, if one stands for a letter.
_ESCAPE = re.compile(
    r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\u\{([0-9a-fA-F]{1,6})\}"
    r"|\\([0-3]?[0-7]{1,2})|\\([nrt])"
)
_STYLE_LETTER = re.compile(r"\\0{0,4}[4-7][0-9a-fA-F](?![0-9a-fA-F])")
_STYLE_ESCAPE = re.compile(r"\\([0-9][0-9a-fA-F]{0,5})\s?")
_DATA_URI = re.compile(r"base64,([A-Za-z0-9+/]{16,}={0,2})")
_PRINTABLE = re.compile(rb"[ -~]{8,}")
# Letters with a zero beside each, and what finds out at once that a file has none.
_WIDE = bytes(120 if 32 <= char < 127 else min(char, 1) for char in range(256))
_WIDE_RUN = b"\0x" * 7
_PRINTABLE_WIDE = re.compile(rb"(?:[ -~]\0){7,}[ -~]")
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


# Between strings that are read together: no phrase goes over it.
_BREAK = "\n0x 0x\n"


class Opaque(Exception):  # noqa: N818 - a finding, told by the caller
    """A file whose content cannot be seen, so nothing can be said about it."""


def traces(text: str) -> frozenset[str]:
    """Give the words, identifiers and phrases by which a text can be recognised."""
    plain = _plain(text)
    words = [word.decode() for word in _words(plain)]
    names = set(map(_bare, _IDENTIFIER.findall(plain.decode("utf-8", "surrogatepass"))))
    rare = {word for word in words if _is_telling(word)}
    phrases = zip(*(words[start:] for start in range(PHRASE_WORDS)), strict=False)
    return frozenset(rare | names | {" ".join(p) for p in phrases if _is_phrase(p)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Traces to look for, in the form in which a text's words are compared with them."""

    words: frozenset[bytes]
    names: frozenset[bytes]
    phrases: frozenset[tuple[bytes, ...]]

    def __bool__(self) -> bool:
        return bool(self.words or self.names or self.phrases)


def look_for(searched: Iterable[str]) -> Wanted:
    """Arrange traces to be looked for."""
    split = {tuple(trace.encode().split(b" ")) for trace in searched}
    single = {trace[0] for trace in split if len(trace) == 1}
    return Wanted(
        words=frozenset(word for word in single if b"_" not in word),
        names=frozenset(word for word in single if b"_" in word),
        phrases=frozenset(trace for trace in split if len(trace) > 1),
    )


def hits(text: str, wanted: Wanted) -> set[str]:
    """Give the traces that occur in a text."""
    plain = _plain(text)
    words = _words(plain)
    found = {(word,) for word in wanted.words.intersection(words)}
    found |= {(name,) for name in wanted.names.intersection(_names(plain))}
    windows = zip(*(words[start:] for start in range(PHRASE_WORDS)), strict=False)
    return {b" ".join(trace).decode() for trace in found | wanted.phrases.intersection(windows)}


# ── strings to be found as they are written ──────────────────────────────────────────────────

_DIGEST = re.compile(r"[0-9a-f]{64}")
_SEPARATORS = re.compile(r"[/.]")
# Hexadecimal digits become one sign, so that a run of them is found as a string.
_HEX = bytes(120 if char in b"0123456789abcdef" else 32 for char in range(256))
_RUN = b"x" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Literals:
    """Digests, and addresses by the part of each that stands between two separators."""

    digests: frozenset[str]
    addresses: Mapping[str, tuple[str, ...]]

    def __bool__(self) -> bool:
        return bool(self.digests or self.addresses)


def literals(searched: Iterable[str]) -> Literals:
    """Arrange digests, and addresses such as `glossary/warp/`, to be looked for."""
    digests: set[str] = set()
    addresses: dict[str, list[str]] = defaultdict(list)
    for literal in sorted(set(searched)):
        if _DIGEST.fullmatch(literal):
            digests.add(literal)
        else:
            addresses[max(_SEPARATORS.split(literal)[1:-1], key=len)].append(literal)
    return Literals(
        digests=frozenset(digests),
        addresses={part: tuple(found) for part, found in addresses.items()},
    )


def spotted(text: str, wanted: Literals) -> set[str]:
    """Give the literals that stand in a text, inside other words too."""
    parts = wanted.addresses.keys() & text.replace(".", "/").split("/")
    found = {a for part in parts for a in wanted.addresses[part] if a in text}
    return found | wanted.digests.intersection(_hex_runs(text) if wanted.digests else ())


def _hex_runs(text: str) -> Iterator[str]:
    """Give every 64 hexadecimal digits that stand together."""
    raw = text.encode("ascii", "replace")
    runs = raw.translate(_HEX)
    at = runs.find(_RUN)
    while at >= 0:
        yield raw[at : at + 64].decode()
        at = runs.find(_RUN, at + 1)


# ── one form ─────────────────────────────────────────────────────────────────────────────────

# Of ASCII, small letters, digits and underscores stay, and all else is a blank.
_ASCII = bytes(range(128))
_FOLD = bytes(ord(c.lower()) if c.isalnum() or c == "_" else 32 for c in map(chr, _ASCII))
_FOLD += bytes(range(128, 256))
_MANY_SIGNS = 64  # beyond ASCII, each is replaced in the whole text


def _plain(text: str) -> bytes:
    """Give a text's words and identifiers in small letters, with blanks for what is between."""
    raw = text.encode("utf-8", "surrogatepass").translate(_FOLD)
    if raw.isascii():
        return raw
    signs = set(raw.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    if len(signs) > _MANY_SIGNS:
        table = str.maketrans({sign: _folded(sign) for sign in signs})
        return raw.decode("utf-8", "surrogatepass").translate(table).encode()
    for sign in signs:
        raw = raw.replace(sign.encode("utf-8", "surrogatepass"), _folded(sign).encode())
    return raw


@cache
def _folded(sign: str) -> str:
    """Give a sign beyond ASCII as plain small letters, without what only marks a letter or hides.

    So a word is one with a soft hyphen in it, and in full-width or accented letters.
    """
    parts = unicodedata.normalize("NFKD", sign)
    seen = "".join(part for part in parts if unicodedata.category(part) not in _UNSEEN)
    return _BETWEEN.sub(" ", seen.casefold())


_UNSEEN = frozenset({"Cf", "Me", "Mn"})


def _words(plain: bytes) -> list[bytes]:
    return plain.replace(b"_", b" ").split()


def _names(plain: bytes) -> Iterator[bytes]:
    """Give each word with an underscore in it, without those around it."""
    plain += b" "
    at = plain.find(b"_")
    while at >= 0:
        end = plain.index(b" ", at)
        yield plain[plain.rfind(b" ", 0, at) + 1 : end].strip(b"_")
        at = plain.find(b"_", end)


def _bare(name: str) -> str:
    return name.strip("_")


def _is_telling(word: str) -> bool:
    return len(word) >= MIN_WORD and not word.isdigit()


def _is_phrase(words: tuple[str, ...]) -> bool:
    """Numbers and single letters are in every table and every kernel."""
    return sum(len(word) > 2 and word.isalpha() for word in words) >= PHRASE_WORDS - 1


def texts(name: str, raw: bytes) -> Iterator[str]:
    """Give every reading of a file as text: unpacked, unescaped, without markup.

    Raises `Opaque` for a file that cannot be looked into.
    """
    for text in unpacked(name, raw):
        yield from _readings(text)


def unpacked(name: str, raw: bytes, depth: int = MAX_DEPTH) -> Iterator[str]:
    """Give the texts of a file as they are written in it; raises `Opaque` as `texts` does."""
    if depth == 0:
        raise Opaque("is packed too often")
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in {".gz", ".svgz"} or raw[:2] == b"\x1f\x8b":
        inner = name[:-3] if suffix == ".gz" else "packed.svg"
        yield from unpacked(inner, _unzip(raw), depth - 1)
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
                    yield from unpacked(info.filename, archive.read(info), depth - 1)
    except (zipfile.BadZipFile, RuntimeError, zlib.error, NotImplementedError):
        raise Opaque("is a ZIP file that cannot be read") from None


def _binary(raw: bytes) -> Iterator[str]:
    yield _BREAK.join(found.decode("ascii") for found in _PRINTABLE.findall(raw))
    for found in _PRINTABLE_WIDE.findall(raw) if _WIDE_RUN in raw.translate(_WIDE) else ():
        wide = found[::2].decode("ascii")  # where in a pair the text begins and ends is not known
        yield _BREAK.join([wide, wide[1:], wide[:-1], wide[1:-1]])
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
    yield text
    if suffix in {".json", ".map", ".webmanifest", ".jsonld"}:
        yield _BREAK.join(_json_strings(text))
    for found in _DATA_URI.finditer(text):
        try:
            inner = base64.b64decode(found[1], validate=True)
        except binascii.Error:
            continue
        yield from unpacked("inline.svg" if _is_text(inner) else "inline.png", inner, depth - 1)


def _readings(text: str) -> Iterator[str]:
    """Give a text as written, and unescaped with markup taken out in either way."""
    yield text
    plain = html.unescape(_ESCAPE.sub(_unescape, text) if "\\" in text else text)
    if plain != text:
        yield plain
    if "<" in plain:
        yield _TAG.sub("", plain)
        yield _TAG.sub(" ", plain)
        if _ODD_VALUE.search(text) or _ODD_COMMENT.search(text):
            yield html.unescape(_MARKUP.sub("", text))
            yield html.unescape(_MARKUP.sub(" ", text))
    if "\\" in text and _STYLE_LETTER.search(text):
        yield _TAG.sub("", _STYLE_ESCAPE.sub(lambda found: _sign(int(found[1], 16)), text))
    if _QUOTED.search(text):
        yield urllib.parse.unquote(text, errors="replace")


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return _sign(int(code, 16)) if code else _sign(int(found[4] or "40", 8))


def _sign(code: int) -> str:
    return chr(code) if code <= sys.maxunicode else " "


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
