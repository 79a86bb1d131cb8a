"""Who signed what: the verdict's evidence, and every attack on it with the code that refuses it."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable

import pytest

from measured_glossary.source import canonical_json
from measured_glossary.trust.statement import Subject, namespace, subjects, to_bytes
from trust.trust_keys import TestKey, mirrored, security_key, sshsig
from trust.trust_world import (
    ENTRY,
    EXPERIMENT,
    KERNEL,
    PROSE,
    SIGNED_ON,
    World,
    person,
    unsigned_world,
)

AUTHOR, REVIEW = "author.test-author.json", "review.test-reviewer.json"
Attack = Callable[[World], object]


def test_two_people_complete_a_sign_off(world: World) -> None:
    """An author and a different reviewer over the same bytes leave nothing missing or wrong."""
    signoff = world.judge()
    assert signoff.is_complete, (signoff.missing, signoff.problems)
    assert signoff.author is not None
    assert signoff.author.person.name == "Test Author"
    assert [s.person.id for s in signoff.reviews] == ["test-reviewer"]
    assert signoff.covered == ("prose", "claims", "code")


def test_the_byline_dates_come_from_statements(world: World) -> None:
    """The dates shown are those of verified statements, and the last check is its latest."""
    world.sign("check", "second", date=datetime.date(2026, 11, 25))
    world.sign("check", "reviewer", date=datetime.date(2026, 11, 26))
    signoff = world.judge()
    assert signoff.last_checked == datetime.date(2026, 11, 26)
    assert signoff.author is not None
    assert signoff.author.on == datetime.date(2026, 11, 20)


def test_a_rotated_statement_keeps_its_first_day(world: World) -> None:
    """A statement signed anew with another key says when it was signed first."""
    world.sign("author", "author", first_signed=datetime.date(2026, 3, 1))
    author = world.judge().author
    assert author is not None
    assert (author.on, author.statement.date.month) == (datetime.date(2026, 3, 1), 11)


# ── what is missing, who could give it, and the next command ─────────────────────────────────


def test_an_unsigned_entry_says_what_is_missing(keys: dict[str, TestKey]) -> None:
    """A draft names both missing signatures, who could give them, and what to type."""
    assert unsigned_world(keys).judge().missing == (
        "the author's signature by test-author: glossary sign test-entry",
        "a review by test-reviewer or test-second: glossary review test-entry",
    )


def test_a_nominated_reviewer_is_asked_first(keys: dict[str, TestKey]) -> None:
    """Where the author asks for a reviewer who may review, that one is named alone."""
    world = unsigned_world(keys)
    world.nominated = "test-second"
    assert "by test-second:" in world.judge().missing[1]


def test_a_sole_owner_is_told_of_outside_reviewers(keys: dict[str, TestKey]) -> None:
    """Where nobody registered may review, the next command asks somebody outside."""
    world = unsigned_world(keys)
    world.people = world.people[:1]
    assert world.judge().missing[1] == (
        "a review, which nobody registered can give: glossary request-review test-entry"
    )


def test_an_unregistered_author_leaves_a_draft(keys: dict[str, TestKey]) -> None:
    """An author who is not registered yet is no error: the draft says how to add them."""
    world = unsigned_world(keys)
    world.authors = ("test-newcomer",)
    signoff = world.judge()
    assert not signoff.problems
    assert signoff.missing[0].endswith("glossary people add test-newcomer")


def test_a_byline_without_an_author_is_a_draft(keys: dict[str, TestKey]) -> None:
    """A pending byline asks for a name in the front matter."""
    world = unsigned_world(keys)
    world.authors = ()
    assert "written_by" in world.judge().missing[0]


def test_every_author_of_the_byline_must_sign(world: World) -> None:
    """With two authors named, one signature is not enough and no author is shown."""
    world.authors = ("test-author", "test-second")
    signoff = world.judge()
    assert [w.who for w in signoff.wanted] == [("test-second",)]
    assert signoff.author is None


def test_no_day_passes_for_reviewers_without_a_live_key(keys: dict[str, TestKey]) -> None:
    """Somebody whose keys have all ended is not offered as a reviewer."""
    world = unsigned_world(keys)
    world.person("reviewer")["keys"][0]["not_after"] = "2026-06-01"
    assert world.judge().wanted[1].who == ("test-second",)


def test_a_reviewer_of_another_area_is_not_offered(keys: dict[str, TestKey]) -> None:
    """Only people whose areas hold the entry's are offered as reviewers."""
    world = unsigned_world(keys)
    world.person("reviewer")["areas"] = ["Memory"]
    assert world.judge().wanted[1].who == ("test-second",)


# ── edited after signing ─────────────────────────────────────────────────────────────────────


def _edit(name: str, old: bytes, new: bytes) -> Attack:
    return lambda world: world.files.update({name: world.files[name].replace(old, new)})


FIGURE = f"glossary/{ENTRY}/figure.png"
EDITS: dict[str, tuple[Attack, str]] = {
    "one character of prose": (_edit(PROSE, b"Prose.", b"prose."), f"changed {PROSE}"),
    "the title": (_edit(PROSE, b"term: test", b"term: tests"), f"changed {PROSE}"),
    "the answer": (_edit(PROSE, b"One sentence.", b"One Sentence."), f"changed {PROSE}"),
    "a claim added": (_edit(PROSE, b"---\n\n", b"claims: [a]\n---\n\n"), f"changed {PROSE}"),
    "a source added": (_edit(PROSE, b"---\n\n", b"sources: [a]\n---\n\n"), f"changed {PROSE}"),
    "an alias added": (_edit(PROSE, b"---\n\n", b"aliases: [a]\n---\n\n"), f"changed {PROSE}"),
    "a diagram's preset": (_edit(PROSE, b"---\n\n", b"diagram: b\n---\n\n"), f"changed {PROSE}"),
    "a space at a line's end": (_edit(PROSE, b"Prose.", b"Prose. "), f"changed {PROSE}"),
    "a line end at the end": (_edit(PROSE, b"Prose.\n", b"Prose."), f"changed {PROSE}"),
    "a byte order mark": (_edit(PROSE, b"---\nterm", b"\xef\xbb\xbf---\nterm"), f"changed {PROSE}"),
    "kernel code": (_edit(KERNEL, b"test()", b"tests()"), f"changed {KERNEL}"),
    "white space in kernel code": (_edit(KERNEL, b"{}", b"{ }"), f"changed {KERNEL}"),
    "a tab for a space": (_edit(KERNEL, b"void test", b"void\ttest"), f"changed {KERNEL}"),
    "a header it includes": (
        _edit("code/test-experiment/shared.cuh", b"32", b"64"),
        "changed code/test-experiment/shared.cuh",
    ),
    "the experiment's launches": (_edit(EXPERIMENT, b"1000", b"10"), f"changed {EXPERIMENT}"),
    "compile flags": (
        lambda w: w.files.update({EXPERIMENT: w.files[EXPERIMENT] + b"OPTIONS = ['-G']\n"}),
        f"changed {EXPERIMENT}",
    ),
    "a tolerance": (
        lambda w: w.files.update({EXPERIMENT: w.files[EXPERIMENT] + b"TOLERANCE = 1\n"}),
        f"changed {EXPERIMENT}",
    ),
    "bytes of an image": (_edit(FIGURE, b"test", b"tent"), f"changed {FIGURE}"),
    "a file added": (
        lambda w: w.files.update({f"glossary/{ENTRY}/more.txt": b"x"}),
        f"added glossary/{ENTRY}/more.txt",
    ),
    "an empty file added": (
        lambda w: w.files.update({f"glossary/{ENTRY}/empty": b""}),
        f"added glossary/{ENTRY}/empty",
    ),
    "a file removed": (lambda w: w.files.pop(FIGURE), f"removed {FIGURE}"),
    "an include added": (
        lambda w: w.files.update({"code/test-experiment/more.cuh": b""}),
        "added code/test-experiment/more.cuh",
    ),
    "a file renamed in case only": (
        lambda w: w.files.update({f"glossary/{ENTRY}/Figure.png": w.files.pop(FIGURE)}),
        f"added glossary/{ENTRY}/Figure.png; removed {FIGURE}",
    ),
    "two files swapped": (
        lambda w: w.files.update({KERNEL: w.files[EXPERIMENT], EXPERIMENT: w.files[KERNEL]}),
        f"changed {EXPERIMENT}, {KERNEL}",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_after_signing_makes_both_signatures_outdated(world: World, name: str) -> None:
    """Whatever was signed and is edited takes both signatures back, and the diff says what."""
    edit, since = EDITS[name]
    edit(world)
    signoff = world.judge()
    assert [str(outdated.since) for outdated in signoff.outdated] == [since, since]
    assert [wanted.said for wanted in signoff.wanted] == ["author", "review"]
    assert not signoff.problems
    assert not signoff.is_complete


def test_an_author_over_new_bytes_leaves_the_old_review_outdated(world: World) -> None:
    """Statements over different manifests do not add up to a sign-off."""
    world.files[PROSE] += b"More.\n"
    world.sign("author", "author")
    signoff = world.judge()
    assert [w.said for w in signoff.wanted] == ["review"]
    assert [o.signed.statement.said for o in signoff.outdated] == ["review"]


LINE_ENDS = {
    "a text checked out with CRLF": (b"\n", b"\r\n"),
    "a text signed with CRLF and checked out with LF": (b"\r\n", b"\n"),
}


@pytest.mark.parametrize("name", LINE_ENDS)
def test_a_checkout_that_changed_line_ends_is_told_apart(
    keys: dict[str, TestKey], name: str
) -> None:
    """Bytes that differ in line ends only are refused with the hint, never normalised."""
    old, new = LINE_ENDS[name]
    world = unsigned_world(keys)
    world.files[PROSE] = world.files[PROSE].replace(b"\n", old)
    world.sign("author", "author")
    world.files[PROSE] = world.files[PROSE].replace(old, new)
    problems = world.judge().problems
    assert [(p.code, p.place.file) for p in problems] == [("line-endings", PROSE)]
    assert "* -text" in problems[0].hint


# ── retraction ───────────────────────────────────────────────────────────────────────────────


def test_a_retraction_is_in_force_over_the_same_bytes(world: World) -> None:
    """A retracted entry is not complete, whoever signed it."""
    world.sign("retract", "second")
    signoff = world.judge()
    assert signoff.retraction is not None
    assert signoff.retraction.statement.reason == "it was wrong"
    assert not signoff.is_complete


def test_a_retraction_holds_over_edited_bytes_nobody_signed(world: World) -> None:
    """Editing one character does not undo a retraction."""
    world.sign("retract", "second")
    world.files[PROSE] += b"More.\n"
    assert world.judge().retraction is not None


def test_a_corrected_and_signed_entry_ends_a_retraction(world: World) -> None:
    """Once author and reviewer signed corrected bytes, the old retraction is history."""
    world.sign("retract", "second")
    world.files[PROSE] += b"Corrected.\n"
    world.sign("author", "author")
    world.sign("review", "reviewer")
    signoff = world.judge()
    assert signoff.is_complete
    assert [o.signed.statement.said for o in signoff.outdated] == ["retract"]


DAY = datetime.timedelta(days=1)


def test_older_bytes_put_back_do_not_end_a_retraction(world: World) -> None:
    """What both signed before it, files and signatures, is not what they corrected."""
    files, signatures = dict(world.files), dict(world.signatures)
    world.files[PROSE] += b"Another sentence.\n"
    world.sign("author", "author").sign("review", "reviewer")
    world.sign("retract", "second", date=SIGNED_ON + DAY)
    world.files = files
    world.signatures |= signatures
    signoff = world.judge()
    assert not signoff.wanted
    assert signoff.retraction is not None
    world.sign("author", "author", date=SIGNED_ON + DAY)
    assert world.judge().retraction is not None
    world.sign("review", "reviewer", date=SIGNED_ON + DAY, first_signed=SIGNED_ON)
    assert world.judge().retraction is not None
    world.sign("review", "reviewer", date=SIGNED_ON + DAY)
    assert world.judge().is_complete


@pytest.mark.parametrize("missing", [("author",), ("review",), ("author", "review")])
def test_what_nobody_published_cannot_be_taken_back(world: World, missing: tuple[str, ...]) -> None:
    """One person alone puts no sentence on the site."""
    world.sign("retract", "second")
    for name in [name for name in world.signatures if name.startswith(missing)]:
        del world.signatures[name]
    assert world.codes() == {"retraction-of-nothing"}


# ── attacks: each leaves the entry refused, with the code that says why ──────────────────────


def _replace_signature(name: str, make: Callable[[bytes], bytes]) -> Attack:
    return lambda w: w.signatures.update({f"{name}.sig": make(w.signatures[f"{name}.sig"])})


def _replace_statement(name: str, make: Callable[[bytes], bytes], key: str = "") -> Attack:
    """Change a statement's bytes; with a key, its owner signs the changed bytes."""

    def attack(world: World) -> None:
        raw = make(world.signatures[name])
        world.signatures[name] = raw
        if key:
            said = namespace(name.split(".")[0])  # type: ignore[arg-type]
            world.signatures[f"{name}.sig"] = sshsig(world.keys[key], said, raw)

    return attack


def _key_days(who: str, **days: str) -> Attack:
    return lambda w: w.person(who)["keys"][0].update(days)


def _revoke(who: str) -> Attack:
    entry = {"on": "2026-11-01", "reason": "lost"}
    return lambda w: w.revoked.append({"key": w.keys[who].line, **entry})


def _revoke_as_security_key(world: World) -> None:
    line = security_key(world.keys["reviewer"]).line
    world.revoked.append({"key": line, "on": "2026-11-01", "reason": "lost"})


def _copy(old: str, new: str) -> Attack:
    def attack(world: World) -> None:
        world.signatures[new] = world.signatures[old]
        world.signatures[f"{new}.sig"] = world.signatures[f"{old}.sig"]

    return attack


def _self_review(world: World) -> None:
    del world.signatures[REVIEW], world.signatures[f"{REVIEW}.sig"]
    world.sign("review", "author")


def _co_author_reviews(world: World) -> None:
    world.authors = ("test-author", "test-second")
    world.sign("author", "second")
    world.sign("review", "second")


def _withdraw(world: World) -> None:
    manifest = world.judge().manifest
    world.withdrawn.append({"manifest": manifest, "on": "2026-11-21", "reason": "wrong"})


def _malleated(world: World) -> None:
    """Second copy of one ECDSA review, with s replaced by the order minus s."""
    world.sign("review", "second")
    signature = world.signatures["review.test-second.json.sig"]
    world.signatures["review.test-second.json.copy.sig"] = mirrored(signature)


def _another_project_signed(world: World) -> None:
    world.sign("review", "reviewer", project="test-other")


def _swap_signatures(world: World) -> None:
    files, a, b = world.signatures, f"{AUTHOR}.sig", f"{REVIEW}.sig"
    files[a], files[b] = files[b], files[a]


def _review_as_author(world: World) -> None:
    """The author's statement and signature, under a reviewer's file name."""
    world.signatures[REVIEW] = world.signatures[AUTHOR]
    world.signatures[f"{REVIEW}.sig"] = world.signatures[f"{AUTHOR}.sig"]


def _machine_reviews(world: World) -> None:
    world.sign("review", "machine")


def _swap_subject_names(raw: bytes) -> bytes:
    data = json.loads(raw)
    first, second = data["subject"][0], data["subject"][1]
    first["digest"], second["digest"] = second["digest"], first["digest"]
    return canonical_json(data)


def _canonical(**changes: object) -> Callable[[bytes], bytes]:
    return lambda raw: canonical_json({**json.loads(raw), **changes})


def _subject(name: str) -> Callable[[bytes], bytes]:
    """A statement that also names another file."""

    def make(raw: bytes) -> bytes:
        data = json.loads(raw)
        data["subject"].append({"name": name, "digest": {"sha256": "0" * 64}})
        data["subject"].sort(key=lambda item: item["name"])
        return canonical_json(data)

    return make


def _predicate(**changes: object) -> Callable[[bytes], bytes]:
    def make(raw: bytes) -> bytes:
        data = json.loads(raw)
        data["predicate"] |= changes
        return canonical_json(data)

    return make


def _add_keys(world: World) -> None:
    world.person("reviewer")["keys"] = [
        {"key": world.keys["outsider"].line, "not_before": "2026-01-01"}
    ]


ATTACKS: dict[str, tuple[Attack, str]] = {
    # signatures
    "random bytes for a signature": (
        _replace_signature(REVIEW, lambda _: bytes(range(256))), "signature-armor"),
    "an empty signature": (_replace_signature(REVIEW, lambda _: b""), "signature-armor"),
    "a truncated signature": (_replace_signature(REVIEW, lambda s: s[:150]), "signature-armor"),
    "a signature of 16 MiB": (
        _replace_signature(REVIEW, lambda s: s + b"A" * (16 << 20)), "signature-oversized"),
    "two blocks in one file": (_replace_signature(REVIEW, lambda s: s + s), "signature-armor"),
    "junk before the signature": (
        _replace_signature(REVIEW, lambda s: b"x\n" + s), "signature-armor"),
    "junk after the signature": (
        _replace_signature(REVIEW, lambda s: s + b"x\n"), "signature-armor"),
    "a blank line after the signature": (
        _replace_signature(REVIEW, lambda s: s + b"\n"), "signature-armor"),
    "armor with CRLF": (
        _replace_signature(REVIEW, lambda s: s.replace(b"\n", b"\r\n")), "line-endings"),
    "armor with other line lengths": (
        _replace_signature(REVIEW, lambda s: s.replace(b"\n", b"", 2).replace(
            b"-----U", b"-----\nU")), "signature-armor"),
    "good armor over other bytes": (
        lambda w: w.signatures.update({f"{REVIEW}.sig": sshsig(
            w.keys["reviewer"], namespace("review"), b"other bytes")}), "signature-bad"),
    "the statement's date edited": (
        _replace_statement(REVIEW, lambda s: s.replace(b"2026-11-20", b"2026-11-21")),
        "signature-bad"),
    "the statement's scope widened": (
        _replace_statement(REVIEW, _predicate(scope=[
            "prose", "claims", "code", "experiment", "sources"])), "signature-bad"),
    "a digest in the statement edited": (
        _replace_statement(REVIEW, _subject(f"glossary/{ENTRY}/more.txt")), "signature-bad"),
    "names swapped under right digests": (
        _replace_statement(REVIEW, _swap_subject_names), "signature-bad"),
    "an unregistered key": (
        lambda w: w.sign("review", "reviewer", key="outsider"), "unregistered-key"),
    "the author's key with the reviewer's name": (
        lambda w: w.sign("review", "reviewer", key="author"), "other-persons-key"),
    "the reviewer's key with the author's name": (
        lambda w: w.sign("author", "author", key="reviewer"), "other-persons-key"),
    "a machine's key with a person's name": (
        lambda w: w.sign("review", "reviewer", key="machine"), "other-persons-key"),
    "a second key that the registry does not hold": (_add_keys, "unregistered-key"),
    "a security key with the same point": (
        lambda w: w.signatures.update({f"{REVIEW}.sig": sshsig(
            security_key(w.keys["reviewer"]), namespace("review"), w.signatures[REVIEW])}),
        "unregistered-key"),
    "a weak key": (lambda w: w.sign("review", "reviewer", key="weak"), "unregistered-key"),
    "a revoked key": (_revoke("reviewer"), "revoked-key"),
    "a key revoked under another type": (_revoke_as_security_key, "revoked-key"),
    "the author's key revoked": (_revoke("author"), "revoked-key"),
    "an expired key": (_key_days("reviewer", not_after="2026-11-28"), "expired-key"),
    "a key that expired after signing": (
        _key_days("reviewer", not_after="2026-11-20"), "expired-key"),
    "a key that is not valid yet": (_key_days("reviewer", not_before="2026-12-01"), "early-key"),
    "a backdated statement": (
        lambda w: w.sign("review", "reviewer", date=datetime.date(2025, 12, 31)),
        "backdated-statement"),
    "a statement backdated into an expired key's days": (
        lambda w: (_key_days("reviewer", not_after="2026-06-30")(w), w.sign(
            "review", "reviewer", date=datetime.date(2026, 6, 1))), "expired-key"),
    "a statement of tomorrow": (
        lambda w: w.sign("review", "reviewer", date=datetime.date(2026, 11, 30)), "future-date"),
    "a malleated copy beside the signature": (_malleated, "stray-signature"),
    # files in the wrong place
    "a copy under a second person's name": (
        _copy(REVIEW, "review.test-second.json"), "misplaced-statement"),
    "a copy under nobody's name": (
        _copy(REVIEW, "review.test-nobody.json"), "misplaced-statement"),
    "a copy in capitals": (_copy(REVIEW, "REVIEW.test-reviewer.json"), "stray-signature"),
    "a copy under another kind": (
        _copy(REVIEW, "check.test-reviewer.json"), "misplaced-statement"),
    "a copy with another ending": (_copy(REVIEW, f"{REVIEW}.bak"), "stray-signature"),
    "a copy in a folder below": (_copy(REVIEW, f"old/{REVIEW}"), "stray-signature"),
    "a note beside the signatures": (
        lambda w: w.signatures.update({"README.md": b"signed, trust me\n"}), "stray-signature"),
    "a signature without a statement": (
        lambda w: w.signatures.update({"check.test-second.json.sig": b"x"}), "stray-signature"),
    "a statement without a signature": (
        lambda w: w.signatures.pop(f"{REVIEW}.sig"), "unsigned-statement"),
    "a statement of an unknown kind": (_copy(REVIEW, "approve.test-reviewer.json"),
        "stray-signature"),
    # people
    "an author who reviews himself": (_self_review, "self-review"),
    "a reviewer listed as co-author": (_co_author_reviews, "self-review"),
    "a reviewer added to the byline afterwards": (
        lambda w: setattr(w, "authors", ("test-author", "test-reviewer")), "self-review"),
    "an author nominated as reviewer": (
        lambda w: setattr(w, "nominated", "test-author"), "self-review"),
    "an author named twice": (
        lambda w: setattr(w, "authors", ("test-author", "test-author")), "doubled-author"),
    "a machine as reviewer": (_machine_reviews, "machine-signature"),
    "a person without the role of a reviewer": (
        lambda w: w.person("reviewer").update(may=["author"]), "person-role"),
    "a person without the role of an author": (
        lambda w: w.person("author").update(may=["review"]), "person-role"),
    "a person without the role of a checker": (
        lambda w: (w.person("second").update(may=["author"]), w.sign("check", "second")),
        "person-role"),
    "a checker who retracts": (
        lambda w: (w.person("second").update(may=["check"]), w.sign("retract", "second")),
        "person-role"),
    "a person of another area": (
        lambda w: w.person("reviewer").update(areas=["Memory"]), "person-area"),
    "an area that only begins alike": (
        lambda w: w.person("reviewer").update(areas=["Execution"]), "person-area"),
    "an author whom the byline does not name": (
        lambda w: w.sign("author", "second"), "unnamed-author"),
    "a person who is not in the registry": (
        lambda w: w.people.pop(1), "unknown-person"),
    # mix and match
    "this entry's files under another entry's name": (
        lambda w: w.sign("review", "reviewer", entry="test-other"),
        "statement-subjects",
    ),
    "another entry's statement, whole": (
        lambda w: w.sign("review", "reviewer", entry="other", subjects=_other_subjects()),
        "statement-entry"),
    "another project's statement": (_another_project_signed, "statement-project"),
    "the author's statement used as the reviewer's": (_review_as_author, "misplaced-statement"),
    "the two signatures swapped": (_swap_signatures, "other-persons-key"),
    "a review signed in the author's namespace": (
        lambda w: w.sign("review", "reviewer", space=namespace("author")), "signature-namespace"),
    "a signature made for git": (
        lambda w: w.sign("review", "reviewer", space="git"), "signature-namespace"),
    "a signature made for files": (
        lambda w: w.sign("review", "reviewer", space="file"), "signature-namespace"),
    "a measurement's namespace": (
        lambda w: w.sign("review", "reviewer", space="measurement@measured-glossary"),
        "signature-namespace"),
    "an unknown predicate type": (
        _replace_statement(REVIEW, _canonical(predicateType="https://slsa.dev/provenance/v1"),
                           key="reviewer"), "statement-field"),
    "an unknown statement type": (
        _replace_statement(REVIEW, _canonical(_type="https://in-toto.io/Statement/v0.1"),
                           key="reviewer"), "statement-field"),
    "a withdrawn manifest restored": (_withdraw, "withdrawn-manifest"),
    # statements that are not in order, though well signed
    "an unknown field": (
        _replace_statement(REVIEW, _canonical(extra="x"), key="reviewer"), "statement-field"),
    "an unknown field of the predicate": (
        _replace_statement(REVIEW, _predicate(verified=True), key="reviewer"), "statement-field"),
    "a reason that no review has": (
        _replace_statement(REVIEW, _predicate(reason="x"), key="reviewer"), "statement-form"),
    "a null reason": (
        _replace_statement(REVIEW, _predicate(reason=None), key="reviewer"), "statement-form"),
    "a duplicate key": (
        _replace_statement(REVIEW, lambda s: s.replace(
            b'"_type"', b'"_type": "x",\n  "_type"', 1), key="reviewer"), "json-value"),
    "a statement in one line": (
        _replace_statement(REVIEW, lambda s: b" ".join(s.split()), key="reviewer"),
        "statement-form"),
    "a space at the end": (
        _replace_statement(REVIEW, lambda s: s + b" ", key="reviewer"), "statement-form"),
    "a byte order mark": (
        _replace_statement(REVIEW, lambda s: b"\xef\xbb\xbf" + s, key="reviewer"),
        "statement-form"),
    "carriage returns": (
        _replace_statement(REVIEW, lambda s: s.replace(b"\n", b"\r\n"), key="reviewer"),
        "line-endings"),
    "a letter written as an escape": (
        _replace_statement(REVIEW, lambda s: s.replace(b'"person"', b'"p\\u0065rson"'),
                           key="reviewer"), "statement-form"),
    "bytes that are not UTF-8": (
        _replace_statement(REVIEW, lambda s: s + b"\xff", key="reviewer"), "not-utf8"),
    "no JSON at all": (
        _replace_statement(REVIEW, lambda _: b"signed\n", key="reviewer"), "json-syntax"),
    "a bomb of brackets": (
        _replace_statement(REVIEW, lambda _: b"[" * 100_000, key="reviewer"), "json-value"),
    "a scope that nobody knows": (
        _replace_statement(REVIEW, _predicate(scope=["everything"]), key="reviewer"),
        "statement-field"),
    "a review of nothing": (
        lambda w: w.sign("review", "reviewer", scope=()), "statement-scope"),
    "a scope named twice": (
        lambda w: w.sign("review", "reviewer", scope=("prose", "prose")), "statement-scope"),
    "an author with a scope": (
        lambda w: w.sign("author", "author", scope=("prose",)), "statement-scope"),
    "a retraction without a reason": (
        lambda w: w.sign("retract", "second", reason=""), "statement-field"),
    "a retraction whose reason hides text": (
        lambda w: w.sign("retract", "second", reason="wrong\u202e"), "json-value"),
    "a date in another form": (
        _replace_statement(REVIEW, _predicate(date="20 Nov 2026"), key="reviewer"),
        "statement-field"),
    "a date that is none": (
        _replace_statement(REVIEW, _predicate(date="2026-02-30"), key="reviewer"),
        "statement-field"),
    "a date that is a number": (
        _replace_statement(REVIEW, _predicate(date=20261120), key="reviewer"), "statement-field"),
    "a first day after the date": (
        lambda w: w.sign("review", "reviewer", first_signed=datetime.date(2026, 11, 28)),
        "statement-date"),
    "a path that climbs out": (
        _replace_statement(REVIEW, _subject("../outside"), key="reviewer"), "statement-subjects"),
    "an absolute path": (
        _replace_statement(REVIEW, _subject("/etc/passwd"), key="reviewer"), "statement-subjects"),
    "a path with a drive": (
        _replace_statement(REVIEW, _subject("C:/x"), key="reviewer"), "statement-subjects"),
    "a path with a dot for a part": (
        _replace_statement(REVIEW, _subject("code/./x"), key="reviewer"), "statement-subjects"),
    "a subject named twice": (
        _replace_statement(REVIEW, _subject(KERNEL), key="reviewer"), "statement-subjects"),
    "a subject named again in capitals": (
        _replace_statement(REVIEW, _subject(KERNEL.upper()), key="reviewer"),
        "statement-subjects"),
    "a signature as a subject": (
        _replace_statement(REVIEW, _subject(f"glossary/{ENTRY}/signatures/x.json"),
                           key="reviewer"), "statement-subjects"),
    "no subjects": (
        _replace_statement(REVIEW, _canonical(subject=[]), key="reviewer"), "statement-field"),
    "subjects without the entry": (
        lambda w: w.sign("review", "reviewer", subjects=w.statement(
            "review", "reviewer").subjects[:2]), "statement-subjects"),
    "a digest in capitals": (
        _replace_statement(REVIEW, lambda s: _upper_digests(s), key="reviewer"),
        "statement-field"),
    "a path for an entry's id": (
        _replace_statement(REVIEW, _predicate(entry="../other"), key="reviewer"),
        "statement-field"),
    "a path for a person's id": (
        _replace_statement(REVIEW, _predicate(person="../../x"), key="reviewer"),
        "statement-field"),
}  # fmt: skip


def _other_subjects() -> tuple[Subject, ...]:
    return subjects({"glossary/other/entry.md": b"other\n"})


def _upper_digests(raw: bytes) -> bytes:
    return re.sub(rb'"[0-9a-f]{64}"', lambda found: found.group().upper(), raw)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_with_its_code(world: World, name: str) -> None:
    """Every attack on an entry that was complete is told by its own code."""
    attack, code = ATTACKS[name]
    attack(world)
    signoff = world.judge()
    assert code in {problem.code for problem in signoff.problems}, signoff.problems
    assert not signoff.is_complete


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_the_review_counts_for_nothing(world: World, name: str) -> None:
    """What is refused is never listed as a review beside the problem that refuses it."""
    attack, _ = ATTACKS[name]
    attack(world)
    signoff = world.judge()
    refused = {problem.place.file.removesuffix(".sig") for problem in signoff.problems}
    listed = (*signoff.authors, *signoff.reviews, *signoff.checks)
    assert not refused & {signed.file for signed in listed}


def test_one_person_counts_once_however_often_they_sign(world: World) -> None:
    """A review and a malleated copy of it are one review."""
    _malleated(world)
    assert sorted(s.person.id for s in world.judge().reviews) == ["test-reviewer", "test-second"]


def test_an_honest_statement_of_every_kind_is_read_back(world: World) -> None:
    """What is signed with every kind of key counts, so the refusals above have their reasons."""
    kinds = {"second": "second", "third": "third", "rsa": "rsa", "sk": "sk"}
    world.people += [person(n, world.keys[k]) for n, k in kinds.items() if n != "second"]
    for name in kinds:
        world.sign("review", name)
    assert len(world.judge().reviews) == 1 + len(kinds)
    assert not world.codes()


def test_a_sign_off_is_the_same_value_each_time(world: World) -> None:
    """The same bytes, registry and day give the same sign-off."""
    assert world.judge() == world.judge()
    assert to_bytes(world.statement("author", "author")) == world.signatures[AUTHOR]
