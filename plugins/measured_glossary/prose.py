"""What prose may not hold: hidden markup, links that leave, bylines that no signature made.

Comes in: a body's markup, and the texts that may be quoted. Goes out: problems with their places.
Must not know the front matter or how a page is rendered.
"""

from __future__ import annotations

import html
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from measured_glossary.problem import Place, Problem
from measured_glossary.scan import Lines, Markup, blanked
from measured_glossary.sentence import sentences

MIN_QUOTED_WORDS = 4

_HTML = re.compile(r"<(?=[A-Za-z/!?])|&(?:#\d+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);")
_ATTRIBUTES = re.compile(r"\{[^{}\n]*\}")
_TOP_HEADING = re.compile(r"#(?!#)|\n {0,3}=+ *$", re.M)
_BEFORE_MARK = re.compile(r"[> ]*(?:(?:[-*+]|\d+[.)]) +)*")
_ABOVE_LINE = re.compile(r".*\S[ \t]*")
_SNIPPET = re.compile(r"^[ \t>]*;*-+8<-+(?:[ \t]+[\"'].*|[ \t]*)$", re.M)
_NOTE_TARGET = re.compile(r"^[> \t]*\[\^[^\]\n]*\]:\s*([A-Za-z][A-Za-z0-9+.-]*:\S+)", re.M)
_HTTPS = re.compile(r"https://[A-Za-z0-9.-]+(?::\d+)?(?:[/?#][^\s<>\"{}|\\^`]*)?")
_INSIDE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*(?:#[A-Za-z0-9._-]*)?|#[A-Za-z0-9._-]+")
TITLED = re.compile(r"^[ \t]*(?:!!!|\?\?\?\+?|===[!+]*).*$", re.M)
QUOTED = re.compile(r"“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»|\"([^\"]*)\"")
_BLOCK_QUOTE = re.compile(r"^(?:[ \t]*(?:(?:[-*+]|\d+[.)]) +)*>.*(?:\n|$))+", re.M)
_SAID_BY = re.compile(r"^[> \t]*(?:[—–]|--).*$|\(\d+(?:\.\d+)*\)", re.M)
_HALF_QUOTE = re.compile('["“”„]')
_BLANK_LINES = re.compile(r"\n[ \t>]*(?=\n)")

# Letters and colons that look like the ones of a byline; Unicode's own folding does the rest.
_ALIKE = str.maketrans({
    alike: letter
    for letter, many in {
        "a": "аαɑ", "b": "ьƅ", "c": "сϲ", "d": "ԁɗ", "e": "еεҽ", "h": "һհ", "i": "іιıɩ", "k": "кκ",
        "l": "ӏ", "n": "ոпη", "o": "оοօ", "r": "гɾ", "s": "ѕꜱ", "t": "тτ", "v": "νѵ", "w": "ѡԝωɯ",
        "y": "уγүʏ", ":": "꞉∶ː։׃፡˸",
    }.items()
    for alike in many
})  # fmt: skip
_NOT_SHOWN = bytes(code for code in range(128) if chr(code) not in f"{string.ascii_lowercase}:")
_BYLINE = ("writtenby:", "reviewedby:", "lastcheckedon:", "writtenon:")
_CLAUSE = re.compile(r"(?:^|(?<=[\n|\"“”\[\].:!?;>]))(?=[^\n])")
_CLAUSE_SIGNS = 200


def byline_in(text: str) -> int | None:
    """Give the offset at which a paragraph begins to read as the verified byline does, if any."""
    whole = _skeleton(text)
    if not any(words in whole for words in _BYLINE):
        return None
    for found in _CLAUSE.finditer(text):
        seen = _skeleton(text[found.start() : found.start() + _CLAUSE_SIGNS])
        if seen.startswith(_BYLINE):
            return found.start()
    return None


def _skeleton(text: str) -> str:
    """Give the letters and colons a reader sees, whatever script or markup they stand in."""
    plain = html.unescape(text) if "&" in text else text
    if plain.isascii():
        return plain.lower().encode("ascii").translate(None, _NOT_SHOWN).decode("ascii")
    plain = unicodedata.normalize("NFKD", plain.replace("\\", "")).casefold().translate(_ALIKE)
    return re.sub(r"[^a-z:]+", "", plain.casefold())


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
        found += quotations(markup, lines, quotable)
    return found


def _markup_problems(markup: Markup, lines: Lines) -> Iterator[Problem]:
    plain = markup.without("fence", "code", "comment", "link", "escape", "value", "block")
    with_options = markup.without("fence", "code", "comment", "link", "escape", "value")
    for found in _HTML.finditer(with_options):
        rest = with_options[found.start() :].split("\n")[0]
        yield _problem(lines.at(found.start()), "raw-html", f"{_short(rest)!r} is HTML", _CODE)
    for found in _ATTRIBUTES.finditer(plain):
        message = f"{found.group()!r} is read as an attribute list"
        is_value = plain[found.end() :].startswith("}")
        hint = f"write '{{{found.group()}}}' for a value" if is_value else _BRACE
        yield _problem(lines.at(found.start()), "attribute-list", message, hint)
    for found in _top_headings(plain):
        place = lines.at(found.end() - 1)
        message = "a heading of the first level: the page's title is the question"
        yield _problem(place, "level-one-heading", message, "write '## …'")
    for found in _SNIPPET.finditer(markup.text):
        message = "the line includes a file that nobody signed"
        yield _problem(lines.at(found.start()), "snippet-include", message, _EXCERPT)
    yield from _byline_problems(markup, lines)


def _top_headings(text: str) -> Iterator[re.Match[str]]:
    """Give each mark of a heading of the first level: before its text, or below it."""
    passed = 0  # behind the first mark of a line there is none that counts
    for found in _TOP_HEADING.finditer(text):
        if found.start() < passed:
            continue
        is_mark = found.group() == "#"
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if (_BEFORE_MARK if is_mark else _ABOVE_LINE).fullmatch(before):
            yield found
        passed = _line_end(text, found.end()) if is_mark else found.end()


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _byline_problems(markup: Markup, lines: Lines) -> Iterator[Problem]:
    shown = markup.without("fence", "comment")
    for begin, paragraph in paragraphs(shown):
        at = byline_in(paragraph)
        if at is not None:
            start = begin + at
            message = f"{_short(shown[start:].strip().split(chr(10))[0])!r} reads as a byline"
            yield _problem(lines.at(start), "imitated-byline", message, _SIGNED)


# ── links ────────────────────────────────────────────────────────────────────────────────────


def _link_problems(markup: Markup, lines: Lines) -> Iterator[Problem]:
    for start, target in _targets(markup):
        if fault := _target_fault(target):
            code, hint = fault
            yield _problem(lines.at(start), code, f"the link goes to {_short(target)!r}", hint)


def files_linked(markup: Markup, lines: Lines) -> Iterator[tuple[str, Place]]:
    """Give each file of the entry's folder that a link or a picture names, and where it does."""
    for start, target in _targets(markup):
        path = unquote(target).partition("#")[0]
        if path and not (_HTTPS.fullmatch(target) or _target_fault(target)):
            yield path, lines.at(start)


def _targets(markup: Markup) -> Iterator[tuple[int, str]]:
    for region in markup.regions:
        if region.kind == "link":
            yield region.start, target(markup.text[region.start : region.end])
    # Without its footnotes extension a renderer takes a footnote for a link's definition.
    for found in _NOTE_TARGET.finditer(markup.without("fence", "comment")):
        yield found.start(1), found[1]


def target(part: str) -> str:
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


def quotations(markup: Markup, lines: Lines, quotable: Iterable[Quotable]) -> Iterator[Problem]:
    """Check that whatever stands between quotation marks, or behind `>`, is a quote of a source."""
    listed = [(_folded(quote.text), quote) for quote in quotable]
    used: set[str] = set()
    for offset, passage in (*_passages(markup), *_block_quotes(markup)):
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
    text = TITLED.sub(_blank, _without_code_quotes(markup))
    for begin, paragraph in paragraphs(text):
        for found in QUOTED.finditer(paragraph):
            yield begin + found.start(), "".join(found.groups(""))
        for mark in _HALF_QUOTE.finditer(QUOTED.sub(_blank, paragraph)):
            yield begin + mark.start(), None


def _block_quotes(markup: Markup) -> Iterator[tuple[int, str]]:
    """Give each sentence of the block quotes; a line that says who said it is none of them."""
    text = _without_code_quotes(markup)
    for quote in _BLOCK_QUOTE.finditer(text):
        shown = _SAID_BY.sub(_blank, QUOTED.sub(_blank, quote.group()))
        for start, end in sentences(shown):
            passage = re.sub(r"(?m)^[> \t]+", "", shown[start:end])
            if passage.strip("*_ "):
                yield quote.start() + start, passage


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Give what stands between empty lines, with its offset."""
    begin = 0
    for blank in _BLANK_LINES.finditer(text):
        yield begin, text[begin : blank.start()]
        begin = blank.end()
    yield begin, text[begin:]


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def _without_code_quotes(markup: Markup) -> str:
    """Give the text without fences and links, and without the quotation marks of code spans."""
    shown: dict[str | None, Callable[[str], str]] = {
        None: str,
        "code": lambda part: _HALF_QUOTE.sub(" ", part),
        "escape": lambda part: _HALF_QUOTE.sub(" ", part),
    }
    return "".join(shown.get(kind, blanked)(part) for kind, part in markup.parts())


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
