"""Statements: what exactly a person says about which bytes.

Comes in: the subjects' bytes and what the person says, or the bytes of a statement file. Goes
out: a `Statement` and its one canonical form. Must not know who may say it, nor check signatures.

The form is an in-toto Statement (v1) with a predicate type of our own. The file is what is signed,
byte for byte, and it must equal its own canonical form, so that nothing can hide in it.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as quoted
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import decode, parse_json, validate
from measured_glossary.trust.folder import ENTRIES, SIGNATURES, is_plain_path
from measured_glossary.trust.registry import Date, Digest, EntryId, Id, Line, parse_date

Said = Literal["author", "review", "check", "retract"]
Part = Literal["prose", "claims", "code", "experiment", "sources"]

SAID: tuple[Said, ...] = get_args(Said)
PARTS: tuple[Part, ...] = get_args(Part)
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:measured-glossary:statement:v1"
MEASUREMENT_NAMESPACE = "measurement@measured-glossary"


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """One signed file: its path from the project's root and the SHA-256 of its raw bytes."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a person says about an entry's exact bytes.

    `scope` is what a reviewer looked at; `records` are the measurements they saw, for information;
    `first_signed` is set where an old key's statement was signed anew with another key.
    """

    project: str
    entry: str
    said: Said
    person: str
    date: datetime.date
    subjects: tuple[Subject, ...]
    scope: tuple[Part, ...] = ()
    records: tuple[Subject, ...] = ()
    reason: str = ""
    first_signed: datetime.date | None = None

    @property
    def manifest(self) -> str:
        """Give the digest of the subjects."""
        return manifest_of(self.subjects)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed between the bytes that were signed and those that lie there now."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __str__(self) -> str:
        """Print as `changed a, b; added c; removed d`."""
        parts = (("changed", self.changed), ("added", self.added), ("removed", self.removed))
        return "; ".join(f"{word} {', '.join(names)}" for word, names in parts if names)


def namespace(said: Said) -> str:
    """Give the namespace of a kind of statement: a signature fits one role only."""
    return f"{said}@measured-glossary"


def file_name(said: Said, person: str) -> str:
    """Give the name of a statement's file inside `signatures/`."""
    return f"{said}.{person}.json"


# ── subjects ─────────────────────────────────────────────────────────────────────────────────


def subjects(files: Mapping[str, bytes]) -> tuple[Subject, ...]:
    """Give the subjects of files: names and digests, in the order of names."""
    return tuple(
        Subject(name, hashlib.sha256(raw).hexdigest()) for name, raw in sorted(files.items())
    )


def manifest_of(listed: tuple[Subject, ...]) -> str:
    """Give the manifest digest: the SHA-256 of the canonical list of subjects."""
    canonical = _descriptors(listed, line="\n") + "\n"
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def difference(signed: tuple[Subject, ...], now: tuple[Subject, ...]) -> Difference:
    """Say which files changed since something was signed."""
    before = {subject.name: subject.sha256 for subject in signed}
    after = {subject.name: subject.sha256 for subject in now}
    return Difference(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(sorted(n for n in before.keys() & after.keys() if before[n] != after[n])),
    )


# ── canonical bytes ──────────────────────────────────────────────────────────────────────────


def to_bytes(statement: Statement) -> bytes:
    """Write a statement in its one form: as `source.canonical_json` does, and seen at a glance."""
    first_signed, reason = "", ""
    if statement.first_signed:
        first_signed = f'\n    "first_signed": "{statement.first_signed.isoformat()}",'
    if statement.said == "retract":
        reason = f'\n    "reason": {quoted(statement.reason)},'
    records = _descriptors(statement.records, line="\n    ")
    scope = _listed([quoted(part) for part in statement.scope], line="\n    ")
    subject = _descriptors(statement.subjects, line="\n  ")
    return f"""{{
  "_type": "{STATEMENT_TYPE}",
  "predicate": {{
    "date": "{statement.date.isoformat()}",
    "entry": {quoted(statement.entry)},{first_signed}
    "kind": {quoted(statement.said)},
    "person": {quoted(statement.person)},
    "project": {quoted(statement.project)},{reason}
    "records": {records},
    "scope": {scope}
  }},
  "predicateType": "{PREDICATE_TYPE}",
  "subject": {subject}
}}
""".encode("ascii")


def _descriptors(listed: tuple[Subject, ...], line: str) -> str:
    """Write subjects; `line` begins a line at the list's depth."""
    parts = [
        f'{{{line}    "digest": {{{line}      "sha256": {quoted(subject.sha256)}{line}    }},'
        f'{line}    "name": {quoted(subject.name)}{line}  }}'
        for subject in listed
    ]
    return _listed(parts, line)


def _listed(parts: Sequence[str], line: str) -> str:
    return f"[{line}  {f',{line}  '.join(parts)}{line}]" if parts else "[]"


# ── the door ─────────────────────────────────────────────────────────────────────────────────


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class _Digests(_Model):
    sha256: Digest


class _Descriptor(_Model):
    name: Annotated[str, StringConstraints(min_length=1, max_length=400)]
    digest: _Digests


class _Predicate(_Model):
    project: Id
    entry: EntryId
    kind: Said
    person: Id
    date: Date
    scope: list[Part]
    records: list[_Descriptor]
    reason: Line | None = None
    first_signed: Date | None = None


class _StatementModel(_Model):
    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: list[_Descriptor] = Field(min_length=1)
    predicateType: Literal["urn:measured-glossary:statement:v1"]  # noqa: N815 - in-toto's name
    predicate: _Predicate


def parse(file: str, raw: bytes) -> Checked[Statement]:
    """Read a statement file: known fields only, in canonical form, consistent in itself."""
    statement = _in_order(raw)
    return Checked(value=statement) if statement else _examined(file, raw)


def _in_order(raw: bytes) -> Statement | None:
    """Give a statement with nothing wrong in it, as nearly all are, or nothing.

    What JSON can say in two ways, a key that stands twice above all, does not survive being written
    again. A sign that nobody sees survives as an escape: what has one is for the other door.
    """
    if b"\\" in raw:
        return None
    try:
        statement = _statement(_StatementModel.model_validate_json(raw))
    except ValidationError:
        return None
    return None if to_bytes(statement) != raw or any(_faults(statement)) else statement


def _examined(file: str, raw: bytes) -> Checked[Statement]:
    """Read a statement step by step, and say at each what is wrong."""
    source = decode(file, raw)
    if source.value is None:
        return Checked(value=None, problems=source.problems)
    located = parse_json(source.value)
    if located.value is None:
        return Checked(value=None, problems=located.problems)
    model = validate(_StatementModel, located.value, code="statement-field")
    if model.value is None:
        return Checked(value=None, problems=model.problems)
    statement = _statement(model.value)
    problems = tuple(_problems(file, raw, statement))
    return Checked(value=None if problems else statement, problems=problems)


def _statement(model: _StatementModel) -> Statement:
    said = model.predicate
    return Statement(
        project=said.project,
        entry=said.entry,
        said=said.kind,
        person=said.person,
        date=parse_date(said.date),
        subjects=tuple(Subject(d.name, d.digest.sha256) for d in model.subject),
        scope=tuple(said.scope),
        records=tuple(Subject(d.name, d.digest.sha256) for d in said.records),
        reason=said.reason or "",
        first_signed=parse_date(said.first_signed) if said.first_signed else None,
    )


def _problems(file: str, raw: bytes, statement: Statement) -> Iterator[Problem]:
    form = [] if to_bytes(statement) == raw else [("statement-form", "is not in canonical form")]
    hint = "let the glossary command write it; a statement is never edited by hand"
    for code, message in (*form, *_faults(statement)):
        yield Problem(place=Place(file), code=code, message=message, hint=hint)


# ── rules: each gives what is wrong, or nothing ──────────────────────────────────────────────


def _faults(statement: Statement) -> Iterator[tuple[str, str]]:
    """Give code and message of each rule that a statement breaks."""
    for code, rule in _RULES:
        if message := rule(statement):
            yield code, message


def _subjects_fault(statement: Statement) -> str:
    names = [subject.name for subject in statement.subjects]
    folder = f"{ENTRIES}/{statement.entry}"
    if names != sorted(names) or len(set(map(str.casefold, names))) != len(names):
        return "its subjects are not each named once, in order"
    if not all(map(is_plain_path, names)):
        return "a subject's name is not a plain path inside the project"
    if any(name.startswith(f"{folder}/{SIGNATURES}/") for name in names):
        return "signatures do not sign one another"
    return "" if f"{folder}/entry.md" in names else f"{folder}/entry.md is not among its subjects"


def _scope_fault(statement: Statement) -> str:
    scope = statement.scope
    if scope != tuple(part for part in PARTS if part in scope):
        return f"the scope is not in the order {', '.join(PARTS)}"
    if statement.said == "review":
        return "" if scope else "a review says what was looked at"
    return f"a statement of kind {statement.said} has no scope" if scope else ""


def _reason_fault(statement: Statement) -> str:
    lacks = statement.said == "retract" and not statement.reason
    return "a retraction says why" if lacks else ""


def _date_fault(statement: Statement) -> str:
    first = statement.first_signed
    return "was first signed after its own date" if first and first > statement.date else ""


_RULES: tuple[tuple[str, Callable[[Statement], str]], ...] = (
    ("statement-subjects", _subjects_fault),
    ("statement-scope", _scope_fault),
    ("statement-reason", _reason_fault),
    ("statement-date", _date_fault),
)
