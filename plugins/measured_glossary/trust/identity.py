"""Who can sign here: the keys at hand, and whose they are.

Comes in: the lines an agent lists, a folder of `.pub` files, the registry. Goes out: an `Identity`,
or what to do to have one. Must not read a private key, nor sign.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.trust.registry import Key, Person, Registry
from measured_glossary.trust.sshsig import PublicKey, parse_key

MAX_PUBLIC_KEY_BYTES = 16 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    """A key at hand: `file` is that of its private half, which only `ssh-keygen` opens."""

    public: PublicKey
    file: Path | None
    found_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Somebody who can sign here, and the key they sign with."""

    person: Person
    key: Key
    available: Available


def keys_in_folder(folder: Path) -> tuple[Available, ...]:
    """Give the keys whose `.pub` files lie in a folder, usually `~/.ssh`."""
    files = sorted(folder.glob("*.pub")) if folder.is_dir() else []
    return tuple(key for file in files for key in _in_file(file))


def key_in_file(file: Path) -> tuple[Available, ...]:
    """Give the key of a private key's file, or of its `.pub`, as it was named."""
    return _in_file(file if file.suffix == ".pub" else file.with_name(f"{file.name}.pub"))


def keys_in_agent(lines: Iterable[str]) -> tuple[Available, ...]:
    """Give the keys of the lines that an agent lists."""
    read = (parse_key(line) for line in lines)
    return tuple(
        Available(public=key, file=None, found_in="the agent")
        for key in read
        if isinstance(key, PublicKey)
    )


def _in_file(file: Path) -> tuple[Available, ...]:
    try:
        if not file.is_file() or file.stat().st_size > MAX_PUBLIC_KEY_BYTES:
            return ()
        key = parse_key(file.read_text(encoding="utf-8", errors="replace").strip())
    except OSError:  # somebody else's, or no name that a file can have
        return ()
    private = file.with_suffix("")
    if not isinstance(key, PublicKey):
        return ()
    return (
        Available(
            public=key, file=private if private.is_file() else None, found_in=file.as_posix()
        ),
    )


def identities(
    registry: Registry, available: Iterable[Available], today: datetime.date
) -> tuple[Identity, ...]:
    """Give everybody whose live key is at hand, in the order of the registry."""
    at_hand = {key.public.blob: key for key in reversed(tuple(available))}
    return tuple(
        Identity(person=person, key=key, available=at_hand[key.public.blob])
        for person in registry.people
        for key in person.live_keys(today)
        if key.public.blob in at_hand
    )


def identify(
    registry: Registry,
    available: tuple[Available, ...],
    today: datetime.date,
    wanted: str = "",
    likely: tuple[str, ...] = (),
) -> Checked[Identity]:
    """Give the one who signs: the person named, or the only one whose key is at hand.

    Where keys of several people are at hand, the one of them who is `likely` signs.
    """
    found = [i for i in identities(registry, available, today) if i.person.kind == "human"]
    if wanted:
        found = [one for one in found if one.person.id == wanted]
    if not found:
        return _nobody(registry, available, today, wanted)
    found = [one for one in found if one.person.id in likely] or found
    people = sorted({one.person.id for one in found})
    if len(people) > 1:
        said = f"the keys at hand are those of {' and '.join(people)}"
        return _refuse(registry, "which-person", said, f"say who signs: --as {people[0]}")
    return Checked(value=found[0])


def _nobody(
    registry: Registry, available: tuple[Available, ...], today: datetime.date, wanted: str
) -> Checked[Identity]:
    whose = f"of {wanted} " if wanted else ""
    dead = [
        f"{key.public.fingerprint} of {person.id} is {key.state(today)}"
        for one in available
        for person in registry.people
        for key in person.keys
        if key.public.blob == one.public.blob and key.state(today) != "live"
    ]
    seen = ", ".join(sorted({one.found_in for one in available})) or "no keys at all"
    said = f"no live key {whose}in the registry is at hand; looked at: {seen}"
    hint = "glossary doctor; a key elsewhere: --key FILE; a new person: glossary people add"
    return _refuse(registry, "no-signing-key", "; ".join([said, *dead]), hint)


def _refuse(registry: Registry, code: str, message: str, hint: str) -> Checked[Identity]:
    problem = Problem(place=Place(registry.file), code=code, message=message, hint=hint)
    return Checked(value=None, problems=(problem,))
