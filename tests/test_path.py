"""Study paths of the authors: what their files may say, and what of them is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from measured_glossary import website
from measured_glossary.audit import audit
from measured_glossary.expectation import expectation
from measured_glossary.path import StudyPath, json_schema, read_paths
from measured_glossary.path_pages import scripts
from measured_glossary.problem import Checked
from mkdocs_world import mkdocs
from site_world import ENTRY, Site, new_site

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "plugins" / "measured_glossary"
SCHEMA = PACKAGE / "schema" / "path.schema.json"
ASSETS = PACKAGE / "assets" / "study-path"
ENTRIES = ("block", "warp")
LESSON = "lessons/1-first/index.md"
PATH = f"""\
title: From a warp to a block
description: Begins with a warp and ends with a block.
steps:
  - entry: warp
    note: It is the smallest.
  - page: {LESSON}
  - entry: block
    note: It is made of warps, says notecanary.
"""
BLOCK = ENTRY.replace("term: warp", "term: block").replace("What is a warp?", "What is a block?")
FILES = {
    "glossary/warp/entry.md": ENTRY,
    "glossary/block/entry.md": BLOCK.replace("A warp is 32 threads", "A block is blockcanary"),
    f"docs/{LESSON}": "# First lesson\n\nIt is about warps.\n",
    "docs/lessons/10-tenth/index.md": "# Tenth lesson\n\nIt comes last.\n",
    "docs/lessons/2-second/index.md": "# Second lesson\n\nIt is about blocks.\n",
    "paths/up.yml": PATH,
}


def checked(root: Path, text: str, name: str = "up.yml") -> Checked[tuple[StudyPath, ...]]:
    """Read one file of a project with a lesson and two entries."""
    for file, content in {f"docs/{LESSON}": "# Lesson\n", f"paths/{name}": text}.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(content, encoding="utf-8", newline="\n")
    return read_paths(root, ENTRIES, root / "docs")


def faults(root: Path, text: str, name: str = "up.yml") -> list[str]:
    """Give place and code of each fault of a file."""
    return [f"{p.place}: {p.code}" for p in checked(root, text, name).problems]


# ── files ────────────────────────────────────────────────────────────────────────────────────


def test_a_path_is_read(tmp_path: Path) -> None:
    """A file gives a path called like the file, with its steps in order."""
    (path,) = checked(tmp_path, PATH).value or ()
    assert (path.id, path.uri) == ("up", "paths/up/index.md")
    assert [step.target for step in path.outline.steps] == ["warp", LESSON, "block"]


def test_a_project_needs_no_path(tmp_path: Path) -> None:
    """Without the folder there is no path, and nothing is wrong."""
    assert read_paths(tmp_path, ENTRIES, tmp_path / "docs") == Checked(value=())


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """Keys, unknown entries and pages and repeated steps are found in one go, each in its line."""
    text = (
        "titel: Up\ndescription: Up.\nsteps:\n  - entry: warp\n  - entry: lane\n  - entry: warp\n"
        "  - page: lessons/gone/index.md\n  - page: lesson.md\n  - note: nowhere\n"
        "  - entry: block\n    page: lessons/1-first/index.md\n  - entry: Block\n"
    )
    assert faults(tmp_path, text) == [
        "paths/up.yml:1:1: path-field",  # 'titel' is no key
        "paths/up.yml:5:5: unknown-step",
        "paths/up.yml:6:5: repeated-step",
        "paths/up.yml:7:5: unknown-step",
        "paths/up.yml:8:5: path-field",  # no folder's index
        "paths/up.yml:9:5: path-field",  # neither
        "paths/up.yml:10:5: path-field",  # both
        "paths/up.yml:12:5: path-field",  # no id
    ]


def test_hints_say_what_to_type(tmp_path: Path) -> None:
    """An unknown entry is answered with those that there are; a repeated step with its line."""
    text = (
        "title: Up\ndescription: Up.\nsteps:\n  - entry: lane\n  - entry: warp\n  - entry: warp\n"
    )
    unknown, repeated = checked(tmp_path, text).problems
    assert (unknown.message, unknown.hint) == (
        "there is no entry 'lane'",
        "the entries are: block, warp",
    )
    assert repeated.message == "'warp' is a step already, in line 5"


@pytest.mark.parametrize("name", ["Up.yml", "up.yaml", "a b.yml", "notes.txt"])
def test_another_file_among_paths_is_told(tmp_path: Path, name: str) -> None:
    """A file whose name makes no address is read by nobody, and its author is told so."""
    assert faults(tmp_path, PATH, name) == [f"paths/{name}: stray-file"]


@pytest.mark.parametrize("text", ["", "steps", "- entry: warp\n", "steps: {}\n", "a: &b c\n"])
def test_a_file_of_another_form_is_a_fault_and_no_crash(tmp_path: Path, text: str) -> None:
    """Whatever the file holds, it is answered with problems at a place in it."""
    found = checked(tmp_path, text)
    assert found.value == ()
    assert all(p.place.file == "paths/up.yml" for p in found.problems)
    assert found.problems


def test_the_schema_for_editors_is_up_to_date(request: pytest.FixtureRequest) -> None:
    """The shipped JSON Schema is what the model says; --update-golden writes it."""
    wanted = json.dumps(json_schema(), indent=2) + "\n"
    if request.config.getoption("update_golden"):
        SCHEMA.write_text(wanted, encoding="utf-8", newline="\n")
    assert SCHEMA.read_text(encoding="utf-8") == wanted


def test_the_paths_of_this_glossary_lead_somewhere() -> None:
    """Each shipped path is without a fault, and one of them leads over every entry."""
    entries = [path.parent.name for path in ROOT.glob("glossary/*/entry.md")]
    read = read_paths(ROOT, entries, ROOT / "docs")
    assert read.problems == ()
    told = without_a_step(entries, read.value or ())
    assert not told, told


def without_a_step(entries: Sequence[str], paths: Sequence[StudyPath]) -> str:
    """Say which entries the path that leads over most of them leaves out, and what to write."""
    named = {path.id: {step.entry for step in path.outline.steps} for path in paths}
    longest = max(named, key=lambda path: len(named[path]))
    missing = sorted(set(entries) - named[longest])
    steps = "".join(f"\n  - entry: {each}\n    note: Why it is read here." for each in missing)
    return f"paths/{longest}.yml leads over every entry; add where it fits:{steps}" * bool(missing)


def test_an_entry_without_a_step_is_named_with_what_to_write() -> None:
    """Who wrote an entry and no step of the path over all entries reads what to add, and where."""
    entries = [path.parent.name for path in ROOT.glob("glossary/*/entry.md")]
    paths = read_paths(ROOT, entries, ROOT / "docs").value or ()
    told = without_a_step([*entries, "vectorised-load"], paths)
    assert re.fullmatch(
        r"paths/[a-z-]+\.yml leads over every entry; add where it fits:\n"
        r"  - entry: vectorised-load\n    note: Why it is read here\.",
        told,
    )


# ── pages ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def site(tmp_path: Path, lab_cache: Path) -> Site:
    """Give a glossary with a path over a published entry, a lesson and a draft."""
    return new_site(tmp_path / "site", lab_cache, FILES).publish("warp")


def output(site: Site, uri: str, *, drafts: bool) -> str:
    """Give a file of the site as text."""
    made = website.outputs(site.build(), site.root / "docs", drafts=drafts)
    (content,) = [out.content for out in made if out.uri == uri]
    return content if isinstance(content, str) else content.decode("utf-8")


def known(site: Site, *, drafts: bool) -> dict[str, dict[str, object]]:
    """Give what the page of paths knows of each step, by id."""
    script = output(site, "paths/steps.js", drafts=drafts)
    found = re.fullmatch(r"window\.measuredGlossarySteps = (.*);\n", script)
    assert found
    return {stop["id"]: stop for stop in json.loads(found[1])}


def test_a_draft_is_a_step_in_previews_only(site: Site) -> None:
    """In public the list is shorter and says so; a preview shows the draft, marked as one."""
    public = output(site, "paths/up/index.md", drafts=False)
    preview = output(site, "paths/up/index.md", drafts=True)
    assert "1 of its 3 steps is not published" in public
    assert "canary" not in public
    assert "2. [First lesson](../../lessons/1-first/index.md)" in public
    assert "3. [What is a block?](../../glossary/block/index.md)" in preview
    assert '(<span class="mg-state">draft</span>)' in preview
    assert "not published" not in preview


def test_the_page_knows_only_what_may_be_shown(site: Site) -> None:
    """Readers compose from published entries and lessons; a lesson knows the one before it."""
    found = known(site, drafts=False)
    lessons = [LESSON, "lessons/2-second/index.md", "lessons/10-tenth/index.md"]
    assert list(found) == ["warp", *lessons]
    assert [found[uri].get("before") for uri in lessons] == [None, *lessons[:2]]
    assert "state" not in found["warp"]
    assert known(site, drafts=True)["block"]["state"] == "draft"


def test_an_entry_names_the_paths_that_lead_over_it(site: Site) -> None:
    """Where you meet this: the path, and which of its steps the entry is."""
    assert "- [From a warp to a block](../../paths/up/index.md): step 1 of 2" in output(
        site, "glossary/warp/index.md", drafts=False
    )


def test_the_site_is_built_without_a_warning_and_nothing_leaks(site: Site) -> None:
    """A strict build is quiet, and neither a draft's words nor a note on it occur in any file."""
    built = mkdocs(site, "--quiet")
    assert (built.status, built.output) == (0, "")
    assert built.files_with("canary") == []
    assert "From a warp to a block" in built.main("paths/index.html")
    assert audit(built.folder, expectation(site.build(), ())) == ()


def test_a_path_may_use_the_words_of_a_draft(site: Site) -> None:
    """What a path says of itself is public by its author's wish: no trace of a draft."""
    site.replace("paths/up.yml", "Begins with a warp", "A block is blockcanary")
    built = mkdocs(site, "--quiet")
    assert audit(built.folder, expectation(site.build(), ())) == ()


def test_the_control_stands_below_a_lesson_s_heading(site: Site) -> None:
    """A lesson can be added to a path; a page that is no step cannot."""
    made = website.website(site.build(), site.root / "docs", drafts=False)
    lesson = website.link_terms(made, LESSON, "# Lesson\n\nText.\n")
    assert lesson.startswith(f'# Lesson\n\n<p class="mg-add" data-step="{LESSON}" markdown="1">')
    assert "[Study paths](../../paths/index.md)</p>\n\n\nText." in lesson
    assert "mg-add" not in website.link_terms(made, "index.md", "# Home\n")


def test_a_wrong_path_refuses_the_build(site: Site) -> None:
    """A step that leads nowhere keeps the last good site where it is."""
    site.replace("paths/up.yml", "entry: block", "entry: blok")
    built = mkdocs(site, "--quiet")
    assert built.status == 1
    assert "paths/up.yml:7:5: unknown-step: there is no entry 'blok'" in built.output


# ── scripts ──────────────────────────────────────────────────────────────────────────────────


def test_no_two_modules_name_the_same() -> None:
    """The modules are joined into one scope, where a second function would replace the first."""
    names = [
        name
        for path in sorted(ASSETS.glob("*.js"))
        for name in re.findall(
            r"^(?:export )?(?:async )?(?:function|const) (\w+)", path.read_text("utf-8"), re.M
        )
    ]
    assert sorted(names) == sorted(set(names))


def test_the_script_of_every_page_is_small() -> None:
    """An entry's page loads the control alone, without the page that composes."""
    made = scripts()
    assert len(made["add-step.js"]) < 5000
    assert "measuredGlossarySteps" not in made["add-step.js"]
    assert not re.search(r"^(import|export) ", "".join(made.values()), re.M)
