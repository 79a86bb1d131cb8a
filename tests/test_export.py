"""What `glossary export` writes, and the site that Zensical makes of it, beside ours.

`GLOSSARY_REQUIRE_ZENSICAL=1` turns the skips of a machine without Zensical into failures.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from measured_glossary import cli, export
from measured_glossary.audit import audit
from measured_glossary.expectation import expectation
from measured_glossary.problem import Refused
from mkdocs_world import mkdocs
from site_world import ENTRY, Site, new_site

MKDOCS = """\
site_name: Test glossary
site_url: !ENV [TEST_SITE_URL, "https://test.example/"]
strict: true
theme: {name: material, font: false, custom_dir: look}
nav: [{Home: index.md}, {Glossary: glossary/index.md}]
validation: {nav: {omitted_files: warn}}
not_in_nav: "/*/apart.md"
hooks: [hook.py]
plugins: [search, measured-glossary: {measure: recorded}]
extra_css: [site.css]
markdown_extensions:
  - attr_list
  - md_in_html
  - tables
  - pymdownx.emoji: {emoji_index: !!python/name:material.extensions.emoji.twemoji ''}
  - measured_glossary.markdown
"""
HOME = "# Home\n\nEvery warp may use `__shared__` memory, and __shared__ stays as it is typed.\n"
LOOK = '{% extends "base.html" %}{% block footer %}<p>own footer</p>{% endblock %}\n'
DRAFT = "figurecanary"


@pytest.fixture
def site(tmp_path: Path, lab_cache: Path) -> Site:
    """Give a site with two published entries, a draft, and all that an export must cope with."""
    second = ENTRY.replace("warp", "block").replace("A block is 32", "A block has many")
    draft = ENTRY.replace("term: warp", f"term: {DRAFT}").replace("Every block", f"Every {DRAFT}")
    files = {
        "glossary/warp/entry.md": ENTRY.replace("byline:", "related: [block]\nbyline:"),
        "glossary/block/entry.md": second.replace("blocks", "warps"),
        f"glossary/{DRAFT}/entry.md": draft,
        "docs/index.md": HOME,
        "docs/more/apart.md": "# Apart\n",
        "docs/site.css": "p { margin: 0 }\n",
        "look/main.html": LOOK,
        "hook.py": "",
        "mkdocs.yml": MKDOCS,
    }
    made = new_site(tmp_path / "project", lab_cache, files)
    return made.publish("warp").publish("block")


def exported(site: Site, **environ: str) -> Path:
    """Export a site as the command does; give the folder."""
    settings = export.read_settings(site.root, "", environ)
    folder = site.root.parent / "exported"
    export.write(export.Site(glossary=site.build(), settings=settings), folder)
    return folder


@pytest.mark.parametrize("folder", ["docs/out", "glossary/out", "code/out", "glossary/x/out"])
def test_no_export_stands_among_what_is_exported(site: Site, folder: str) -> None:
    """The next build would take it for pages, entries or experiments."""
    settings = export.read_settings(site.root, "", {})
    with pytest.raises(Refused) as refused:
        export.write(export.Site(glossary=site.build(), settings=settings), site.root / folder)
    assert "folder-not-empty: stands among what is exported" in str(refused.value)
    assert not (site.root / folder).exists()


@pytest.mark.parametrize("border", ["---\r\n", "---  \n", "...\n"])
def test_front_matter_stays_front_matter(site: Site, border: str) -> None:
    """MkDocs takes line ends of Windows, blanks and dots for borders; an export has plain ones."""
    end = "\r\n" if border.endswith("\r\n") else "\n"
    first = border.replace("...", "---")
    page = site.root / "docs/odd.md"
    page.write_bytes(f"{first}title: Odd one{end}{border}# H{end}{end}Text{end}".encode())
    text = (exported(site) / "docs/odd.md").read_text(encoding="utf-8")
    assert re.fullmatch(r"---\n(head_tags: '[^']*'\n)?title: Odd one\n---\n# H\n\nText\n", text)


def settings_of(folder: Path) -> dict[str, Any]:
    """Read the settings of an exported project, Python's names as plain texts."""
    text = (folder / "mkdocs.yml").read_text(encoding="utf-8")
    found = yaml.safe_load(re.sub(r"!!python/name:(\S+) ''", r"\1", text))
    assert isinstance(found, dict)
    return found


# ── what is written ──────────────────────────────────────────────────────────────────────────


def test_the_settings_need_neither_plugin_nor_hooks(site: Site) -> None:
    """What runs in MkDocs alone is gone; the theme, the extensions and their options stay."""
    made = settings_of(exported(site))
    assert made["plugins"] == ["search"]
    assert "hooks" not in made
    emoji = {"pymdownx.emoji": {"emoji_index": "material.extensions.emoji.twemoji"}}
    assert made["markdown_extensions"] == ["attr_list", "md_in_html", "tables", emoji]
    assert made["theme"] == {"name": "material", "font": False, "custom_dir": "overrides"}
    assert made["not_in_nav"].split()[:3] == ["/*/apart.md", "/glossary/", "/experiments/"]
    assert made["extra_css"] == ["site.css", "assets/measured-glossary/glossary.css"]
    assert "assets/measured-glossary/terms.js" in made["extra_javascript"]


def test_settings_from_the_environment_are_settled(site: Site) -> None:
    """`!ENV` is resolved as MkDocs does, so that every address in the export agrees."""
    folder = exported(site, TEST_SITE_URL="https://elsewhere.example/docs/")
    assert settings_of(folder)["site_url"] == "https://elsewhere.example/docs/"
    feed = (folder / "docs/glossary/feed.xml").read_text(encoding="utf-8")
    assert "https://elsewhere.example/docs/glossary/warp/" in feed
    assert "test.example" not in feed


def test_hand_written_pages_are_complete(site: Site) -> None:
    """Their terms are linked and their names escaped: any generator shows them as ours does."""
    text = (exported(site) / "docs/index.md").read_text(encoding="utf-8")
    assert re.search(r'Every \[warp\]\(glossary/warp/index.md "[^"]+"\) may use `__shared__`', text)
    assert r"and \_\_shared\_\_ stays" in text


def test_no_address_leads_to_markdown_that_is_not_there(site: Site) -> None:
    """A generator without the plugin publishes no Markdown, so that nothing names it."""
    docs = exported(site) / "docs"
    llms = (docs / "llms.txt").read_text(encoding="utf-8")
    assert "(https://test.example/glossary/warp/)" in llms
    assert '"markdown": ""' in (docs / "glossary/glossary.json").read_text(encoding="utf-8")
    assert "index.md" not in llms


def test_nothing_of_a_draft_is_exported(site: Site) -> None:
    """A draft is in no file of the project, whatever its kind."""
    paths = [path for path in exported(site).rglob("*") if path.is_file()]
    assert len(paths) > 10
    assert not [path for path in paths if DRAFT.encode() in path.read_bytes()]


def test_the_export_is_the_same_each_time(site: Site) -> None:
    """The same glossary gives the same bytes."""
    settings = export.read_settings(site.root, "", {})
    first, second = (
        export.files(export.Site(glossary=site.build(), settings=settings)) for _ in range(2)
    )
    assert first == second
    assert list(first) == list(second)


def test_a_glossary_without_a_site_is_exported(site: Site) -> None:
    """Without `mkdocs.yml` the project gets plain settings, named after the glossary."""
    site.remove("mkdocs.yml")
    settings = export.read_settings(site.root, "Test glossary", {})
    made = export.files(export.Site(glossary=site.build(), settings=settings))
    assert made["mkdocs.yml"].startswith(b"# Written by glossary export.")
    assert b"site_name: Test glossary\n" in made["mkdocs.yml"]
    assert "docs/glossary/feed.xml" not in made  # nobody knows where it would stand


@pytest.mark.parametrize("text", ["a: [1\n", "- 1\n", "plain\n"])
def test_settings_that_cannot_be_read(site: Site, text: str) -> None:
    """What is wrong is told with its place, as any problem is."""
    site.write("mkdocs.yml", text)
    with pytest.raises(Refused) as refused:
        export.read_settings(site.root, "", {})
    (problem,) = refused.value.problems
    assert (problem.code, problem.place.file) == ("site-settings", "mkdocs.yml")


def test_the_command_says_what_it_leaves_out(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hooks of MkDocs run nowhere else; somebody who relies on one is told."""
    assert cli.main(("export", str(site.root / "out"), "--root", str(site.root))) == 0
    told = capsys.readouterr()
    assert "with 2 published entries to" in told.out
    assert "left out, since only MkDocs runs it: hooks: ['hook.py']" in told.err


# ── built by others ──────────────────────────────────────────────────────────────────────────


def zensical(project: Path) -> Path:
    """Build a project with Zensical, or skip for want of it; give the site."""
    if importlib.util.find_spec("zensical") is None:
        if os.environ.get("GLOSSARY_REQUIRE_ZENSICAL") == "1":
            pytest.fail("no Zensical here, and GLOSSARY_REQUIRE_ZENSICAL is set", pytrace=False)
        pytest.skip("no Zensical here: pip install zensical")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return project / "site"


def bylines(site: Path) -> dict[str, list[str]]:
    """Give what the byline of each entry's page says, by the page's address."""
    pages = {p.relative_to(site).as_posix(): p for p in sorted(site.glob("glossary/*/index.html"))}
    return {name: _byline(path.read_text(encoding="utf-8")) for name, path in pages.items()}


def _byline(html: str) -> list[str]:
    (made,) = re.findall(r'<dl class="?mg-byline"?>(.*?)</dl>', html, re.DOTALL)
    return re.sub(r"<[^>]+>", " ", made).split()


def head(page: Path) -> set[str]:
    """Give what our own tags in a page's head say: the verdict, Open Graph, JSON-LD, the feed."""
    text = page.read_text(encoding="utf-8").split("</head>")[0]
    tags = re.findall(r'<meta (?:name="glossary|property)[^>]*>|<link rel=" alternate"[^>]*>', text)
    data = re.findall(r'<script type="application/ld\+json">.*?</script>', text)
    return {*tags, *data}


def test_zensical_builds_the_same_site(site: Site) -> None:
    """The same entries with the same bylines and heads, and the audit lets it pass."""
    theirs = zensical(exported(site))
    ours = mkdocs(site, "--quiet")
    assert ours.status == 0, ours.output
    assert bylines(theirs) == bylines(ours.folder)
    assert len(bylines(theirs)) == 2
    for name in ("glossary/warp/index.html", "glossary/index.html"):
        twins = {tag for tag in head(ours.folder / name) if "text/markdown" in tag}
        assert head(theirs / name) == head(ours.folder / name) - twins
    assert (theirs / "glossary/feed.xml").read_bytes() == ours.text("glossary/feed.xml").encode()
    assert audit(theirs, expectation(site.build(), _templates())) == ()


def test_the_index_is_not_in_the_search(site: Site) -> None:
    """An entry is found by its page alone; a search has a limit that a long index breaks."""
    index = json.loads((zensical(exported(site)) / "search.json").read_text(encoding="utf-8"))
    found = {item["location"].partition("#")[0] for item in index["items"]}
    assert ("glossary/warp/" in found, "glossary/" in found) == (True, False)


def _templates() -> list[Path]:
    found = importlib.util.find_spec("zensical")
    return [Path(found.origin).parent] if found and found.origin else []


def test_zensical_keeps_the_sites_own_templates(site: Site) -> None:
    """A template that the site has itself still applies, below ours."""
    text = (zensical(exported(site)) / "index.html").read_text(encoding="utf-8")
    assert "own footer" in text
    assert "__shared__ stays as it is typed" in text


def test_a_link_to_a_claim_is_no_broken_one(tmp_path: Path, lab_cache: Path) -> None:
    """Zensical's strict check of anchors compares them as they are written."""
    case = Path(__file__).parent / "sites" / "published-experiment"
    shutil.copytree(case, tmp_path / "project")
    site = new_site(tmp_path / "project", lab_cache, {"mkdocs.yml": MKDOCS, "hook.py": ""})
    rows = [{"threads": n, "wrong": [n - 32, 0, 0], "launched": 1} for n in (32, 64)]
    site.record("copy", {"mismatches": rows})
    link = "\n[One warp is right](#claim-one_warp_is_right).\n\n::: claims\n"
    site.replace("glossary/warp/entry.md", "\n::: claims\n", link).publish("warp")
    page = (zensical(exported(site)) / "glossary/warp/index.html").read_text(encoding="utf-8")
    assert 'id="claim-one_warp_is_right"' in page


def test_zensical_shows_no_draft(site: Site) -> None:
    """No page, index or search of the built site names what is not published."""
    built = zensical(exported(site))
    paths = [path for path in built.rglob("*") if path.is_file()]
    assert not [path for path in paths if DRAFT.encode() in path.read_bytes()]


def test_mkdocs_builds_the_export_without_the_plugin(site: Site) -> None:
    """Material takes the same project, strictly, with the same bylines."""
    folder = exported(site)
    built = mkdocs(Site(root=folder, cache=site.cache))  # quiet, its strictness says nothing
    assert built.status == 0, built.output
    assert len(bylines(built.folder)) == 2
    assert audit(built.folder, expectation(site.build(), ())) == ()
