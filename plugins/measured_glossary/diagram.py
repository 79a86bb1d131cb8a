"""The diagram `tile-lifecycle`: one script to publish, and its still picture for each preset.

Comes in: names from front matter and the moments written down from the simulator. Goes out:
JavaScript and inline SVG, or which names nothing has. Must not know entries, measurements or how
the simulator steps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from markupsafe import Markup

from measured_glossary.bundle import classic, lean
from measured_glossary.markup import inert
from measured_glossary.problem import Place, Problem, meant

DIAGRAM = "tile-lifecycle"
ASSETS = Path(__file__).parent / "assets" / DIAGRAM

# In the order they need one another; together they are one scope.
MODULES = (
    "simulator.js",
    "policy.js",
    "link.js",
    "words.js",
    "draw.js",
    "controls.js",
    "widget.js",
)

LANES = 4
# The picture's measures in its own units: a phone shows it at about three quarters.
WIDTH, LEFT, RIGHT, CELL, ROW, TOP = 470, 50, 282, 40, 34, 58
_HAZARD = "#e0364f"


class Line(TypedDict):
    """A line of the kernel: what it does, its name, whether it was taken out."""

    op: str
    name: str
    off: bool


class Lane(TypedDict):
    """Where a lane stands, and in which way."""

    column: int
    moved: bool
    waiting: bool
    returned: bool


class Cell(TypedDict):
    """A cell of the tile; one that nobody wrote has neither writer nor age."""

    writer: NotRequired[str]
    age: NotRequired[int]
    read: NotRequired[str]
    hazard: bool
    wrong: bool


class Moment(TypedDict):
    """The telling moment of a preset, as the simulator gave it, and how the run ended."""

    title: str
    step: int
    steps: int
    lines: list[Line]
    lanes: list[Lane]
    cells: list[Cell]
    sentence: str
    outcome: str


@cache
def script() -> str:
    """Give the whole diagram, style sheet included, as one classic script."""
    css = lean(ASSETS / f"{DIAGRAM}.css")
    return classic(ASSETS, MODULES, f"define({json.dumps(css)});")


@cache
def moments() -> dict[str, Moment]:
    """Give the telling moment of each preset, by the preset's name."""
    known: dict[str, Moment] = json.loads((ASSETS / "moments.json").read_text(encoding="utf-8"))
    return known


def faults(
    name: str, presets: Sequence[str], place: Callable[[tuple[str | int, ...]], Place]
) -> Iterator[Problem]:
    """Say what of a diagram's description does not exist; `place` is where a part of it stands."""
    if name != DIAGRAM:
        yield Problem(
            place=place(("name",)),
            code="unknown-diagram",
            message=f"there is no diagram {name!r}",
            hint=meant(name, [DIAGRAM], f"write 'name: {DIAGRAM}', or leave out 'diagram:'"),
        )
        return
    for index, preset in enumerate(presets):
        if preset not in moments():
            yield Problem(
                place=place(("presets", index)),
                code="unknown-preset",
                message=f"there is no preset {preset!r}",
                hint=meant(preset, moments(), f"the presets are: {', '.join(moments())}"),
            )


def still(presets: Sequence[str] = ()) -> Markup:
    """Draw the telling moments of these presets, or of all, as HTML without blank lines.

    Each picture carries its words as a label, and is followed by how the run ended.
    """
    known = moments()
    parts = [_picture(known[name]) for name in presets or known]
    return Markup("\n").join(parts)


def _picture(moment: Moment) -> Markup:
    height = TOP + ROW * (len(moment["lanes"]) // LANES) + 4
    heading = f"{moment['title']}: step {moment['step']} of {moment['steps']}"
    shapes = [*_head(moment, heading), *_tracks(moment), *_cells(moment["cells"])]
    shapes += _way(moment["cells"])
    return Markup(
        '<svg class="mg-still" role="img" aria-label="{label}" viewBox="0 0 {width} {height}" '
        'width="100%" style="max-width:{width}px" fill="currentColor" font-size="12" '
        'text-anchor="middle" xmlns="http://www.w3.org/2000/svg">\n{shapes}\n</svg>\n'
        "<p>{sentence} In the end: {outcome}</p>"
    ).format(
        label=inert(f"{heading}. {moment['sentence']}"),
        width=WIDTH,
        height=height,
        shapes=Markup("\n").join(shapes),
        sentence=inert(moment["sentence"]),
        outcome=inert(moment["outcome"]),
    )


def _head(moment: Moment, heading: str) -> Iterator[Markup]:
    yield _text(0, 13, heading, anchor="start", weight="700")
    pitch = _pitch(moment)
    for column, line in enumerate(moment["lines"]):
        off = {"text_decoration": "line-through"} if line["off"] else {}
        # Neighbouring names stand at two heights, because they are wider than their columns.
        y = TOP - (8 if column % 2 else 21)
        yield _text(LEFT + pitch * (column + 0.5), y, line["name"], size="11", **off)
    yield _text(RIGHT - pitch / 2, TOP - 8, "end", size="11")
    yield _text(_cell_x(1.5) + CELL / 2, TOP - 8, "tile: writer, age", size="11")


def _pitch(moment: Moment) -> float:
    return (RIGHT - LEFT) / (len(moment["lines"]) + 1)


def _tracks(moment: Moment) -> Iterator[Markup]:
    pitch = _pitch(moment)
    rows = len(moment["lanes"]) // LANES
    for column, line in enumerate(moment["lines"]):
        if line["op"] == "barrier":
            x = LEFT + pitch * column
            look = {"stroke_dasharray": "3 3", "fill": "none"} if line["off"] else _SHADED
            yield _shape("rect", x=x, y=TOP, width=pitch, height=ROW * rows, **_EDGE, **look)
    for row in range(rows):
        y = TOP + ROW * row
        yield _text(0, y + ROW / 2 + 4, f"warp {row}", anchor="start")
        yield _shape("rect", x=LEFT, y=y, width=RIGHT - LEFT, height=ROW, fill="none", **_EDGE)
    for number, lane in enumerate(moment["lanes"]):
        yield _lane(lane, number, pitch)


_EDGE = {"stroke": "currentColor", "stroke_opacity": "0.35"}
_SHADED = {"fill_opacity": "0.12"}


def _lane(lane: Lane, number: int, pitch: float) -> Markup:
    """Draw a lane: a dot, a raised one that has just moved, a box that waits, a cross that left."""
    x = LEFT + pitch * (lane["column"] + 0.14 + 0.24 * (number % LANES))
    y = TOP + ROW * (number // LANES + 0.5) - (7 if lane["moved"] else 0)
    if lane["returned"]:
        return _shape("path", d=f"M{x - 3:g} {y - 3:g}l6 6m0 -6l-6 6", **_STROKE)
    if lane["waiting"]:
        return _shape("rect", x=x - 3, y=y - 3, width=6, height=6, fill="none", **_STROKE)
    return _shape("circle", cx=x, cy=y, r=3)


_STROKE = {"stroke": "currentColor", "stroke_width": "1.8"}


def _cells(cells: Sequence[Cell]) -> Iterator[Markup]:
    for index, cell in enumerate(cells):
        x, y = _cell_x(index % LANES), TOP + ROW * (index // LANES)
        yield _box(cell, x, y)
        age = f"+{cell['age']}" if "age" in cell else ""
        below = f"→{cell['read'].lstrip('→')}" if "read" in cell else age
        yield _text(x + CELL / 2, y + (16 if below else 21), cell.get("writer", "–"))
        yield _text(x + CELL / 2, y + 28, below, size="10")
        yield from _marks(cell, x, y)


def _way(cells: Sequence[Cell]) -> Iterator[Markup]:
    """Draw the way of the value that is read: from its cell to the warp that reads it."""
    for index, cell in enumerate(cells):
        if "read" in cell:
            reader = int(cell["read"].lstrip("→").partition(".")[0])
            start, end = (TOP + ROW * (row + 0.5) for row in (index // LANES, reader))
            x, broken = RIGHT + 27, {"stroke_dasharray": "4 3"} if cell["hazard"] else {}
            line = f"M{x} {start:g}C{RIGHT - 2} {start:g} {x + 4} {end:g} {RIGHT + 8} {end:g}"
            yield _shape("path", d=line, fill="none", **_STROKE, **broken)
            yield _shape("path", d=f"M{RIGHT + 2} {end:g}l8 -5v10z")
            return


def _cell_x(column: float) -> float:
    return RIGHT + 26 + CELL * column


def _box(cell: Cell, x: float, y: float) -> Markup:
    look: dict[str, str] = dict(_EDGE)
    if cell["hazard"]:
        look = {"stroke": _HAZARD, "stroke_width": "2"}
    if "writer" not in cell:
        look["stroke_dasharray"] = "3 2"
    return _shape("rect", x=x + 2, y=y + 2, width=CELL - 4, height=ROW - 4, fill="none", **look)


def _marks(cell: Cell, x: float, y: float) -> Iterator[Markup]:
    if cell["wrong"]:
        yield _text(x + 8, y + 13, "✗", size="11", weight="700")
    if cell["hazard"]:
        yield _text(x + CELL - 8, y + 13, "!", size="12", weight="700")


def _shape(tag: str, **attributes: Any) -> Markup:
    written = (Markup(' {}="{}"').format(_name(k), _value(v)) for k, v in attributes.items())
    return Markup("<{}{}/>").format(tag, Markup("").join(written))


def _name(keyword: str) -> str:
    return keyword.replace("_", "-")


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _text(x: float, y: float, words: str, **look: str) -> Markup:
    names = {"size": "font-size", "weight": "font-weight", "anchor": "text-anchor"}
    written = {names.get(key, _name(key)): value for key, value in look.items()}
    attributes = Markup("").join(Markup(' {}="{}"').format(*item) for item in written.items())
    return Markup('<text x="{}" y="{}"{}>{}</text>').format(
        _value(x), _value(y), attributes, inert(words)
    )
