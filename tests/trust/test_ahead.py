"""Signatures verified in another process: what it found good is what a verdict would find good.

Every attack in `test_signoff` is judged with and without what was verified ahead, by its world.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from measured_glossary.trust import ahead
from measured_glossary.trust.ahead import Ahead, good_marks, verified_ahead
from measured_glossary.trust.signed import signing_key
from measured_glossary.trust.signoff import Signoff, judge
from measured_glossary.trust.sshsig import Fault
from measured_glossary.trust.statement import namespace
from trust.trust_keys import TestKey, sshsig
from trust.trust_world import ENTRY, World

STATEMENT = "author.test-author.json"
LIMIT_S = 60  # for two signatures


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    """Give a project whose one entry two people signed."""
    for name, raw in world.signatures.items():
        path = tmp_path / "glossary" / ENTRY / "signatures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    return tmp_path


@pytest.fixture
def finished(folder: Path) -> Iterator[Ahead]:
    """Give what a process found that came to its end."""
    found = Ahead(folder, [ENTRY, "no-such-entry"])
    found.process.join(LIMIT_S)
    assert found.process.exitcode == 0
    yield found
    found.close()


def test_the_process_finds_every_good_signature(world: World, finished: Ahead) -> None:
    """Both signatures are known by their marks; a mark of anything else is not."""
    marks = list(good_marks(world.signatures))
    assert len(marks) == 2
    assert all(each in finished for each in marks)
    assert b"\0" * 32 not in finished
    assert world.judge() == _judged(world, finished)


def test_nothing_is_verified_twice(
    world: World, finished: Ahead, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict takes what was found and does not verify it again: that is the gain."""
    monkeypatch.setattr("measured_glossary.trust.signed.verify", _must_not_run)
    assert _judged(world, finished).is_complete


def test_a_mark_is_good_for_its_own_bytes_alone(world: World, keys: dict[str, TestKey]) -> None:
    """Another message, role, person or signature is verified, whatever else was found good."""
    good = set(good_marks(world.signatures))
    registry, author = world.registry(), world.registry().person("test-author")
    reviewer = world.registry().person("test-reviewer")
    raw, armored = world.signatures[STATEMENT], world.signatures[f"{STATEMENT}.sig"]
    role = namespace("author")
    assert author is not None
    assert reviewer is not None
    assert not isinstance(signing_key(author, role, raw, armored, registry, good), Fault)
    others = [
        (author, role, raw + b"\n", armored),
        (author, namespace("review"), raw, armored),
        (reviewer, role, raw, armored),
        (author, role, raw, sshsig(keys["second"], role, raw)),
        (author, role, raw, armored[:-40] + armored[-39:]),
    ]
    for person, name, message, signature in others:
        found = signing_key(person, name, message, signature, registry, good)
        assert isinstance(found, Fault), (person.id, name)
        assert found == signing_key(person, name, message, signature, registry)


def test_no_mark_is_given_for_what_is_not_good(world: World) -> None:
    """A signature that fits nothing, is cut off or stands alone has no mark."""
    signatures = dict(world.signatures)
    armored = signatures[f"{STATEMENT}.sig"]
    for broken in (armored[:-1], b"", armored.replace(b"SSH", b"SSL")):
        assert list(good_marks({STATEMENT: b"{}", f"{STATEMENT}.sig": broken})) == []
    assert list(good_marks({STATEMENT: b"{}", f"{STATEMENT}.sig": armored})) == []
    assert list(good_marks({f"{STATEMENT}.sig": armored})) == []


def test_a_killed_process_costs_time_and_nothing_else(world: World, folder: Path) -> None:
    """Whatever it did not come to is verified where it is asked for."""
    found = Ahead(folder, [ENTRY] * 100_000)
    found.process.kill()
    found.process.join()
    assert _judged(world, found) == world.judge()
    found.close()


def test_the_process_ends_where_it_is_met(world: World, folder: Path) -> None:
    """Who asks comes from the first entry, it from the last: the rest is verified already."""
    found = Ahead(folder, [ENTRY] * 100_000)
    first = next(good_marks(world.signatures))
    assert any(first in found for _ in range(10**7))
    found.process.join(LIMIT_S)
    assert found.process.exitcode == -signal.SIGKILL
    assert _judged(world, found) == world.judge()
    found.close()


def test_it_is_begun_only_where_it_pays(folder: Path) -> None:
    """One core, or few entries, verify as they go; nothing is left running after a build."""
    assert verified_ahead(folder, [ENTRY] * ahead.MANY, jobs=1) is None
    assert verified_ahead(folder, [ENTRY] * (ahead.MANY - 1), jobs=2) is None
    found = verified_ahead(folder, [ENTRY] * ahead.MANY, jobs=2)
    assert found is not None
    found.close()
    assert found.process not in multiprocessing.active_children()


def test_without_another_process_a_build_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no process can be started, signatures are verified as if there were one core."""
    monkeypatch.setattr("os.fork", _no_process)
    assert verified_ahead(folder, [ENTRY] * ahead.MANY, jobs=2) is None


def _no_process() -> int:
    raise BlockingIOError("Resource temporarily unavailable")


def _must_not_run(*_: object, **__: object) -> None:
    raise AssertionError("verified once more")


def _judged(world: World, found: Ahead) -> Signoff:
    return judge(world.evidence(), world.registry(), world.today, found)
