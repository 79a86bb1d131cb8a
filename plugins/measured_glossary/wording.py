"""Words that say more than a page can show: typed numbers, "always", "never", "N times".

Comes in: a body's markup, and what may stand behind a sentence. Goes out: problems with their
places. Must not know what was measured: whether a claim holds is the gate's to say.

A sentence is the unit. A number in a Measured section is injected, or cited in its sentence, or
selects the row that a value of its sentence comes from. Behind "always" and its kin stands a link
to one of the page's claims, a citation, or an injected value; behind "N times" a claim or a
citation, since a value beside a typed ratio does not keep the ratio from drifting.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from measured_glossary.problem import Place, Problem, meant
from measured_glossary.prose import QUOTED, TITLED, paragraphs, target
from measured_glossary.scan import Lines, Markup, blanked
from measured_glossary.sentence import headings, sections, sentences

MEASURED = "measured"
CLAIM_LINK = "#claim-"

_NUMBER = r"\d+(?:[.,]\d+)*"
_FEW = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|sixteen|twenty|thirty(?:-two)?|"
    "forty|fifty|sixty(?:-four)?|(?:a )?hundred|(?:a )?thousand|(?:a )?million"
)
_HOW_MANY = rf"(?:{_NUMBER}|(?:{_FEW}))"
_THAN = r"(?:as|more|less|fewer|the|that|what|over|its|[a-z]+er)\b"
_RATED = r"(?:speed|throughput|bandwidth|latency|time|cost|rate|performance|work)\b"
_SWEEPING = re.compile(
    r"(?<![A-Za-z0-9])(?:always|never|invariably|without\s+exception|at\s+no\s+time"
    r"|in\s+(?:all|every|no)\s+cases?|under\s+(?:all|any|no)\s+circumstances"
    r"|on\s+(?:all|any|every)\s+(?:GPU|card|device)s?)(?![A-Za-z0-9-])",
    re.IGNORECASE,
)
_RATIOS = (
    rf"{_NUMBER}\s+times\b",
    rf"{_HOW_MANY}[\s-]+times\s+{_THAN}",
    rf"(?:twice|thrice)\s+{_THAN}",
    r"half\s+as\b",
    rf"{_NUMBER}x(?!\w)",
    rf"{_NUMBER}\s+x\s+{_THAN}",
    rf"{_NUMBER}\s*×(?=\s+{_THAN}|\s*(?:[^\s\w*_`(]|$))",
    rf"{_NUMBER}\s*(?:%|percent|per\s+cent)\s+(?:[a-z]+ly\s+)?(?:more|less|fewer|[a-z]+er)\b",
    rf"{_NUMBER}\s*(?:%|percent|per\s+cent)\s+(?:speed-?up|slow-?down|gain|improvement)\b",
    rf"(?:speed-?up|slow-?down)\s+of\s+(?:[a-z]+\s+)?{_HOW_MANY}",
    rf"{_HOW_MANY}-?fold\b",
    rf"factor\s+of\s+(?:[a-z]+\s+)?{_HOW_MANY}\b",
    r"orders?\s+of\s+magnitude",
    r"(?:cut|cuts|cutting)\s+(?:\S+\s+){1,4}(?:in|by)\s+half\b",
    rf"(?:halv|doubl|tripl)(?:e|es|ed|ing)\s+(?:the|its)\s+{_RATED}",
)
# '×' before a number is a ratio where nothing stands before it that it could multiply.
_TIMES_N = rf"(?<![\w)\]*_`])(?<![\w)\]*_`]\s)×\s*{_NUMBER}|(?<=\s)×{_NUMBER}"
_MULTIPLE = re.compile(rf"(?<![A-Za-z0-9.,])(?:{'|'.join(_RATIOS)})|{_TIMES_N}", re.IGNORECASE)
# A word of each form above, in small letters: a sentence without one is passed over quickly. Each
# begins with a sign, by which `re` tells where to look.
_MAY_BE_LOUD = re.compile(
    r"always|never|invariably|without\s+exc|no\s+(?:time|case)|circumst|times|half|x(?<=[\d\s].)|×|%"
    r"|all\s+(?:case|gpu|card|device)|every\s+(?:case|gpu|card|device)|any\s+(?:gpu|card|device)"
    r"|twice\s+[a-z]|thrice\s+[a-z]|per\s*cent|fold|factor|magnitude|halv|doubl|tripl|speed|slow"
)
_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
# What only denies it, or says that it can be, does not say it.
_DENIED = {
    "always": re.compile(r"(?:\bnot|\bas|n[’']t)\s+$", re.IGNORECASE),
    "never": re.compile(r"\bm(?:ay|ight)\s+$", re.IGNORECASE),
}

_DIGITS = re.compile(rf"(?<![\w.,])(?<![A-Za-z]-){_NUMBER}")
_PART_OF_A_NAME = re.compile(r"(?:st|nd|rd|th|D)\b|-(?:bit|byte|way|lane|thread|warp|word)s?\b")
# A label, and not a count: "lane 0", but not "at 64 threads 31 were wrong".
_NAMED = re.compile(
    r"(?<!\d\s)\b(?:compute\s+capability|CC|CUDA|Python|RTX|GTX|Tesla|version|section|chapter|lesson"
    r"|figure|table|equation|lane|thread|warp|cell|number|row|column|line|step)s?"
    rf"\s+(?:{_NUMBER}(?:,|\s+and|\s+or|\s+to|\s+of)\s+)*$",
    re.IGNORECASE,
)
_SELECTED = re.compile(rf"[=,\[(]\s*[\"']?({_NUMBER})[\"']?\s*(?=[\],)])")

_CAPTION = re.compile(r"^[ \t]+(?:caption|title):[ \t]*(\S.*)$", re.M)
_SINGLE = re.compile(r"['‘](?<![\w)\]].)(?=\w)[^'‘’]*(?:['’]\w[^'‘’]*)*['’](?!\w)")
_NOTE = re.compile(r"\[(?<!\\.)\^[^\]\n]+\](?!:)|\]\[[^\]\n]+\]")
_NOTES = re.compile(rf"(?:[^\S\n]*(?:{_NOTE.pattern}))+")
_BRACKETED = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """What may stand behind a sentence: the page's claims, and the sections of its sources."""

    claims: frozenset[str]
    sections: frozenset[str]

    @classmethod
    def of(cls, claims: Iterable[str], sections: Iterable[str]) -> Backing:
        """Take claims as front matter names them; a link names none by its experiment."""
        plain = frozenset(claim.rpartition(".")[2] for claim in claims)
        return cls(claims=plain, sections=frozenset(sections))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Behind:
    """What stands behind one sentence."""

    claims: tuple[str, ...]
    is_cited: bool
    values: tuple[str, ...]

    @property
    def selected(self) -> frozenset[str]:
        """The numbers by which its values are selected."""
        return frozenset(n for value in self.values for n in _SELECTED.findall(value))


_NOTHING = _Behind(claims=(), is_cited=False, values=())


def lint(markup: Markup, lines: Lines, backing: Backing) -> list[Problem]:
    """Check what a body's sentences assert."""
    words = _own_words(markup)
    measured = tuple(sections(markup.without("fence", "comment"), MEASURED))
    found = list(_dead_links(markup, lines, backing))
    small = words.translate(_SMALL)
    for start, end in sentences(words):
        # Few sentences say anything of the kind: of the others nothing more is asked.
        is_loud = _MAY_BE_LOUD.search(small, start, end)
        is_typed = any(a <= start < b for a, b in measured) and _DIGITS.search(words, start, end)
        if is_loud or is_typed:
            behind = _behind(markup, start, end, backing)
            found += _typed(words, start, end, behind, lines) if is_typed else ()
            found += _unbacked(words, start, end, behind, lines)
    return [*found, *_captions(markup, lines, measured)]


def sweeping(sentence: str) -> str:
    """Give the first words of a text that say "always" or "N times", or nothing."""
    found = next(_loud(sentence, 0, len(sentence)), None)
    return _shown(found.group()) if found else ""


# ── what a sentence says ─────────────────────────────────────────────────────────────────────


def _own_words(markup: Markup) -> str:
    """Give the text with everything blanked that the author does not say in so many words.

    Code and values become a capital letter: a sentence can begin or end with them.
    """
    shown = "".join(
        re.sub(r"\S", "Q", part) if kind in ("code", "value") else blanked(part) if kind else part
        for kind, part in markup.parts()
    )
    for start, end, _, _ in headings(shown):
        shown = shown[:start] + blanked(shown[start:end]) + shown[end:]
    text = _NOTE.sub(_blank, TITLED.sub(_blank, shown))
    return "".join(_unquoted(text))


def _unquoted(text: str) -> Iterator[str]:
    """Give the text without what stands between quotation marks, which pair in a paragraph."""
    end = 0
    for begin, paragraph in paragraphs(text):
        yield text[end:begin]
        yield _SINGLE.sub(_quotation, QUOTED.sub(_quotation, paragraph))
        end = begin + len(paragraph)
    yield text[end:]


def _blank(found: re.Match[str]) -> str:
    return blanked(found.group())


def _quotation(found: re.Match[str]) -> str:
    """Blank a quotation; a full stop at its end may be that of the sentence around it."""
    inner = found.group()
    stop = inner[-2] if inner[-2:-1] in (".", "!", "?") else " "
    return f"Q{blanked(inner[1:-2])}{stop} " if len(inner) > 2 else blanked(inner)


def _typed(words: str, start: int, end: int, behind: _Behind, lines: Lines) -> Iterator[Problem]:
    for found in _DIGITS.finditer(words, start, end):
        named = _NAMED.search(words[start : found.start()])
        part = _PART_OF_A_NAME.match(words, found.end())
        if not (behind.is_cited or named or part or found.group() in behind.selected):
            message = f"{found.group()!r} is typed, in a section that is measured"
            yield _problem(lines.at(found.start()), "typed-number", message, _INJECT)


def _captions(
    markup: Markup, lines: Lines, measured: tuple[tuple[int, int], ...]
) -> Iterator[Problem]:
    """Check what stands above blocks, where nothing can be injected, cited or linked."""
    for region in markup.regions:
        captions = _CAPTION.finditer(markup.text, region.start, region.end)
        for caption in captions if region.kind == "block" else ():
            start, end = caption.span(1)
            is_measured = any(a <= start < b for a, b in measured)
            found = _typed(markup.text, start, end, _NOTHING, lines) if is_measured else ()
            for problem in (*found, *_unbacked(markup.text, start, end, _NOTHING, lines)):
                yield replace(problem, hint="say it in a sentence below the block")


def _unbacked(words: str, start: int, end: int, behind: _Behind, lines: Lines) -> Iterator[Problem]:
    if behind.claims or behind.is_cited or words[end - 1] == "?":
        return
    found = _MULTIPLE.finditer(words, start, end) if behind.values else _loud(words, start, end)
    for each in found:
        message = f"{_shown(each.group())!r} has no claim behind it"
        yield _problem(lines.at(each.start()), "unbacked-word", message, _hint(each))


def _loud(words: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Give each "always" or "never" that is not denied, then each ratio."""
    for found in _SWEEPING.finditer(words, start, end):
        denied = _DENIED.get(found.group().casefold())
        before = words[max(start, found.start() - 20) : found.start()]
        if denied is None or not denied.search(before):
            yield found
    yield from _MULTIPLE.finditer(words, start, end)


def _shown(words: str) -> str:
    return " ".join(words.split())


# ── what stands behind it ────────────────────────────────────────────────────────────────────


def _behind(markup: Markup, start: int, end: int, backing: Backing) -> _Behind:
    inside = [region for region in markup.regions if start <= region.start < end]
    links = [target(markup.text[r.start : r.end]) for r in inside if r.kind == "link"]
    values = tuple(markup.text[r.start : r.end] for r in inside if r.kind == "value")
    notes = _NOTES.match(markup.text, end)
    raw = markup.text[start : notes.end() if notes else end]
    is_cited = (
        any(link.startswith("https://") for link in links)
        or _NOTE.search(raw) is not None
        or _names_section(raw, backing.sections)
    )
    claims = tuple(link for link in links if link.startswith(CLAIM_LINK))
    return _Behind(claims=claims, is_cited=is_cited, values=values)


def _names_section(raw: str, known: frozenset[str]) -> bool:
    """Tell whether a sentence has a section of a source in brackets."""
    named = (part for found in _BRACKETED.findall(raw) for part in re.split(r"[,;]", found))
    return any(part.strip() in known for part in named)


def _dead_links(markup: Markup, lines: Lines, backing: Backing) -> Iterator[Problem]:
    shows_claims = re.search(r"^::: +claims\b", markup.without("fence", "comment"), re.M)
    for region in markup.regions:
        link = target(markup.text[region.start : region.end]) if region.kind == "link" else ""
        name = link.removeprefix(CLAIM_LINK)
        if not link.startswith(CLAIM_LINK):
            continue
        if name not in backing.claims:
            message = f"{name!r} is not among the claims of this page"
            hint = meant(name, backing.claims, _claims(backing))
            yield _problem(lines.at(region.start), "dead-claim-link", message, hint)
        elif not shows_claims:
            message = "the link leads to a claim, and the page does not list its claims"
            yield _problem(lines.at(region.start), "dead-claim-link", message, _LIST)


# ── hints ────────────────────────────────────────────────────────────────────────────────────

_INJECT = (
    "write '{{ table[key=value].column }}', or cite in the same sentence where the number is from:"
    " a link, or a source's section in brackets"
)
_LIST = "write '::: claims' where the claims are to stand"


def _hint(found: re.Match[str]) -> str:
    words = _shown(found.group())
    ratio = "inject the ratio, '{{ … / … }}'"
    instead = ratio if _MULTIPLE.fullmatch(found.group()) else "say how often it was seen"
    link = f"'[{words}](#claim-NAME)', NAME as in the front matter's claims"
    return f"link the claim that bears it, {link}; or cite who says it; or {instead}"


def _claims(backing: Backing) -> str:
    return f"the claims are: {', '.join(sorted(backing.claims)) or 'none'}"


def _problem(place: Place, code: str, message: str, hint: str) -> Problem:
    return Problem(place=place, code=code, message=message, hint=hint)
