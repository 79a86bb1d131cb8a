"""Statements: one canonical form, read back whole, and nothing else is read at all."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from measured_glossary.source import decode
from measured_glossary.trust.registry import read_registry
from measured_glossary.trust.signed import Bound, read_attested, read_signed
from measured_glossary.trust.sshsig import parse_key, parse_signature
from measured_glossary.trust.statement import (
    PARTS,
    SAID,
    Difference,
    Statement,
    difference,
    manifest_of,
    namespace,
    parse,
    subjects,
    to_bytes,
)
from trust.trust_keys import TestKey, sshsig
from trust.trust_world import SIGNED_ON, TODAY, World

names = st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,8}(\.[a-z]{1,3})?)?", fullmatch=True)
FILES = {"glossary/test-entry/entry.md": b"x\n", "code/test/kernel.cu": b"y\n"}


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    """Make statements of every kind that are in order."""
    said = draw(st.sampled_from(SAID))
    files = {f"code/test/{name}.cu".lower(): b"" for name in draw(st.sets(names, max_size=4))}
    days = st.dates(datetime.date(2020, 1, 1), datetime.date(2030, 1, 1))
    date = draw(days)
    scope = draw(st.sets(st.sampled_from(PARTS), min_size=1))
    return Statement(
        project="test-glossary",
        entry="test-entry",
        said=said,
        person="test-author",
        date=date,
        subjects=subjects({**FILES, **files}),
        scope=tuple(part for part in PARTS if part in scope) if said == "review" else (),
        records=subjects(draw(st.sampled_from([{}, {"measurements/a/b.json": b"{}"}]))),
        reason="it was wrong" if said == "retract" else "",
        first_signed=draw(st.none() | st.just(date - datetime.timedelta(days=1))),
    )


@given(statements())
@settings(max_examples=40, deadline=None)
def test_a_statement_is_read_back_as_it_was_written(statement: Statement) -> None:
    """Writing and reading give the same value, and the same bytes again."""
    raw = to_bytes(statement)
    assert raw.isascii()
    assert parse("test.json", raw).value == statement
    assert to_bytes(statement) == raw


def test_a_statement_has_the_form_of_in_toto() -> None:
    """Other tools can read who says what about which digests."""
    statement = Statement(
        project="test-glossary",
        entry="test-entry",
        said="author",
        person="test-author",
        date=SIGNED_ON,
        subjects=subjects(FILES),
    )
    data = json.loads(to_bytes(statement))
    assert data["_type"] == "https://in-toto.io/Statement/v1"
    assert data["subject"][1] == {
        "name": "glossary/test-entry/entry.md",
        "digest": {"sha256": hashlib.sha256(b"x\n").hexdigest()},
    }
    assert data["predicate"]["kind"] == "author"


def test_every_kind_has_a_namespace_of_its_own() -> None:
    """No kind shares a namespace with another, with git or with plain files."""
    spaces = {namespace(said) for said in SAID} | {"measurement@measured-glossary", "git", "file"}
    assert len(spaces) == len(SAID) + 3


def test_a_manifest_depends_on_names_and_digests_together() -> None:
    """Swapping two files' bytes, renaming one or adding an empty one gives another manifest."""
    a, b = FILES
    variants = [
        FILES,
        {a: FILES[b], b: FILES[a]},
        {a: FILES[a], "code/test/other.cu": FILES[b]},
        {**FILES, "code/test/empty.cu": b""},
        {a: FILES[a]},
    ]
    assert len({manifest_of(subjects(files)) for files in variants}) == len(variants)


def test_a_manifest_does_not_depend_on_order() -> None:
    """The same files in another order are the same manifest."""
    assert manifest_of(subjects(FILES)) == manifest_of(subjects(dict(reversed(FILES.items()))))


def test_a_difference_reads_as_a_sentence() -> None:
    """What changed since a signature is told by file."""
    now = {"glossary/test-entry/entry.md": b"z", "code/test/new.cu": b""}
    since = difference(subjects(FILES), subjects(now))
    assert since == Difference(
        added=("code/test/new.cu",),
        removed=("code/test/kernel.cu",),
        changed=("glossary/test-entry/entry.md",),
    )
    assert str(since) == (
        "changed glossary/test-entry/entry.md; added code/test/new.cu; removed code/test/kernel.cu"
    )


# ── whatever comes in, no exception but a problem comes out ──────────────────────────────────

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)


@given(st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_bytes_are_never_more_than_a_problem(raw: bytes) -> None:
    """Readers of statements, signatures and keys give problems for any bytes, never a crash."""
    assert parse("test.json", raw).value is None
    assert not isinstance(parse_signature(raw), bytes)
    assert parse_key(raw.decode("latin-1"))
    decoded = decode("glossary/people.yml", raw).value
    if decoded is not None:
        assert read_registry(decoded).problems


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_a_field_of_another_kind_is_a_problem(data: st.DataObject) -> None:
    """Whatever value stands in a statement's field, it is read as before or refused."""
    honest = to_bytes(
        Statement(
            project="test-glossary",
            entry="test-entry",
            said="author",
            person="test-author",
            date=SIGNED_ON,
            subjects=subjects(FILES),
        )
    )
    statement = json.loads(honest)
    inside = data.draw(st.booleans())
    part = statement["predicate"] if inside else statement
    part[data.draw(st.sampled_from(sorted(part)))] = data.draw(json_values)
    raw = json.dumps(statement, sort_keys=True, indent=2).encode() + b"\n"
    read = parse("test.json", raw)
    assert (read.value is None) == bool(read.problems)
    if read.value is not None:
        assert to_bytes(read.value) == raw


def test_signed_bytes_of_any_kind_are_a_problem(world: World) -> None:
    """A statement file and its signature may hold anything; what is wrong with them is told."""
    bound = Bound(
        entry="test-entry",
        area="Memory",
        authors=("test-author",),
        registry=world.registry(),
        today=TODAY,
    )
    for raw in (b"", b"\0", b"null", b"{}", b"[]", b'"x"', b"\xff", b"{" * 9999, b"1" * 9999):
        read = read_signed("glossary/test-entry/signatures/a.json", raw, raw, bound)
        assert read.value is None
        assert read.problems


# ── measurements ─────────────────────────────────────────────────────────────────────────────

MEASURED, RECORD = "measurement@measured-glossary", b'{"schema": 1}\n'


def attested_codes(world: World, key: TestKey, space: str = MEASURED) -> list[str]:
    """Sign a record with a key; give the codes of what is wrong, or the machine's id."""
    armored = sshsig(key, space, RECORD)
    read = read_attested("measurements/a/b.json.sig", RECORD, armored, world.registry(), TODAY)
    return [read.value.machine.id] if read.value else [p.code for p in read.problems]


def test_a_machine_signs_what_it_measured(world: World) -> None:
    """A record signed by a machine's live key names the machine."""
    assert attested_codes(world, world.keys["machine"]) == ["test-machine"]


def test_a_measurement_is_signed_by_a_machine_only(world: World) -> None:
    """A person's key, an unknown key, another namespace or an expired key attest nothing."""
    keys = world.keys
    assert attested_codes(world, keys["author"]) == ["human-measurement"]
    assert attested_codes(world, keys["outsider"]) == ["unregistered-key"]
    assert attested_codes(world, keys["machine"], "author@measured-glossary") == [
        "signature-namespace"
    ]
    world.person("machine")["keys"][0]["not_after"] = "2026-06-01"
    assert attested_codes(world, keys["machine"]) == ["expired-key"]


def test_an_edited_record_is_not_attested(world: World) -> None:
    """One character of a record changed and the machine's signature no longer fits."""
    armored = sshsig(world.keys["machine"], "measurement@measured-glossary", RECORD)
    read = read_attested("r.sig", RECORD.replace(b"1", b"2"), armored, world.registry(), TODAY)
    assert [p.code for p in read.problems] == ["signature-bad"]
    garbage = read_attested("r.sig", RECORD, b"garbage", world.registry(), TODAY)
    assert [p.code for p in garbage.problems] == ["signature-armor"]


def test_statements_are_values(world: World) -> None:
    """Two statements are equal when they say the same."""
    one = world.statement("author", "author")
    assert one == dataclasses.replace(one)
    assert one != dataclasses.replace(one, date=TODAY)
