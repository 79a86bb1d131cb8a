"""Values into Markdown that is inert wherever it is read, and the templates' environment.

Comes in: plain text from entries, records and registries. Goes out: `Markup` whose special
characters mean nothing in Markdown or HTML. Must not know what an entry or a record is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"

# What CommonMark, Python-Markdown and its usual extensions read as syntax inside a line: emphasis,
# code, links, tables, entities, tags, attribute lists, math, emoji, mentions, bare addresses. Each
# looks back at the sign itself.
_INSIDE = r"(?<=[&<>\"`*_\[\]{}|~^=+\\$@#])|(?<=:)(?=\S)|(?<=www\.)"
# What they read as syntax at its start: lists, headings, quotes, rules, admonitions, blocks.
_START = r"(?<=\A.)|(?<=\A\d[.)])|(?<=\A\d\d[.)])"
# Any of ASCII's signs is seen at once; which of them matter is asked of those alone.
_SPECIAL = re.compile(rf"[!-/:-@\[-`{{-~](?:{_INSIDE}|{_START})")
_WHOLE = re.compile(r"(\d{4}-\d\d-\d\d|\d+(?:\.\d+)? %|\bn &#61; \d+)")
_CODE_SPAN = re.compile(r"(`+)(.+?)\1")

_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_URL_SAFE = "/:?#@!$&'*+,;=%~-._"


def inert(text: str) -> Markup:
    """Give text as one line in which nothing is Markdown or HTML any more.

    Character references mean the same in a paragraph, a table cell, an HTML block and an
    attribute, so one function serves every place a template inserts a value.
    """
    line = " ".join(text.split())
    return Markup(_SPECIAL.sub(lambda found: _reference(found.group()), line))  # noqa: S704


def _reference(char: str) -> str:
    return _NAMED.get(char, f"&#{ord(char)};")


def code(text: str) -> Markup:
    """Give text as a code span, inert inside."""
    return Markup("<code>{}</code>").format(inert(text))


def prose(text: str) -> Markup:
    """Give an author's single line: code spans stay code, everything else is inert."""
    parts = []
    position = 0
    for span in _CODE_SPAN.finditer(text):
        parts += [_spaced(text[position : span.start()]), code(span.group(2))]
        position = span.end()
    return Markup("").join([*parts, _spaced(text[position:])])


def unbroken(text: str) -> Markup:
    """Give text as `inert` does, with dates, per cents and `n = 20` torn apart by no line end."""
    wrapped = r'<span class="mg-unbroken">\1</span>'
    return Markup(_WHOLE.sub(wrapped, str(inert(text))))  # noqa: S704 - digits, a dash, a sign


def _spaced(text: str) -> Markup:
    # `inert` trims its text; the spaces towards a code span must stay.
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() and text.strip() else ""
    return Markup(before) + inert(text) + Markup(after)  # noqa: S704 - spaces only


def href(url: str) -> Markup:
    """Give an address for an `href`: http(s) or relative; anything else becomes empty."""
    parts = urlsplit("".join(url.split()))
    relative = not parts.scheme and not parts.netloc and not parts.path.startswith("/")
    if parts.scheme.lower() not in ("http", "https") and not relative:
        return Markup("")
    return Markup(quote(parts.geturl(), safe=_URL_SAFE).replace("&", "&amp;"))  # noqa: S704


def anchor(name: str) -> Markup:
    """Give the name of a place for an `id` or a link to it: a plain one as it is.

    What checks links compares the two as they are written, character references and all.
    """
    is_plain = re.fullmatch(r"[A-Za-z0-9._-]+", name)
    return Markup(name) if is_plain else inert(name)  # noqa: S704 - in an attribute it is text


def plain(word: str) -> Markup:
    """Give a word that may stand in a command: an id, a path, a namespace; nothing else passes."""
    if not re.fullmatch(r"[A-Za-z0-9@._/-]+", word):
        raise ValueError(f"{word!r} is not a plain word")
    return Markup(word)  # noqa: S704 - no character of it is Markdown or HTML


def count(number: float) -> Markup:
    """Give a whole number with thousands separators."""
    return Markup(f"{number:,}")  # noqa: S704 - digits and commas only


def _finalize(value: Any) -> Markup:
    """Make every inserted value inert; only text and whole numbers may be inserted."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return Markup(str(value))  # noqa: S704 - digits only
    raise TypeError(f"a template may insert text and whole numbers, not {type(value).__name__}")


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        undefined=StrictUndefined,
        finalize=_finalize,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # it would ask for a file's time whenever a template is filled
    )
    made.filters.update(code=code, prose=prose, href=href, count=count, plain=plain)
    made.filters.update(unbroken=unbroken, anchor=anchor)
    return made


ENVIRONMENT = _environment()


def fill(template: str, **values: object) -> Markup:
    """Fill a template; one that ends in `.html` gives a block without blank lines.

    Markdown ends a block of HTML at the first blank line, so such a block has none.
    """
    text = ENVIRONMENT.get_template(template).render(values)
    if template.endswith(".html"):
        text = "\n".join(line.strip() for line in text.splitlines() if line.strip())
    return Markup(text)  # noqa: S704 - every value went through `_finalize`


def fill_page(template: str, **values: object) -> str:
    """Fill a whole page, as plain text: `Markup` would escape what is put before it."""
    return str(fill(template, **values))
