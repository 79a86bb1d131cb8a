"""What is found and cited of a published entry: heads, feeds, data, cards, citations, the graph."""

from __future__ import annotations

import datetime
import io
import json
import re
import struct
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from PIL import Image, ImageColor

from measured_glossary import card, cite, feeds, graph, metadata
from measured_glossary.address import Address
from measured_glossary.metadata import Head, Public
from measured_glossary.published import Published, Said

ATOM = "{http://www.w3.org/2005/Atom}"
ADDRESS = Address(base="https://test.example/sub/path/")


def day(number: int) -> datetime.date:
    """Give a day of a month."""
    return datetime.date(2026, 11, number)


ENTRY = Published(
    id="warp",
    term="warp <&> \"'",
    question="What is a {warp} & why_is it 100 % </script>?",
    answer="It is 32 threads <b> & more.",
    aliases=("SIMT group",),
    area="Execution & model",
    applies_to="CC 7.5",
    related=("block",),
    experiments=("day14",),
    sources=(),
    authors=(Said(name="Test Author", on=day(3)), Said(name="Test Co_author", on=day(4))),
    reviews=(Said(name="Test Reviewer", on=day(6), scope=("prose",)),),
    checks=(Said(name="Test Checker", on=day(9)),),
    manifest="ab" * 32,
)
PUBLIC = Public(title="Test & glossary", address=ADDRESS, entries=(ENTRY,), licence="CC BY 4.0")
HEAD = Head(uri="glossary/warp/index.md", title="warp", description="Said.", entry=ENTRY)


# ── addresses and dates ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("uri", "has_folders", "expected"),
    [
        ("index.md", True, "https://test.example/sub/path/"),
        ("a/index.md", True, "https://test.example/sub/path/a/"),
        ("a/b.md", True, "https://test.example/sub/path/a/b/"),
        ("a/index.md", False, "https://test.example/sub/path/a/index.html"),
        ("a/b.md", False, "https://test.example/sub/path/a/b.html"),
    ],
)
def test_a_page_has_the_address_its_generator_gives(
    uri: str, has_folders: bool, expected: str
) -> None:
    """Addresses stand below a sub-path, with and without a folder for each page."""
    assert Address(base=ADDRESS.base, has_folders=has_folders).page(uri) == expected


def test_dates_come_from_signatures() -> None:
    """An entry is published when both had signed, and reviewed last when somebody last checked."""
    assert (ENTRY.published_on, ENTRY.last_reviewed, ENTRY.updated) == (day(6), day(9), day(9))


# ── the head ─────────────────────────────────────────────────────────────────────────────────


def graph_of(tags: str) -> dict[str, dict[str, Any]]:
    """Give the JSON-LD of a head, by type."""
    found = re.search(r'<script type="application/ld\+json">(.*?)</script>', tags)
    assert found
    return {item["@type"]: item for item in json.loads(found[1])["@graph"]}


def test_an_entry_tells_its_people_and_days() -> None:
    """JSON-LD has the article with author, reviewer and last review, and the term in its set."""
    found = graph_of(metadata.tags(HEAD, PUBLIC))
    article, term = found["TechArticle"], found["DefinedTerm"]
    assert [person["name"] for person in article["author"]] == ["Test Author", "Test Co_author"]
    assert [person["name"] for person in article["reviewedBy"]] == ["Test Reviewer"]
    assert (article["datePublished"], article["lastReviewed"]) == ("2026-11-06", "2026-11-09")
    assert article["headline"] == ENTRY.question
    assert term["inDefinedTermSet"]["@id"] == found["DefinedTermSet"]["@id"]


def test_a_head_has_open_graph_and_no_second_canonical_address() -> None:
    """Open Graph names the page and its card; a canonical address is added where there is none."""
    tags = metadata.tags(HEAD, PUBLIC)
    card_url = "https://test.example/sub/path/assets/measured-glossary/cards/warp.png"
    assert f'<meta property="og:image" content="{card_url}">' in tags
    assert '<link rel="canonical" href="https://test.example/sub/path/glossary/warp/">' in tags
    assert "canonical" not in metadata.tags(replace(HEAD, has_canonical=True), PUBLIC)


def test_no_text_leaves_its_place_in_a_head() -> None:
    """Whatever a term says, it ends neither an attribute nor the script."""
    tags = metadata.tags(HEAD, PUBLIC)
    assert tags.count("</script>") == 1
    assert re.fullmatch(r'(?:<(?:meta|link)(?: [\w:]+="[^"<>]*")+>)+<script.*</script>', tags)


def test_the_index_tells_the_set_and_other_pages_no_terms() -> None:
    """The index has every term of the set; a hand-written page has Open Graph alone."""
    index = graph_of(metadata.tags(Head(uri=metadata.INDEX, title="T", description=""), PUBLIC))
    assert index["DefinedTermSet"]["hasDefinedTerm"] == [{"@id": index["DefinedTerm"]["@id"]}]
    assert "ld+json" not in metadata.tags(Head(uri="a.md", title="T", description=""), PUBLIC)


# ── feed, data, llms.txt ─────────────────────────────────────────────────────────────────────


def test_the_feed_tells_what_was_published_and_checked() -> None:
    """Atom has an item for the publication and one for each check, latest first, all with dates."""
    feed = ET.fromstring(feeds.atom(PUBLIC))  # noqa: S314 - our own text
    items = feed.findall(f"{ATOM}entry")
    found = [(i.findtext(f"{ATOM}title"), i.findtext(f"{ATOM}updated")) for i in items]
    assert found == [
        (f"Checked again by Test Checker: {ENTRY.question}", "2026-11-09T00:00:00Z"),
        (ENTRY.question, "2026-11-06T00:00:00Z"),
    ]
    assert feed.findtext(f"{ATOM}updated") == "2026-11-09T00:00:00Z"
    assert len({i.findtext(f"{ATOM}id") for i in items}) == len(items)


def test_a_new_version_is_a_new_item() -> None:
    """Readers of the feed see an entry again when other bytes were signed."""
    later = replace(PUBLIC, entries=(replace(ENTRY, manifest="cd" * 32),))
    assert set(re.findall("<id>.*#.*</id>", feeds.atom(later))) != set(
        re.findall("<id>.*#.*</id>", feeds.atom(PUBLIC))
    )


def test_an_empty_glossary_has_a_feed() -> None:
    """Without entries the feed is whole, and has no item."""
    feed = ET.fromstring(feeds.atom(replace(PUBLIC, entries=())))  # noqa: S314 - our own text
    assert feed.findtext(f"{ATOM}updated")
    assert not feed.findall(f"{ATOM}entry")


def test_the_data_follows_its_schema() -> None:
    """`glossary.json` is read by the model its schema is made from, and has what was signed."""
    text = feeds.glossary_json(PUBLIC)
    data = feeds.GlossaryData.model_validate_json(text)
    (entry,) = data.entries
    assert (entry.manifest, entry.reviews[0].date) == (ENTRY.manifest, day(6))
    assert set(feeds.json_schema()["properties"]) == set(json.loads(text))


def test_the_data_is_laid_out_as_json_mostly_is() -> None:
    """Who compares two versions of `glossary.json` line by line sees what changed and no more."""
    text = feeds.glossary_json(replace(PUBLIC, title='“Signs”: "\\\t/\x7f \U0001f600'))
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=2) + "\n"


def test_llms_txt_names_each_entry() -> None:
    """`llms.txt` leads to the Markdown of each entry and to the data."""
    lines = feeds.llms(PUBLIC).splitlines()
    assert lines[0] == "# Test & glossary"
    url = "https://test.example/sub/path/glossary/warp/index.md"
    assert f"- [{ENTRY.term}]({url}): {ENTRY.answer}" in lines


def test_the_same_input_gives_the_same_bytes() -> None:
    """No file depends on the time, an order or a random number."""
    again = replace(PUBLIC, entries=(replace(ENTRY),))
    assert all(write(PUBLIC) == write(again) for write in feeds.files().values())


# ── citations ────────────────────────────────────────────────────────────────────────────────

URL = "https://test.example/warp/"


def test_the_line_names_people_address_and_digest() -> None:
    """A citation as text has everything that is needed to find and verify the entry."""
    line = cite.plain(ENTRY, "Test glossary", URL)
    for part in ("Test Author and Test Co_author", "2026-11-06", "Test Reviewer", URL, "ab" * 32):
        assert part in line


def test_bibtex_escapes_what_tex_reads() -> None:
    """Signs that TeX reads are escaped, braces balance, and the key holds the digest."""
    made = cite.bibtex(ENTRY, "Test & glossary", URL)
    assert made.startswith("@misc{warp-abababab,")
    assert r"What is a \{warp\} \& why\_is it 100 \% </script>?" in made
    assert "author       = {{Test Author} and {Test Co\\_author}}," in made
    bare = re.sub(r"\\[{}]", "", made)
    assert bare.count("{") == bare.count("}")


def test_the_citation_file_is_yaml() -> None:
    """A CFF file has the fields its format demands, whatever the title says."""
    made = yaml.safe_load(cite.cff(ENTRY, "Test: glossary", URL))
    assert {"cff-version", "message", "title", "authors"} <= made.keys()
    assert made["title"] == ENTRY.question
    assert made["identifiers"][0]["value"] == f"sha256:{'ab' * 32}"


# ── pictures ─────────────────────────────────────────────────────────────────────────────────


def test_a_card_has_the_size_that_is_told() -> None:
    """A card is a PNG of 1200 by 630, the same bytes for the same texts."""
    texts = {"heading": "__syncthreads()", "text": "word " * 90, "above": "é – Ω", "below": "x"}
    made = card.draw(**texts)
    assert made[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", made[16:24]) == (1200, 630)
    assert made == card.draw(**texts)


def test_a_card_is_read_as_it_was_drawn() -> None:
    """Who reads the PNG finds the bar at its left edge, paper beside it, and ink on the paper."""
    made = Image.open(io.BytesIO(card.draw(heading="warp", text="", above="", below="")))
    assert (made.format, made.size) == ("PNG", (card.WIDTH, card.HEIGHT))
    seen = made.convert("RGB")
    bar, paper, ink = (ImageColor.getrgb(name) for name in (card.ACCENT, card.PAPER, card.INK))
    assert seen.crop((0, 0, 24, card.HEIGHT)).getcolors() == [(24 * card.HEIGHT, bar)]
    assert seen.crop((24, 0, card.MARGIN, card.HEIGHT)).getcolors() == [(56 * card.HEIGHT, paper)]
    assert ink in [colour for _, colour in seen.getcolors() or []]
    assert seen.getbbox() == (0, 0, card.WIDTH, card.HEIGHT)


@pytest.mark.parametrize("count", [1, 2, 100])
def test_the_graph_gives_each_term_a_row(count: int) -> None:
    """From one term to a hundred no two labels stand on one line, and each pair one arc.

    Each end of it has the arc once more, to show it when it is pointed at.
    """
    nodes = [graph.Node(name=f"t{i}", area=f"Area {i % 3}", url=f"t{i}/") for i in range(count)]
    pairs = [(f"t{i}", f"t{i + 1}") for i in range(count - 1)]
    made = str(graph.draw(nodes, pairs))
    rows = re.findall(r'<text [^>]*y="(\d+)"', made)
    assert len(rows) == len(set(rows)) == count + len({node.area for node in nodes})
    assert made.count("<path class") == len(pairs)
    assert made.count("<path d") == 2 * len(pairs)


def test_neighbours_say_what_the_graph_shows() -> None:
    """The list in words has each arc from both of its ends."""
    assert graph.neighbours([("a", "b"), ("b", "c")]) == {"a": ("b",), "b": ("a", "c"), "c": ("b",)}
