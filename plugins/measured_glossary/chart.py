"""Numbers into a small picture: one line a row, a dot at the median, a band over the range.

Comes in: rows of marks and their words. Goes out: one inline SVG without script or blank line,
whose text stands beside it in `<desc>`. Must not know what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from measured_glossary.markup import inert

# Across, everything is in per cent of the width, so that text keeps its size on every screen.
LEFT, RIGHT = 15.0, 92.0
# Down, everything is in pixels.
LANE, GAP, LEGEND, AXIS = 20, 8, 22, 40
BESIDE, SIGN = 10, 6.2  # from a mark to its words; about the width of one sign of them
STEP, STEPS = 20, 30  # the least widths for which the style sheet has a class


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One distribution: its range, its median and the words printed beside it, maybe quietly."""

    low: float
    middle: float
    high: float
    words: str
    quiet: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the chart: a label and one mark for each series."""

    label: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A whole chart; `key` names what the rows' labels are, `axis` what the numbers count."""

    title: str
    key: str
    axis: str
    series: tuple[str, ...]
    rows: tuple[Row, ...]


def draw(chart: Chart, *, ident: str) -> Markup:
    """Draw a chart as SVG; `ident` must be unique on the page."""
    top = LEGEND * len(chart.series) + 14
    step = LANE * len(chart.series) + GAP
    bottom = top + step * len(chart.rows)
    scale = _scale([mark.high for row in chart.rows for mark in row.marks])
    parts = [
        _opening(chart, ident, bottom + AXIS, _least_width(chart, scale)),
        *_legend(chart.series),
        *_axes(scale, top, bottom),
        *(_row(row, scale, top + step * i) for i, row in enumerate(chart.rows)),
        _text(f"{LEFT}%", bottom + 35, chart.axis, quiet=True),
        _text("0", top - 6, chart.key, quiet=True),
        Markup("</svg>"),
    ]
    return Markup("\n").join(parts)


def describe(chart: Chart) -> str:
    """Say the chart in words: what a reader who does not see it is told."""
    lines = []
    for row in chart.rows:
        said = zip(chart.series, row.marks, strict=True)
        marks = ", ".join(f"{name}: {mark.words}" for name, mark in said)
        lines.append(f"{chart.key} {row.label}: {marks}.")
    return " ".join(lines)


@dataclass(frozen=True, slots=True)
class _Scale:
    """From values to per cent of the width."""

    step: float
    steps: int

    def share(self, value: float) -> float:
        """Give a value's place in per cent of the width."""
        return LEFT + (RIGHT - LEFT) * value / (self.step * self.steps)

    def x(self, value: float) -> str:
        return f"{self.share(value):.2f}%"

    def ticks(self) -> list[float]:
        return [self.step * part for part in range(self.steps + 1)]


def _scale(values: Sequence[float]) -> _Scale:
    """Give an axis from zero in at most four steps of 1, 2, 2.5 or 5 times a power of ten."""
    highest = max(values, default=0.0) or 1.0
    power = 10.0 ** math.floor(math.log10(highest / 4))
    step = next(n * power for n in (1, 2, 2.5, 5, 10) if n * power * 4 >= highest)
    return _Scale(step, math.ceil(highest / step))


def _least_width(chart: Chart, scale: _Scale) -> int:
    """Give the width, in steps, below which words would run out of the picture."""
    marks = (mark for row in chart.rows for mark in row.marks)
    width = max((min(_widths(mark, scale)) for mark in marks), default=0.0)
    return min(math.ceil(width / STEP), STEPS)


def _widths(mark: Mark, scale: _Scale) -> tuple[float, float]:
    """Give the widths that a picture needs for a mark's words on its left, and on its right."""
    needed = 100 * (BESIDE + SIGN * len(mark.words))
    left, right = scale.share(mark.low) - LEFT, 100 - scale.share(mark.high)
    return (needed / left if left > 0 else math.inf), needed / right


def _opening(chart: Chart, ident: str, height: int, least_width: int) -> Markup:
    return Markup(
        '<svg class="mg-chart mg-least-{least}" role="img" width="100%" height="{height}" '
        'aria-labelledby="{ident}-title {ident}-desc" fill="currentColor" font-size="12" '
        'xmlns="http://www.w3.org/2000/svg">\n'
        '<title id="{ident}-title">{title}</title>\n<desc id="{ident}-desc">{desc}</desc>'
    ).format(
        height=height,
        least=least_width,
        ident=inert(ident),
        title=inert(chart.title),
        desc=inert(describe(chart)),
    )


def _legend(series: Sequence[str]) -> list[Markup]:
    parts = []
    for index, name in enumerate(series):
        y = LEGEND * index + 8
        parts += [_dot(index, "7", y), _text("20", y + 4, name)]
    return parts


def _axes(scale: _Scale, top: int, bottom: int) -> list[Markup]:
    """Give the line at zero and the scale: no line runs behind the words beside the marks."""
    first, *others = [scale.x(tick) for tick in scale.ticks()]
    parts = [_line(first, first, top, bottom), _line(first, others[-1], bottom, bottom)]
    parts += [_line(x, x, bottom, bottom + 4) for x in (first, *others)]
    for tick in scale.ticks():
        parts.append(_text(scale.x(tick), bottom + 17, _number(tick), "middle", quiet=True))
    return parts


def _line(left: str, right: str, top: int, bottom: int) -> Markup:
    return Markup(
        '<line x1="{left}" x2="{right}" y1="{top}" y2="{bottom}" stroke="currentColor" '
        'stroke-opacity="0.6"/>'
    ).format(left=left, right=right, top=top, bottom=bottom)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


def _row(row: Row, scale: _Scale, top: int) -> Markup:
    height = LANE * len(row.marks) + GAP
    parts = [_text(f"{LEFT - 2}%", top + height / 2 + 4, row.label, "end")]
    for index, mark in enumerate(row.marks):
        parts += _mark(mark, index, scale, top + GAP / 2 + LANE * (index + 0.5))
    return Markup("\n").join(parts)


def _mark(mark: Mark, index: int, scale: _Scale, y: float) -> list[Markup]:
    band = Markup(
        '<line class="mg-series-{index}" x1="{low}" x2="{high}" y1="{y:g}" y2="{y:g}" '
        'stroke="currentColor" stroke-width="7" stroke-opacity="0.35"/>'
    ).format(index=index, low=scale.x(mark.low), high=scale.x(mark.high), y=y)
    return [band, _dot(index, scale.x(mark.middle), y), _words(mark, scale, y)]


def _words(mark: Mark, scale: _Scale, y: float) -> Markup:
    """Set a mark's words on the side with more room."""
    left, right = _widths(mark, scale)
    if left < right:
        return _text(scale.x(mark.low), y + 4, mark.words, "end", dx=-BESIDE, quiet=mark.quiet)
    return _text(scale.x(mark.high), y + 4, mark.words, dx=BESIDE, quiet=mark.quiet)


def _dot(index: int, x: str, y: float) -> Markup:
    """Give the series' sign: a filled dot for the first, a ring for the others."""
    fill = "currentColor" if index == 0 else "none"
    return Markup(
        '<circle class="mg-series-{index}" cx="{x}" cy="{y:g}" r="4.5" fill="{fill}" '
        'stroke="currentColor" stroke-width="2"/>'
    ).format(index=index, x=x, y=y, fill=fill)


def _text(
    x: str, y: float, words: str, anchor: str = "start", *, dx: int = 0, quiet: bool = False
) -> Markup:
    return Markup(
        '<text{quiet} x="{x}" y="{y:g}" dx="{dx}" text-anchor="{anchor}">{words}</text>'
    ).format(
        quiet=Markup(' class="mg-quiet"') if quiet else Markup(""),
        x=x,
        y=y,
        dx=dx,
        anchor=anchor,
        words=inert(words),
    )
