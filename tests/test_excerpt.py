"""Sections of code files: what is cut, where it stands, and which markers are refused."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from measured_glossary.excerpt import Excerpt, cut, sections
from measured_glossary.problem import Checked
from measured_glossary.source import Source, decode


def code(text: str | bytes) -> Source:
    """A source file of a text."""
    raw = text if isinstance(text, bytes) else text.encode()
    source = decode("a.cu", raw).value
    assert source is not None
    return source


def excerpt(text: str | bytes, section: str | None = "a") -> Excerpt:
    """An excerpt that must be there."""
    checked = cut(code(text), section)
    assert checked.problems == ()
    assert checked.value is not None
    return checked.value


def faults(checked: Checked[Any]) -> list[tuple[str, str]]:
    """Where and what, of each problem; a checked value with problems has no value."""
    assert checked.value is None
    return [(str(problem.place), problem.code) for problem in checked.problems]


@pytest.mark.parametrize(
    ("before", "behind"),
    [("// ", ""), ("# ", ""), ("/* ", " */"), ("-- ", ""), ("; ", ""), ("<!-- ", " -->"),
     ("//", ""), ("\t// ", "  "), ("/// ", ""), ("", "")],
)  # fmt: skip
def test_markers_stand_behind_any_comment_sign(before: str, behind: str) -> None:
    """The signs MkDocs users know work in every language of a project."""
    start, end = (f"{before}--8<-- [{kind}:a]{behind}" for kind in ("start", "end"))
    assert excerpt(f"x\n{start}\ny\n{end}\nz\n").lines == ("y",)


def test_lines_and_digest_can_be_checked_with_sed() -> None:
    """First and last line count in the file, and the digest is of just these raw lines."""
    start, end = b"// --8<-- [start:a]\r\n", b"// --8<-- [end:a]\r\n"
    raw = b"\xef\xbb\xbfint x;\r\n" + start + b"\r\n\tint y;\r\n\tint z;\r\n" + end
    found = excerpt(raw)
    assert (found.first_line, found.last_line) == (4, 5)
    assert found.lines == ("int y;", "int z;")
    assert found.sha256 == hashlib.sha256(b"\tint y;\r\n\tint z;\r\n").hexdigest()


def test_common_indentation_is_removed_and_no_more() -> None:
    """Deeper lines keep their steps; empty lines count for nothing."""
    text = "  // --8<-- [start:a]\n    if (x) {\n\n        y;\n    }\n  // --8<-- [end:a]\n"
    assert excerpt(text).lines == ("if (x) {", "", "    y;", "}")


def test_tabs_and_blanks_are_not_the_same() -> None:
    """A tab is not taken for a number of blanks, so mixed lines stay as they are."""
    assert excerpt("// --8<-- [start:a]\n\tx\n    y\n// --8<-- [end:a]\n").lines == ("\tx", "    y")


def test_other_sections_lose_their_markers_only() -> None:
    """A section that holds or crosses another shows its code without the other's marker lines."""
    text = (
        "// --8<-- [start:a]\none\n// --8<-- [start:b]\ntwo\n"
        "// --8<-- [end:a]\nthree\n// --8<-- [end:b]\n"
    )
    assert excerpt(text, "a").lines == ("one", "two")
    assert excerpt(text, "b").lines == ("two", "three")
    assert sections(code(text)) == ("a", "b")


def test_the_whole_file_comes_without_markers() -> None:
    """Without a section's name all lines are there but those of markers."""
    found = excerpt("one\n// --8<-- [start:a]\ntwo\n// --8<-- [end:a]\n", None)
    assert (found.lines, found.first_line, found.last_line) == (("one", "two"), 1, 3)


def test_letters_of_any_script_come_through() -> None:
    """Comments in Chinese or with signs beyond ASCII are code as well."""
    text = "// --8<-- [start:a]\n// 线程块内的屏障 – ä\n// --8<-- [end:a]"
    assert excerpt(text).lines == ("// 线程块内的屏障 – ä",)


def test_a_file_without_a_last_line_end_is_cut_too() -> None:
    """The last line's digest is of what is there."""
    found = excerpt("one\ntwo", None)
    assert found.lines == ("one", "two")
    assert found.sha256 == hashlib.sha256(b"one\ntwo").hexdigest()


START, END = "// --8<-- [start:a]\n", "// --8<-- [end:a]\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x\n", [("a.cu", "section-missing")]),
        (START + "x\n", [("a.cu:1:4", "section-unclosed")]),
        ("x\n" + END, [("a.cu:2:4", "section-end-first")]),
        (START + "x\n" + END + END, [("a.cu:4:4", "section-end-first")]),
        (START + "x\n" + END + START + "y\n" + END,
         [("a.cu:4:4", "section-doubled")]),
        (START + "x\n" + START + "y\n" + END, [("a.cu:3:4", "section-nested")]),
        (START + END, [("a.cu:1:4", "section-empty")]),
        (START + "\n  \n" + END, [("a.cu:1:4", "section-empty")]),
        (START + "// --8<-- [start:b]\n// --8<-- [end:b]\n" + END,
         [("a.cu:1:4", "section-empty"), ("a.cu:2:4", "section-empty")]),
        (START + "x\n" + END + "int y; // --8<-- [start:b]\n", [("a.cu:4:11", "section-marker")]),
        (START + "x\n" + END + "// --8<-- [begin:b]\n", [("a.cu:4:4", "section-marker")]),
        (START + "x\n" + END + "// --8<-- [start:]\n", [("a.cu:4:4", "section-marker")]),
        (START + "x\n" + END + '// --8<-- "file"\n', [("a.cu:4:4", "section-marker")]),
    ],
)  # fmt: skip
def test_a_marker_that_is_wrong_has_its_own_code(text: str, found: list[tuple[str, str]]) -> None:
    """Missing, unclosed, doubled, nested, empty and misspelt sections are told apart."""
    assert faults(cut(code(text), "a")) == found


def test_a_missing_section_is_told_with_those_there_are() -> None:
    """The message lists the names, so that a slip is seen at once."""
    checked = cut(code(START + "x\n" + END), "A")
    assert faults(checked) == [("a.cu", "section-missing")]
    assert checked.problems[0].message == "a.cu has no section 'A'; its sections are: a"


def test_a_section_that_is_nearly_named_is_asked_for() -> None:
    """Markers are to be written only where no section is meant that is there."""
    text = (
        START.replace("[start:a]", "[start:loose]") + "x\n" + END.replace("[end:a]", "[end:loose]")
    )
    hints = [cut(code(text), name).problems[0].hint for name in ("losse", "aligned")]
    assert hints == [
        "did you mean 'loose'?",
        "write '--8<-- [start:aligned]' and '[end:aligned]' behind comment signs",
    ]


def test_a_fault_anywhere_refuses_every_cut() -> None:
    """A file with one bad marker is not cut at its good ones, nor whole."""
    text = START + "x\n" + END + "// --8<-- [start:b]\n"
    assert faults(cut(code(text), "a")) == faults(cut(code(text), None))


@pytest.mark.parametrize("text", ["", "\n\n", "// --8<-- [start:a]\n// --8<-- [end:a]\n"])
def test_a_file_with_nothing_in_it_gives_no_excerpt(text: str) -> None:
    """An empty whole is as empty as an empty section."""
    assert {code for _, code in faults(cut(code(text), None))} == {"section-empty"}


def test_arrows_of_code_are_no_markers() -> None:
    """`n-8<-k` is an expression, not a pair of scissors."""
    assert excerpt("bool x = n-8<-k;\n", None).lines == ("bool x = n-8<-k;",)
