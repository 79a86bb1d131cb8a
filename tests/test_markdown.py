"""Names with leading underscores in hand-written pages, as Material configures Markdown."""

from __future__ import annotations

import re

import markdown
import pytest

from measured_glossary.body import escape_identifiers

MATERIAL = [
    "abbr",
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "md_in_html",
    "tables",
    "toc",
    "pymdownx.betterem",
    "pymdownx.caret",
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.inlinehilite",
    "pymdownx.mark",
    "pymdownx.smartsymbols",
    "pymdownx.superfences",
    "pymdownx.tabbed",
    "pymdownx.tilde",
]

NAMES = [
    "__shared__",
    "__syncthreads()",
    "__launch_bounds__(256)",
    "__CUDA_ARCH__",
    "cuda::__detail::__x",
    "a __shared__ tile and a __constant__ table",
    "__syncthreads() and __syncwarp() and __threadfence()",
    "(__global__, __device__)",
    "___triple___",
    "__a__b__",
]


def html(text: str, *, extensions: list[str]) -> str:
    """The HTML of a text."""
    return markdown.markdown(text, extensions=extensions)


def with_names(text: str) -> str:
    """The HTML of a text with our extension, as a site has it."""
    return html(text, extensions=[*MATERIAL, "measured_glossary.markdown"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("around", ["{}", "a {} b", "- {}\n- x", "> {}", "x\n{}\ny", "({})."])
def test_a_name_stays_as_typed(name: str, around: str) -> None:
    """In paragraphs, lists and quotations no underscore is lost and nothing turns bold."""
    shown = with_names(around.format(name))
    assert name in shown
    assert "<strong>" not in shown
    assert "<em>" not in shown


@pytest.mark.parametrize("name", NAMES)
def test_escaped_names_show_the_same_without_the_extension(name: str) -> None:
    """What the engine escapes reads the same with Python-Markdown alone."""
    for extensions in ([], MATERIAL, [*MATERIAL, "measured_glossary.markdown"]):
        assert name in html(escape_identifiers(f"a {name} b"), extensions=extensions)


def test_names_in_headings_reach_the_table_of_contents() -> None:
    """A title keeps its underscores in the page, in the contents and in the anchor."""
    reader = markdown.Markdown(extensions=[*MATERIAL, "measured_glossary.markdown"])
    shown = reader.convert("## What __syncthreads() and __shared__ do\n\n[TOC]\n")
    assert re.search(r'<h2 id="[a-z_-]+">What __syncthreads\(\) and __shared__ do</h2>', shown)
    assert getattr(reader, "toc_tokens")[0]["name"] == "What __syncthreads() and __shared__ do"  # noqa: B009 - set by the toc extension


def test_emphasis_that_is_meant_still_works() -> None:
    """Bold and italic text is untouched, also around and beside a name."""
    shown = with_names("**bold** *it* _it_ **__shared__** _a __shared__ tile_ *x*__y")
    assert shown == (
        "<p><strong>bold</strong> <em>it</em> <em>it</em> <strong>__shared__</strong> "
        "<em>a __shared__ tile</em> <em>x</em>__y</p>"
    )


def test_code_is_untouched() -> None:
    """Spans, highlighted spans and fences show what is typed and nothing else."""
    shown = with_names("`__shared__ {{1, 2}}` and `#!cpp __shared__`\n\n```\n__shared__ x;\n```\n")
    text = re.sub(r"<[^>]+>", "", shown)
    assert text.count("__shared__") == 3
    assert "{{1, 2}}" in text
    assert "\x02" not in shown


def test_links_keep_their_target() -> None:
    """Underscores in a target, in an automatic link and in an image's source are the target's."""
    shown = with_names(
        "[__shared__](https://e.example/__a__ 'T __t__') <https://e.example/__b__> "
        "![__i__](__c__.png)"
    )
    assert 'href="https://e.example/__a__"' in shown
    assert 'href="https://e.example/__b__"' in shown
    assert 'src="__c__.png"' in shown
    assert 'alt="__i__"' in shown
    assert ">__shared__</a>" in shown
    assert "\x02" not in shown


def test_tables_and_titles_keep_names() -> None:
    """Cells and the titles of admonitions and tabs hold names as well."""
    shown = with_names('| a |\n|---|\n| __x__ |\n\n!!! note "The __shared__ kind"\n    __y__\n')
    assert "<td>__x__</td>" in shown
    assert "The __shared__ kind" in shown
    assert "<p>__y__</p>" in shown


def test_without_the_extension_names_do_turn_bold() -> None:
    """The fault this is for is real: Markdown alone makes such a name bold."""
    assert "<strong>shared</strong>" in html("a __shared__ b", extensions=MATERIAL)
