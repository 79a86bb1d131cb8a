"""Statements: one canonical form, read back whole, and nothing else is read at all."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measured_glossary.source import canonical_json, decode
from measured_glossary.trust.registry import read_registry
from measured_glossary.trust.signed import Bound, read_attested, read_signed
from measured_glossary.trust.sshsig import parse_key, parse_signature
from measured_glossary.trust.statement import (
    PARTS,
    SAID,
    Difference,
    Statement,
    Subject,
    _examined,
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


signs = st.text(max_size=8) | st.sampled_from(["\x7f", '"', "\\", "\u202e", "\ud800", "é\n"])
listed = st.lists(st.builds(Subject, signs, signs), max_size=3).map(tuple)
anything = st.builds(
    Statement,
    project=signs,
    entry=signs,
    said=st.sampled_from(SAID),
    person=signs,
    date=st.dates(),
    subjects=listed,
    scope=st.lists(st.sampled_from(PARTS), max_size=3).map(tuple),
    records=listed,
    reason=signs,
    first_signed=st.none() | st.dates(),
)


def _descriptors(listed: tuple[Subject, ...]) -> list[dict[str, Any]]:
    return [{"name": s.name, "digest": {"sha256": s.sha256}} for s in listed]


@given(anything)
@settings(max_examples=300)
def test_a_statement_is_written_in_canonical_json(statement: Statement) -> None:
    """Whatever is in a statement, its one form is that of all JSON here; so is its manifest's."""
    retracts, first_signed = statement.said == "retract", statement.first_signed
    predicate = {
        "project": statement.project,
        "entry": statement.entry,
        "kind": statement.said,
        "person": statement.person,
        "date": statement.date.isoformat(),
        "scope": list(statement.scope),
        "records": _descriptors(statement.records),
        **({"reason": statement.reason} if retracts else {}),
        **({"first_signed": first_signed.isoformat()} if first_signed else {}),
    }
    whole = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": _descriptors(statement.subjects),
        "predicateType": "urn:measured-glossary:statement:v1",
        "predicate": predicate,
    }
    assert to_bytes(statement) == canonical_json(whole)
    manifest = canonical_json(_descriptors(statement.subjects))
    assert statement.manifest == hashlib.sha256(manifest).hexdigest()


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


# ── two doors: one for statements in order, one that says what is wrong ──────────────────────

# What a change puts in place of some bytes: doubled keys, other spellings, what nobody sees.
SPELLINGS = (
    *(b"", b" ", b"\n", b"\r\n", b"\t", b"\0", b"\x7f", b"\xef\xbb\xbf", b"\xff", "é".encode()),
    *(b"\\u0061", b"\\u200b", b"\\u007f", b"\\ud800", b'\\"', b"\\", b'"', b",", b"[", b"]", b"{}"),
    *(
        b"NaN",
        b"1e999",
        b"null",
        b'"kind": "review",',
        b'"entry": "test-entry",',
        b'"reason": "x",',
    ),
    *(b'"x": 1,', b"2026-02-30", b'"scope": []', b"A", b"/", b"..", b"signatures/", b"9" * 5000),
)


names_in_a_subject = st.sampled_from(
    [
        *FILES,
        "Code/test/kernel.cu",
        "a/../b",
        "con",
        "é",
        "a\x7f",
        "glossary/test-entry/signatures/a.json",
    ]
)
files = st.lists(st.builds(Subject, names_in_a_subject, st.just("0" * 64)), max_size=4)
disordered = st.builds(
    dataclasses.replace,
    statements(),
    said=st.sampled_from(SAID),
    scope=st.lists(st.sampled_from(PARTS), max_size=3).map(tuple),
    subjects=files.map(tuple) | files.map(sorted).map(tuple),
    records=st.just(()) | files.map(tuple),
    reason=st.sampled_from(["", "it was wrong", " ", "<b>", "\u200b"]),
    first_signed=st.none() | st.dates(),
)


@st.composite
def changed(draw: st.DrawFn) -> bytes:
    """Make the bytes of a statement, in order or not, and change some of them."""
    raw = to_bytes(draw(statements() | disordered))
    for _ in range(draw(st.integers(0, 2))):
        bounds = [at for at, byte in enumerate(raw) if byte in b'",:{}[]\n'] or [0]
        start = min(draw(st.sampled_from(bounds)) + draw(st.integers(0, 1)), len(raw))
        end = draw(st.sampled_from([start, start + 1, draw(st.integers(start, len(raw)))]))
        instead = draw(
            st.sampled_from(SPELLINGS) | st.binary(max_size=3) | st.just(raw[start:end] * 2)
        )
        raw = raw[:start] + instead + raw[end:]
    return raw


@given(changed())
@settings(max_examples=300)
def test_both_doors_say_the_same(raw: bytes) -> None:
    """Whatever is done to a statement's bytes, the quick door changes no value and no problem."""
    assert parse("test.json", raw) == _examined("test.json", raw)


@pytest.mark.parametrize("sign", ["\x7f", "\u202e", "\u200b", "\ufeff"])
def test_a_sign_that_nobody_sees_is_found_in_canonical_form_too(world: World, sign: str) -> None:
    """A record's name may hold many signs, escaped; as escapes, too, those are refused."""
    records = (Subject(f"measurements/a{sign}.json", "0" * 64),)
    raw = to_bytes(world.statement("author", "author", records=records))
    assert [p.code for p in parse("test.json", raw).problems] == ["json-value"]


def test_a_statement_in_order_passes_the_quick_door(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build reads thousands: those in order are not examined step by step."""
    statement = world.statement("review", "reviewer")
    monkeypatch.setattr("measured_glossary.trust.statement.decode", None)
    assert parse("test.json", to_bytes(statement)).value == statement


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
