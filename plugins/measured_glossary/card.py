"""The picture that stands for a page where somebody links to it: 1200 by 630, PNG.

Comes in: a few short texts. Goes out: the bytes of a PNG, the same for the same texts. Must not
know entries, nor ask the network for a font: Pillow brings one.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator
from functools import cache

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT, MARGIN = 1200, 630, 80
PAPER, INK, MUTED, ACCENT = "#ffffff", "#1f2430", "#566072", "#3f51b5"
# The font that Pillow brings has the signs of ASCII and these.
_BEYOND_ASCII = frozenset("“”")
_ALIKE = str.maketrans({"–": "-", "—": "-", "−": "-", "‘": "'", "’": "'", "×": "x", "…": "..."})


def draw(*, heading: str, text: str, above: str, below: str) -> bytes:
    """Draw a card: a line above, a heading, a text of at most four lines, a line below."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 24, HEIGHT), fill=ACCENT)
    pen.text((MARGIN, 64), _shown(above), font=_font(30), fill=MUTED)
    size = next((s for s in (84, 68, 54, 42) if _fits(heading, s)), 42)
    pen.text((MARGIN, 140), _cut(_shown(heading), size), font=_font(size), fill=INK)
    for row, line in enumerate(_wrapped(_shown(text), 40, 4)):
        pen.text((MARGIN, 270 + row * 56), line, font=_font(40), fill=INK)
    pen.text((MARGIN, 545), _cut(_shown(below), 28), font=_font(28), fill=MUTED)
    packed = io.BytesIO()
    image.quantize(32, dither=Image.Dither.NONE).save(packed, format="PNG")
    return packed.getvalue()


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _shown(text: str) -> str:
    """Give a text in signs that the font has: others lose their accent, or become '?'."""
    plain = unicodedata.normalize("NFKD", text.translate(_ALIKE))
    kept = (sign for sign in plain if not unicodedata.combining(sign))
    return "".join(sign if sign.isascii() or sign in _BEYOND_ASCII else "?" for sign in kept)


def _fits(text: str, size: int) -> bool:
    return _font(size).getlength(_shown(text)) <= WIDTH - 2 * MARGIN


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
