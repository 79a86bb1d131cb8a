"""The terms and what connects them, as a picture that needs no program.

Comes in: terms by area and the pairs that belong together. Goes out: SVG. Must not know entries or
where their pages stand.

Each term has a row of its own, so labels never meet, be it one term or a hundred; an arc joins two
rows, in the colour of an area if both are of it. A term that is pointed at or has the focus shows
its own arcs, which lie in its group, unseen until then: a style sheet does it. What the picture
says, the list of `neighbours` says in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from measured_glossary.markup import fill

ROW, SIGN, PAD = 26, 8, 14  # height of a row, width of a sign at the labels' size, in user units
HUES = 6  # colours of the style sheet, used in turn
LEAST, MOST = 18, 200  # how far an arc reaches out to the right; few rows need less


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A term: its name, its area, and the address of its page, if it has one."""

    name: str
    area: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line of the picture: the heading of an area, or a term with its dot; `hue` is a colour."""

    text: str
    y: int
    hue: str
    is_area: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arc:
    """An arc between two rows: its path, its colour, the rows' heights."""

    path: str
    hue: str
    ends: tuple[int, int]


def draw(nodes: Sequence[Node], pairs: Sequence[tuple[str, str]]) -> Markup:
    """Draw the terms below the headings of their areas, with an arc for each pair."""
    rows = tuple(_rows(nodes))
    x = PAD + SIGN * max((len(row.text) for row in rows), default=0)
    spans = _spans(rows, pairs)
    longest = max((low.y - high.y for high, low in spans), default=1)
    most = min(MOST, ROW + longest // 3)
    arcs = [_arc(x + PAD, high, low, (low.y - high.y) / longest * most) for high, low in spans]
    own: dict[int, list[_Arc]] = {row.y: [] for row in rows}
    for arc in arcs:
        for end in arc.ends:
            own[end].append(arc)
    return fill(
        "graph.html",
        rows=[(row, own[row.y]) for row in rows],
        x=x,
        dot=x + PAD,
        arcs=arcs,
        width=x + 2 * PAD + most,
        height=ROW * (len(rows) + 1),
        count=len(nodes),
        connections=len(spans),
    )


def _spans(rows: Sequence[_Row], pairs: Sequence[tuple[str, str]]) -> list[tuple[_Row, _Row]]:
    """Give the rows of each pair, the higher one first, each pair once."""
    at = {row.text: row for row in rows if not row.is_area}
    found = {(min(at[a].y, at[b].y), max(at[a].y, at[b].y)) for a, b in pairs}
    by_height = {row.y: row for row in rows}
    return [(by_height[high], by_height[low]) for high, low in sorted(found)]


def _rows(nodes: Sequence[Node]) -> Iterator[_Row]:
    y, area, number = 0, None, -1
    for node in sorted(nodes, key=lambda n: (not n.url, n.area, n.name.strip("_").casefold())):
        heading = node.area if node.url else "Without a page so far"
        if heading != area:
            area, y, number = heading, y + ROW, number + 1
            hue = str(number % HUES) if node.url else "none"
            yield _Row(text=heading, y=y, hue=hue, is_area=True)
        y += ROW
        yield _Row(text=node.name, y=y, hue=hue, url=node.url)


def _arc(x: int, high: _Row, low: _Row, reach: float) -> _Arc:
    """Give an arc that reaches out so far to the right."""
    path = f"M{x} {high.y}A{round(max(LEAST, reach))} {(low.y - high.y) // 2} 0 0 1 {x} {low.y}"
    return _Arc(path=path, hue=high.hue if high.hue == low.hue else "none", ends=(high.y, low.y))


def neighbours(pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Give each term's neighbours in the alphabet's order: what the picture says, in words."""
    found: dict[str, set[str]] = {}
    for a, b in pairs:
        found.setdefault(a, set()).add(b)
        found.setdefault(b, set()).add(a)
    return {name: tuple(sorted(near)) for name, near in sorted(found.items())}
