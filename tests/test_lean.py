"""What leaves out what cannot match makes what the libraries make, whatever is thrown at them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import markdown
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown.inlinepatterns import HTML_RE
from mkdocs.structure.pages import _RawHTMLPreprocessor
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
from pymdownx.highlight import Highlight  # type: ignore[import-untyped]

from measured_glossary.lean import OFTEN, LeanInlineProcessor, Rules, hasten, lean
from measured_glossary.sieve import UNKNOWN, may_begin, signs

EXTENSIONS = [
    "abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "smarty", "tables",
    "toc", "pymdownx.betterem", "pymdownx.caret", "pymdownx.details", "pymdownx.highlight",
    "pymdownx.inlinehilite", "pymdownx.keys", "pymdownx.mark", "pymdownx.smartsymbols",
    "pymdownx.superfences", "pymdownx.tabbed", "pymdownx.tilde", "measured_glossary.markdown",
]  # fmt: skip
LEAN = "measured_glossary.lean"
BITS = [
    "a", "b c", " ", "  \n", "\n", "\n\n", "    ", "\\", "*", "**", "_", "__", "__shared__", "`",
    "``", "```", "```cuda\nint a = 0x1f; // b\n```\n", "[", "]", "![", "](", "(b)", "[b][c]",
    "[^1]", "[^1]: a\n", "[c]: d\n", "<", ">", "<a@b.c>", "<http://b.c>", "<b>", "</b>", "<!--",
    "-->", "<div markdown>\n", "</div>\n", "<?", "&", "&amp;", "&#58;", ";", "~~", "==", "^^",
    "++a++", "(c)", "...", "--", '"', "'", "# ", "- ", "1. ", "> ", "!!! note\n    ",
    "??? note\n    ", "| a | b |\n|---|---|\n| c | d |\n", "{: .a }", "*[a]: b\n", ": b\n", "é",
    "\x02", "\x03", "`#!c a;`", '=== "a"\n\n    ', "https://b.c", "[TOC]", "\n[TOC]\n",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(BITS), max_size=30).map("".join)
PLACES = ["id", "ID", "name", "Name", "=", " = ", "\n=\n", "a>", "<p id=x>", "<a\n NAME='y'>",
          "<i id>", "<a name=z/>", "</a>", "<p class=b id = w>", "side='c'", "name=d"]  # fmt: skip
CODE = """#include <a.h>
template <typename T> __global__ void f(const T* a) { /* b */ x[0xfULL] = R"--(a)--" + 'a'; }
# a ${b} "$(c)" && d=1 <<E
@misc{a, b = {c}, "d" = 1}
a: &b [1, "c", !d e]  # f
@a\ndef f(x: int = 0) -> "é": return f'{x!r}' or not None
"""
PIECES = st.lists(st.sampled_from(re.findall(r"\w+|\s+|.", CODE)), max_size=40).map("".join)
ANY = "abcd *_<["
LANGUAGES = ["cuda", "c++", "c", "sh", "python", "yaml", "bibtex", "json", "html", "console", "ptx"]


def fresh(language: str) -> Any:
    """A kind of lexers of its own, which reads as that of a language."""
    known = type(get_lexer_by_name(language))
    return type("Fresh", (known,), {})


def expressions() -> Iterator[re.Pattern[str]]:
    """What Python-Markdown's patterns and Pygments' rules are, and a few that are harder."""
    md = markdown.Markdown(extensions=EXTENSIONS)
    yield from (each.getCompiledRegExp() for each in md.inlinePatterns)
    for language in LANGUAGES:
        lexer = fresh(language)()
        for rules in getattr(lexer, "_tokens", {}).values():
            yield from (rule[0].__self__ for rule in rules)
    hard = ["", "a?b", "(?:a|)b", "(?i:a)b", "(?i)ab", "[^a]b", "(a)(?(1)b|c)", r"(a)\1", "(?>a)b",
            "a{0}b", "(?:a*b?)+c", "(?<=a)b", "(?!a).", "a|bc|[d-f]", r"[^\W\d]|\s", "(?x) a b # c",
            "(?-s:.)a"]  # fmt: skip
    yield from map(re.compile, hard)


KNOWN = sorted(set(expressions()), key=lambda each: (each.pattern, each.flags))


@given(st.one_of(TEXTS, PIECES))
def test_every_match_holds_its_signs_and_begins_as_it_may(text: str) -> None:
    """No expression matches where `sieve` says that it cannot."""
    for regex in KNOWN:
        for found in regex.finditer(text):
            assert any(sign in text for sign in signs(regex)), regex
            assert may_begin(regex, text[found.start()]) if found.group() else True, regex


@pytest.mark.parametrize(("regex", "held", "begins"), [
    (r"(?<!\!)\[", ("[",), "["), (r"  \n", ("  \n",), " "), (HTML_RE, ("<",), "<"),
    (r"\*|_", ("*", "_"), "*_"), (r"ab|cde", ("ab", "cde"), "ac"), (r"(a|b?)c+", ("c",), "abc"),
    (r"a*", UNKNOWN, ANY), (r"(?i)a", UNKNOWN, ANY), (r"[a-c]\d", UNKNOWN, "abc"),
])  # fmt: skip
def test_what_is_read_off_an_expression(regex: str, held: tuple[str, ...], begins: str) -> None:
    """The fewest signs, the longest of them; where a match may be empty, it may be anywhere."""
    compiled = re.compile(regex, re.DOTALL)
    assert signs(compiled) == held
    assert "".join(sign for sign in ANY if may_begin(compiled, sign)) == begins


@given(TEXTS)
def test_a_page_is_what_it_was(text: str) -> None:
    """With the extension Python-Markdown makes the same HTML."""
    assert markdown.markdown(text, extensions=[*EXTENSIONS, LEAN]) == markdown.markdown(
        text, extensions=EXTENSIONS
    )


@given(st.lists(st.sampled_from([*BITS, *PLACES]), max_size=30).map("".join))
def test_every_place_that_mkdocs_finds_it_finds_still(text: str) -> None:
    """A page's HTML is read where it may name a place, however that is written."""
    found = []
    for extensions in (EXTENSIONS, [*EXTENSIONS, LEAN]):
        md, raw = markdown.Markdown(extensions=extensions), _RawHTMLPreprocessor()
        raw._register(md)
        md.convert(text)
        found.append(raw.present_anchor_ids - {None})  # an attribute without a value is no place
    assert found[0] == found[1]


def test_a_page_that_names_no_place_is_not_read_for_places() -> None:
    """And one that does is: the table of contents too is put where it is asked for alone."""
    for text, is_read in (("A *paragraph*, <b>bold</b>.", False), ('<p ID\n="a">b</p>', True)):
        md, raw = markdown.Markdown(extensions=["toc", LEAN]), _RawHTMLPreprocessor()
        raw._register(md)
        md.convert(text)
        assert ("run" not in vars(raw)) is is_read
    for text, marker in (("# A\n\n[TOC]", "[TOC]"), ("# A", ""), ("[TOC]", "[TOC]")):
        md.reset().convert(text)
        assert vars(md.treeprocessors["toc"])["marker"] == marker


@given(PIECES, st.sampled_from(LANGUAGES))
def test_code_is_read_as_it_was(text: str, language: str) -> None:
    """A lexer in haste gives the same words, each of the same kind, at the same place."""
    plain, hasty = fresh(language)(), fresh(language)()
    hasten(type(hasty))
    assert list(hasty.get_tokens_unprocessed(text)) == list(plain.get_tokens_unprocessed(text))


def test_it_is_in_the_place_of_what_is_slow() -> None:
    """The patterns are ours to try."""
    md = markdown.Markdown(extensions=[LEAN])
    assert type(md.treeprocessors["inline"]) is LeanInlineProcessor


def test_a_language_that_is_met_often_has_its_rules_sorted() -> None:
    """The rules of a few states, and those alone; one page makes none of it worth the time."""
    kind = type(get_lexer_by_name("objective-c"))
    highlighter = lean(type("Highlight", (Highlight,), {}))
    for _ in range(OFTEN):
        assert not any(type(rules) is Rules for rules in getattr(kind, "_tokens", {}).values())
        highlighter(None).get_lexer("", "objective-c", False, True)
    assert type(kind._tokens["statement"]) is Rules
    assert type(kind._tokens["macro"]) is list


HIGHLIGHT: dict[str, dict[str, object]] = {
    "plain": {},
    "guessing": {"guess_lang": True},
    "of its own": {"extend_pygments_lang": [{"name": "php", "lang": "cuda"}]},
}


@pytest.mark.parametrize("options", HIGHLIGHT.values(), ids=HIGHLIGHT)
@pytest.mark.parametrize("language", ["cuda", "CUDA", "php", "nothing", "", "text"])
def test_code_is_shown_as_it_was_the_second_time_too(
    options: dict[str, object], language: str
) -> None:
    """A language that is known by now is what it was, whatever else it means on another site."""
    text = f"```{language}\n#!/bin/sh\nint a = 'b';\n```\n"
    extensions = ["pymdownx.highlight", "pymdownx.superfences"]
    configs = {"pymdownx.highlight": {"pygments_lang_class": True, **options}}
    plain = markdown.markdown(text, extensions=extensions, extension_configs=configs)
    for _ in range(2):
        made = markdown.markdown(text, extensions=[*extensions, LEAN], extension_configs=configs)
        assert made == plain


def test_another_extensions_patterns_are_left_to_it() -> None:
    """Where the processor of patterns was replaced by another, that one stays."""

    class Other(LeanInlineProcessor):
        pass

    class Replaced(markdown.Extension):
        def extendMarkdown(self, md: markdown.Markdown) -> None:  # noqa: N802 - the host's name
            md.treeprocessors.register(Other(md), "inline", 20)

    assert type(markdown.Markdown(extensions=[Replaced(), LEAN]).treeprocessors["inline"]) is Other
