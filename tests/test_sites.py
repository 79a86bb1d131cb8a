"""Golden cases: each folder of `sites/` is a tiny glossary with the output it must give.

`case.yml` says what it shows, which steps complete it, and which of its pages are compared.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from measured_glossary import status, website
from measured_glossary.problem import Refused, to_text
from mkdocs_world import mkdocs
from site_world import Site, new_site, take

SITES = Path(__file__).parent / "sites"
CASES = sorted(path.parent.name for path in SITES.glob("*/case.yml"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case as its `case.yml` describes it."""

    folder: Path
    says: str
    steps: tuple[dict[str, Any], ...] = ()
    pages: tuple[str, ...] = ()
    main: tuple[str, ...] = ()


def read_case(name: str) -> Case:
    """Read a case; an unknown key is a mistake."""
    text = (SITES / name / "case.yml").read_text(encoding="utf-8")
    given: dict[str, Any] = yaml.safe_load(text)
    lists = {key: tuple(value) for key, value in given.items() if key != "says"}
    return Case(folder=SITES / name, says=given["says"], **lists)


def laid_out(case: Case, root: Path, cache: Path) -> Site:
    """Copy a case's glossary, complete it, and take its steps."""
    kept = shutil.ignore_patterns("case.yml", "expected")
    shutil.copytree(case.folder, root, ignore=kept)
    site = new_site(root, cache)
    for step in case.steps:
        take(site, step)
    return site


def outcome(case: Case, site: Site) -> dict[str, str]:
    """Give what a case comes to, by the name of its file below `expected/`."""
    try:
        glossary = site.build()
    except Refused as refused:
        return {"refused.txt": f"{refused}\n"}
    docs = site.root / "docs"
    found = [p for entry in glossary.entries for p in entry.verdict.reasons]
    found += website.reference_faults(glossary, docs)
    outputs = {out.uri: out for out in website.outputs(glossary, docs, drafts=True)}
    public = website.outputs(glossary, docs, drafts=False)
    made = {
        "problems.txt": f"{to_text(found)}\n" if found else "",
        "status.txt": f"{status.as_text(glossary)}\n",
        "outputs.txt": "".join(f"{out.uri}\n" for out in public),
        **{f"pages/{uri}": text_of(outputs[uri].content) for uri in case.pages},
        **dict(built_pages(case, site)),
    }
    return {name: text for name, text in made.items() if text}


def built_pages(case: Case, site: Site) -> Iterator[tuple[str, str]]:
    """Give the main element of the pages that a case wants to see built."""
    if case.main:
        built = mkdocs(site, "--quiet")
        assert (built.status, built.output) == (0, "")
        yield from ((f"main/{page}", built.main(page)) for page in case.main)


def text_of(content: str | bytes) -> str:
    """Give an output's content as text, whatever compiler is there."""
    text = content if isinstance(content, str) else content.decode("utf-8")
    return re.sub(r"(?<=by this build with )[^;]+(?=; this needs)", "some compiler", text)


def expected(case: Case) -> dict[str, str]:
    """Give what a case must come to."""
    top = case.folder / "expected"
    files = (path for path in sorted(top.rglob("*")) if path.is_file())
    return {path.relative_to(top).as_posix(): path.read_text(encoding="utf-8") for path in files}


def rewrite(case: Case, made: dict[str, str]) -> None:
    """Make what is there now what must be there."""
    shutil.rmtree(case.folder / "expected", ignore_errors=True)
    for name, text in made.items():
        path = case.folder / "expected" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


@pytest.mark.parametrize("name", CASES)
def test_a_site_gives_what_is_expected(
    name: str, tmp_path: Path, lab_cache: Path, request: pytest.FixtureRequest
) -> None:
    """Problems, status, public files and chosen pages of a case are those written down."""
    case = read_case(name)
    made = outcome(case, laid_out(case, tmp_path / "site", lab_cache))
    if request.config.getoption("update_golden"):
        rewrite(case, made)
    wanted = expected(case)
    for file in sorted({*made, *wanted}):
        assert made.get(file, "") == wanted.get(file, ""), f"{name}: {file}: {case.says}"


@pytest.mark.parametrize("name", CASES)
def test_an_expectation_tells_nothing_of_the_machine(name: str) -> None:
    """No absolute path, and no trace of where the tests ran, is written down."""
    for file, text in expected(read_case(name)).items():
        assert not re.search(r"(?<![\w.<])/(tmp|home|root|usr|work|var)/", text), f"{name}: {file}"


def test_every_folder_is_a_case() -> None:
    """A folder without its `case.yml` would never be built."""
    assert sorted(path.name for path in SITES.iterdir() if path.is_dir()) == CASES
