"""Statements: what exactly a person says about which bytes.

Comes in: the subjects' bytes and what the person says, or the bytes of a statement file. Goes
out: a `Statement` and its one canonical form. Must not know who may say it, nor check signatures.

The form is an in-toto Statement (v1) with a predicate type of our own. The file is what is signed,
byte for byte, and it must equal its own canonical form, so that nothing can hide in it.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import canonical_json, decode, parse_json, validate
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


@lru_cache(maxsize=64)  # of an entry's files, asked for by each statement about them
def manifest_of(listed: tuple[Subject, ...]) -> str:
    """Give the manifest digest: the SHA-256 of the canonical list of subjects."""
    return hashlib.sha256(canonical_json(_descriptors(listed))).hexdigest()


def difference(signed: tuple[Subject, ...], now: tuple[Subject, ...]) -> Difference:
    """Say which files changed since something was signed."""
    before = {subject.name: subject.sha256 for subject in signed}
    after = {subject.name: subject.sha256 for subject in now}
    return Difference(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(sorted(n for n in before.keys() & after.keys() if before[n] != after[n])),
    )


def _descriptors(listed: tuple[Subject, ...]) -> list[dict[str, Any]]:
    return [{"name": s.name, "digest": {"sha256": s.sha256}} for s in listed]


# ── canonical bytes ──────────────────────────────────────────────────────────────────────────


def to_bytes(statement: Statement) -> bytes:
    """Write a statement in its one form."""
    predicate: dict[str, Any] = {
        "project": statement.project,
        "entry": statement.entry,
        "kind": statement.said,
        "person": statement.person,
        "date": statement.date.isoformat(),
        "scope": list(statement.scope),
        "records": _descriptors(statement.records),
    }
    if statement.said == "retract":
        predicate["reason"] = statement.reason
    if statement.first_signed:
        predicate["first_signed"] = statement.first_signed.isoformat()
    return canonical_json(
        {
            "_type": STATEMENT_TYPE,
            "subject": _descriptors(statement.subjects),
            "predicateType": PREDICATE_TYPE,
            "predicate": predicate,
        }
    )


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


def _problems(file: str, raw: bytes, statement: Statement) -> list[Problem]:
    faults = [
        _fault("statement-form", "is not in canonical form", to_bytes(statement) != raw),
        _fault("statement-subjects", *_subjects_fault(statement)),
        _fault("statement-scope", *_scope_fault(statement)),
        _fault("statement-reason", "a retraction says why", _lacks_reason(statement)),
        _fault("statement-date", "was first signed after its own date", _is_inverted(statement)),
    ]
    hint = "let the glossary command write it; a statement is never edited by hand"
    return [
        Problem(place=Place(file), code=code, message=message, hint=hint)
        for code, message in filter(None, faults)
    ]


def _fault(code: str, message: str, holds: bool) -> tuple[str, str] | None:
    return (code, message) if holds else None


def _subjects_fault(statement: Statement) -> tuple[str, bool]:
    names = [subject.name for subject in statement.subjects]
    folder = f"{ENTRIES}/{statement.entry}"
    if names != sorted(set(names)) or len({name.casefold() for name in names}) != len(names):
        return "its subjects are not each named once, in order", True
    if not all(map(is_plain_path, names)):
        return "a subject's name is not a plain path inside the project", True
    if any(name.startswith(f"{folder}/{SIGNATURES}/") for name in names):
        return "signatures do not sign one another", True
    return f"{folder}/entry.md is not among its subjects", f"{folder}/entry.md" not in names


def _scope_fault(statement: Statement) -> tuple[str, bool]:
    in_order = tuple(part for part in PARTS if part in statement.scope)
    if statement.scope != in_order:
        return f"the scope is not in the order {', '.join(PARTS)}", True
    if statement.said == "review":
        return "a review says what was looked at", not statement.scope
    return f"a statement of kind {statement.said} has no scope", bool(statement.scope)


def _lacks_reason(statement: Statement) -> bool:
    return statement.said == "retract" and not statement.reason


def _is_inverted(statement: Statement) -> bool:
    return statement.first_signed is not None and statement.first_signed > statement.date
