"""The sign-off of an entry: who signed what, what is missing, what is wrong.

Comes in: an entry's bytes and signature files, the registry, today's date. Goes out: a `Signoff`,
a value that refuses nothing by itself. Must not know what a verdict is, nor read anything.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from measured_glossary.problem import Place, Problem
from measured_glossary.source import LF_HINT
from measured_glossary.trust.folder import ENTRIES, SIGNATURES
from measured_glossary.trust.registry import Registry
from measured_glossary.trust.signed import Bound, Signed, read_signed
from measured_glossary.trust.statement import (
    PARTS,
    SAID,
    Difference,
    Part,
    Said,
    difference,
    manifest_of,
    subjects,
)

_STATEMENT_FILE = re.compile(rf"({'|'.join(SAID)})\.[a-z0-9-]{{1,39}}\.json")


# ── values ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is judged: an entry's bytes, whom its byline names, and its signature files.

    `subjects` holds every file that must be signed, by path from the project's root; `signatures`
    the files of the `signatures/` folder by name. `area` and `authors` (ids) come from the front
    matter; so does `nominated`, the reviewer whom the author asks for, or nothing.
    """

    entry: str
    area: str
    authors: tuple[str, ...]
    subjects: Mapping[str, bytes]
    signatures: Mapping[str, bytes]
    nominated: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """A good signature over earlier bytes, and what changed since."""

    signed: Signed
    since: Difference

    def __str__(self) -> str:
        """Print who signed what and when, and what changed since."""
        said = self.signed.statement
        return f"{said.said} by {self.signed.person.id} on {said.date}: {self.since}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A signature that is missing, the ids of those who could give it, and what to type."""

    said: Said
    who: tuple[str, ...]
    command: str

    def __str__(self) -> str:
        """Print what is missing, from whom, and the next command."""
        what = "the author's signature" if self.said == "author" else "a review"
        whom = f" by {' or '.join(self.who)}" if self.who else ", which nobody registered can give"
        return f"{what}{whom}: {self.command}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signoff:
    """Who signed an entry's exact bytes.

    `wanted` lists what is missing, `outdated` the good signatures over earlier bytes, `problems`
    the evidence that is wrong. `retraction` is the one in force.
    """

    entry: str
    manifest: str
    authors: tuple[Signed, ...]
    reviews: tuple[Signed, ...]
    checks: tuple[Signed, ...]
    retraction: Signed | None
    outdated: tuple[Outdated, ...]
    wanted: tuple[Wanted, ...]
    problems: tuple[Problem, ...]
    registry: Registry

    @property
    def author(self) -> Signed | None:
        """Give the first author of the byline, once every author signed."""
        is_signed = not any(wanted.said == "author" for wanted in self.wanted)
        return self.authors[0] if self.authors and is_signed else None

    @property
    def missing(self) -> tuple[str, ...]:
        """Give in words which signatures are missing, from whom, and what to type."""
        return tuple(str(wanted) for wanted in self.wanted)

    @property
    def is_complete(self) -> bool:
        """Say whether authors and a reviewer signed and nothing speaks against it."""
        return not (self.wanted or self.problems or self.retraction)

    @property
    def last_checked(self) -> datetime.date | None:
        """Give the latest day on which somebody says they checked these bytes."""
        return max((signed.on for signed in self.checks), default=None)

    @property
    def covered(self) -> tuple[Part, ...]:
        """Give what the reviews together say was looked at."""
        seen = {part for signed in self.reviews for part in signed.statement.scope}
        return tuple(part for part in PARTS if part in seen)


# ── the judgement ────────────────────────────────────────────────────────────────────────────


def judge(
    evidence: Evidence, registry: Registry, today: datetime.date, good: Container[bytes] = ()
) -> Signoff:
    """Judge an entry's signatures by a registry, as of a day.

    `good` holds the marks of signatures that were verified already, in this build.
    """
    now = subjects(evidence.subjects)
    manifest = manifest_of(now)
    files = sorted(filter(_STATEMENT_FILE.fullmatch, evidence.signatures))
    signed, problems = _read_all(evidence, files, registry, today, good)
    valid = [s for s in signed if s.statement.subjects == now]
    old = [s for s in signed if s.statement.subjects != now]
    problems += _stray_files(evidence, files)
    problems += _byline_problems(evidence)
    problems += _line_end_problems(evidence, old)
    problems += _withdrawn_problems(evidence, registry, manifest)
    problems += _empty_retractions(files, signed)
    authors = _in_byline_order(evidence.authors, _of(valid, "author"))
    reviews = _of(valid, "review")
    wanted = (
        *_wanted_authors(evidence, registry, authors),
        *(() if reviews else (_wanted_review(evidence, registry, today),)),
    )
    return Signoff(
        entry=evidence.entry,
        manifest=manifest,
        authors=authors,
        reviews=reviews,
        checks=_of(valid, "check"),
        retraction=_retraction(valid, old, authors, () if wanted or problems else reviews),
        outdated=tuple(
            Outdated(signed=s, since=difference(s.statement.subjects, now)) for s in old
        ),
        wanted=wanted,
        problems=tuple(sorted(set(problems))),
        registry=registry,
    )


def _read_all(
    evidence: Evidence,
    files: Iterable[str],
    registry: Registry,
    today: datetime.date,
    good: Container[bytes],
) -> tuple[list[Signed], list[Problem]]:
    bound = Bound(
        entry=evidence.entry,
        area=evidence.area,
        authors=evidence.authors,
        registry=registry,
        today=today,
        good=good,
    )
    raw = evidence.signatures
    read = [
        read_signed(_path(evidence, file), raw[file], raw.get(f"{file}.sig"), bound)
        for file in files
    ]
    signed = [one.value for one in read if one.value is not None]
    return signed, [problem for one in read for problem in one.problems]


def _of(signed: Iterable[Signed], said: Said) -> tuple[Signed, ...]:
    return tuple(s for s in signed if s.statement.said == said)


def _in_byline_order(authors: tuple[str, ...], signed: tuple[Signed, ...]) -> tuple[Signed, ...]:
    return tuple(s for author in authors for s in signed if s.person.id == author)


def _retraction(
    valid: list[Signed],
    old: list[Signed],
    authors: tuple[Signed, ...],
    reviews: tuple[Signed, ...],
) -> Signed | None:
    """Give the retraction in force; one over other bytes holds until these are signed after it.

    Bytes that were signed before it, put back, are not what the people corrected. The first day
    counts: to sign again with a new key is to say nothing new.
    """
    reviewed = max((signed.on for signed in reviews), default=datetime.date.min)
    signed_on = min([reviewed, *(signed.on for signed in authors)])
    found = _of(valid, "retract") + tuple(s for s in _of(old, "retract") if s.on > signed_on)
    return max(found, key=lambda s: (s.statement.date, s.file), default=None)


def _path(evidence: Evidence, name: str) -> str:
    return f"{ENTRIES}/{evidence.entry}/{SIGNATURES}/{name}"


# ── what is missing ──────────────────────────────────────────────────────────────────────────


def _wanted_authors(
    evidence: Evidence, registry: Registry, signed: tuple[Signed, ...]
) -> Iterator[Wanted]:
    have = {one.person.id for one in signed}
    for author in evidence.authors:
        known = registry.person(author) is not None
        command = f"glossary sign {evidence.entry}" if known else f"glossary people add {author}"
        if author not in have:
            yield Wanted(said="author", who=(author,), command=command)
    if not evidence.authors:
        command = f"write your id behind 'written_by:' in {ENTRIES}/{evidence.entry}/entry.md"
        yield Wanted(said="author", who=(), command=command)


def _wanted_review(evidence: Evidence, registry: Registry, today: datetime.date) -> Wanted:
    who = _possible_reviewers(evidence, registry, today)
    if evidence.nominated in who:
        who = (evidence.nominated,)
    command = f"glossary {'review' if who else 'request-review'} {evidence.entry}"
    return Wanted(said="review", who=who, command=command)


def _possible_reviewers(
    evidence: Evidence, registry: Registry, today: datetime.date
) -> tuple[str, ...]:
    return tuple(
        sorted(
            person.id
            for person in registry.people
            if person.kind == "human"
            and "review" in person.may
            and person.covers(evidence.area)
            and person.live_keys(today)
            and person.id not in evidence.authors
        )
    )


# ── what is wrong besides single statements ──────────────────────────────────────────────────


def _stray_files(evidence: Evidence, files: Iterable[str]) -> Iterator[Problem]:
    belongs = {name for file in files for name in (file, f"{file}.sig")}
    for name in sorted(evidence.signatures.keys() - belongs):
        yield Problem(
            place=Place(_path(evidence, name)),
            code="stray-signature",
            message="belongs to no statement of this entry",
            hint="delete it: evidence that nobody reads hides evidence that matters",
        )


def _byline_problems(evidence: Evidence) -> Iterator[Problem]:
    place = Place(f"{ENTRIES}/{evidence.entry}/entry.md")
    if evidence.nominated in evidence.authors:
        said = f"{evidence.nominated} is an author and is asked to review"
        yield Problem(place=place, code="self-review", message=said, hint="ask somebody else")
    if len(set(evidence.authors)) != len(evidence.authors):
        said = "an author is named twice in written_by"
        yield Problem(place=place, code="doubled-author", message=said, hint="name each once")


def _line_end_problems(evidence: Evidence, old: Iterable[Signed]) -> Iterator[Problem]:
    """Tell a checkout that changed line ends from an edit: the bytes are never normalised."""
    signed = {(s.name, s.sha256) for one in old for s in one.statement.subjects}
    for name, raw in sorted(evidence.subjects.items()) if signed else ():
        unix = raw.replace(b"\r\n", b"\n")
        for other in {unix, unix.replace(b"\n", b"\r\n")} - {raw}:
            if (name, hashlib.sha256(other).hexdigest()) in signed:
                said = "has other line ends than the file that was signed, and is else the same"
                yield Problem(place=Place(name), code="line-endings", message=said, hint=LF_HINT)


def _empty_retractions(files: Iterable[str], signed: Iterable[Signed]) -> Iterator[Problem]:
    """Refuse to take back what nobody published: a reason is shown, and one person gives it."""
    if {"author", "review"} <= {file.partition(".")[0] for file in files}:
        return  # by whom, and whether they may, is judged for each
    for retraction in _of(signed, "retract"):
        yield Problem(
            place=Place(retraction.file),
            code="retraction-of-nothing",
            message="takes back an entry that author and reviewer did not both sign",
            hint="delete it and its signature: an entry that they did not sign is a draft",
        )


def _withdrawn_problems(evidence: Evidence, registry: Registry, manifest: str) -> Iterator[Problem]:
    if withdrawn := registry.withdrawal(manifest):
        yield Problem(
            place=Place(f"{ENTRIES}/{evidence.entry}/entry.md"),
            code="withdrawn-manifest",
            message=f"exactly these bytes were withdrawn on {withdrawn.on}: {withdrawn.reason}",
            hint="correct the entry; the corrected bytes are signed anew",
        )
