"""Two throw-away people who sign made-up entries in process.

Comes in: bytes of an entry. Goes out: the registry's text, and the files of their statements. Must
not be of use anywhere else: the project's id is one that production refuses, and the keys are made
from the people's names, so that everybody has them.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
from collections.abc import Iterator
from functools import cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from measured_glossary.trust.sshsig import armor
from measured_glossary.trust.statement import (
    Said,
    Statement,
    Subject,
    file_name,
    namespace,
    to_bytes,
)

PROJECT = "test-benchmark"
AUTHOR, REVIEWER = "test-author", "test-reviewer"
FROM, SIGNED_ON = "2026-01-01", datetime.date(2026, 1, 15)
_KIND = b"ssh-ed25519"


def registry() -> str:
    """Give the text of `people.yml`."""
    return f"project: {PROJECT}\npeople:\n" + "".join(map(_person, (AUTHOR, REVIEWER)))


def _person(person: str) -> str:
    name = person.replace("-", " ").title()
    key = f"{_KIND.decode()} {base64.b64encode(_blob(person)).decode()}"
    return (
        f"  - id: {person}\n    name: {name}\n    kind: human\n    may: [author, review]\n"
        f"    areas: [all]\n    keys:\n      - key: {key}\n        not_before: {FROM}\n"
    )


def signatures(entry: str, file: str, raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Give both people's statements over an entry's one file, by name in `signatures/`."""
    subject = Subject(file, hashlib.sha256(raw).hexdigest())
    yield from _signed(entry, subject, "author", AUTHOR)
    yield from _signed(entry, subject, "review", REVIEWER)


def _signed(entry: str, subject: Subject, said: Said, person: str) -> Iterator[tuple[str, bytes]]:
    statement = Statement(
        project=PROJECT,
        entry=entry,
        said=said,
        person=person,
        date=SIGNED_ON,
        subjects=(subject,),
        scope=("prose",) if said == "review" else (),
    )
    raw, name = to_bytes(statement), file_name(said, person)
    yield name, raw
    yield f"{name}.sig", armor(_signature(person, namespace(said), raw))


# ── keys and the envelope of a signature ─────────────────────────────────────────────────────


@cache
def _key(person: str) -> Ed25519PrivateKey:
    seed = hashlib.sha256(f"throw-away key of {person}".encode()).digest()
    return Ed25519PrivateKey.from_private_bytes(seed)


def _blob(person: str) -> bytes:
    point = _key(person).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return _strings(_KIND, point)


def _strings(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _signature(person: str, space: str, message: bytes) -> bytes:
    """Sign as OpenSSH does: over the envelope with the message's digest in it."""
    head = _strings(space.encode(), b"", b"sha512")
    signed = b"SSHSIG" + head + _strings(hashlib.sha512(message).digest())
    inner = _strings(_KIND, _key(person).sign(signed))
    return b"SSHSIG" + (1).to_bytes(4, "big") + _strings(_blob(person)) + head + _strings(inner)
