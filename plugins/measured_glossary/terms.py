"""Terms in prose: the first mention in each section leads to the term's entry.

Comes in: Markdown, and every term with its names. Goes out: Markdown with links whose title is the
term's answer; the mentions; and what is wrong with a `[[term]]`. Must not know verdicts: whether a
term may be linked is decided by whoever gives it an address.

`[[name]]` links a mention wherever it stands, `[[name|shown]]` shows other words, and `[[!name]]`
leaves a mention without a link. Code, headings, links, HTML and the term's own page are left alone.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from measured_glossary.automaton import Names, find, names
from measured_glossary.markup import href, inert
from measured_glossary.problem import Problem, meant
from measured_glossary.scan import Lines, scan

NO_TERM = "\0"  # stands where no term is looked for, so that none spans the place


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A term: its entry's id, every name it has, its answer, and its page if it may be linked.

    `keys` are all forms of its names, as `keys_of` gives them.
    """

    id: str
    names: tuple[str, ...]
    answer: str = ""
    uri: str = ""
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A name that several terms have, and the page that tells them apart."""

    name: str
    terms: tuple[Term, ...]

    @property
    def uri(self) -> str:
        """Give where the page stands."""
        return f"terms/{re.sub(r'[^a-z0-9]+', '-', _key(self.name)).strip('-')}/index.md"


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Every term by id and by name in one form; `linked` has the names with a page.

    `shared` are, by their terms' ids, the names under which more than one term has a page.
    """

    by_id: Mapping[str, Term]
    by_name: Mapping[str, tuple[Term, ...]]
    linked: Mapping[str, tuple[Term, ...]]
    shared: Mapping[tuple[str, ...], Shared]

    @cached_property
    def names(self) -> Names:
        """The names with a page, arranged to be found in a text."""
        return names(self.linked)

    def find(self, name: str) -> tuple[Term, ...]:
        """Give the term with this id, or else those with this name."""
        one = self.by_id.get(name.strip())
        return (one,) if one else self.by_name.get(_key(name), ())


class Mention(NamedTuple):  # quick to read from the memo: each page has some
    """A stretch of a text that names terms; `shown` is what stands there for the reader."""

    start: int
    end: int
    shown: str
    ids: tuple[str, ...]


def vocabulary(terms: Iterable[Term]) -> Vocabulary:
    """Arrange terms by their names; a term without a page is known and never linked."""
    listed = tuple(terms)
    by_name: dict[str, list[Term]] = defaultdict(list)
    for term in listed:
        for key in term.keys or keys_of(term.names):
            by_name[key].append(term)
    known = {key: tuple(found) for key, found in by_name.items()}
    linked = {key: pages for key, found in known.items() if (pages := _linkable(found))}
    return Vocabulary(
        by_id={term.id: term for term in listed},
        by_name=known,
        linked=linked,
        shared=_shared(linked),
    )


def keys_of(names: Iterable[str]) -> tuple[str, ...]:
    """Give every form of these names, as they are looked up."""
    return tuple(dict.fromkeys(form for name in names for form in _forms(_key(name))))


def _linkable(terms: Iterable[Term]) -> tuple[Term, ...]:
    return tuple(term for term in terms if term.uri)


def _shared(linked: Mapping[str, tuple[Term, ...]]) -> dict[tuple[str, ...], Shared]:
    """Give each group of terms that share a name; of several names, the shortest."""
    found: dict[tuple[str, ...], Shared] = {}
    several = [key for key, terms in linked.items() if len(terms) > 1]
    for key in sorted(several, key=lambda key: (len(key), key)):
        terms = linked[key]
        name = next(n for term in terms for n in (*term.names, key) if _key(n) == key)
        found.setdefault(ids_of(terms), Shared(name=name, terms=terms))
    return found


def ids_of(terms: Iterable[Term]) -> tuple[str, ...]:
    """Give the ids of terms."""
    return tuple(term.id for term in terms)


# ── names in one form ────────────────────────────────────────────────────────────────────────


def _key(name: str) -> str:
    """Give a name in the form in which it is looked up: small letters, single blanks, bare."""
    bare = re.sub(r"[`\\]|['’]s?$|\(\)", "", name.strip())
    return re.sub(r"[\s-]+", " ", bare).lower().strip()


def _forms(key: str) -> Iterator[str]:
    """Give a name and its plurals; an identifier has none."""
    yield key
    if not key or "_" in key or not key[-1].isalpha():
        return
    yield f"{key}s"
    if key.endswith(("s", "x", "z", "ch", "sh")):
        yield f"{key}es"
    elif re.search(r"[^aeiou]y$", key):
        yield f"{key[:-1]}ies"


def _lowered(text: str) -> str:
    """Give small letters, sign by sign: offsets stay the same."""
    if len(low := text.lower()) == len(text):
        return low
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)


# ── where a term may be mentioned ────────────────────────────────────────────────────────────

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t].*$|^\S.*\n(?:=+|-+)[ \t]*$", re.MULTILINE)
_ELSEWHERE = re.compile(
    # A block of HTML, to the next blank line
    r"(?m:^(?:\x20{0,3}</?[A-Za-z][\w-]*(?=[\s>/])[^\n]*\n?(?:[^\n]*\S[^\n]*\n?)*"
    r"|[ \t]*(?:!!!|\?\?\?\+?|===[!+]*)[^\n]*"  # the title of an admonition or a tab
    r"|[ \t]*\*?\[[^\]\n]*\]:[^\n]*))"  # a definition of a link, a note or an abbreviation
    r"|(?=[<!\[{&]|http)(?:"  # of the signs that begin the others
    r"<[A-Za-z/][^<>]*>"  # a tag
    r"|!?\[(?!\[)[^\[\]]*\](?=[(\[\x00])|\[\^[^\]\n]*\]"  # a link's label, a note's mark
    r"|(?<=\])\[[^\]\n]*\]"  # the name of a link's definition
    r"|\{:?[^{}\n]*\}"  # attributes
    r"|https?://\S+|&[#\w]+;)"
)
_FORCED = re.compile(
    r"\[\[(?P<not>!?)(?P<name>[^\[\]|\x00]+)(?:\|(?P<shown>[^\[\]\x00]+))?\]\](?![(\[])"
)
_MALFORMED = re.compile(r"\[\[[^\[\]\n]*\]\](?![(\[])")  # where those above are blanked out
_HIDDEN = frozenset({"fence", "comment", "link", "value", "block"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prose:
    """A text's `[[…]]`, where its sections begin, and its prose, all else blanked out."""

    forced: tuple[re.Match[str], ...]
    sections: tuple[int, ...]
    plain: str


def _read(text: str) -> _Prose:
    """Find where a term may stand; a code span may stand in `[[…]]`, and never the reverse."""
    markup = scan(text)
    parts = [(kind, part, NO_TERM * len(part)) for kind, part in markup.parts()]
    with_code = "".join(blank if kind in _HIDDEN else part for kind, part, blank in parts)
    bare = "".join(part if kind in (None, "escape") else blank for kind, part, blank in parts)
    elsewhere = [found.span() for found in _ELSEWHERE.finditer(with_code)]
    prose = _blanked(with_code, elsewhere)
    code = [region for region in markup.regions if region.kind == "code"]
    starts = [region.start for region in code]
    forced = [
        found
        for found in _FORCED.finditer(prose)
        if not (at := bisect_right(starts, found.start())) or code[at - 1].end <= found.start()
    ]
    others = (found.span() for each in (_FORCED, _HEADING) for found in each.finditer(with_code))
    return _Prose(
        forced=tuple(forced),
        sections=tuple(heading.start() for heading in _HEADING.finditer(prose)),
        plain=_blanked(bare, (*elsewhere, *others)),
    )


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Give a text with these stretches blanked out; offsets stay the same."""
    parts, at = [], 0
    for start, end in sorted(spans):
        parts += [text[at:start], NO_TERM * (end - max(at, start))]
        at = max(at, end)
    return "".join([*parts, text[at:]])


def mentions(text: str, known: Vocabulary) -> tuple[Mention, ...]:
    """Give every `[[…]]` and the first mention of each term in each section, in their order."""
    read = _read(text)
    made = [_forced(found, known) for found in read.forced]
    seen = {(bisect_right(read.sections, m.start), m.ids) for m in made}
    plain = _lowered(read.plain)
    for start, end in find(plain, known.names):
        terms = known.linked[_key(plain[start:end])]
        place = bisect_right(read.sections, start), ids_of(terms)
        if place not in seen:
            seen.add(place)
            made.append(Mention(start=start, end=end, shown=text[start:end], ids=place[1]))
    return tuple(sorted(made, key=lambda mention: mention.start))


def _forced(found: re.Match[str], known: Vocabulary) -> Mention:
    """Give what is written as `[[…]]`; with an exclamation mark, as a mention of nothing."""
    shown = " ".join((found["shown"] or found["name"]).split())
    terms = () if found["not"] else _linkable(known.find(found["name"]))
    return Mention(start=found.start(), end=found.end(), shown=shown, ids=ids_of(terms))


# ── links ────────────────────────────────────────────────────────────────────────────────────


def link(text: str, known: Vocabulary, *, page: str, own: str = "") -> str:
    """Give a page's Markdown with its terms linked; `own` is the id of the entry it shows."""
    return linked(text, mentions(text, known), known, page=page, own=own)


def linked(
    text: str, found: Iterable[Mention], known: Vocabulary, *, page: str, own: str = ""
) -> str:
    """Give a page's Markdown with these mentions as links."""
    parts, end = [], 0
    for mention in found:
        parts += [text[end : mention.start], _link(mention, known, page, own)]
        end = mention.end
    return "".join([*parts, text[end:]])


def targets(found: Iterable[Mention], known: Vocabulary) -> list[object]:
    """Give all that `linked` takes from mentions and terms, as plain values."""
    return [(m.start, m.end, m.shown, m.ids, *_target(m.ids, known)) for m in found if m.ids]


def _target(ids: tuple[str, ...], known: Vocabulary) -> tuple[str, str]:
    """Give the page that a mention of these terms leads to, and what is said of it."""
    terms = [known.by_id[each] for each in ids]
    if len(terms) == 1:
        return terms[0].uri, terms[0].answer
    return known.shared[ids].uri, "; or: ".join(term.names[0] for term in terms)


def _link(mention: Mention, known: Vocabulary, page: str, own: str) -> str:
    if not mention.ids or own in mention.ids:
        return mention.shown
    uri, said = _target(mention.ids, known)
    target = posixpath.relpath(uri, posixpath.dirname(page) or ".")
    return f'[{mention.shown}]({href(target)} "{_title(said)}")'


def _title(text: str) -> str:
    """Give a text for a link's title: renderers disagree on parentheses in one."""
    plain = str(inert(text.replace("`", "")))
    return plain.replace("(", "&#40;").replace(")", "&#41;")


# ── what is wrong with a reference ───────────────────────────────────────────────────────────


def problems(text: str, known: Vocabulary, lines: Lines) -> list[Problem]:
    """Give a problem for each `[[name]]` that no term has, or more than one, or that names none."""
    if "[[" not in text:
        return []
    read = _read(text)
    told = (_problem(found, known, lines) for found in read.forced)
    return [
        *(problem for problem in told if problem),
        *(_malformed(found, lines) for found in _MALFORMED.finditer(read.plain)),
    ]


def _malformed(found: re.Match[str], lines: Lines) -> Problem:
    return Problem(
        place=lines.at(found.start()),
        code="empty-term",
        message=f"{found.group()} names no entry, or nothing to show",
        hint="write [[name]] or [[name|what stands there]]; put code between backticks",
    )


def _problem(found: re.Match[str], known: Vocabulary, lines: Lines) -> Problem | None:
    name = " ".join(found["name"].split())
    ids = [term.id for term in known.find(name)]
    if len(ids) == 1 or (ids and found["not"]):
        return None
    if ids:
        code, message = "ambiguous-term", f"[[{name}]] may be any of {', '.join(sorted(ids))}"
        hint = f"write [[{min(ids)}|{name}]], or another of the ids"
    else:
        code, message = "unknown-term", f"no entry is called {name!r}"
        there = f"the entries are: {', '.join(sorted(known.by_id))}; put code between backticks"
        called = [each for term in known.by_id.values() for each in (term.id, *term.names)]
        hint = meant(name, called, there)
    return Problem(place=lines.at(found.start()), code=code, message=message, hint=hint)
