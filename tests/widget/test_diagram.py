"""The published script and the still picture, without a browser."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from measured_glossary import diagram

HERE = Path(__file__).parent
NODE = shutil.which("node")
COMPRESSED_LIMIT = 20_000


def test_the_script_is_small() -> None:
    """JavaScript and style sheet together stay below 20 kB compressed."""
    assert len(gzip.compress(diagram.script().encode())) < COMPRESSED_LIMIT


def test_the_script_is_no_module_and_asks_no_host() -> None:
    """A page opened from a file can run it, and it names no address but SVG's namespace."""
    script = diagram.script()
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    assert set(re.findall(r"https?://[^\"'`)]+", script)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bfetch\(|XMLHttpRequest|@import|url\(", script)


def test_no_two_modules_use_a_name_for_two_things() -> None:
    """The modules share one scope in the script, so their top-level names are all different."""
    names: Counter[str] = Counter()
    for module in diagram.MODULES:
        text = (diagram.ASSETS / module).read_text(encoding="utf-8")
        found = re.findall(r"^(?:export )?(?:const|let|function|class) (\w+)", text, re.MULTILINE)
        names.update(found)
    assert len(names) > 100
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_moments_are_the_simulators() -> None:
    """What the picture is drawn from is what the simulator gives today."""
    command = [NODE or "node", str(HERE / "moments.mjs")]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    assert done.stdout == (diagram.ASSETS / "moments.json").read_bytes(), (
        "run: node tests/widget/moments.mjs --write"
    )


def pictures(markup: str) -> list[ET.Element]:
    """The SVG elements of a still, parsed as XML."""
    return [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", markup, re.DOTALL)]  # noqa: S314


def test_a_picture_shows_each_warp_and_each_cell() -> None:
    """256 threads are drawn as eight warps of four dots and 32 cells, marks on the read ones."""
    (svg,) = pictures(diagram.still(["no-barrier"]))
    texts = [node.text for node in svg.iter() if node.tag.endswith("text")]
    assert [text for text in texts if text and text.startswith("warp")] == [
        f"warp {number}" for number in range(8)
    ]
    assert sum(node.tag.endswith("circle") for node in svg.iter()) == 32
    assert (texts.count("✗"), texts.count("!")) == (4, 4)
    assert texts.count("–") == 28


def test_hidden_at_32_threads_the_hazard_is_marked_and_no_value_is_wrong() -> None:
    """The picture of one warp has hazards and no wrong value."""
    (svg,) = pictures(diagram.still(["block-32-hides-it"]))
    texts = [node.text for node in svg.iter() if node.tag.endswith("text")]
    assert (texts.count("✗"), texts.count("!")) == (0, 4)


def test_threads_that_left_are_crosses() -> None:
    """The twenty drawn lanes that returned early are crosses at the end."""
    markup = diagram.still(["early-return"])
    assert len(re.findall(r'd="M[\d.]+ [\d.]+l6 6m0 -6l-6 6"', markup)) == 20


def test_a_still_has_words_and_no_blank_line() -> None:
    """Each picture has its label, its words follow it, and Markdown keeps it in one piece."""
    markup = diagram.still()
    assert len(pictures(markup)) == len(diagram.moments())
    assert all(svg.get("aria-label") for svg in pictures(markup))
    assert "In the end: The launch returns." in markup
    assert "\n\n" not in markup


def test_a_still_carries_no_script_no_address_and_no_handler() -> None:
    """Nothing in the picture runs or loads."""
    markup = diagram.still()
    assert not re.search(r"<script|\bon\w+=|href|javascript:|<style|<foreignObject", markup)
