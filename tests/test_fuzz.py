"""Whatever is thrown at the readers, the answer is a value or problems with places in the file."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from measured_glossary.body import Text, escape_identifiers, pieces
from measured_glossary.entry import parse
from measured_glossary.excerpt import cut, sections
from measured_glossary.problem import Checked
from measured_glossary.scan import scan
from measured_glossary.source import Source, decode, parse_json, parse_yaml

quick = settings(
    deadline=None,
    max_examples=int(os.environ.get("GLOSSARY_FUZZ", 200)),
    suppress_health_check=list(HealthCheck),
)

BITS = [
    "---", "\n", "\n", "\r\n", "\r", " ", "    ", "\t", "`", "```", "~~~", "{{", "}}", "{{ x }}",
    "\\", "<!--", "-->", "[a](", ")", "]:", "[^1]:", "<", ">", ":::", "::: a b", "- ", "1. ", "# ",
    "!!!", "|", "\"", "“", "”", "…", "Written by:", "__x__", "&", "*", "!", "a: b", "? ", "&a",
    "*a", "!t",
    "--8<-- [start:a]", "--8<-- [end:a]", "// ", "\u202e", "\ufeff", "\x00", "\x85", "漢字",
    "é", "x", "[", "]", "{", "}", ",", "'", "1e999", "\\ud800", "NO", "term: warp", "sources:",
    "quotes: [a b]",
]  # fmt: skip
texts = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(BITS), max_size=40).map("".join),
)
raws = st.one_of(st.binary(max_size=80), texts.map(lambda text: text.encode(errors="replace")))


def check(checked: Checked[Any], source: Source) -> None:
    """A value or problems, and each problem somewhere in the file."""
    assert checked.value is not None or checked.problems
    rows = source.text.split("\n")
    for problem in checked.problems:
        place = problem.place
        assert place.file == source.file
        assert 0 <= place.line <= len(rows)
        assert 0 <= place.column <= (len(rows[place.line - 1]) + 1 if place.line else 0)
        assert problem.code
        assert problem.message
        str(problem).encode()


def readable(raw: bytes) -> Source:
    """The source of some bytes, where they are text; an empty one otherwise."""
    checked = decode("a", raw)
    check(checked, Source("a", raw, raw.decode("utf-8", errors="replace")))
    return checked.value or Source("a", b"", "")


@quick
@given(raws)
def test_any_bytes_are_decoded_or_refused(raw: bytes) -> None:
    """Decoding gives text or problems."""
    readable(raw)


@quick
@given(raws)
@example(b"a: 'x\n\n")
@example(b"%YAML 9.9\n---\na")
@example(b"%TAG ! tag:x,2000:\n---\n!x a")
@example(b"a:\r\n  - b\r\n \t- c")
@example(b"? \n: \n? \n: \n")
def test_any_yaml_is_text_lists_and_mappings_or_problems(raw: bytes) -> None:
    """Nothing but text comes out of the YAML reader, whatever a scalar looks like."""
    source = readable(raw)
    checked = parse_yaml(source)
    check(checked, source)
    if checked.value:
        only_text(checked.value.data)
        assert () in checked.value.places


def only_text(data: Any) -> None:
    """Lists, mappings and text, all the way down."""
    assert isinstance(data, str | list | dict)
    for part in [*data, *data.values()] if isinstance(data, dict) else data:
        assert isinstance(part, str | list | dict)
        if not isinstance(data, str):
            only_text(part)


@quick
@given(raws)
@example(b"[" * 5_000)
@example(b'{"a":' * 5_000)
@example(b'"\\udc00"')
def test_any_json_is_read_or_refused(raw: bytes) -> None:
    """Reading JSON gives a value or problems."""
    source = readable(raw)
    checked = parse_json(source)
    check(checked, source)
    if checked.value:
        str(checked.value.data).encode()


@quick
@given(raws)
@example(b"# ")
@example(b"# #")
def test_any_entry_is_read_or_refused(raw: bytes) -> None:
    """Parsing an entry gives it or problems, with and without a front matter."""
    for whole in (raw, b"---\n" + raw, b"---\nterm: x\n---\n" + raw):
        source = readable(whole)
        check(parse("a", source), source)


@quick
@given(texts)
def test_any_body_is_split_and_its_pieces_make_it_again(text: str) -> None:
    """Regions do not overlap, and what is not expanded stands in the pieces as it was."""
    source = Source("a", text.encode(errors="replace"), text)
    checked = pieces(source, text)
    check(checked, source)
    markup = scan(text)
    assert "".join(part for _, part in markup.parts()) == text
    assert len(markup.without("fence", "code", "comment", "link", "value", "block")) == len(text)
    kept = "".join(p.markdown for p in checked.value or () if isinstance(p, Text))
    assert not checked.value or kept == "".join(
        part for kind, part in markup.parts() if kind not in ("value", "block")
    )


@quick
@given(texts)
def test_escaping_twice_is_escaping_once(text: str) -> None:
    """Escaping adds backslashes before underscores and nothing else, and is done when done."""
    once = escape_identifiers(text)
    assert escape_identifiers(once) == once
    assert once.replace("\\_", "_") == text.replace("\\_", "_")


@quick
@given(raws)
def test_any_code_is_cut_or_refused(raw: bytes) -> None:
    """Cutting gives an excerpt within the file or problems."""
    source = readable(raw)
    for section in (None, "a"):
        checked = cut(source, section)
        check(checked, source)
        if checked.value:
            assert 1 <= checked.value.first_line <= checked.value.last_line
            assert checked.value.last_line <= source.raw.count(b"\n") + 1
    assert set(sections(source)) <= {"a"}


@pytest.mark.parametrize(
    "bit", ["`", " ", "{{", "{{ `", "<!--", "](", "[^", '"', "- ", "\\", "=\n", "-8<"]
)
def test_a_large_file_of_one_sign_takes_no_time(bit: str) -> None:
    """The time grows with the size and not with its square, whoever wrote the file."""
    text = bit * (60_000 // len(bit))
    source = readable(b"---\n---\n" + text.encode())
    began = time.process_time()
    parse("a", source)
    escape_identifiers(text)
    cut(source, "a")
    assert time.process_time() - began < 20
