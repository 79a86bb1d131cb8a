"""Nothing is left out in silence: files beside entries, records of no experiment."""

from __future__ import annotations

from pathlib import Path

from measured_glossary.leftover import problems
from site_world import ENTRY, new_site

WARP = "glossary/warp/entry.md"


def found(root: Path, cache: Path, **files: str) -> list[str]:
    """Give place and code of what belongs to nothing, beside a good entry."""
    more = {name.replace("__", "/"): text for name, text in files.items()}
    site = new_site(root, cache, {WARP: ENTRY, **more})
    return [f"{problem.place}: {problem.code}" for problem in problems(site.root)]


def test_a_glossary_without_leftovers(tmp_path: Path, lab_cache: Path) -> None:
    """Entries, settings, registry, records of experiments and dot files are where they belong."""
    code = {"code/copy/experiment.py": "", "measurements/copy/test-gpu.json": "{}"}
    assert found(tmp_path, lab_cache, **code, **{"glossary/.directory": ""}) == []


def test_a_file_beside_entries_is_told(tmp_path: Path, lab_cache: Path) -> None:
    """Who writes `glossary/lane.md` waits in vain for a page, and is told so."""
    assert found(tmp_path, lab_cache, **{"glossary/lane.md": "# Lane\n"}) == [
        "glossary/lane.md: stray-file"
    ]


def test_a_link_to_a_file_is_told_as_one(tmp_path: Path) -> None:
    """A link beside entries is what it leads to; one that leads to itself is no file."""
    (tmp_path / "glossary").mkdir()
    (tmp_path / "lane.md").touch()
    for name, target in {"lane.md": "../lane.md", "loop": "loop", "gone": "nowhere"}.items():
        (tmp_path / "glossary" / name).symlink_to(target)
    assert [problem.place.file for problem in problems(tmp_path)] == ["glossary/lane.md"]


def test_a_record_of_no_experiment_is_told(tmp_path: Path, lab_cache: Path) -> None:
    """A record whose experiment was renamed or deleted backs nothing any more."""
    files = {"measurements/gone/test-gpu.json": "{}", "measurements/loose.json": "{}"}
    assert found(tmp_path, lab_cache, **files) == [
        "measurements/gone: unused-record",
        "measurements/loose.json: unused-record",
    ]


def test_an_empty_project_has_no_leftovers(tmp_path: Path) -> None:
    """Folders that are not there hold nothing."""
    assert list(problems(tmp_path)) == []
