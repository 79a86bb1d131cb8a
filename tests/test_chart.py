"""Charts: what is drawn where, what is said in words, and that nothing leaves the SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from measured_glossary.chart import STEP, Chart, Mark, Row, describe, draw

SVG = "{http://www.w3.org/2000/svg}"


def mark(low: float, middle: float, high: float, words: str = "words") -> Mark:
    """A mark with given numbers."""
    return Mark(low=low, middle=middle, high=high, words=words)


def chart(*rows: Row, series: tuple[str, ...] = ("removed",)) -> Chart:
    """A chart of rows."""
    return Chart(title="Title", key="Threads", axis="wrong", series=series, rows=rows)


def parsed(drawn: Chart, ident: str = "c") -> ElementTree.Element:
    """A drawn chart, read back as XML."""
    return ElementTree.fromstring(str(draw(drawn, ident=ident)))  # noqa: S314 - our own output


def test_a_zero_stands_on_the_zero_line_and_the_greatest_value_right_of_it() -> None:
    """The dot of a zero has the place of the axis' zero; a greater median stands further right."""
    svg = parsed(
        chart(Row(label="32", marks=(mark(0, 0, 0),)), Row(label="64", marks=(mark(90, 95, 100),)))
    )
    legend, zero, many = svg.iter(f"{SVG}circle")
    axis = next(line for line in svg.iter(f"{SVG}line") if line.get("stroke-opacity") == "0.6")
    assert zero.get("cx") == axis.get("x1")
    assert float(many.get("cx", "").rstrip("%")) > float(zero.get("cx", "").rstrip("%"))
    assert legend.get("cx") == "7"


def test_the_band_covers_the_range() -> None:
    """The band goes from the least to the greatest launch, around the median."""
    svg = parsed(chart(Row(label="64", marks=(mark(20, 60, 100),))))
    band = next(line for line in svg.iter(f"{SVG}line") if line.get("class") == "mg-series-0")
    dot = list(svg.iter(f"{SVG}circle"))[-1]
    low, high = (float(band.get(name, "").rstrip("%")) for name in ("x1", "x2"))
    assert low < float(dot.get("cx", "").rstrip("%")) < high


@pytest.mark.parametrize(
    ("highest", "last"),
    [(0, "1"), (7, "8"), (449_664, "600,000"), (1_048_576, "1,500,000"), (0.3, "0.3")],
)
def test_the_axis_ends_at_a_round_number_above_every_value(highest: float, last: str) -> None:
    """An axis has at most four steps of a round size and is never shorter than its values."""
    svg = parsed(chart(Row(label="64", marks=(mark(0, highest, highest),))))
    ticks = [t.text for t in svg.iter(f"{SVG}text") if t.get("text-anchor") in ("middle", "end")]
    numbers = [text for text in ticks if text and re.fullmatch(r"[\d.,]+", text)]
    assert last in numbers
    marks = [line for line in svg.iter(f"{SVG}line") if line.get("x1") == line.get("x2")]
    assert len([line for line in marks if not line.get("class")]) <= 6  # and the line at zero


def test_series_differ_by_form_and_not_by_colour_alone() -> None:
    """The first series has filled dots, the second rings."""
    row = Row(label="64", marks=(mark(5, 5, 5), mark(0, 0, 0)))
    svg = parsed(chart(row, series=("removed", "in place")))
    fills = {dot.get("class"): dot.get("fill") for dot in svg.iter(f"{SVG}circle")}
    assert fills == {"mg-series-0": "currentColor", "mg-series-1": "none"}


def test_the_picture_is_told_in_words() -> None:
    """The description names every row with each series' words, and the SVG is labelled by it."""
    drawn = chart(
        Row(label="32", marks=(mark(0, 0, 0, "0 in 9 launches"),)),
        Row(label="64", marks=(mark(1, 2, 3, "1 to 3"),)),
    )
    assert describe(drawn) == "Threads 32: removed: 0 in 9 launches. Threads 64: removed: 1 to 3."
    svg = parsed(drawn, ident="here")
    labels = (svg.get("aria-labelledby") or "").split()
    texts = {node.get("id"): node.text for node in svg.iter() if node.get("id")}
    assert [texts[label] for label in labels] == ["Title", describe(drawn)]
    assert svg.get("role") == "img"


def test_markdown_keeps_the_picture_in_one_piece() -> None:
    """The SVG has no blank line, at which Markdown would end the block, and no script."""
    text = str(draw(chart(Row(label="64", marks=(mark(1, 2, 3),))), ident="c"))
    assert "\n\n" not in text
    assert "<script" not in text
    assert "style=" not in text


def test_words_cannot_leave_the_picture() -> None:
    """Labels, words and titles from data are text in the SVG, whatever they hold."""
    evil = '</text><script>alert("x")</script>'
    drawn = Chart(
        title=evil,
        key=evil,
        axis=evil,
        series=(evil,),
        rows=(Row(label=evil, marks=(mark(1, 2, 3, evil),)),),
    )
    svg = parsed(drawn)
    assert not list(svg.iter(f"{SVG}script"))
    assert sum(node.text == evil for node in svg.iter()) == 6


def test_words_have_room_on_a_narrow_screen() -> None:
    """A picture is never so narrow that words run out of it; each stands where it needs less."""
    words = "a range in forty signs, or about as much"
    row = Row(label="64", marks=(mark(40, 40, 40, words), mark(100, 100, 100, words)))
    svg = parsed(chart(row, series=("removed", "in place")))
    steps = int((svg.get("class") or "").rpartition("mg-least-")[2])
    for text in (text for text in svg.iter(f"{SVG}text") if text.text == words):
        place = float(text.get("x", "").rstrip("%")) / 100 * steps * STEP
        room = place if text.get("text-anchor") == "end" else steps * STEP - place
        assert room >= len(words) * 6
    anchors = [t.get("text-anchor") for t in svg.iter(f"{SVG}text") if t.text == words]
    assert anchors == ["start", "end"]
