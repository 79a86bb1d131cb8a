"""New glossaries and entries: ids, files, and that nothing is ever overwritten or half-written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from measured_glossary.entry import parse
from measured_glossary.problem import Refused
from measured_glossary.project import read_project
from measured_glossary.scaffold import (
    MAX_ID,
    draft,
    file_of_test,
    new_entry,
    new_glossary,
    slug,
    write_all,
)
from measured_glossary.source import Source, decode
from measured_glossary.trust.registry import PEOPLE_FILE, read_registry

ID = re.compile(r"[a-z0-9](-?[a-z0-9])*")


@pytest.mark.parametrize(
    ("term", "made"),
    [
        ("__syncthreads()", "syncthreads"),
        ("Shared memory bank conflict", "shared-memory-bank-conflict"),
        ("C++", "c"),
        ("Überlauf", "uberlauf"),
        ("  -- a / b -- ", "a-b"),
        ("共享", ""),
        ("", ""),
        ("a" * 59 + " b", "a" * 59),
    ],
)
def test_an_id_is_made_from_a_term(term: str, made: str) -> None:
    """Letters and digits stay, everything between them is one hyphen."""
    assert slug(term) == made


@given(st.text(max_size=200))
def test_any_id_is_one(term: str) -> None:
    """Whatever the term, what is made of it is an entry's id or nothing."""
    made = slug(term)
    assert made == "" or (ID.fullmatch(made) and len(made) <= MAX_ID)


@settings(max_examples=60)
@given(st.text(max_size=120))
def test_any_folder_makes_a_glossary(folder: str) -> None:
    """Whatever the folder is called, settings, registry and MkDocs' file can be read."""
    files = new_glossary(folder)
    people = decode(PEOPLE_FILE, files[PEOPLE_FILE].encode()).value
    assert people
    assert read_registry(people).problems == ()
    assert 1 <= len(yaml.safe_load(files["glossary/settings.yml"])["title"]) <= 80
    assert yaml.safe_load(files["mkdocs.yml"])["site_name"]
    assert files["docs/index.md"].startswith("# ")


def test_new_settings_are_good(tmp_path: Path) -> None:
    """A new glossary's settings are accepted as they stand."""
    write_all(tmp_path, new_glossary("my-gpu-glossary"))
    read = read_project(tmp_path)
    assert read.problems == ()
    assert read.value
    assert read.value.title == "My gpu glossary"


@pytest.mark.parametrize("with_experiment", [True, False])
def test_a_new_entry_has_no_fault(with_experiment: bool) -> None:
    """Its text can be read as it stands, with and without an experiment."""
    wanted = replace(draft("bank conflict"), area="Memory", with_experiment=with_experiment)
    files = new_entry(wanted)
    file = "glossary/bank-conflict/entry.md"
    assert len(files) == (4 if with_experiment else 1)
    assert (file_of_test(wanted) in files) == with_experiment
    parsed = parse("bank-conflict", Source(file, files[file].encode(), files[file]))
    assert parsed.problems == ()
    assert parsed.value
    assert parsed.value.front.area == "Memory"


def test_no_placeholder_is_left() -> None:
    """Every word of a scaffold is filled in."""
    for text in {**new_entry(draft("x")), **new_glossary("z")}.values():
        assert not re.search(r"\$(?!\{)\w", text)


def test_all_files_are_written_or_none(tmp_path: Path) -> None:
    """One file in the way, and the others are not written either."""
    (tmp_path / "b.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(Refused) as refused:
        write_all(tmp_path, {"a.txt": "a", "b.txt": "b"})
    assert [str(problem.place) for problem in refused.value.problems] == ["b.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.txt"]
    assert (tmp_path / "b.txt").read_text(encoding="utf-8") == "mine"


def test_what_was_begun_is_taken_back(tmp_path: Path) -> None:
    """If a later file cannot be written, the earlier ones are gone again."""
    (tmp_path / "b").write_text("a file, and no folder", encoding="utf-8")
    with pytest.raises(Refused) as refused:
        write_all(tmp_path, {"a.txt": "a", "b/c.txt": "c"})
    assert [problem.code for problem in refused.value.problems] == ["cannot-write"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]


def test_lines_end_as_signatures_want(tmp_path: Path) -> None:
    """Files are written with LF on every system."""
    write_all(tmp_path, {"a.txt": "one\ntwo\n"})
    assert (tmp_path / "a.txt").read_bytes() == b"one\ntwo\n"


def test_a_file_where_a_folder_is_to_be_is_told_as_such(tmp_path: Path) -> None:
    """The hint is about the name, and not about permissions."""
    (tmp_path / "b").write_text("a file", encoding="utf-8")
    with pytest.raises(Refused) as refused:
        write_all(tmp_path, {"b/c.txt": "c"})
    assert [problem.hint for problem in refused.value.problems] == [
        "a file stands where a folder is to be: choose another name, or move the file away"
    ]


def test_an_offline_search_asks_no_other_host() -> None:
    """A new glossary has the script that this site has, so that none is fetched."""
    ours = Path(__file__).parents[1] / "docs" / "javascripts" / "iframe-worker.js"
    made = new_glossary("g")
    assert made["docs/javascripts/iframe-worker.js"] == ours.read_text(encoding="utf-8")
    assert "polyfills: [javascripts/iframe-worker.js]" in made["mkdocs.yml"]
