"""The registry of people: who may sign what, with which keys.

Comes in: the text of `glossary/people.yml`. Goes out: a `Registry`, or every fault in it with its
place. Must not know what was signed, nor where the registry was read from.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Located, Source, parse_yaml, validate
from measured_glossary.trust.alike import odd_characters, readings, scripts
from measured_glossary.trust.sshsig import Fault, Material, PublicKey, parse_key

PEOPLE_FILE = "glossary/people.yml"
ID_PATTERN = r"^[a-z0-9](-?[a-z0-9])*$"
EVERY_AREA, PENDING = "all", "pending"

Role = Literal["author", "review", "check", "measure"]
Kind = Literal["human", "machine"]
KeyState = Literal["live", "revoked", "expired", "not yet valid"]

_MARKUP = re.compile(r"<[A-Za-z/!?]")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TEST_PROJECTS = ("test-", "demo-")


# ── values ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A person's key and the days on which it may sign, both ends included."""

    public: PublicKey
    not_before: datetime.date
    not_after: datetime.date | None
    revoked: bool
    place: Place

    def state(self, day: datetime.date) -> KeyState:
        """Say whether the key may sign on a day; a revoked key never could."""
        if self.revoked:
            return "revoked"
        if day < self.not_before:
            return "not yet valid"
        return "expired" if self.not_after and day > self.not_after else "live"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who may sign: a human, or a machine that signs what it measured."""

    id: str
    name: str
    kind: Kind
    may: frozenset[Role]
    areas: frozenset[str]
    vouched_by: str
    keys: tuple[Key, ...]
    place: Place

    def covers(self, area: str) -> bool:
        """Say whether the person signs entries of an area."""
        return EVERY_AREA in self.areas or area in self.areas

    def live_keys(self, today: datetime.date) -> tuple[Key, ...]:
        """Give the keys that may sign today."""
        return tuple(key for key in self.keys if key.state(today) == "live")


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """A manifest that must never be published again, whoever signed it."""

    manifest: str
    on: datetime.date
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked:
    """A key that counts no longer, for anything it ever signed."""

    key: PublicKey
    on: datetime.date
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """The people of one project.

    `sha256` is of the registry's raw bytes. `ref` is the git revision they were read from, empty
    for the working tree's; `pinned` says that they equal the digest kept outside the repository.
    """

    project: str
    people: tuple[Person, ...]
    revoked: tuple[Revoked, ...]
    withdrawn: tuple[Withdrawn, ...]
    sha256: str
    file: str
    ref: str = ""
    pinned: bool = False

    def person(self, person_id: str) -> Person | None:
        """Give the person of an id."""
        return next((person for person in self.people if person.id == person_id), None)

    def owner(self, material: Material) -> Person | None:
        """Give the person whose key has this material."""
        owned = ((p, key) for p in self.people for key in p.keys)
        return next((p for p, key in owned if key.public.material == material), None)

    def withdrawal(self, manifest: str) -> Withdrawn | None:
        """Give the withdrawal of a manifest, if it was withdrawn."""
        return next((w for w in self.withdrawn if w.manifest == manifest), None)


def is_test_project(project: str) -> bool:
    """Say whether a project's id is one that production refuses."""
    return project.startswith(_TEST_PROJECTS)


# ── the door ─────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1024)  # people sign many entries in a day
def parse_date(text: str) -> datetime.date:
    """Read a date written YYYY-MM-DD and nothing else."""
    if not _DATE.fullmatch(text):
        raise ValueError("a date is written YYYY-MM-DD")
    return datetime.date.fromisoformat(text)


def _check_date(text: str) -> str:
    parse_date(text)
    return text


def _check_printable(text: str) -> str:
    # An escape in YAML or JSON can hold what `source.decode` refuses in the text itself.
    if not text.isprintable() or text != text.strip() or _MARKUP.search(text):
        raise ValueError("expected one line of visible characters, without HTML")
    return text


def _check_person(text: str) -> str:
    if text == PENDING:
        raise ValueError(f"{PENDING!r} is what a byline says while nobody is named")
    return text


Id = Annotated[str, StringConstraints(pattern=ID_PATTERN, max_length=39)]
EntryId = Annotated[str, StringConstraints(pattern=ID_PATTERN, max_length=60)]
PersonId = Annotated[Id, AfterValidator(_check_person)]
Date = Annotated[str, AfterValidator(_check_date)]
Line = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(_check_printable)
]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _KeyModel(_Model):
    key: str = Field(max_length=8192)
    not_before: Date
    not_after: Date | None = None


class _PersonModel(_Model):
    id: PersonId
    name: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    kind: Kind
    may: list[Role] = Field(min_length=1)
    areas: list[Line] = Field(default=[])
    vouched_by: Id | None = None
    keys: list[_KeyModel] = Field(default=[])


class _RevokedModel(_Model):
    key: str = Field(max_length=8192)
    on: Date
    reason: Line


class _WithdrawnModel(_Model):
    manifest: Digest
    on: Date
    reason: Line


class _RegistryModel(_Model):
    project: Id
    people: list[_PersonModel] = Field(default=[])
    revoked: list[_RevokedModel] = Field(default=[])
    withdrawn: list[_WithdrawnModel] = Field(default=[])


def read_registry(source: Source) -> Checked[Registry]:
    """Read the registry; any fault in it refuses the whole, and all faults are told at once."""
    located = parse_yaml(source)
    if located.value is None:
        return Checked(value=None, problems=located.problems)
    model = validate(_RegistryModel, located.value, code="people-field")
    if model.value is None:
        return Checked(value=None, problems=(*located.problems, *model.problems))
    registry, problems = _Reading(source, located.value).registry(model.value)
    found = (*located.problems, *problems, *_people_problems(registry, located.value))
    return Checked(value=None if found else registry, problems=tuple(sorted(set(found))))


class _Reading:
    """Turns the validated model into values; collects the keys that cannot be read."""

    def __init__(self, source: Source, located: Located) -> None:
        self.source, self.located = source, located
        self.problems: list[Problem] = []

    def registry(self, model: _RegistryModel) -> tuple[Registry, list[Problem]]:
        revoked = tuple(self._revoked(model.revoked))
        dead = frozenset(entry.key.material for entry in revoked)
        people = tuple(self._person(i, person, dead) for i, person in enumerate(model.people))
        registry = Registry(
            project=model.project,
            people=people,
            revoked=revoked,
            withdrawn=tuple(
                Withdrawn(manifest=w.manifest, on=parse_date(w.on), reason=w.reason)
                for w in model.withdrawn
            ),
            sha256=self.source.sha256,
            file=self.source.file,
        )
        return registry, self.problems

    def _person(self, index: int, model: _PersonModel, dead: frozenset[Material]) -> Person:
        return Person(
            id=model.id,
            name=model.name,
            kind=model.kind,
            may=frozenset(model.may),
            areas=frozenset(model.areas),
            vouched_by=model.vouched_by or "",
            keys=tuple(self._keys(index, model.keys, dead)),
            place=self.located.place(("people", index)),
        )

    def _keys(
        self, index: int, models: list[_KeyModel], dead: frozenset[Material]
    ) -> Iterator[Key]:
        for number, model in enumerate(models):
            loc = ("people", index, "keys", number, "key")
            public = self._public(model.key, self.located.place(loc))
            if public is not None:
                yield Key(
                    public=public,
                    not_before=parse_date(model.not_before),
                    not_after=parse_date(model.not_after) if model.not_after else None,
                    revoked=public.material in dead,
                    place=self.located.place(loc),
                )

    def _revoked(self, models: list[_RevokedModel]) -> Iterator[Revoked]:
        for number, model in enumerate(models):
            public = self._public(model.key, self.located.place(("revoked", number, "key")))
            if public is not None:
                yield Revoked(key=public, on=parse_date(model.on), reason=model.reason)

    def _public(self, line: str, place: Place) -> PublicKey | None:
        public = parse_key(line)
        if isinstance(public, Fault):
            self.problems.append(public.at(place))
            return None
        return public


# ── faults between people ────────────────────────────────────────────────────────────────────


def _people_problems(registry: Registry, located: Located) -> Iterable[Problem]:
    for index, person in enumerate(registry.people):
        yield from _person_problems(person, registry, located, index)
    yield from _shared_keys(registry)
    yield from _look_alikes(registry)
    yield from _doubled_lines(registry, located)


def _person_problems(
    person: Person, registry: Registry, located: Located, index: int
) -> Iterator[Problem]:
    def problem(part: str, code: str, message: str, hint: str) -> Problem:
        place = located.place(("people", index, part))
        return Problem(place=place, code=code, message=f"{person.id}: {message}", hint=hint)

    if odd := odd_characters(person.name):
        yield problem("name", "people-name", f"the name {odd}", "write the name as printed")
    elif len(mixed := scripts(person.name)) > 1:
        said = f"the name mixes letters of {' and '.join(sorted(mixed)).title()}"
        yield problem("name", "people-name", said, "write the name in one script")
    human = person.kind == "human"
    if wrong := sorted(person.may & {"measure"} if human else person.may - {"measure"}):
        said = f"a {person.kind} may not {' or '.join(wrong)}"
        yield problem("may", "people-role", said, "humans sign pages; machines sign measurements")
    if human and not person.areas:
        said = "no areas are named, so nothing can be signed"
        yield problem("areas", "people-areas", said, f"add areas: [{EVERY_AREA}], or name some")
    if person.vouched_by and not _is_vouched(person, registry):
        said = f"vouched for by {person.vouched_by!r}, which does not lead to anybody else here"
        yield problem("vouched_by", "people-voucher", said, "name a person of this registry")
    for key in person.keys:
        if key.not_after and key.not_after < key.not_before:
            said = f"{person.id}: the key ends on {key.not_after}, before it begins"
            yield Problem(place=key.place, code="people-key-dates", message=said)


def _is_vouched(person: Person, registry: Registry) -> bool:
    """Follow the vouchers up to somebody who needs none; a circle vouches for nobody."""
    seen = {person.id}
    while person.vouched_by:
        voucher = registry.person(person.vouched_by)
        if voucher is None or voucher.id in seen or voucher.kind != "human":
            return False
        seen.add(voucher.id)
        person = voucher
    return True


def _shared_keys(registry: Registry) -> Iterator[Problem]:
    owners: dict[Material, tuple[Person, Key]] = {}
    for person in registry.people:
        for key in person.keys:
            first = owners.setdefault(key.public.material, (person, key))
            if first[1] is not key:
                whose = "the same person" if first[0] is person else first[0].id
                yield Problem(
                    place=key.place,
                    code="people-shared-key",
                    message=f"{person.id}: this key is already that of {whose}, {first[1].place}",
                    hint="one key stands once: the same point or modulus is one key in any form",
                )


def _look_alikes(registry: Registry) -> Iterator[Problem]:
    seen: dict[str, Person] = {}
    for person in registry.people:
        for reading in sorted(readings(person.id) | readings(person.name)):
            other = seen.setdefault(reading, person)
            if other is not person:
                yield Problem(
                    place=person.place,
                    code="people-look-alike",
                    message=f"{person.id} ({person.name}) reads like {other.id} ({other.name})",
                    hint="two people need ids and names that a reader can tell apart",
                )


def _doubled_lines(registry: Registry, located: Located) -> Iterator[Problem]:
    lists: dict[str, list[object]] = {
        "revoked": [entry.key.material for entry in registry.revoked],
        "withdrawn": [entry.manifest for entry in registry.withdrawn],
    }
    for name, items in lists.items():
        for index, item in enumerate(items):
            if item in items[:index]:
                place = located.place((name, index))
                said = f"{name}: this one stands here already"
                yield Problem(place=place, code="people-doubled", message=said, hint="keep one")


# ── which registry judges ────────────────────────────────────────────────────────────────────


def judging(
    source: Source, *, pin: str = "", ref: str = "", production: bool = False
) -> Checked[Registry]:
    """Read the registry that judges a build.

    `pin` is the SHA-256 it must have, kept outside the repository; `ref` names the revision it
    was read from, for messages. A pinned build is production, and so is one that says so:
    production refuses the projects of tests and demonstrations.
    """
    if pin and source.sha256 != pin.lower():
        return Checked(value=None, problems=(_not_pinned(source, pin),))
    read = read_registry(source)
    if read.value is None:
        return read
    if (pin or production) and is_test_project(read.value.project):
        return Checked(value=None, problems=(_test_project(read.value),))
    return Checked(value=replace(read.value, pinned=bool(pin), ref=ref))


def _not_pinned(source: Source, pin: str) -> Problem:
    return Problem(
        place=Place(source.file),
        code="registry-pin",
        message=f"the registry's SHA-256 is {source.sha256}, and the pinned one is {pin!r}",
        hint="who guards the pin compares the change, then sets GLOSSARY_REGISTRY_PIN anew",
    )


def _test_project(registry: Registry) -> Problem:
    return Problem(
        place=Place(registry.file),
        code="test-project",
        message=f"{registry.project!r} is the id of a test or a demonstration",
        hint="give the project an id of its own: project: my-glossary",
    )


# ── one registry against an earlier one ──────────────────────────────────────────────────────


def rollbacks(trusted: Registry, proposed: Registry) -> tuple[Problem, ...]:
    """Say what a proposed registry takes back that the trusted one had settled.

    Revocations and withdrawals only grow, and a key does not pass from one person to another.
    """
    place = Place(proposed.file)
    kept = {entry.key.material for entry in proposed.revoked}
    still = {entry.manifest for entry in proposed.withdrawn}
    found = [
        _taken_back(place, "revocation-dropped", f"key {entry.key.fingerprint} is revoked")
        for entry in trusted.revoked
        if entry.key.material not in kept
    ]
    found += [
        _taken_back(place, "withdrawal-dropped", f"manifest {entry.manifest} is withdrawn")
        for entry in trusted.withdrawn
        if entry.manifest not in still
    ]
    if trusted.project != proposed.project:
        said = f"the project is {trusted.project!r}; it does not become {proposed.project!r}"
        found.append(Problem(place=place, code="project-changed", message=said))
    return (*found, *_passed_on(trusted, proposed))


def _taken_back(place: Place, code: str, settled: str) -> Problem:
    return Problem(
        place=place,
        code=code,
        message=f"{settled} in the registry that judges, and no longer in this one",
        hint="put the line back: what was revoked or withdrawn stays so",
    )


def _passed_on(trusted: Registry, proposed: Registry) -> Iterator[Problem]:
    for person in proposed.people:
        for key in person.keys:
            owner = trusted.owner(key.public.material)
            if owner is not None and owner.id != person.id:
                yield Problem(
                    place=key.place,
                    code="key-passed-on",
                    message=f"this key of {person.id} is {owner.id}'s in the registry that judges",
                    hint="a key stays with the person who made it: make a new one",
                )
