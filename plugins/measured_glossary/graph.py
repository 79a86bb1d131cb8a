"""The terms and what connects them, as a picture that needs no program.

Comes in: terms by area and the pairs that belong together. Goes out: SVG. Must not know entries or
where their pages stand.

Each term has a row of its own, so labels never meet, be it one term or a hundred; an arc joins two
rows. What the picture says, the list of `neighbours` says in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from measured_glossary.markup import fill

ROW, SIGN, PAD = 26, 8, 14  # height of a row, width of a sign at the labels' size, in user units
LEAST, MOST = 18, 200  # how far an arc reaches out to the right; few rows need less


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A term: its name, its area, and whether it has a page."""

    name: str
    area: str
    has_page: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line of the picture: the heading of an area, or a term with its dot."""

    text: str
    y: int
    kind: str


def draw(nodes: Sequence[Node], pairs: Sequence[tuple[str, str]]) -> Markup:
    """Draw the terms below the headings of their areas, with an arc for each pair."""
    rows = tuple(_rows(nodes))
    x = PAD + SIGN * max((len(row.text) for row in rows), default=0)
    at = {row.text: row.y for row in rows if row.kind != "area"}
    spans = sorted({(min(at[a], at[b]), max(at[a], at[b])) for a, b in pairs})
    longest = max((low - high for high, low in spans), default=1)
    most = min(MOST, ROW + longest // 3)
    return fill(
        "graph.html",
        rows=rows,
        x=x,
        dot=x + PAD,
        arcs=[_arc(x + PAD, high, low, (low - high) / longest * most) for high, low in spans],
        width=x + 2 * PAD + most,
        height=ROW * (len(rows) + 1),
        count=len(nodes),
        connections=len(spans),
    )


def _rows(nodes: Sequence[Node]) -> Iterator[_Row]:
    y, area = 0, None
    for node in sorted(nodes, key=lambda n: (not n.has_page, n.area, n.name.strip("_").casefold())):
        heading = node.area if node.has_page else "Without a page so far"
        if heading != area:
            area, y = heading, y + ROW
            yield _Row(text=heading, y=y, kind="area")
        y += ROW
        yield _Row(text=node.name, y=y, kind="term" if node.has_page else "other")


def _arc(x: int, high: int, low: int, reach: float) -> str:
    """Give the path of an arc that reaches out so far to the right."""
    return f"M{x} {high}A{round(max(LEAST, reach))} {(low - high) // 2} 0 0 1 {x} {low}"


def neighbours(pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Give each term's neighbours in the alphabet's order: what the picture says, in words."""
    found: dict[str, set[str]] = {}
    for a, b in pairs:
        found.setdefault(a, set()).add(b)
        found.setdefault(b, set()).add(a)
    return {name: tuple(sorted(near)) for name, near in sorted(found.items())}
