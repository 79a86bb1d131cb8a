"""What was computed once: found again, computed where it is missing, never believed if damaged."""

from __future__ import annotations

import gc
import os
import pickle
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest

from measured_glossary.memo import (
    FILE,
    Memo,
    Packed,
    digest,
    files_digest,
    package,
    packed,
    plain_digest,
    side_by_side,
    unpacked,
)
from measured_glossary.problem import Checked, Place

KEYS = [digest(number) for number in range(60)]


def squares(memo: Memo, keys: list[bytes] = KEYS) -> list[int]:
    """Ask for the square of each key's number."""
    return memo.values(keys, lambda index: index * index)


def test_a_value_is_computed_once(tmp_path: Path) -> None:
    """The second build finds what the first computed, in any order of the keys."""
    assert squares(Memo(tmp_path)) == [number * number for number in range(60)]
    again = Memo(tmp_path)
    assert again.values(KEYS[::-1], lambda _: -1) == [n * n for n in reversed(range(60))]
    assert again.misses == 0


def test_processes_give_what_one_gives() -> None:
    """Several at once give the same values in the same order as one after the other."""
    assert squares(Memo(jobs=2)) == squares(Memo(jobs=1))


def test_they_are_processes_of_their_own() -> None:
    """What is computed side by side is not computed here, where processes can be forked."""
    found = set(side_by_side(lambda _: os.getpid(), range(40), 2))
    assert os.getpid() not in found or not hasattr(os, "fork")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize(
    ("count", "spans"), [(39, [39]), (40, [40]), (59, [59]), (60, [30, 30]), (101, [33, 34, 34])]
)
def test_processes_end_after_a_span(
    monkeypatch: pytest.MonkeyPatch, count: int, spans: list[int]
) -> None:
    """Others go on then, and no few items are left for the last: about as many for each."""
    monkeypatch.setattr("measured_glossary.memo.SPAN", 40)
    found = list(side_by_side(lambda item: (item, os.getpid()), range(count), 2))
    assert [item for item, _ in found] == list(range(count))
    ends = [sum(spans[:index]) for index in range(len(spans) + 1)]
    workers = [{pid for _, pid in found[start:end]} for start, end in pairwise(ends)]
    assert all(not one & other for one, other in pairwise(workers))
    assert all(len(each) <= 2 for each in workers)


class Knot:
    """Something that holds itself, and much else."""

    def __init__(self) -> None:
        self.itself = self
        self.much: list[list[Knot]] = [[] for _ in range(2_000)]


@pytest.fixture
def seldom() -> Iterator[None]:
    """Let Python hardly ever look for values that hold each other."""
    before = gc.get_threshold()
    gc.set_threshold(1_000_000)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("seldom")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_what_a_process_has_no_more_use_for_goes_soon() -> None:
    """However seldom the build itself looks for it, no process holds that of many items."""
    knots = WeakSet[Knot]()

    def tie(_: int) -> int:
        knots.add(Knot())
        return len(knots)

    assert max(side_by_side(tie, range(60), 2)) <= 20


def test_without_a_folder_nothing_is_left(tmp_path: Path) -> None:
    """A memo in memory finds its own values, and writes none."""
    memo = Memo()
    squares(memo)
    assert memo.values(KEYS[:3], lambda _: -1) == [0, 1, 4]
    assert list(tmp_path.iterdir()) == []


def test_values_of_ours_come_back(tmp_path: Path) -> None:
    """The package's own frozen values are kept as they are."""
    value = Checked(value=Place("a.md", 1, 2))
    Memo(tmp_path).store([(b"key", value)])
    assert dict(Memo(tmp_path).load([b"key"])) == {b"key": value}


def test_a_value_may_come_packed(tmp_path: Path) -> None:
    """What another process packed comes back as what it is, and so does what `keep` had packed."""
    memo = Memo(tmp_path, jobs=2)
    memo.store([(b"one", packed("1"))])
    memo.keep(KEYS, lambda index: b"%d" % index)
    assert memo.get(b"one") == "1"
    assert dict(memo.load(KEYS)) == {key: b"%d" % index for index, key in enumerate(KEYS)}


class Spy:
    """Something whose reading would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        """Ask the reader to write."""
        return Path.touch, (self.path,)


@pytest.mark.parametrize("how", ["runs code", "is cut off", "is not packed"])
def test_a_bad_value_is_computed_again(tmp_path: Path, how: str) -> None:
    """A value that somebody put there runs nothing, and one that is damaged is none."""
    spy = tmp_path / "spy"
    bad = zlib.compress(pickle.dumps(Spy(spy)))
    raw = {"runs code": bad, "is cut off": bad[:9], "is not packed": b"?"}[how]
    squares(Memo(tmp_path))
    with sqlite3.connect(tmp_path / FILE) as file:
        file.execute("update kept set value = ?", [raw])
    assert squares(Memo(tmp_path))[:3] == [0, 1, 4]
    assert not spy.exists()


def asking(module: str, name: str, *arguments: str) -> bytes:
    """Pickle a call of what a module holds by a name, dotted or not."""
    texts = b"".join(
        pickle.SHORT_BINUNICODE + bytes([len(text)]) + text.encode()
        for text in (module, name, *arguments)
    )
    at = len(module) + len(name) + 4
    called = texts[:at] + pickle.STACK_GLOBAL + pickle.MARK + texts[at:] + pickle.TUPLE
    return pickle.PROTO + b"\x04" + called + pickle.REDUCE + pickle.STOP


@pytest.mark.parametrize(
    ("module", "name", "arguments"),
    [
        ("measured_glossary.lab.process", "subprocess.Popen", ["true"]),
        ("measured_glossary.memo", "Path", ["a.md"]),
        ("measured_glossary.memo", "Memo", []),
        ("measured_glossary.memo", "package", []),
        ("measured_glossary.stage", "TemporaryDirectory", []),
        ("measured_glossary.trust.ahead", "Ahead", ["a", "b"]),
        ("pathlib", "Path", ["a.md"]),
        ("datetime", "datetime", ["a.md"]),
    ],
)
def test_only_data_of_ours_is_read(module: str, name: str, arguments: list[str]) -> None:
    """A class that acts, or that a module of ours only imports, is refused before it is called."""
    raw = zlib.compress(asking(module, name, *arguments))
    with pytest.raises(pickle.UnpicklingError, match="is not kept here"):
        unpacked(Packed(raw))


def test_data_of_ours_is_read() -> None:
    """What the refused ones are made like: a class of this package with frozen data."""
    raw = zlib.compress(asking("measured_glossary.problem", "Place", "a.md"))
    assert unpacked(Packed(raw)) == Place("a.md")


def test_a_value_of_another_key_is_none(tmp_path: Path) -> None:
    """Where rows have each other's values, as a damaged file may give them, none is believed."""
    squares(Memo(tmp_path))
    with sqlite3.connect(tmp_path / FILE) as file:
        rows = file.execute("select key, value from kept order by key").fetchall()
        keys, values = zip(*rows, strict=True)
        moved = zip((*values[1:], values[0]), keys, strict=True)
        file.executemany("update kept set value = ? where key = ?", moved)
    again = Memo(tmp_path)
    assert squares(again) == [number * number for number in range(60)]
    assert again.misses == 60


@pytest.mark.parametrize("day", ["a text", None, 99_999_999])
def test_a_day_that_is_none_is_today(tmp_path: Path, day: object) -> None:
    """A value is as old as it says, unless that cannot be."""
    squares(Memo(tmp_path, day=7))
    with sqlite3.connect(tmp_path / FILE) as file:
        file.execute("update kept set day = ?", [day])
    again = Memo(tmp_path, day=8)
    squares(again)
    assert again.misses == 0
    with sqlite3.connect(tmp_path / FILE) as file:
        days = file.execute("select distinct day from kept where length(key) = 32").fetchall()
    assert (8,) in days


def test_who_keeps_the_file_locked_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that met a lock keeps nothing more, even when it is gone; the next one does."""
    monkeypatch.setattr("measured_glossary.memo.WAIT_S", 0.01)
    squares(Memo(tmp_path))
    memo = Memo(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as somebody:
        somebody.execute("begin immediate")
        memo.store([(b"one", 1)])
    memo.store([(b"two", 2)])
    assert squares(memo)[:3] == [0, 1, 4]
    assert memo.misses == 0
    memo.close()
    next_one = Memo(tmp_path)
    next_one.store([(b"three", 3)])
    assert Memo(tmp_path).known([b"one", b"two", b"three"]) == {b"three"}


def test_a_damaged_file_goes_at_the_end(tmp_path: Path) -> None:
    """A build gets through with it, and the one after the next finds all there is."""
    first = Memo(tmp_path)
    first.store((key, os.urandom(1000)) for key in KEYS)
    first.close()
    raw = bytearray((tmp_path / FILE).read_bytes())
    raw[4096 * 4 :] = os.urandom(len(raw) - 4096 * 4)
    (tmp_path / FILE).write_bytes(raw)
    for misses in (60, 60, 0):
        memo = Memo(tmp_path)
        assert squares(memo) == [number * number for number in range(60)]
        assert memo.misses <= misses
        memo.close()


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(200)])
def test_a_bad_file_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    """Whatever lies where the memo's file is, a build goes on, and keeps what it computes."""
    (tmp_path / FILE).write_bytes(content)
    squares(Memo(tmp_path))
    again = Memo(tmp_path)
    squares(again)
    assert again.misses == 0


def test_a_file_that_cannot_be_written_slows_and_stops_nothing(tmp_path: Path) -> None:
    """A folder where the file should be leaves a build without a memo."""
    (tmp_path / FILE).mkdir()
    assert squares(Memo(tmp_path))[:3] == [0, 1, 4]


def test_what_nobody_asks_for_goes_first(tmp_path: Path) -> None:
    """Over its limit, the memo drops what was not used for longest."""
    old, new = KEYS[:30], KEYS[30:]
    first = Memo(tmp_path, day=1)
    first.store((key, os.urandom(4000)) for key in KEYS)
    first.close()
    second = Memo(tmp_path, day=2, max_bytes=150_000)
    second.known(new)
    second.close()
    assert Memo(tmp_path).known(KEYS) <= set(new)
    assert not Memo(tmp_path).known(old)


WRITER = """
import sys
from pathlib import Path
from typing import Any
from measured_glossary.memo import Memo, digest
memo = Memo(Path(sys.argv[1]))
print("begun", flush=True)
for number in range(10**6):
    memo.store([(digest(number), "x" * 1000)])
"""


@pytest.fixture
def writers(tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Two processes that write to one memo."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    yield started
    for process in started:
        process.kill()
        process.communicate()


def test_two_builds_at_once_and_a_kill(
    tmp_path: Path, writers: list[subprocess.Popen[str]]
) -> None:
    """Killed while both write, they leave whole values or none."""
    for process in writers:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
    reader = Memo(tmp_path)
    while len(reader.known(digest(number) for number in range(20))) < 20:
        pass
    for process in writers:
        process.kill()
        process.wait()
    left = dict(Memo(tmp_path).load(digest(number) for number in range(5000)))
    assert len(left) >= 20
    assert set(left.values()) == {"x" * 1000}


def test_a_picture_is_packed_once() -> None:
    """A PNG has no air in it: packing it once more takes time and saves nothing."""
    picture = b"\x89PNG" + bytes(1000)
    assert len(packed(picture).raw) > 1000 > len(packed("x" * 1004).raw)
    memo = Memo()
    memo.store([(b"key", picture)])
    assert memo.get(b"key") == picture


# ── digests ──────────────────────────────────────────────────────────────────────────────────

APART: list[object] = [
    "a", b"a", "ab", ("a", "b"), ["a", "b"], ("ab",), (("a",), "b"), ("a", ("b",)), "", b"", (), [],
    0, 1, True, False, None, "1", ("a", None), (None, "a"), "\ud800", "ä", "a\u0308",
]  # fmt: skip


def test_what_differs_has_another_digest() -> None:
    """Kinds of values, their borders and their nesting all count."""
    assert len({plain_digest(value) for value in APART}) == len(APART)
    assert len({plain_digest(*pair) for pair in (("a", "b"), ("ab",), ("", "ab"))}) == 3


def test_what_is_equal_has_one_digest() -> None:
    """Whether parts are one object, or two that are equal, does not count."""
    one, other = "x" * 50, "".join(["x"] * 50)
    assert one is not other
    expected = plain_digest((one, one), sys.intern("".join(["ab", "c"])))
    assert plain_digest((one, other), "".join(["a", "bc"])) == expected


def test_only_plain_values_have_a_plain_digest() -> None:
    """Of any other value it is not known that its parts say all of it."""
    with pytest.raises(ValueError, match="unmarshallable"):
        plain_digest(Place("file", 1, 1))


def test_files_have_one_digest_together() -> None:
    """It tells where a name or a file ends."""
    kinds = [{}, {"a": b""}, {"a": b"b"}, {"ab": b""}, {"a": b"", "b": b""}, {"a": b"b", "c": b""}]
    assert len({files_digest(files) for files in kinds}) == len(kinds)
    assert files_digest({"a": b"b"}) == files_digest({"a": b"b"})


def test_what_is_packed_can_be_unpacked() -> None:
    """A value is the same afterwards, half characters included."""
    for value in ("text \ud800", b"raw", Place("file", 1, 1)):
        assert unpacked(packed(value)) == value


def test_other_code_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed counts, however it was, and so does what Python leaves out of a program."""
    digests = {package.__wrapped__()}
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("made_up-1.0.dist-info", "other-1.0.egg-info", "other-2.0.egg-info"):
        (tmp_path / name).mkdir()
        digests.add(package.__wrapped__())
    for options in ([], ["-O"], ["-OO"]):
        code = "from measured_glossary.memo import package; print(package())"
        command = [sys.executable, *options, "-c", code]
        digests.add(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert len(digests) == 7
