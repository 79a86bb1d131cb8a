"""Hand-written pages that show what was measured, built by MkDocs and audited."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from measured_glossary import catalogue
from measured_glossary.audit import audit
from measured_glossary.expectation import expectation
from measured_glossary.terms import link
from mkdocs_world import mkdocs
from site_world import Site, new_site

CASE = Path(__file__).parent / "sites" / "hand-written"
PAGE = "lessons/first/index.html"
ROWS = {
    "mismatches": [
        {"threads": 32, "wrong": [0, 0, 0], "launched": 1},
        {"threads": 64, "wrong": [12, 7, 31], "launched": 1},
    ]
}


def laid_out(root: Path, cache: Path) -> Site:
    """The golden case, with its record."""
    shutil.copytree(CASE, root, ignore=shutil.ignore_patterns("case.yml", "expected"))
    return new_site(root, cache).record("copy", ROWS)


def test_a_page_shows_what_a_draft_shows_and_nothing_leaks(tmp_path: Path, lab_cache: Path) -> None:
    """A draft and a page share an experiment: its page is public, the draft's words are not."""
    site = laid_out(tmp_path / "site", lab_cache)
    built = mkdocs(site, "--quiet")
    assert (built.status, built.output) == (0, "")
    assert "up to 31 elements" in (built.folder / PAGE).read_text("utf-8")
    assert (built.folder / "experiments/copy/test-gpu.json").is_file()
    assert not (built.folder / "glossary/warp").exists()
    assert audit(built.folder, expectation(site.build(), ())) == ()


def test_a_page_without_a_record_is_built_and_says_so(tmp_path: Path, lab_cache: Path) -> None:
    """A figure that nobody has measured yet keeps no site from being built."""
    site = laid_out(tmp_path / "site", lab_cache).remove("measurements")
    built = mkdocs(site, "--quiet")
    assert (built.status, built.output) == (0, "")
    text = (built.folder / PAGE).read_text("utf-8")
    assert "[a value that could not be found]" in text
    assert "No measurement yet" in text or "not measured" in text.casefold()


def test_a_tooltip_has_the_question_that_its_answer_needs(tmp_path: Path, lab_cache: Path) -> None:
    """A linked term whose answer begins with 'Yes' tells what was asked."""
    text = (CASE / "glossary/warp/entry.md").read_text("utf-8")
    site = laid_out(tmp_path / "site", lab_cache)
    site.write(
        "glossary/warp/entry.md", re.sub("(?m)^answer: .*", "answer: Yes, if it must.", text)
    )
    known = catalogue.terms(site.build(), drafts=True)
    question = re.findall("(?m)^question: (.*)", text)[0]
    linked = link("It has a warp.", known, page="lessons/first.md", own="")
    assert f'(../glossary/warp/index.md "{question} Yes, if it must.")' in linked
