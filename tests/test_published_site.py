"""A published site as a whole: what its files say, and that no file has a word of a draft."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from pathlib import Path

import pytest

from browser import worlds
from measured_glossary.audit import audit
from measured_glossary.expectation import expectation
from site_world import Site

ROOT = worlds.ROOT
LIMIT_BYTES = 30 * 1024
OURS = (
    "assets/measured-glossary/glossary.css",
    "assets/measured-glossary/terms.js",
    "assets/measured-glossary/add-step.js",
    "assets/measured-glossary/search.js",
    "assets/measured-glossary/tile-lifecycle.js",
    "stylesheets/site.css",
    "javascripts/site.js",
    "javascripts/iframe-worker.js",
)

ELSEWHERE = ("filter.js", "paths.js")  # of the index, of the page of study paths


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, lab_cache: Path) -> Site:
    """Give the glossary of test entries."""
    return worlds.published(tmp_path_factory.mktemp("published") / "project", lab_cache)


@pytest.fixture(scope="module")
def tree(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the site built for a sub-path."""
    return worlds.build_published(site, tmp_path_factory.mktemp("built") / "site")


def text(tree: Path, name: str) -> str:
    """Give a file of a site."""
    return (tree / name).read_text(encoding="utf-8")


def test_nothing_of_a_draft_is_in_any_file(tree: Path) -> None:
    """No file holds a word of the draft, packed or not."""
    for path in sorted(p for p in tree.rglob("*") if p.is_file()):
        raw = path.read_bytes()
        seen = (gzip.decompress(raw) if path.suffix == ".gz" else raw).lower()
        for canary in worlds.CANARIES:
            assert canary.encode() not in seen, f"{path.relative_to(tree)} has {canary}"


def test_the_tree_passes_the_audit(site: Site, tree: Path) -> None:
    """The second fence finds nothing in feeds, data, cards, twins and heads."""
    assert audit(tree, expectation(site.build(), [Path(str(files("material")))])) == ()


def test_every_address_stands_below_the_sub_path(tree: Path) -> None:
    """Feed, data, `llms.txt` and heads name addresses of this site, which its files have."""
    data = json.loads(text(tree, "glossary/glossary.json"))
    addresses = [data["url"], data["$schema"]]
    addresses += [entry[key] for entry in data["entries"] for key in ("url", "markdown", "card")]
    for address in addresses:
        path = tree / address.removeprefix(worlds.ADDRESS)
        assert (path / "index.html" if address.endswith("/") else path).is_file(), address
    for name in ("glossary/feed.xml", "llms.txt", "glossary/warp/index.html"):
        assert worlds.ADDRESS in text(tree, name)


def test_each_page_has_its_markdown(tree: Path) -> None:
    """Beside each public page stands its Markdown, which the page's head names."""
    for name in ("index.md", "lesson.md", "glossary/index.md", "glossary/warp/index.md"):
        assert text(tree, name)
    assert f'href="{worlds.ADDRESS}glossary/warp/index.md"' in text(
        tree, "glossary/warp/index.html"
    )


def test_an_entry_is_met_where_it_is_mentioned(tree: Path) -> None:
    """An entry lists the hand-written page and the entry that name it, with their sentences."""
    page = text(tree, "glossary/warp/index.md").partition("## Where you meet this")[2]
    assert "Each block has at least one warp" in page
    assert "Each warp waits there." in page


def test_two_builds_give_the_same_bytes(site: Site, tree: Path, tmp_path: Path) -> None:
    """Feeds, data, cards and Markdown do not depend on when they are made."""
    again = worlds.build_published(site, tmp_path / "again")
    names = [
        p.relative_to(tree).as_posix()
        for p in sorted(tree.rglob("*"))
        if p.suffix in (".md", ".xml", ".json", ".txt", ".png") and p.name != "sitemap.xml"
    ]
    assert len(names) > 20
    for name in names:
        assert (tree / name).read_bytes() == (again / name).read_bytes(), name


def test_our_own_files_are_small(tree: Path) -> None:
    """All JavaScript and CSS of ours that an entry's page loads is under 30 KB compressed."""
    packed = {name: len(gzip.compress((tree / name).read_bytes(), mtime=0)) for name in OURS}
    assert sum(packed.values()) < LIMIT_BYTES, packed


def test_every_file_of_ours_is_counted(tree: Path) -> None:
    """The list above has each script and style sheet that the plugin and this site add."""
    folders = ("assets/measured-glossary", "stylesheets", "javascripts")
    found = {
        p.relative_to(tree).as_posix()
        for folder in folders
        for p in (tree / folder).rglob("*")
        if p.suffix in (".js", ".css")
    }
    assert found - {f"assets/measured-glossary/{name}" for name in ELSEWHERE} == set(OURS)
