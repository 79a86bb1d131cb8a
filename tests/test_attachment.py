"""What may stand beside an entry: pictures and data, and nothing that a browser would run."""

from __future__ import annotations

import pytest

from measured_glossary.attachment import problems

DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'viewBox="0 0 9 9"><!-- {comment} -->{inside}</svg>'
)


def svg(inside: str, comment: str = "a tile") -> bytes:
    """Give a drawing with something in it."""
    return DRAWING.format(inside=inside, comment=comment).encode()


def found(name: str, raw: bytes) -> list[tuple[str, str]]:
    """Give codes and messages for one file beside an entry."""
    told = list(problems({"glossary/warp/entry.md": b"", f"glossary/warp/{name}": raw}))
    assert all(problem.place.file == f"glossary/warp/{name}" for problem in told)
    assert all(problem.hint for problem in told)
    return [(problem.code, problem.message) for problem in told]


GOOD = {
    "tile.png": b"\x89PNG\r\n\x1a\n and so on",
    "tile.jpg": b"\xff\xd8\xff\xe0",
    "tile.jpeg": b"\xff\xd8\xff\xe1",
    "tile.gif": b"GIF89a",
    "tile.webp": b"RIFF\0\0\0\0WEBPVP8 ",
    "tile.avif": b"\0\0\0\x1cftypavif",
    "figures/rows.csv": b"threads,wrong\n32,0\n",
    "rows.json": b"{}\n",
    "tile.svg": svg('<g id="a"><rect width="1"/></g><use href="#a"/>'),
    "style.svg": svg("<style>rect { fill: url(#a) }</style><text>32 threads</text>"),
    "data.svg": svg('<image xlink:href="data:image/png;base64,iVBORw0KGgo="/>'),
    "tool.svg": svg('<metadata><x xmlns="http://example.org/tool"/></metadata>'),
    "cdata.svg": svg("<style><![CDATA[rect { fill: red }]]></style>"),
}


@pytest.mark.parametrize("name", sorted(GOOD))
def test_pictures_and_data_are_fine(name: str) -> None:
    """Pictures that are what their name says, plain drawings and data may stand there."""
    assert found(name, GOOD[name]) == []


@pytest.mark.parametrize(
    "name", ["index.md", "more/entry.md", "page.html", "run.js", "x.svgz", "a.PNG", "noname"]
)
def test_other_kinds_are_refused(name: str) -> None:
    """A page, a script, an archive or a second entry.md is none of an entry's."""
    ((code, _),) = found(name, b"anything")
    assert code == "attachment-kind"


@pytest.mark.parametrize("name", ["tile.png", "tile.jpg", "tile.gif", "tile.webp", "tile.avif"])
def test_a_picture_is_what_its_name_says(name: str) -> None:
    """HTML with a picture's name would be sniffed by a browser, and is refused."""
    ((code, message),) = found(name, b"<html><script>alert(1)</script>")
    assert (code, message) == (
        "attachment-content",
        f"its content is not that of a {name[4:]} file",
    )


BAD = {
    "script": "<script>alert(1)</script>",
    "handler": '<rect onload="alert(1)"/>',
    "handler in capitals": '<rect OnClick="alert(1)"/>',
    "address": '<use href="https://example.org/a.svg#a"/>',
    "old address": '<use xlink:href="https://example.org/a.svg#a"/>',
    "script address": '<image href="javascript:alert(1)"/>',
    "link": '<a href="https://example.org/">text</a>',
    "drawing in an address": '<image href="data:image/svg+xml;base64,PHN2Zy8+"/>',
    "foreign": '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>',
    "html": '<p xmlns="http://www.w3.org/1999/xhtml">text</p>',
    "no namespace": '<script xmlns="">alert(1)</script>',
    "animated address": '<set attributeName="href" to="javascript:alert(1)"/>',
    "style sheet": "<style>@import 'https://example.org/a.css';</style>",
    "style from elsewhere": "<style>rect { fill: url(https://example.org/a.png) }</style>",
    "style attribute": '<rect style="fill: url(//example.org/a)"/>',
    "escaped style": "<style>rect { fill: \\75rl(//example.org) }</style>",
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_an_svg_that_runs_or_loads_is_refused(name: str) -> None:
    """Nothing in a drawing runs, and nothing is loaded from elsewhere."""
    codes = {code for code, _ in found("tile.svg", svg(BAD[name]))}
    assert codes == {"unsafe-svg"}


@pytest.mark.parametrize(
    "raw",
    [
        b'<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>',
        b'<?xml-stylesheet href="a.xsl"?><svg xmlns="http://www.w3.org/2000/svg"/>',
        b"<svg/>",
        b'<html xmlns="http://www.w3.org/1999/xhtml"/>',
    ],
)
def test_an_svg_is_a_plain_drawing(raw: bytes) -> None:
    """Entities, style sheets from elsewhere and other documents are refused unread."""
    assert "unsafe-svg" in {code for code, _ in found("tile.svg", raw)}


@pytest.mark.parametrize("raw", [b"", b"<svg", b"\xff\xfe<\0s\0", b"<svg>&nbsp;</svg>"])
def test_a_broken_svg_is_a_problem(raw: bytes) -> None:
    """What cannot be read is said so, and raises nothing."""
    ((code, message),) = found("tile.svg", raw)
    assert code == "attachment-content"
    assert message.startswith("is not well-formed: ")
