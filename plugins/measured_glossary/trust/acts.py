"""Acts of signing: a statement is made, signed and judged before it is written.

Comes in: what an entry's sign-off is judged from, and who says what. Goes out: the two files of
the statement, written together or not at all. Must not ask anybody anything.
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from measured_glossary.problem import Checked, Place, Problem, writing
from measured_glossary.trust.folder import ENTRIES, SIGNATURES
from measured_glossary.trust.identity import Identity
from measured_glossary.trust.registry import Registry
from measured_glossary.trust.signed import Bound, Signed, rule_faults, signing_key
from measured_glossary.trust.signing import Signer, sign
from measured_glossary.trust.signoff import Evidence, Signoff, judge
from measured_glossary.trust.sshsig import Fault
from measured_glossary.trust.statement import (
    Part,
    Said,
    Statement,
    Subject,
    file_name,
    namespace,
    parse,
    subjects,
    to_bytes,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where one person signs one entry: the evidence, the registry, the day, the tools."""

    root: Path
    evidence: Evidence
    registry: Registry
    today: datetime.date
    identity: Identity
    tool: Path
    environment: Mapping[str, str]
    interactive: bool

    def statement(
        self,
        said: Said,
        *,
        scope: Iterable[Part] = (),
        records: tuple[Subject, ...] = (),
        reason: str = "",
        first_signed: datetime.date | None = None,
    ) -> Statement:
        """Give the statement of this person over the bytes as they lie there, dated today."""
        return Statement(
            project=self.registry.project,
            entry=self.evidence.entry,
            said=said,
            person=self.identity.person.id,
            date=self.today,
            subjects=subjects(self.evidence.subjects),
            scope=tuple(scope),
            records=records,
            reason=reason,
            first_signed=first_signed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A statement that was signed and written: its file, and the sign-off it leads to."""

    file: str
    signoff: Signoff


def objections(desk: Desk, statement: Statement) -> tuple[Problem, ...]:
    """Say which rules a statement would break, before anybody types a passphrase."""
    file = _path(desk, file_name(statement.said, statement.person))
    parsed = parse(file, to_bytes(statement))
    bound = Bound(
        entry=desk.evidence.entry,
        area=desk.evidence.area,
        authors=desk.evidence.authors,
        registry=desk.registry,
        today=desk.today,
    )
    who = desk.identity
    signed = Signed(person=who.person, key=who.key, statement=statement, file=file)
    return (*parsed.problems, *(fault.at(Place(file)) for fault in rule_faults(signed, bound)))


def perform(desk: Desk, statement: Statement) -> Checked[Act]:
    """Sign a statement, judge the entry with it, and only then write both files."""
    if problems := objections(desk, statement):
        return Checked(value=None, problems=problems)
    name = file_name(statement.said, statement.person)
    file, raw = _path(desk, name), to_bytes(statement)
    signer = Signer(
        tool=desk.tool,
        public=desk.identity.key.public,
        key=desk.identity.available.file,
        environment=desk.environment,
        interactive=desk.interactive,
    )
    armored = sign(signer, namespace(statement.said), raw)
    if isinstance(armored, Fault):
        return Checked(value=None, problems=(armored.at(Place(file)),))
    added = {name: raw, f"{name}.sig": armored}
    evidence = replace(desk.evidence, signatures={**desk.evidence.signatures, **added})
    signoff = judge(evidence, desk.registry, desk.today)
    mine = tuple(p for p in signoff.problems if p.place.file in {file, f"{file}.sig"})
    if mine:
        return Checked(value=None, problems=mine)
    write_together(desk.root, f"{ENTRIES}/{desk.evidence.entry}/{SIGNATURES}", added)
    return Checked(value=Act(file=file, signoff=signoff))


def rotatable(desk: Desk) -> Iterator[Statement]:
    """Give the person's statements that another key signed over the very bytes that lie there.

    A revoked key's statements are not among them: nobody can tell who made those.
    """
    person = desk.identity.person
    for name, raw in sorted(desk.evidence.signatures.items()):
        statement = parse(_path(desk, name), raw).value if name.endswith(".json") else None
        if statement is None or statement.person != person.id:
            continue
        armored = desk.evidence.signatures.get(f"{name}.sig", b"")
        key = signing_key(person, namespace(statement.said), raw, armored, desk.registry)
        is_another = not isinstance(key, Fault) and key != desk.identity.key and not key.revoked
        if is_another and statement.subjects == subjects(desk.evidence.subjects):
            first = statement.first_signed or statement.date
            yield replace(statement, date=desk.today, first_signed=min(first, desk.today))


def write_together(root: Path, folder: str, files: Mapping[str, bytes]) -> None:
    """Write files into a folder by rename: each is whole, and all are there or none is new."""
    target = root / folder
    with writing(folder), tempfile.TemporaryDirectory(dir=root, prefix=".glossary-") as scratch:
        target.mkdir(parents=True, exist_ok=True)
        before = {name: _bytes_or_none(target / name) for name in files}
        for name, raw in files.items():
            (Path(scratch) / name).write_bytes(raw)
        try:
            for name in files:
                (Path(scratch) / name).replace(target / name)
        except BaseException:  # somebody interrupts, too
            _put_back(target, before)
            raise


def _put_back(folder: Path, before: Mapping[str, bytes | None]) -> None:
    for name, raw in before.items():
        if raw is not None:
            (folder / name).write_bytes(raw)
        elif not (folder / name).is_dir():
            (folder / name).unlink(missing_ok=True)


def _bytes_or_none(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _path(desk: Desk, name: str) -> str:
    return f"{ENTRIES}/{desk.evidence.entry}/{SIGNATURES}/{name}"
