"""The picture that stands for a page where somebody links to it: 1200 by 630, PNG.

Comes in: a few short texts. Goes out: the bytes of a PNG, the same for the same texts. Must not
know entries, nor ask the network for a font: Pillow brings one.
"""

from __future__ import annotations

import math
import struct
import unicodedata
import zlib
from collections.abc import Iterator
from functools import cache, lru_cache

from PIL import Image, ImageColor, ImageDraw, ImageFont

WIDTH, HEIGHT, MARGIN = 1200, 630, 80
PAPER, INK, MUTED, ACCENT = "#ffffff", "#1f2430", "#566072", "#3f51b5"
SHADES = 8  # of a letter’s edge: with those of the muted lines and the bar they fill four bits
# The font that Pillow brings has the signs of ASCII and these.
_BEYOND_ASCII = frozenset("“”")
_ALIKE = str.maketrans({"–": "-", "—": "-", "−": "-", "‘": "'", "’": "'", "×": "x", "…": "..."})


def draw(*, heading: str, text: str, above: str, below: str) -> bytes:
    """Draw a card: a line above, a heading, a text of at most four lines, a line below."""
    image = Image.new("L", (_FILTER + WIDTH, HEIGHT))  # each dot’s place in the palette
    image.paste(_BAR, (_FILTER, 0, _FILTER + 24, HEIGHT))
    _write(image, 64, _shown(above), 30, is_muted=True)
    size = next((s for s in (84, 68, 54, 42) if _fits(heading, s)), 42)
    _write(image, 140, _cut(_shown(heading), size), size)
    for row, line in enumerate(_wrapped(_shown(text), 40, 4)):
        _write(image, 270 + row * 56, line, 40)
    _write(image, 545, _cut(_shown(below), 28), 28, is_muted=True)
    image.putpalette(_palette(), "RGB")
    return _png(image.tobytes("raw", "P;4"))


def _png(rows: bytes) -> bytes:
    """Give a PNG of packed dots, each row behind its filter.

    Pillow's own takes twice as long: it packs row by row.
    """
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 4, 3, 0, 0, 0)  # four bits, in a palette
    packed = zlib.compress(rows, 2)
    chunks = ((b"IHDR", head), (b"PLTE", _palette()), (b"IDAT", packed), (b"IEND", b""))
    parts = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _write(image: Image.Image, top: int, line: str, size: int, *, is_muted: bool = False) -> None:
    """Write a line word by word: many are on every card, and are drawn once."""
    left = float(MARGIN)
    for word in line.split():
        drawn, (x, y) = _word(word, size, is_muted)
        image.paste(drawn, (_FILTER + round(left) + x, top + y))
        left += _width(word, size) + _width(" ", size)


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
    """Give as many words as fit into a row, at least one, and the rest."""
    count = min(1, len(words))
    while count < len(words) and _fits(" ".join([*words[: count + 1], "..."]), size):
        count += 1
    return " ".join(words[:count]), words[count:]
