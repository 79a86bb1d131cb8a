"""What may stand beside an `entry.md`: pictures and data, and nothing a browser would run.

Comes in: the files of an entry's folder. Goes out: problems. Must not know what an entry says, nor
change a byte: what is signed is what is served.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from xml.etree import ElementTree

from measured_glossary.problem import Place, Problem

# How a file of each kind begins; SVG and data are text and are read as such.
_MAGIC: Mapping[str, re.Pattern[bytes]] = {
    ".png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    ".jpg": re.compile(rb"\xff\xd8\xff"),
    ".jpeg": re.compile(rb"\xff\xd8\xff"),
    ".gif": re.compile(rb"GIF8[79]a"),
    ".webp": re.compile(rb"RIFF....WEBP", re.S),
    ".avif": re.compile(rb"....ftypavi[fs]", re.S),
}
_TEXTS = frozenset({".svg", ".csv", ".json", ".txt"})
KINDS = tuple(sorted(suffix[1:] for suffix in (*_MAGIC, *_TEXTS)))

_SVG = "{http://www.w3.org/2000/svg}"
_DRAWN_NAMES = """
svg g defs symbol use title desc metadata style path rect circle ellipse line polyline polygon text
tspan textPath linearGradient radialGradient stop clipPath mask pattern marker image filter feBlend
feColorMatrix feComposite feFlood feGaussianBlur feMerge feMergeNode feOffset
"""
_DRAWN = frozenset(_DRAWN_NAMES.split())
_INSIDE = re.compile(r"#[\w.-]+|data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/=\s]*")
_OUTSIDE = re.compile(r"@import|javascript:|expression\s*\(|url\(\s*(?!['\"]?#)|\\", re.IGNORECASE)


def problems(files: Mapping[str, bytes]) -> Iterator[Problem]:
    """Say which files of an entry's folder, `entry.md` aside, are neither pictures nor data."""
    for name, raw in sorted(files.items()):
        if not name.endswith("/entry.md") or name.count("/") != 2:
            yield from _file(name, raw)


def _file(name: str, raw: bytes) -> Iterator[Problem]:
    suffix = PurePosixPath(name).suffix
    if suffix not in _MAGIC and suffix not in _TEXTS:
        hint = f"an entry's folder holds entry.md and files of these kinds: {', '.join(KINDS)}"
        yield _problem(name, "attachment-kind", f"{suffix or 'no suffix'!r} is no picture", hint)
    elif suffix in _MAGIC and not _MAGIC[suffix].match(raw):
        hint = "convert the picture; a changed name changes nothing in it"
        message = f"its content is not that of a {suffix} file"
        yield _problem(name, "attachment-content", message, hint)
    elif suffix == ".svg":
        yield from _svg(name, raw)


def _svg(name: str, raw: bytes) -> Iterator[Problem]:
    if b"<!" in re.sub(rb"<!--.*?-->|<!\[CDATA\[", b"", raw, flags=re.S) or b"<?xml-" in raw:
        yield _unsafe(name, "a declaration ('<!DOCTYPE', '<!ENTITY', '<?xml-stylesheet')")
        return
    try:
        root = ElementTree.fromstring(raw)  # noqa: S314 - no entities: declarations are refused
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        yield _problem(name, "attachment-content", f"is not well-formed: {error}", "export it anew")
        return
    if root.tag != f"{_SVG}svg":
        yield _unsafe(name, f"the element {root.tag!r} in place of an <svg> of SVG's namespace")
    for element in root.iter():
        yield from (_unsafe(name, what) for what in _unsafe_parts(element))


def _unsafe_parts(element: ElementTree.Element) -> Iterator[str]:
    tag = str(element.tag)
    if tag.startswith(_SVG) and tag.removeprefix(_SVG) not in _DRAWN:
        yield f"an element <{tag.removeprefix(_SVG)}>"
    if not tag.startswith("{") or tag.startswith("{http://www.w3.org/1999/xhtml}"):
        yield f"an element <{tag.rpartition('}')[2]}> that is not SVG"
    for key, value in element.attrib.items():
        attribute = key.rpartition("}")[2].lower()
        is_link = attribute in ("href", "src") and not _INSIDE.fullmatch(value.strip())
        if attribute.startswith("on") or is_link or _OUTSIDE.search(value):
            yield f"{attribute}={value[:60]!r}"
    if tag == f"{_SVG}style" and (found := _OUTSIDE.search(element.text or "")):
        yield f"{found[0]!r} in a style sheet"


def _unsafe(name: str, what: str) -> Problem:
    hint = "keep shapes and text only; a picture loads and runs nothing"
    return _problem(name, "unsafe-svg", f"it has {what}", hint)


def _problem(name: str, code: str, message: str, hint: str) -> Problem:
    return Problem(place=Place(name), code=code, message=message, hint=hint)
