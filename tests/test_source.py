"""Files and text into located data: what is read, what is refused, and where the fault stands."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from measured_glossary import source as module
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import (
    Located,
    Source,
    canonical_json,
    decode,
    mended,
    parse_json,
    parse_yaml,
    path_problem,
    read,
    read_bytes,
    validate,
)


def text_source(text: str) -> Source:
    """A source of a text, which must be readable."""
    source = decode("a.yml", text.encode()).value
    assert source is not None
    return source


def faults(checked: Checked[Any]) -> list[tuple[str, str]]:
    """Where and what, of each problem."""
    return [(str(problem.place), problem.code) for problem in checked.problems]


# ── reading ──────────────────────────────────────────────────────────────────────────────────


def test_a_regular_file_is_read_as_it_is(tmp_path: Path) -> None:
    """The bytes of a file come unchanged, line ends included."""
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\n")
    assert read_bytes(tmp_path, "a.txt").value == b"one\r\ntwo\n"


@pytest.mark.parametrize(
    "file",
    ["", ".", "..", "../a", "a/../b", "/etc/passwd", "a//b", "./a", "a/", "a\\b", "C:a",
     "a\0b", "a\nb", "\ud800", "a\u202eb"],
)  # fmt: skip
def test_a_path_that_is_not_plain_is_refused(tmp_path: Path, file: str) -> None:
    """No name leads out of the root, and none has a sign that a message could not show."""
    checked = read_bytes(tmp_path, file)
    assert [problem.code for problem in checked.problems] == ["bad-path"]
    assert checked.problems[0].place.file.isprintable()
    assert path_problem(file, Place("x", 3)) is not None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """What is not there is said to be missing."""
    assert faults(read_bytes(tmp_path, "a/b")) == [("a/b", "missing-file")]


def test_a_linked_file_is_refused(tmp_path: Path) -> None:
    """A symbolic link in place of a file could show bytes that nobody signed."""
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    assert faults(read_bytes(tmp_path, "link")) == [("link", "unreadable-file")]


def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    """The same holds for a folder on the way to the file."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    checked = read_bytes(tmp_path, "link/a")
    assert faults(checked) == [("link/a", "unreadable-file")]
    assert "link is a symbolic link" in checked.problems[0].message


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    """A pipe without a writer does not hang the reader."""
    os.mkfifo(tmp_path / "pipe")
    assert faults(read_bytes(tmp_path, "pipe")) == [("pipe", "unreadable-file")]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """A folder in place of a file is a problem, not an exception."""
    (tmp_path / "folder").mkdir()
    assert faults(read_bytes(tmp_path, "folder")) == [("folder", "unreadable-file")]


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    """A path that goes through a file is a problem, not an exception."""
    (tmp_path / "a").write_bytes(b"x")
    assert faults(read_bytes(tmp_path, "a/b")) == [("a/b", "unreadable-file")]


def test_a_name_too_long_for_the_disk_is_refused(tmp_path: Path) -> None:
    """A name of a thousand signs is a problem, not an exception."""
    name = "a" * 1000
    assert faults(read_bytes(tmp_path, name)) == [(name, "unreadable-file")]


def test_an_oversized_file_is_refused(tmp_path: Path) -> None:
    """The limit itself is allowed; one byte more is not."""
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bytes(tmp_path, "a", limit=5).value == b"12345"
    assert faults(read_bytes(tmp_path, "a", limit=4)) == [("a", "oversized-file")]


def test_reading_text_goes_through_the_same_door(tmp_path: Path) -> None:
    """`read` decodes what `read_bytes` allows and gives its problems otherwise."""
    (tmp_path / "a").write_text("ä\n", encoding="utf-8")
    source = read(tmp_path, "a").value
    assert source is not None
    assert (source.text, source.raw) == ("ä\n", "ä\n".encode())
    assert faults(read(tmp_path, "b")) == [("b", "missing-file")]


# ── decoding ─────────────────────────────────────────────────────────────────────────────────


def test_a_byte_order_mark_is_not_text() -> None:
    """The mark stays in the bytes, which are signed, and is no column of the first line."""
    source = decode("a", b"\xef\xbb\xbfab").value
    assert source is not None
    assert (source.text, source.raw[:3], source.at(1)) == ("ab", b"\xef\xbb\xbf", Place("a", 1, 2))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bytes_that_are_no_text_are_placed(mark: bytes) -> None:
    """The line and the number of the first bad byte are right, with and without a mark."""
    checked = decode("a", mark + b"one\ntwo \xff\n")
    assert faults(checked) == [("a:2", "not-utf8")]
    assert f"byte {len(mark) + 8} " in checked.problems[0].message


@pytest.mark.parametrize(
    "char",
    ["\0", "\x1b", "\x7f", "\x85", "\u00ad", "\u200b", "\u200d", "\u202e", "\u2028", "\u2066",
     "\u3164", "\ufe0f", "\U000e0041", "\U000e0100", "\r"],
)  # fmt: skip
def test_what_nobody_sees_is_refused(char: str) -> None:
    """Bidirectional, invisible and control characters are named with their place."""
    checked = decode("a", f"one\nt{char}wo\n".encode())
    assert faults(checked) == [("a:2:2", "hidden-character")]
    assert f"U+{ord(char):04X}" in checked.problems[0].message


def test_windows_line_ends_and_tabs_are_text() -> None:
    """Kernels come with CR LF and tabs, and stay as they are."""
    assert text_source("a\r\n\tb\r\n").text == "a\r\n\tb\r\n"


def test_a_file_of_rubbish_gives_few_problems_fast() -> None:
    """A million control characters are not a million problems."""
    checked = decode("a", b"\0" * 1_000_000)
    assert len(checked.problems) == module.MAX_HIDDEN_REPORTED


# ── YAML ─────────────────────────────────────────────────────────────────────────────────────


def test_every_scalar_is_text() -> None:
    """Nothing is taken for a truth value, a number, a time or nothing."""
    parsed = parse_yaml(text_source("a: NO\nb: 1.10\nc: 12:30\nd: null\ne: ~\nf:\ng: 0x1F\n")).value
    assert parsed is not None
    expected = {"a": "NO", "b": "1.10", "c": "12:30", "d": "null", "e": "~", "f": "", "g": "0x1F"}
    assert parsed.data == expected


def test_every_part_has_its_place() -> None:
    """Keys and items are placed where they stand in the file, also from a later first line."""
    parsed = parse_yaml(text_source("a:\n  - x\n  - b: y\n"), first_line=5).value
    assert parsed is not None
    assert parsed.place(("a",)) == Place("a.yml", 5, 1)
    assert parsed.place(("a", 0)) == Place("a.yml", 6, 5)
    assert parsed.place(("a", 1, "b")) == Place("a.yml", 7, 5)
    assert parsed.place(("a", 1, "b", "deeper", 3)) == Place("a.yml", 7, 5)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: &x 1\n", ("a.yml:1:4", "yaml-anchor")),
        ("a: *x\n", ("a.yml:1:4", "yaml-anchor")),
        ("a: !!str 1\n", ("a.yml:1:4", "yaml-tag")),
        ("a: ! 1\n", ("a.yml:1:4", "yaml-tag")),
        ("a: !!python/object:os.system x\n", ("a.yml:1:4", "yaml-tag")),
        ("a: 1\n---\nb: 2\n", ("a.yml:3:1", "yaml-documents")),
        ("a: 1\na: 2\n", ("a.yml:2:1", "yaml-duplicate-key")),
        ("? [a]\n: 1\n", ("a.yml:1:3", "yaml-key")),
        ("a: [1, 2\n", ("a.yml:2:1", "yaml-syntax")),
        ("a: b: c\n", ("a.yml:1:5", "yaml-syntax")),
        ("[" * 500, ("a.yml:1:12", "yaml-depth")),
        ("a: " + "x" * 70_000, ("a.yml:1:1", "yaml-too-large")),
        ('a: "x\\u202Ey"\n', ("a.yml:1:4", "hidden-character")),
        ('"a\\0": x\n', ("a.yml:1:1", "hidden-character")),
    ],
)
def test_what_yaml_could_hide_is_refused(text: str, found: tuple[str, str]) -> None:
    """Anchors, tags, second documents, double keys, bombs and escapes are problems with places."""
    assert faults(parse_yaml(text_source(text))) == [found]


@pytest.mark.parametrize("bomb", ["[" * 50_000, "{" * 50_000, "- " * 30_000, "? " * 30_000])
def test_deep_nesting_is_a_problem_and_no_crash(bomb: str) -> None:
    """However deep the brackets go, the answer is a problem."""
    assert len(parse_yaml(text_source(bomb)).problems) == 1


def test_all_double_keys_are_reported() -> None:
    """One double key does not hide the next."""
    checked = parse_yaml(text_source("a: 1\na: 2\nb: 1\nb: 2\n"))
    assert faults(checked) == [("a.yml:2:1", "yaml-duplicate-key"), ("a.yml:4:1", "yaml-duplicate-key")]  # fmt: skip  # noqa: E501


def test_a_merge_key_is_a_key_like_any_other() -> None:
    """`<<` merges nothing."""
    parsed = parse_yaml(text_source("<<: {a: 1}\n")).value
    assert parsed is not None
    assert parsed.data == {"<<": {"a": "1"}}


def test_no_yaml_is_an_empty_mapping() -> None:
    """A document of comments only has no keys, and a place all the same."""
    parsed = parse_yaml(text_source("# nothing\n"), first_line=3).value
    assert parsed is not None
    assert (parsed.data, parsed.place(("x",))) == ({}, Place("a.yml", 3, 1))


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1,}', ("a.yml:1:9", "json-syntax")),
        ('{"a": 1, "a": 1}', ("a.yml", "json-value")),
        ('{"a": {"b": 1, "b": 1}}', ("a.yml", "json-value")),
        ("[NaN]", ("a.yml", "json-value")),
        ("[-Infinity]", ("a.yml", "json-value")),
        ("[1e999]", ("a.yml", "json-value")),
        ("[-1e999]", ("a.yml", "json-value")),
        ("9" * 5000, ("a.yml", "json-value")),
        ("[" * 50 + "]" * 50, ("a.yml", "json-value")),
        ("[" * 100_000, ("a.yml", "json-value")),
        ('["\\ud800"]', ("a.yml", "json-value")),
        ('{"\\u202e": 1}', ("a.yml", "json-value")),
    ],
)
def test_what_json_readers_disagree_on_is_refused(text: str, found: tuple[str, str]) -> None:
    """Double keys, numbers that are none, bombs and hidden characters are problems."""
    assert faults(parse_json(text_source(text))) == [found]


@pytest.mark.parametrize("text", ["5", '"x"', "null", "[]", '{"a": [1, 2.5, "x", true]}'])
def test_plain_json_is_read(text: str) -> None:
    """Whatever is plain comes through, also where it is no object."""
    assert parse_json(text_source(text)).problems == ()


def test_many_keys_are_read_in_no_time() -> None:
    """The search for double keys does not grow with the square of their number."""
    keys = ",".join(f'"k{n}": 0' for n in range(50_000))
    parsed = parse_json(text_source("{" + keys + "}")).value
    assert parsed is not None
    assert len(parsed.data) == 50_000


_plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
_plain = _plain.filter(lambda value: value not in (float("inf"), float("-inf")))


@given(st.recursive(_plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_canonical_json_is_what_json_writes(data: object) -> None:
    """It is written faster, and not otherwise."""
    expected = json.dumps(data, sort_keys=True, ensure_ascii=True, indent=2, allow_nan=False)
    assert canonical_json(data) == f"{expected}\n".encode("ascii")


def test_canonical_json_has_one_form() -> None:
    """Keys are sorted, signs beyond ASCII escaped, the end is one LF, and NaN has no form."""
    assert canonical_json({"b": "ä", "a": 1}) == b'{\n  "a": 1,\n  "b": "\\u00e4"\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json([float("nan")])


# ── validation ───────────────────────────────────────────────────────────────────────────────


class _Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


class _Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    term: str
    parts: tuple[_Inner, ...] = ()


def test_all_faults_come_with_their_places() -> None:
    """A missing key, an unknown key and a wrong kind are reported together."""
    located = parse_yaml(text_source("zzz: x\nparts:\n  - name: [a]\n  - xyz: b\n")).value
    assert located is not None
    checked = validate(_Outer, located, code="entry-field")
    assert sorted(faults(checked)) == [
        ("a.yml:1:1", "entry-field"),
        ("a.yml:1:1", "entry-field"),
        ("a.yml:3:5", "entry-field"),
        ("a.yml:4:5", "entry-field"),
        ("a.yml:4:5", "entry-field"),
    ]
    assert "remove it; the keys are parts, term" in [each.hint for each in checked.problems]


def test_problems_are_told_in_the_order_in_which_people_count() -> None:
    """At one place row 2 stands before row 10, and numbers go before what has none."""
    words = ["row 10 is wrong", "row 2, column 3", "row 2, column 10", "row 2", "rows 1", ""]
    problems = [Problem(place=Place("a.py", 3), code="c", message=word) for word in words]
    told = [problem.message for problem in sorted(problems)]
    assert told == ["", "row 2", "row 2, column 3", "row 2, column 10", "row 10 is wrong", "rows 1"]


def test_a_mistyped_key_is_one_problem() -> None:
    """At any depth it is read as it is meant: that the right one is missing is not told too."""
    located = parse_yaml(text_source("trem: [x]\nprats:\n  - nam: b\n    names: c\n")).value
    assert located is not None
    told = [(str(p.place), p.message, p.hint) for p in validate(_Outer, located, code="x").problems]
    assert told == [
        ("a.yml:1:1", "'trem' is not a key used here", "did you mean 'term'?"),
        ("a.yml:2:1", "'prats' is not a key used here", "did you mean 'parts'?"),
        ("a.yml:3:5", "'parts.0.nam' is not a key used here", "did you mean 'name'?"),
        ("a.yml:1:1", "term: expected a text, found [x]", ""),
        ("a.yml:4:5", "'parts.0.names' is not a key used here", "did you mean 'name'?"),
    ]
    assert mended(_Outer, located).data == {"term": ["x"], "parts": [{"name": "b", "names": "c"}]}


@pytest.mark.parametrize(
    ("text", "place"),
    [("a:\n\tb: c\n", "a.yml:2:1"), ("a: b\n  \tc: d\n", ""), ("- a\n\t- b: {\n", "a.yml:2:1")],
)
def test_a_tab_is_told_as_a_tab(text: str, place: str) -> None:
    """YAML's own words for it name no tab; the hint says what to type instead."""
    problems = parse_yaml(text_source(text)).problems
    if place:
        assert [(str(p.place), p.hint) for p in problems] == [(place, "indent with blanks")]
    assert all("tab" in problem.message for problem in problems)


def test_a_part_without_a_place_has_the_one_around_it() -> None:
    """Where only the whole is placed, each part is placed there."""
    located = Located({"a": [1]}, "x", {(): (0, 0)})
    assert located.place(("a", 0)) == Place("x")
