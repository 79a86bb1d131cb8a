"""Records that a machine's key signed: made by the command, found by the build, on the page."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from measured_glossary import cli, page
from measured_glossary.lab.record import Machine, Record, record_bytes, write_record
from measured_glossary.lab.study import Measurement, Study
from measured_glossary.lab.table import Column, Table
from measured_glossary.trust.attest import with_attestations
from trust.trust_keys import TestKey, sshsig
from trust.trust_world import TODAY, World

SPACE = "measurement@measured-glossary"
FILE = "measurements/trial/test-gpu.json"
RECORD = Record(
    experiment="trial",
    machine=Machine(name="Test GPU", compute_capability="9.0"),
    captured="2026-11-20T12:00:00Z",
    inputs={"code/trial/experiment.py": "0" * 64},
    toolchain={},
    options=(),
    seed=14,
    tables=(
        Table(
            name="runs",
            kind="runtime",
            text="One block size.",
            launches=1,
            key=(Column(name="threads", label="Threads", kind="exact"),),
            columns=(Column(name="blocks", label="Blocks", kind="exact"),),
            rows=({"threads": 32, "blocks": 8},),
        ),
    ),
)


def study(record: Record = RECORD, **changes: Any) -> Study:
    """A study with one recorded measurement."""
    measured = Measurement(
        record=record, origin="recorded", freshness="fresh", changed=(), claims=()
    )
    return Study(
        id="trial",
        title="Trial",
        inputs={},
        files={},
        declared_claims=(),
        declared_tables=(replace(record.tables[0], rows=()),),
        measurements=(replace(measured, **changes),),
        reported=(),
        static=(),
        claims=(),
        notes=(),
        problems=(),
    )


@pytest.fixture
def root(tmp_path: Path, world: World) -> Path:
    """A project with a record and the world's registry."""
    write_record(tmp_path, RECORD)
    (tmp_path / "glossary").mkdir()
    (tmp_path / "glossary/people.yml").write_text(world.registry_text(), encoding="utf-8")
    return tmp_path


def put(root: Path, key: TestKey, raw: bytes = b"", file: str = FILE) -> None:
    """Put a signature beside a record."""
    signature = sshsig(key, SPACE, raw or record_bytes(RECORD))
    (root / f"{file}.sig").write_bytes(signature)


def looked(root: Path, world: World, **changes: Any) -> Study:
    """Look for attestations."""
    return with_attestations(root, study(**changes), world.registry(), TODAY)


def codes(found: Study) -> list[str]:
    """The problems' codes, each at a signature's file."""
    assert all(problem.place.file.endswith(".sig") for problem in found.problems)
    return [problem.code for problem in found.problems]


def test_a_signed_record_names_its_machine(root: Path, world: World) -> None:
    """A good signature of a registered machine is told with the machine's name and key."""
    put(root, world.keys["machine"])
    found = looked(root, world)
    attestation = found.measurements[0].attestation
    assert found.problems == ()
    assert attestation is not None
    assert attestation.by.startswith("Test Machine (test-machine), key SHA256:")
    assert attestation.signature == (root / f"{FILE}.sig").read_bytes()


def test_an_unsigned_record_is_no_fault(root: Path, world: World) -> None:
    """Nobody has to sign a record, and nothing changes then."""
    assert looked(root, world) == study()


@pytest.mark.parametrize(
    ("key", "raw", "code"),
    [
        ("author", b"", "human-measurement"),
        ("outsider", b"", "unregistered-key"),
        ("machine", b"another record's bytes\n", "signature-bad"),
    ],
)
def test_a_wrong_signature_is_a_problem(
    root: Path, world: World, key: str, raw: bytes, code: str
) -> None:
    """A person's key, an unknown key and another record's signature attest nothing."""
    put(root, world.keys[key], raw)
    found = looked(root, world)
    assert codes(found) == [code]
    assert found.measurements[0].attestation is None


def test_a_link_in_a_signature_s_place_is_a_problem(root: Path, world: World) -> None:
    """A signature is a plain file, and of a size that a signature has."""
    (root / f"{FILE}.sig").symlink_to("nowhere")
    assert codes(looked(root, world)) != []
    (root / f"{FILE}.sig").unlink()
    (root / f"{FILE}.sig").write_bytes(b"x" * (16 << 20))
    assert codes(looked(root, world)) != []


def test_a_signature_without_its_record_is_misplaced(root: Path, world: World) -> None:
    """One that lies beside no record might be taken for evidence."""
    put(root, world.keys["machine"], file="measurements/trial/other-gpu.json")
    put(root, world.keys["machine"], file="measurements/trial/notes.txt")
    assert codes(looked(root, world)) == ["stray-attestation", "stray-attestation"]


def test_a_live_measurement_is_not_attested(root: Path, world: World) -> None:
    """The signature is over the kept record, not over what this build measured."""
    put(root, world.keys["machine"])
    assert looked(root, world, origin="live").measurements[0].attestation is None


# ── on the page ──────────────────────────────────────────────────────────────────────────────


def test_the_page_says_whether_a_record_is_signed(root: Path, world: World) -> None:
    """Signed: by which machine and key, with the signature to download; or that nobody signed."""
    site = page.Site(title="Test glossary")
    unsigned = page.render_experiment(site, looked(root, world), [])
    assert "no machine's key signed it" in unsigned
    put(root, world.keys["machine"])
    signed = page.render_experiment(site, looked(root, world), [])
    assert "[signed](test-gpu.json.sig) by the machine Test Machine" in signed
    assert "no machine's key signed it" not in signed


# ── the command ──────────────────────────────────────────────────────────────────────────────


def attest(root: Path, key: TestKey, *more: str) -> int:
    """Run the command with a key."""
    assert key.path is not None
    files = more or (FILE,)
    return cli.main(["attest", *files, "--key", str(key.path), "--root", str(root)])


def test_the_command_signs_and_the_build_agrees(
    root: Path, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `glossary attest` writes is what the build accepts."""
    assert attest(root, world.keys["machine"]) == 0
    assert f"{FILE}.sig: signed by test-machine, SHA256:" in capsys.readouterr().out
    assert looked(root, world).measurements[0].attestation is not None


def test_a_record_is_found_however_it_is_named(root: Path, world: World) -> None:
    """An absolute path into the project will do."""
    assert attest(root, world.keys["machine"], str(root / FILE)) == 0
    assert (root / f"{FILE}.sig").is_file()


def test_a_person_s_key_signs_no_record(
    root: Path, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command refuses it, and writes nothing."""
    assert attest(root, world.keys["author"]) == 1
    assert "no-machine-key: the key at hand is a person's (test-author)" in capsys.readouterr().err
    assert attest(root, world.keys["outsider"]) == 1
    assert not (root / f"{FILE}.sig").exists()


def test_a_damaged_record_is_not_signed(
    root: Path, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine signs what it measured, not what somebody made of it."""
    path = root / FILE
    path.write_text(path.read_text(encoding="utf-8").replace('"seed": 14', '"seed": 15'))
    assert attest(root, world.keys["machine"]) == 1
    assert "record-damaged" in capsys.readouterr().err
    assert not (root / f"{FILE}.sig").exists()


def test_a_signature_that_cannot_be_written_is_told_cleanly(
    root: Path, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system's own words, and no traceback."""
    path = root / f"{FILE}.sig"
    path.with_name(f".{path.name}.{os.getpid()}.part").mkdir()
    assert attest(root, world.keys["machine"]) == 1
    assert f"{FILE}.sig: cannot-write: cannot be written: Is a dir" in capsys.readouterr().err
    assert not path.exists()


def test_a_machine_of_many_keys_is_one_machine(root: Path, world: World) -> None:
    """Two registered keys of one machine are no doubt about who signs."""
    other = {"key": world.keys["third"].line, "not_before": "2026-01-01"}
    world.person("machine")["keys"].append(other)
    (root / "glossary/people.yml").write_text(world.registry_text(), encoding="utf-8")
    assert attest(root, world.keys["third"]) == 0
    assert looked(root, world).measurements[0].attestation is not None
