"""What the search knows of a glossary, and what it makes of the index of a search plugin."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import markdown
import pytest
from material.plugins.search.plugin import SearchIndex  # type: ignore[import-untyped] # has none

from measured_glossary import pipeline, search
from mkdocs_world import Built, mkdocs
from site_world import ENTRY, MKDOCS, TODAY, Site, new_site

WARP = "glossary/warp/entry.md"
LANE = "glossary/lane/entry.md"
MATERIAL = MKDOCS.replace("theme: mkdocs", "theme: {name: material, font: false}")
GENERATOR = Path(__file__).resolve().parents[2] / "benchmarks" / "generate.py"
CONFIG = {"lang": ["en"], "separator": r"[\s\-]+", "pipeline": [], "fields": {}}

Doc = dict[str, Any]


@pytest.fixture
def site(tmp_path: Path, lab_cache: Path) -> Site:
    """A glossary with a published entry and a draft."""
    files = {WARP: ENTRY, LANE: ENTRY.replace("warp", "lane"), "docs/page.md": "# Page\n\nWords.\n"}
    return new_site(tmp_path / "site", lab_cache, files).publish("warp")


def known(site: Site, *, drafts: bool = False, has_folders: bool = True) -> dict[str, Doc]:
    """Give the documents by where they stand."""
    made = search.documents(site.build(), drafts=drafts, has_folders=has_folders)
    assert len({doc["location"] for doc in made}) == len(made)
    return {doc["location"]: doc for doc in made}


def warp(site: Site, old: str = "", new: str = "") -> Doc:
    """Give the document of the entry, changed and as a draft."""
    return known(site.replace(WARP, old, new), drafts=True)["glossary/warp/"]


# ── documents ────────────────────────────────────────────────────────────────────────────────


def test_an_entry_is_known_by_its_front_matter(site: Site) -> None:
    """Term, other names, question and answer are there, and of the body not a word."""
    doc = warp(site, "area:", "aliases: [warps, bundle of lanes]\narea:")
    assert doc["title"] == "warp"
    assert doc["tags"] == ["warps", "bundle of lanes"]
    assert doc["question"] == "What is a warp?"
    assert doc["text"] == "A warp is 32 threads that the hardware schedules together."
    assert "cut into" not in json.dumps(doc)


def test_a_draft_is_known_in_previews_only(site: Site) -> None:
    """Without drafts nothing of one is in the documents."""
    assert "lane" not in json.dumps(known(site))
    assert known(site, drafts=True)["glossary/lane/"]["title"] == "lane"


def test_a_retracted_entry_is_not_found(site: Site) -> None:
    """What was taken back is found by nobody who looks for its term."""
    site.sign("warp", said="retract", by="author", reason="It is wrong.")
    assert list(known(site)) == ["glossary/"]


def test_pages_are_named_as_the_site_names_them(site: Site) -> None:
    """Where pages are files, the addresses are those of files."""
    assert "glossary/warp/index.html" in known(site, has_folders=False)


def test_the_index_is_found_by_its_title_alone(site: Site) -> None:
    """The list of all terms would be found by each of them."""
    expected = {"location": "glossary/", "title": "Test glossary", "text": ""}
    assert known(site)["glossary/"] == expected


def test_what_would_be_markup_is_text(site: Site) -> None:
    """Titles and texts are HTML for the theme: of an author's words none becomes a tag."""
    doc = warp(site, "A warp is 32", "It is `f<<<1, 32>>>` & a < 32")
    assert doc["text"].startswith(
        "It is <code>f&lt;&lt;&lt;1, 32&gt;&gt;&gt;</code> &amp; a &lt; 32"
    )


HEADINGS = """\
## With `code` and a [link](https://example.org/) ##

Text

### Below

```bash
## a comment
```

~~~
## another
```
## and another
~~~

## Last, with __syncthreads() & a \\< b
"""


def test_headings_are_those_of_the_body(site: Site) -> None:
    """Markup is taken off, and a comment in code is no heading."""
    doc = warp(site, "Every block is cut into warps.\n", HEADINGS)
    assert doc["sections"] == [
        "With code and a link",
        "Below",
        "Last, with __syncthreads() &amp; a &lt; b",
    ]


def test_an_entry_without_headings_has_no_sections(site: Site) -> None:
    """Nothing is said of what is not there."""
    assert not {"sections", "tags"} & warp(site).keys()


# ── the index ────────────────────────────────────────────────────────────────────────────────

OURS = [
    {
        "boost": 10,
        "location": "glossary/x/",
        "title": "a &lt; b",
        "text": "It is <code>x</code>.",
        "question": "What?",
        "tags": ["y"],
        "sections": ["One", "Two"],
    }
]


def index(**config: object) -> str:
    """Give an index as a plugin wrote it, with a page of ours and one written by hand."""
    places = ("", "page/#part", "glossary/x/", "glossary/x/#one", "terms/bank/", "paths/one/")
    docs = [{"location": place, "title": "T", "text": ""} for place in places]
    return json.dumps({"config": config, "docs": docs, "index": {"built": "before"}})


def test_pages_of_entries_are_replaced_and_others_stay() -> None:
    """What the plugin knew of an entry's page goes, whatever else it found stays as it is."""
    made = json.loads(search.merged(index(pipeline=[]), OURS))
    places = [doc["location"] for doc in made["docs"]]
    assert places == ["", "page/#part", "paths/one/", "glossary/x/"]
    assert made["docs"][-1] == OURS[0]
    assert made["config"] == {"pipeline": []}


def test_an_index_is_written_without_blanks() -> None:
    """The file is as small as JSON can be, and signs stand for themselves."""
    made = search.merged(index(pipeline=[]), [{"location": "x/", "title": "é", "text": ""}])
    assert ', "' not in made
    assert '": ' not in made
    assert "é" in made


def test_the_search_of_mkdocs_gets_plain_text_to_index_itself() -> None:
    """It shows text as it is and knows only three keys; an index built before ours is dropped."""
    made = json.loads(search.merged(index(prebuild_index=True), OURS))
    text = "It is x.\ny\nWhat?\nOne\nTwo"
    assert made["docs"][-1] == {"location": "glossary/x/", "title": "a < b", "text": text}
    assert "index" not in made


# ── pages ────────────────────────────────────────────────────────────────────────────────────

PAGE = (
    '<p>"search": "assets/javascripts/workers/search.0.min.js"</p>'
    '<script id="__config" type="application/json">{"base": "../..", "search": '
    '"../../assets/javascripts/workers/search.a7633da7.min.js", "tags": null}</script>'
)


def test_a_page_asks_our_worker() -> None:
    """The address changes in the theme's settings, and nothing else does."""
    made = search.with_worker(PAGE)
    assert '"search": "../../assets/measured-glossary/search.js", "tags"' in made
    assert made.startswith(PAGE[:60])
    assert search.with_worker(made) == made


@pytest.mark.parametrize("page", ["", "<p>Text</p>", '<script id="__config">{}</script>'])
def test_another_theme_is_left_alone(page: str) -> None:
    """A page without the theme's settings stays as it is."""
    assert search.with_worker(page) == page


# ── through MkDocs ───────────────────────────────────────────────────────────────────────────


def docs_of(built: Built) -> dict[str, Doc]:
    """Give the documents of a built site's index."""
    assert built.status == 0, built.output
    return {doc["location"]: doc for doc in json.loads(built.text(search.FILE))["docs"]}


def test_a_site_in_the_theme_has_our_documents_and_our_worker(site: Site) -> None:
    """Entries stand in the index once, hand-written pages whole; each page names the worker."""
    built = mkdocs(site.write("mkdocs.yml", MATERIAL))
    docs = docs_of(built)
    assert docs["page/"]["text"] == "<p>Words.</p>"
    assert [place for place in docs if place.startswith("glossary/warp")] == ["glossary/warp/"]
    assert docs["glossary/warp/"]["question"] == "What is a warp?"
    assert built.holds(search.WORKER)
    for page in ("index.html", "glossary/warp/index.html", "404.html"):
        assert f'{search.WORKER}"' in built.text(page)
        assert "javascripts/workers/search." not in built.text(page)


def test_a_site_in_another_theme_is_searched_too(site: Site) -> None:
    """The search of MkDocs itself knows the entry by its answer."""
    doc = docs_of(mkdocs(site))["glossary/warp/"]
    assert doc["title"] == "warp"
    assert "hardware schedules together" in doc["text"]
    assert doc.keys() == {"location", "title", "text"}


def test_a_site_without_search_has_no_index(site: Site) -> None:
    """Where nobody searches, nothing is written."""
    site.write("mkdocs.yml", MATERIAL.replace("[search, ", "["))
    built = mkdocs(site)
    assert built.status == 0, built.output
    assert not built.holds(search.FILE)


def test_an_offline_site_has_our_documents_as_a_script(site: Site) -> None:
    """What a page from a disk loads instead of the index is made after ours came."""
    site.write("mkdocs.yml", MATERIAL.replace("[search, ", "[search, offline, "))
    site.write("mkdocs.yml", site.path("mkdocs.yml").read_text() + POLYFILL)
    built = mkdocs(site)
    assert built.status == 0, built.output
    made = built.text("search/search_index.js")
    assert '"location":"glossary/warp/index.html"' in made


POLYFILL = "extra: {polyfills: [iframe-worker.js]}\n"


# ── size ─────────────────────────────────────────────────────────────────────────────────────


def test_the_index_is_small_beside_the_theme_s(tmp_path: Path, lab_cache: Path) -> None:
    """Compressed, ours is at most 6 % of what the theme's own makes of the entries' texts."""
    root = tmp_path / "made-up"
    command = [sys.executable, str(GENERATOR), str(root), "--entries", "100"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    settings = Site(root=root, cache=lab_cache).settings
    glossary = pipeline.build(root, settings, TODAY)
    ours = search.documents(glossary, drafts=False, has_folders=True)
    assert len(ours) == 101
    empty = json.dumps({"config": CONFIG, "docs": []})
    assert packed(search.merged(empty, ours)) <= 0.06 * packed(of_the_theme(glossary))


def of_the_theme(glossary: pipeline.Glossary) -> str:
    """Give the theme's index of the entries' questions, answers and bodies, and of nothing more."""
    index = SearchIndex(**CONFIG)
    for judged in glossary.entries:
        assert judged.entry
        front = judged.entry.front
        text = f"# {front.question}\n\n{front.answer}\n\n{judged.body}"
        html = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"])
        page = {"content": html, "meta": {}, "toc": (), "url": f"{judged.id}/", "title": judged.id}
        index.add_entry_from_context(SimpleNamespace(**page))
    made: str = index.generate_search_index(None)
    return made


def packed(text: str) -> int:
    """Give the size of a text as a server sends it."""
    return len(gzip.compress(text.encode("utf-8"), mtime=0))
