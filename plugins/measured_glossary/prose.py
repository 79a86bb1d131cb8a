"""What prose may not hold: hidden markup, links that leave, bylines that no signature made.

Comes in: a body's markup, and the texts that may be quoted. Goes out: problems with their places.
Must not know the front matter or how a page is rendered.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from measured_glossary.body import Lines, Markup
from measured_glossary.problem import Place, Problem

MIN_QUOTED_WORDS = 4

_HTML = re.compile(r"<(?=[A-Za-z/!?])")
_LIST_OF_ATTRIBUTES = re.compile(r"\{[^{}\n]*\}")
_TOP_HEADING = re.compile(r"^[> ]*(?:(?:[-*+]|\d+[.)]) +)*#(?!#)|(?<=\S)[ \t]*\n {0,3}=+ *$", re.M)
_SNIPPET = re.compile(r"^[ \t>]*;*-+8<-+(?:[ \t]+[\"'].*|[ \t]*)$", re.M)
_HTTPS = re.compile(r"https://[A-Za-z0-9.-]+(?::\d+)?(?:[/?#][^\s<>\"{}|\\^`]*)?")
_INSIDE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*(?:#[A-Za-z0-9._-]*)?|#[A-Za-z0-9._-]+")
_TITLED = re.compile(r"^[ \t]*(?:!!!|\?\?\?\+?|===[!+]*).*$", re.M)
_QUOTED = re.compile(r"“(?P<curly>[^“”]*)”|\"(?P<straight>[^\"]*)\"")
_PARAGRAPH = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|$))+")

# Letters of other scripts and signs that a reader takes for these; NFKC folds the rest.
_ALIKE = str.maketrans(
    "аеорсухівԁһјкмнтѕѡԝɡɑοεινρτυωκαըոսց꞉∶ː։׃፡",
    "aeopcyxibdhjkmhtswwgaoeivptuwkapnug" + ":" * 6,
)
_BYLINE = ("writtenby:", "reviewedby:", "lastcheckedon:", "writtenon:")


def imitates_byline(text: str) -> bool:
    """Tell whether a line, or a cell of a table row, begins as the verified byline does."""
    return any(_skeleton(cell).startswith(_BYLINE) for cell in text.split("|"))


def _skeleton(text: str) -> str:
    """Give the letters and colons a reader sees, whatever script or markup they stand in."""
    seen = unicodedata.normalize("NFKD", html.unescape(text).replace("\\", "")).casefold()
    return re.sub(r"[^a-z:]", "", seen.translate(_ALIKE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotable:
    """A text that prose may quote; `must` when it is a problem that prose does not."""

    text: str
    place: Place
    must: bool


def lint(markup: Markup, lines: Lines, quotable: Iterable[Quotable] | None) -> list[Problem]:
    """Check a body's prose; `None` for `quotable` leaves the quotations out."""
    found = [*_markup_problems(markup, lines), *_link_problems(markup, lines)]
    if quotable is not None:
        found += _quote_problems(markup, lines, tuple(quotable))
    return found


def _markup_problems(markup: Markup, lines: Lines) -> Iterator[Problem]:
    plain = markup.without("fence", "code", "comment", "link", "escape", "value", "block")
    shown = markup.without("fence", "comment", "block")
    for found in _HTML.finditer(plain):
        tag = plain[found.start() :].split("\n")[0][:30]
        yield _problem(lines.at(found.start()), "raw-html", f"{tag!r} is HTML", _CODE)
    for found in _LIST_OF_ATTRIBUTES.finditer(plain):
        message = f"{found.group()!r} is read as an attribute list"
        yield _problem(lines.at(found.start()), "attribute-list", message, _BRACE)
    for found in _TOP_HEADING.finditer(plain):
        at = found.end() - 1
        message = "a heading of the first level: the page's title is the question"
        yield _problem(lines.at(at), "level-one-heading", message, "write '## …'")
    for found in _SNIPPET.finditer(markup.text):
        message = "the line includes a file that nobody signed"
        yield _problem(lines.at(found.start()), "snippet-include", message, _EXCERPT)
    for found in re.finditer(r"[^\n]+", shown):
        if imitates_byline(found.group()):
            message = f"{found.group().strip()[:60]!r} reads as a verified byline"
            yield _problem(lines.at(found.start()), "imitated-byline", message, _SIGNED)


# ── links ────────────────────────────────────────────────────────────────────────────────────


def _link_problems(markup: Markup, lines: Lines) -> Iterator[Problem]:
    for region in markup.regions:
        if region.kind == "link":
            target = _target(markup.text[region.start : region.end])
            if fault := _target_fault(target):
                code, hint = fault
                message = f"the link goes to {target[:80]!r}"
                yield _problem(lines.at(region.start), code, message, hint)


def _target(part: str) -> str:
    """Give a link's target as a browser would read it, without its title."""
    inner = part.strip("()" if part.startswith("(") else " ").strip()
    bracketed = re.match(r"<([^>]*)>", inner)
    target = bracketed.group(1) if bracketed else re.split(r"\s+[\"'(]", inner)[0]
    return html.unescape(re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", target))


def _target_fault(target: str) -> tuple[str, str] | None:
    """Give code and hint for a target that is neither https nor a file of the entry."""
    if _HTTPS.fullmatch(target):
        return None
    path = unquote(target)
    if ":" in path or path.startswith("//") or not path.isprintable() or "{" in path:
        return "unsafe-link", "link with https://…, or to a file in the entry's folder"
    if not _INSIDE.fullmatch(path) or ".." in path.split("/"):
        return "link-outside-entry", "name a file in the entry's folder, without '..' and blanks"
    return None


# ── quotations ───────────────────────────────────────────────────────────────────────────────


def _quote_problems(
    markup: Markup, lines: Lines, quotable: tuple[Quotable, ...]
) -> Iterator[Problem]:
    listed = [(_folded(quote.text), quote) for quote in quotable]
    used: set[str] = set()
    for offset, passage in _passages(markup):
        if passage is None:
            message = "a double quotation mark without its other half"
            yield _problem(lines.at(offset), "unpaired-quote", message, _PAIR)
            continue
        sources = {text for text, _ in listed if _is_part(_folded(passage), text)}
        used |= sources
        if not sources and len(passage.split()) >= MIN_QUOTED_WORDS:
            message = f"{_short(passage)!r} is not a quote of any source"
            yield _problem(lines.at(offset), "unlisted-quote", message, _LIST_IT)
    for text, quote in listed:
        if quote.must and text not in used:
            message = f"the quote {_short(quote.text)!r} is used nowhere in the body"
            yield _problem(quote.place, "unused-quote", message, "use it, or delete it here")


def _passages(markup: Markup) -> Iterator[tuple[int, str | None]]:
    """Give each quoted passage with its offset; `None` for a mark that pairs with nothing."""
    text = _TITLED.sub(lambda m: " " * len(m.group()), _without_code_quotes(markup))
    for paragraph in _PARAGRAPH.finditer(text):
        rest = paragraph.group()
        for found in _QUOTED.finditer(paragraph.group()):
            yield paragraph.start() + found.start(), found["curly"] or found["straight"] or ""
            blank = " " * len(found.group())
            rest = rest[: found.start()] + blank + rest[found.end() :]
        for mark in re.finditer('["“”]', rest):
            yield paragraph.start() + mark.start(), None


def _without_code_quotes(markup: Markup) -> str:
    """Give the text without fences and links, and without the quotation marks of code spans."""
    shown = markup.without("fence", "comment", "link", "value", "block")
    kept = list(shown)
    for region in markup.regions:
        if region.kind in ("code", "escape"):
            for at in range(region.start, region.end):
                kept[at] = " " if kept[at] in '"“”' else kept[at]
    return "".join(kept)


def _folded(text: str) -> str:
    """Fold white space, and drop the signs that mark code and emphasis."""
    return " ".join(re.sub(r"[`*_\\]|^>", "", text).split())


def _is_part(passage: str, quote: str) -> bool:
    """Tell whether a passage is the quote or runs of it in order, joined by an ellipsis."""
    at = 0
    for part in re.split(r"\[?(?:…|\.\.\.)\]?", passage):
        found = quote.find(part.strip().rstrip(",.;:"), at)
        if found < 0:
            return False
        at = found + len(part.strip())
    return bool(passage.strip("…. "))


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


_CODE = "put code between backticks; write '\\<' for a plain sign"
_BRACE = "put code between backticks; write '\\{' for a plain brace"
_EXCERPT = "write '::: excerpt FILE:SECTION'; the file is then among those that are signed"
_SIGNED = "delete it: names and dates appear when the people named have signed"
_PAIR = "write “…” around a quotation and '\\\"' for a plain sign"
_LIST_IT = "add it to the quotes of its source, word for word, or leave the marks out"


def _problem(place: Place, code: str, message: str, hint: str) -> Problem:
    return Problem(place=place, code=code, message=message, hint=hint)
