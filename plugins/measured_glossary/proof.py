"""What a reader needs to verify a page without this project: the files, and the steps in words.

Comes in: an entry's verified sign-off. Goes out: files that `sha256sum -c` and
`ssh-keygen -Y verify` read, and the rows a page prints. Must not verify anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from measured_glossary.trust.folder import SIGNATURES
from measured_glossary.trust.signed import Signed
from measured_glossary.trust.signoff import Signoff
from measured_glossary.trust.statement import Subject, file_name, namespace

MANIFEST_FILE = "manifest.sha256"
SIGNERS_FILE = "allowed_signers"

_ROLES = {"author": "Author", "review": "Reviewer", "check": "Checked again by"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One verified statement as a page prints it."""

    role: str
    name: str
    person: str
    on: str
    scope: str
    fingerprint: str
    statement: str
    namespace: str


def lines(signoff: Signoff) -> tuple[Line, ...]:
    """Give every verified statement over the present bytes: authors, reviews, checks."""
    return tuple(_line(signed) for signed in _signed(signoff))


def files(
    signoff: Signoff, signatures: Mapping[str, bytes]
) -> Iterator[tuple[str, Callable[[], bytes] | bytes]]:
    """Give the files beside a published page: manifest, keys, statements, signatures.

    Each by its name, with its content or what writes it.
    """
    signed = _signed(signoff)
    if not signed:
        return
    yield MANIFEST_FILE, partial(_manifest, signed[0].statement.subjects)
    yield SIGNERS_FILE, partial(_signers, signed)
    for one in signed:
        name = file_name(one.statement.said, one.person.id)
        yield f"{SIGNATURES}/{name}", signatures[name]
        yield f"{SIGNATURES}/{name}.sig", signatures[f"{name}.sig"]


def _manifest(subjects: Sequence[Subject]) -> bytes:
    return "".join(f"{one.sha256}  {one.name}\n" for one in subjects).encode("ascii")


def _signers(signed: Sequence[Signed]) -> bytes:
    return "".join(sorted({_signer(one) for one in signed})).encode("ascii")


def _signed(signoff: Signoff) -> tuple[Signed, ...]:
    return (*signoff.authors, *signoff.reviews, *signoff.checks)


def _signer(signed: Signed) -> str:
    space = namespace(signed.statement.said)
    return f'{signed.person.id} namespaces="{space}" {signed.key.public.line}\n'


def _line(signed: Signed) -> Line:
    said = signed.statement
    return Line(
        role=_ROLES[said.said],
        name=signed.person.name,
        person=signed.person.id,
        on=str(signed.on),
        scope=", ".join(said.scope),
        fingerprint=signed.key.public.fingerprint,
        statement=f"{SIGNATURES}/{file_name(said.said, signed.person.id)}",
        namespace=namespace(said.said),
    )
