"""Records that a machine's key signed: making such a signature, and finding those that are there.

Comes in: a record's bytes and a machine's key; or a study and the registry. Goes out: an armored
signature; or the same study, each record with who attested it, and what is wrong with signatures.
Must not know what a record says.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from measured_glossary.lab.record import MEASUREMENTS, record_bytes
from measured_glossary.lab.study import Attestation, Measurement, Study
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import read_bytes, write
from measured_glossary.trust.identity import Available, Identity, identities
from measured_glossary.trust.registry import Registry
from measured_glossary.trust.signed import read_attested
from measured_glossary.trust.signing import Signer, sign
from measured_glossary.trust.sshsig import Fault
from measured_glossary.trust.statement import MEASUREMENT_NAMESPACE

SUFFIX = ".sig"
MAX_SIGNATURE_BYTES = 8 << 10


# ── making one ───────────────────────────────────────────────────────────────────────────────


def machine_at_hand(
    registry: Registry, available: Iterable[Available], today: datetime.date
) -> Checked[Identity]:
    """Give the machine whose live key is at hand; a person's key is not one."""
    found = identities(registry, available, today)
    machines = [one for one in found if one.person.kind == "machine"]
    if len({one.person.id for one in machines}) == 1:
        return Checked(value=machines[0])
    if machines:
        names = " and ".join(sorted({one.person.id for one in machines}))
        return _refuse(registry, f"the keys at hand are those of {names}", "name one: --key FILE")
    people = ", ".join(sorted({one.person.id for one in found}))
    said = f"the key at hand is a person's ({people})" if people else "no machine's key is at hand"
    hint = "glossary people add ID --kind machine --key FILE.pub, in a change of its own"
    return _refuse(registry, f"{said}; machines sign measurements", hint)


def _refuse(registry: Registry, message: str, hint: str) -> Checked[Identity]:
    problem = Problem(place=Place(registry.file), code="no-machine-key", message=message, hint=hint)
    return Checked(value=None, problems=(problem,))


def attest(
    root: Path, file: str, machine: Identity, tool: Path, environment: Mapping[str, str]
) -> Checked[str]:
    """Sign a record's exact bytes with a machine's key, beside the record; give the new file."""
    raw = read_bytes(root, file)
    if raw.value is None:
        return Checked(value=None, problems=raw.problems)
    signer = Signer(
        tool=tool,
        public=machine.key.public,
        key=machine.available.file,
        environment=environment,
        interactive=False,
    )
    made = sign(signer, MEASUREMENT_NAMESPACE, raw.value)
    if isinstance(made, Fault):
        return Checked(value=None, problems=(made.at(Place(file)),))
    write(root, f"{file}{SUFFIX}", made)
    return Checked(value=f"{file}{SUFFIX}")


# ── finding those that are there ─────────────────────────────────────────────────────────────


def with_attestations(root: Path, study: Study, registry: Registry, today: datetime.date) -> Study:
    """Say of each recorded measurement who attested it; a wrong signature is a problem."""
    problems = list(_stray(root, study))
    measurements = []
    for measured in study.measurements:
        checked = _attested(root, measured, registry, today)
        problems += checked.problems
        measurements.append(replace(measured, attestation=checked.value))
    if not problems and tuple(measurements) == study.measurements:
        return study
    found = tuple(sorted({*study.problems, *problems}))
    return replace(study, measurements=tuple(measurements), problems=found)


def _attested(
    root: Path, measured: Measurement, registry: Registry, today: datetime.date
) -> Checked[Attestation]:
    """Verify the signature beside a record, if there is one, over the record's bytes."""
    file = f"{measured.record.file}{SUFFIX}"
    if measured.origin != "recorded" or not _is_there(root / file):
        return Checked(value=None)
    armored = read_bytes(root, file, limit=MAX_SIGNATURE_BYTES)
    if armored.value is None:
        return Checked(value=None, problems=armored.problems)
    raw = record_bytes(measured.record)
    attested = read_attested(file, raw, armored.value, registry, today)
    if attested.value is None:
        return Checked(value=None, problems=attested.problems)
    machine, key = attested.value.machine, attested.value.key
    by = f"{machine.name} ({machine.id}), key {key.public.fingerprint}"
    return Checked(value=Attestation(by=by, signature=armored.value))


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _stray(root: Path, study: Study) -> Iterable[Problem]:
    """A signature beside no record is misplaced: it attests nothing, and might mislead."""
    folder = root / MEASUREMENTS / study.id
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    for name in sorted(name for name in names if name.endswith(SUFFIX)):
        record = name.removesuffix(SUFFIX)
        if record not in names or not record.endswith(".json"):
            yield Problem(
                place=Place(f"{MEASUREMENTS}/{study.id}/{name}"),
                code="stray-attestation",
                message=f"is a signature, and there is no record {record} beside it",
                hint="delete it, or restore the record that it was made for",
            )
