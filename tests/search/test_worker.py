"""The search box's worker, run by node; Python starts its tests and compares its anchors."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import markdown
import pytest

HERE = Path(__file__).parent
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_worker_finds_and_ranks() -> None:
    """Node's test runner passes over the worker, and did run tests."""
    done = subprocess.run(
        [NODE or "node", "--test", "--test-reporter=tap", str(HERE / "worker.test.mjs")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed and int(passed[1]) > 40


def test_the_expected_anchors_are_those_of_markdown() -> None:
    """The anchors that the worker is tested with are those that headings really get."""
    table = json.loads((HERE / "anchors.json").read_text(encoding="utf-8"))
    lines = [f"# {table['question']}", *(f"## {_written(text)}" for text in table["sections"])]
    made = markdown.markdown("\n\n".join(lines), extensions=["toc"])
    assert re.findall(r'<h2 id="([^"]*)"', made) == table["anchors"]


def _written(text: str) -> str:
    """Give a heading's text as an author writes it: in code what would be a tag."""
    return re.sub(r"<[^>]*>", r"`\g<0>`", html.unescape(text))
