"""The picture that stands for a page where somebody links to it: 1200 by 630, PNG.

Comes in: a few short texts. Goes out: the bytes of a PNG, the same for the same texts. Must not
know entries, nor ask the network for a font: Pillow brings one.
"""

from __future__ import annotations

import math
import struct
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from PIL import Image, ImageColor, ImageDraw, ImageFont

WIDTH, HEIGHT, MARGIN = 1200, 630, 80
PAPER, INK, MUTED, ACCENT = "#ffffff", "#1f2430", "#566072", "#3f51b5"
SHADES = 8  # of a letter’s edge: with those of the muted lines and the bar they fill four bits
# The font that Pillow brings has the signs of ASCII and these.
_BEYOND_ASCII = frozenset("“”")
_ALIKE = str.maketrans({"–": "-", "—": "-", "−": "-", "‘": "'", "’": "'", "×": "x", "…": "..."})


class _Line(NamedTuple):
    """A line of text: how far below its band's top it stands, in which size of letters."""

    top: int
    text: str
    size: int
    is_muted: bool = False


class _Band(NamedTuple):
    """Rows of a card, each behind its filter: four bits a dot, and the same deflated."""

    rows: bytes
    deflated: bytes


def draw(*, heading: str, text: str, above: str, below: str) -> bytes:
    """Draw a card: a line above, a heading, a text of at most four lines, a line below.

    The lines above and below are on many cards, as is blank paper: their bands are made once.
    """
    size = next((s for s in (84, 68, 54, 42) if _fits(heading, s)), 42)
    lines = tuple(_wrapped(_shown(text), 40, 4))
    return _png(
        (
            _shared(140, _Line(64, _shown(above), 30, is_muted=True)),
            _band(130, _Line(0, _cut(_shown(heading), size), size)),
            *(_band(56, _Line(0, line, 40)) for line in lines),
            _shared(275 - 56 * len(lines)),
            _shared(HEIGHT - 545, _Line(0, _cut(_shown(below), 28), 28, is_muted=True)),
        )
    )


def _band(height: int, *lines: _Line) -> _Band:
    image = Image.new("L", (_FILTER + WIDTH, height))  # each dot’s place in the palette
    image.paste(_BAR, (_FILTER, 0, _FILTER + 24, height))
    for line in lines:
        _write(image, line)
    image.putpalette(_palette(), "RGB")
    rows = image.tobytes("raw", "P;4")
    packer = zlib.compressobj(2, wbits=-zlib.MAX_WBITS)
    return _Band(rows, packer.compress(rows) + packer.flush(zlib.Z_FULL_FLUSH))


_shared = lru_cache(maxsize=50)(_band)


def _png(bands: Sequence[_Band]) -> bytes:
    """Give a PNG of bands, one below the other.

    Pillow's own takes twice as long: it packs row by row.
    """
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 4, 3, 0, 0, 0)  # four bits, in a palette
    check = zlib.adler32(b"")
    for band in bands:
        check = zlib.adler32(band.rows, check)
    deflated = (*(band.deflated for band in bands), zlib.compressobj(wbits=-zlib.MAX_WBITS).flush())
    packed = b"".join((b"\x78\x01", *deflated, struct.pack(">I", check)))  # RFC 1950
    chunks = ((b"IHDR", head), (b"PLTE", _palette()), (b"IDAT", packed), (b"IEND", b""))
    parts = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _write(image: Image.Image, line: _Line) -> None:
    """Write a line word by word: many are on every card, and are drawn once."""
    left = float(MARGIN)
    for word in line.text.split():
        drawn, (x, y) = _word(word, line.size, line.is_muted)
        image.paste(drawn, (_FILTER + round(left) + x, line.top + y))
        left += _width(word, line.size) + _width(" ", line.size)


@lru_cache(maxsize=500)
def _word(word: str, size: int, is_muted: bool) -> tuple[Image.Image, tuple[int, int]]:
    """Draw a word in the shades of its colour; give it, and where it stands from its origin."""
    box = _font(size).getbbox(word)
    left, top, right, bottom = math.floor(box[0]), math.floor(box[1]), *map(math.ceil, box[2:])
    image = Image.new("L", (right - left, bottom - top))  # how much of each dot is text
    ImageDraw.Draw(image).text((-left, -top), word, font=_font(size), fill=255)
    return image.point(_MUTED if is_muted else _INK), (left, top)


# From how much of a dot is text to its place in the palette, which is known beforehand: to look for
# the best one takes longer than all of the drawing.
_INK = [value * SHADES // 256 for value in range(256)]
_MUTED = [shade + SHADES - 1 if shade else 0 for shade in _INK]
_BAR = 2 * SHADES - 1
_FILTER = 2  # dots of nothing before each row: packed, they are a PNG's name for no filter


@cache
def _palette() -> bytes:
    paper, ink, muted, accent = (ImageColor.getrgb(name) for name in (PAPER, INK, MUTED, ACCENT))
    colours = (paper, *_shades(paper, ink), *_shades(paper, muted), accent)
    return bytes(part for colour in colours for part in colour)


def _shades(light: tuple[int, ...], dark: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Give the colours from the lighter one, which is none of them, to the darker one."""
    for step in range(1, SHADES):
        pairs = zip(light, dark, strict=True)
        yield tuple(round(a + (b - a) * step / (SHADES - 1)) for a, b in pairs)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        return font
    # Latin letters need no shaping, and are drawn in half the time without.
    return font.font_variant(layout_engine=ImageFont.Layout.BASIC)


def _shown(text: str) -> str:
    """Give a text in signs that the font has: others lose their accent, or become '?'."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text.translate(_ALIKE))
    kept = (sign for sign in plain if not unicodedata.combining(sign))
    return "".join(sign if sign.isascii() or sign in _BEYOND_ASCII else "?" for sign in kept)


def _fits(text: str, size: int) -> bool:
    """Say whether a text fits into a row: words are measured once, and many are in every card."""
    words = _shown(text).split()
    gaps = max(len(words) - 1, 0) * _width(" ", size)
    return sum(_width(word, size) for word in words) + gaps <= WIDTH - 2 * MARGIN


@lru_cache(maxsize=10_000)
def _width(word: str, size: int) -> float:
    return _font(size).getlength(word)


def _cut(text: str, size: int) -> str:
    return next(iter(_wrapped(text, size, 1)), "")


def _wrapped(text: str, size: int, rows: int) -> Iterator[str]:
    """Give a text in rows; what does not fit into the last one is cut with three dots."""
    words = text.split()
    for row in range(rows):
        line, words = _row(words, size)
        if not line:
            return
        is_cut = bool(words) and row == rows - 1
        yield f"{line} ..." if is_cut else line


def _row(words: list[str], size: int) -> tuple[str, list[str]]:
    """Give as many words as fit into a row with three dots, at least one, and the rest."""
    taken, count = _width("...", size), 0
    for word in words:
        taken += _width(word, size) + _width(" ", size)
        if count and taken > WIDTH - 2 * MARGIN:
            break
        count += 1
    return " ".join(words[:count]), words[count:]
