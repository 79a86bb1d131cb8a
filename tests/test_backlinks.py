"""Where hand-written pages mention an entry: which pages, with which sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from measured_glossary.backlinks import Mention, hand_written, mentions, named
from measured_glossary.terms import vocabulary

NO_TERMS = vocabulary([])


def met(tmp_path: Path, **pages: str) -> dict[str, tuple[Mention, ...]]:
    """Find the mentions in pages, given by name without suffix."""
    for name, text in pages.items():
        path = tmp_path / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = (written for _, written in hand_written(tmp_path))
    return mentions((page, named(page.markdown, NO_TERMS)) for page in found)


@pytest.mark.parametrize(
    "link",
    [
        "[warps](glossary/warp/index.md)",
        "[warps](../glossary/warp/index.md)",
        "[warps](../../glossary/warp/)",
        "[warps](glossary/warp/index.md#measured)",
    ],
)
def test_a_link_is_a_mention(tmp_path: Path, link: str) -> None:
    """However a page gets there, its sentence is told as plain words under its title."""
    page = f"# The *first* lesson\n\nRead on. A block is cut into {link} of 32. The end.\n"
    assert met(tmp_path, lesson=page) == {
        "warp": (Mention("lesson.md", "The first lesson", "A block is cut into warps of 32."),)
    }


def test_the_first_sentence_of_each_page_is_told(tmp_path: Path) -> None:
    """A page is told once; pages stand in the order of their addresses."""
    link = "[a](../glossary/warp/index.md)"
    found = met(tmp_path, b="# B\n\nOnly " + link, a__c=f"# C\n\nOne {link}. Two {link}.\n")
    assert found["warp"] == (
        Mention("a/c.md", "C", "One a."),
        Mention("b.md", "B", "Only a"),
    )


def test_a_page_without_a_title_has_its_name(tmp_path: Path) -> None:
    """Its file's name stands for the title."""
    found = met(tmp_path, plain="See [x](glossary/warp/index.md).\n")
    assert found["warp"][0].title == "plain.md"


@pytest.mark.parametrize(
    "text",
    [
        "```markdown\nSee [x](glossary/warp/index.md).\n```\n",
        "Write `[x](glossary/warp/index.md)` to link.\n",
        "<!-- [x](glossary/warp/index.md) -->\n",
        "[elsewhere](https://example.org/glossary/warp/)\n",
        "[index](glossary/index.md)\n",
        "[picture](glossary/warp/tile.png)\n",
    ],
)
def test_what_is_no_link_is_no_mention(tmp_path: Path, text: str) -> None:
    """Code that shows a link, comments and other addresses lead to no entry's page."""
    assert met(tmp_path, page=text) == {}


def test_front_matter_is_not_read(tmp_path: Path) -> None:
    """What MkDocs keeps from readers is no sentence, and lines keep their numbers."""
    text = "---\ntitle: '[x](glossary/warp/index.md)'\n---\n\n# Title\n"
    assert met(tmp_path, page=text) == {}
    ((_, written),) = hand_written(tmp_path)
    assert written.markdown.count("\n") == text.count("\n")
