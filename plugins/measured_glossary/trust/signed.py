"""One signed statement: its form, its signature, and whether that person may say it.

Comes in: the bytes of a statement and its signature, the registry, today's date. Goes out:
`Signed`, or every rule it breaks. Must not know what else was signed, nor read anything.

Everything is judged as of `today`: the date in a statement is the signer's own word and never
selects the time of verification.
"""

from __future__ import annotations

import datetime
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from measured_glossary.problem import Checked, Place
from measured_glossary.source import LF_HINT
from measured_glossary.trust.registry import Key, KeyState, Person, Registry, Role
from measured_glossary.trust.sshsig import Fault, mark, parse_signature, verify
from measured_glossary.trust.statement import (
    MEASUREMENT_NAMESPACE,
    Said,
    Statement,
    file_name,
    namespace,
    parse,
)

_NEEDED: Mapping[Said, tuple[Role, ...]] = {
    "author": ("author",),
    "review": ("review",),
    "check": ("check",),
    "retract": ("author", "review"),
}
_KEY_CODES: Mapping[KeyState, tuple[str, str]] = {
    "revoked": ("revoked-key", "sign again with another key, once the registry has it"),
    "expired": ("expired-key", "sign the same bytes with your new key: glossary rotate"),
    "not yet valid": ("early-key", "wait for the key's first day, or correct not_before"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a statement must be about, and who is judged to be an author of it.

    `good` holds the marks of signatures that were verified already in this build.
    """

    entry: str
    area: str
    authors: tuple[str, ...]
    registry: Registry
    today: datetime.date
    good: Container[bytes] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A verified statement: the person, the key that signed, and what was said."""

    person: Person
    key: Key
    statement: Statement
    file: str

    @property
    def on(self) -> datetime.date:
        """Give the day the person says they signed first."""
        return self.statement.first_signed or self.statement.date


@dataclass(frozen=True, slots=True, kw_only=True)
class Attested:
    """A measurement that a machine's key signed."""

    machine: Person
    key: Key


def read_signed(file: str, raw: bytes, armored: bytes | None, bound: Bound) -> Checked[Signed]:
    """Verify one statement file; `armored` is the signature beside it, if there is one."""
    if b"\r\n" in raw or b"\r\n" in (armored or b""):
        return _refuse(file, Fault("line-endings", "has carriage returns", LF_HINT))
    statement = parse(file, raw)
    if statement.value is None:
        return Checked(value=None, problems=statement.problems)
    if armored is None:
        said = "has no signature beside it"
        return _refuse(file, Fault("unsigned-statement", said, "sign again, or delete it"))
    person = bound.registry.person(statement.value.person)
    if person is None:
        said = f"{statement.value.person!r} is nobody in the registry"
        return _refuse(file, Fault("unknown-person", said, _who(statement.value.person)))
    name = namespace(statement.value.said)
    key = signing_key(person, name, raw, armored, bound.registry, bound.good)
    if isinstance(key, Fault):
        return _refuse(f"{file}.sig", key)
    signed = Signed(person=person, key=key, statement=statement.value, file=file)
    problems = tuple(fault.at(Place(file)) for fault in rule_faults(signed, bound))
    return Checked(value=None if problems else signed, problems=problems)


def read_attested(
    file: str, raw: bytes, armored: bytes, registry: Registry, today: datetime.date
) -> Checked[Attested]:
    """Verify a machine's signature over a record's exact bytes."""
    signature = parse_signature(armored)
    if isinstance(signature, Fault):
        return _refuse(file, signature)
    owner = next((p for p in registry.people if _key_of(p, signature.key_blob)), None)
    key = _key_of(owner, signature.key_blob) if owner else None
    if owner is None or key is None:
        said = "is signed with a key that is in no registry entry"
        return _refuse(file, Fault("unregistered-key", said, "glossary people add"))
    if owner.kind != "machine":
        said = f"is signed by {owner.id}, a human; machines sign measurements"
        return _refuse(file, Fault("human-measurement", said, "give the machine a key of its own"))
    fault = verify(signature, key.public, namespace=MEASUREMENT_NAMESPACE, message=raw)
    faults = [fault] if fault else list(_key_faults(key, owner, today))
    problems = tuple(f.at(Place(file)) for f in faults)
    return Checked(value=None if faults else Attested(machine=owner, key=key), problems=problems)


def signing_key(
    person: Person,
    name: str,
    raw: bytes,
    armored: bytes,
    registry: Registry,
    good: Container[bytes] = (),
) -> Key | Fault:
    """Give the person's key that signed `raw` for a namespace, or why there is none.

    The key need not be live: that is for the caller to judge. `good` holds the marks of signatures
    that were verified already.
    """
    for one in person.keys if good else ():
        if mark(armored, one.public.blob, name, raw) in good:
            return one
    signature = parse_signature(armored)
    if isinstance(signature, Fault):
        return signature
    key = _key_of(person, signature.key_blob)
    if key is None:
        owner = next((p for p in registry.people if _key_of(p, signature.key_blob)), None)
        return _foreign_key(person, owner)
    return verify(signature, key.public, namespace=name, message=raw) or key


def _key_of(person: Person, blob: bytes) -> Key | None:
    return next((key for key in person.keys if key.public.blob == blob), None)


def _foreign_key(person: Person, owner: Person | None) -> Fault:
    hint = "glossary doctor shows which of your keys the registry knows"
    if owner is None:
        said = f"says {person.id}, and its key is in no registry entry"
        return Fault("unregistered-key", said, hint)
    return Fault("other-persons-key", f"says {person.id}, and its key is {owner.id}'s", hint)


def _refuse(file: str, fault: Fault) -> Checked[Any]:
    return Checked(value=None, problems=(fault.at(Place(file)),))


def _who(person: str) -> str:
    return f"glossary people add {person}, in a change of its own that others approve"


# ── rules: each gives what is wrong, or nothing ──────────────────────────────────────────────


def rule_faults(signed: Signed, bound: Bound) -> Iterator[Fault]:
    """Say which rules a statement breaks, whatever its signature is."""
    for rule in _RULES:
        yield from rule(signed, bound)


def _belongs_here(signed: Signed, bound: Bound) -> Iterator[Fault]:
    said = signed.statement
    name = signed.file.rpartition("/")[2]
    if name != (expected := file_name(said.said, said.person)):
        message = f"holds a statement whose file is {expected}"
        yield Fault("misplaced-statement", message, "delete it: it is no evidence here")
    if said.entry != bound.entry:
        message = f"is about the entry {said.entry!r}, not {bound.entry!r}"
        yield Fault("statement-entry", message, "delete it: it is no evidence here")
    if said.project != bound.registry.project:
        message = f"is about the project {said.project!r}, not {bound.registry.project!r}"
        yield Fault("statement-project", message, "delete it: it is no evidence here")


def _person_may(signed: Signed, bound: Bound) -> Iterator[Fault]:
    person, said = signed.person, signed.statement.said
    hint = "the registry's people.yml says who may; delete the statement, or have that changed"
    if person.kind != "human":
        yield Fault("machine-signature", f"{person.id} is a machine, and pages need people", hint)
    if not person.may.intersection(_NEEDED[said]):
        may = ", ".join(sorted(person.may))
        yield Fault("person-role", f"{person.id} may {may}, and this is a {said}", hint)
    if not person.covers(bound.area):
        areas = ", ".join(sorted(person.areas)) or "no area"
        yield Fault("person-area", f"{person.id} signs in {areas}, not in {bound.area}", hint)


def _key_is_live(signed: Signed, bound: Bound) -> Iterator[Fault]:
    yield from _key_faults(signed.key, signed.person, bound.today)


def _key_faults(key: Key, person: Person, today: datetime.date) -> Iterator[Fault]:
    state = key.state(today)
    if state != "live":
        code, hint = _KEY_CODES[state]
        until = f" (until {key.not_after})" if state == "expired" else ""
        yield Fault(
            code, f"the key {key.public.fingerprint} of {person.id} is {state}{until}", hint
        )


def _is_dated(signed: Signed, bound: Bound) -> Iterator[Fault]:
    date, key = signed.statement.date, signed.key
    if date > bound.today:
        message = f"is dated {date}, and today is {bound.today} (UTC)"
        yield Fault("future-date", message, "set the clock right and sign again")
    if date < key.not_before:
        message = f"is dated {date}, before its key's first day, {key.not_before}"
        yield Fault("backdated-statement", message, "sign again, with today's date")


def _is_another_person(signed: Signed, bound: Bound) -> Iterator[Fault]:
    person, said = signed.person, signed.statement.said
    if said == "review" and person.id in bound.authors:
        message = f"{person.id} is an author of this entry and cannot review it"
        yield Fault("self-review", message, f"ask somebody else: glossary status {bound.entry}")
    if said == "author" and person.id not in bound.authors:
        message = f"{person.id} signed as an author and is not named in written_by"
        yield Fault("unnamed-author", message, "name them in written_by, or delete the statement")


_RULES = (_belongs_here, _person_may, _key_is_live, _is_dated, _is_another_person)
