"""A Python-Markdown extension: the same HTML in less time.

Comes in: any Markdown. Goes out: what Python-Markdown and Pygments make of it. Must not know a
pattern of theirs: what cannot match is told by `sieve`.

Python-Markdown looks for each kind of markup in each text of a page, and most texts hold none: half
of them are the line ends between two elements. Pygments tries forty rules at each word of C++.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.extensions.toc import TocTreeprocessor
from markdown.inlinepatterns import Pattern
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import InlineProcessor
from markdown.util import AtomicString

from measured_glossary.sieve import Signs, may_begin, signs

Rule = tuple[Any, Any, Any]  # of Pygments: what matches, what it is, which state is next
MANY = 12  # rules of a state: to choose among fewer takes longer than to try them
OFTEN = 25  # blocks of code in one language
MKDOCS = "mkdocs_raw_html"  # what looks for places in a page's HTML before Python-Markdown reads it
_NAME = re.compile(r"[iInN](?:(?<=[iI])[dD]|(?<=[nN])[aA][mM][eE])\s*=")


class LeanInlineProcessor(InlineProcessor):
    """Tries on a text only those patterns whose signs it holds."""

    _tried: list[tuple[Pattern, Signs]]

    def run(self, tree: Element, ancestors: list[str] | None = None) -> Element:
        """Apply the patterns, which other extensions may have added to until now."""
        patterns = list(self.md.inlinePatterns)
        self._tried = [(each, signs(each.getCompiledRegExp())) for each in patterns]
        return super().run(tree, ancestors)

    def _InlineProcessor__handleInline(self, data: str, patternIndex: int = 0) -> str:  # noqa: N802, N803 - the host's names
        """Apply the patterns to a text, as the method of that name does."""
        apply: Any = getattr(self, "_InlineProcessor__applyPattern")  # noqa: B009 - private to it
        start, count = 0, 0 if isinstance(data, AtomicString) else len(self._tried)
        while patternIndex < count:
            pattern, needed = self._tried[patternIndex]
            matched = False
            for sign in needed:
                if sign in data:
                    data, matched, start = apply(pattern, data, patternIndex, start)
                    break
            if not matched:
                patternIndex, start = patternIndex + 1, 0  # noqa: N806 - as above
        return data


class LeanPreprocessor(Preprocessor):
    """Tells what comes later what it need not look for: a text that holds none has none later."""

    def __init__(self, md: Markdown) -> None:
        super().__init__(md)
        known = (each for each in md.treeprocessors if isinstance(each, TocTreeprocessor))
        self.toc = next(known, None)
        self.marker = self.toc.marker if self.toc else ""

    def run(self, lines: list[str]) -> list[str]:
        """Give the lines as they are."""
        text = "\n".join(lines)
        if MKDOCS in self.md.preprocessors and not _NAME.search(text):
            raw = self.md.preprocessors[MKDOCS]  # of this page alone
            raw.run = lambda lines: lines  # type: ignore[method-assign]
        if self.toc:
            self.toc.marker = self.marker if self.marker in text else ""
        return lines


class Rules(dict[str, Sequence[Rule]]):
    """A state's rules by the sign where text is read: those that may match there.

    Pygments goes through a state's rules and asks each for a match at a place. The first one here
    is none of them, and matches nothing: it learns the place, and so which are worth asking.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        super().__init__({"": rules})  # at the end of a text all may

    def __missing__(self, sign: str) -> Sequence[Rule]:
        """Choose among the rules, once for each sign."""
        self[sign] = [rule for rule in self[""] if _may_match(rule, sign)]
        return self[sign]

    def __iter__(self) -> Iterator[Any]:
        """Give the rules that may match, once the first was asked."""
        found: Sequence[Rule] = ()

        def learn(text: str, place: int, *_: int) -> None:
            nonlocal found
            found = self[text[place : place + 1]]

        yield learn, None, None
        yield from found


def _may_match(rule: Rule, sign: str) -> bool:
    regex = getattr(rule[0], "__self__", None)  # a rule has the method of an expression
    return not isinstance(regex, re.Pattern) or may_begin(regex, sign)


def hasten(lexer: Any) -> None:
    """Let a kind of Pygments' lexers choose among the rules of its large states."""
    for state, rules in getattr(lexer, "_tokens", {}).items():
        if type(rules) is list and len(rules) > MANY:
            lexer._tokens[state] = Rules(rules)


@cache
def lean(highlighter: Any) -> Any:
    """Give a class that does what a highlighter of pymdownx does, with lexers in haste.

    Pygments looks through all its languages for each block of code. A lexer that is asked for a few
    times stays as it is: to read its rules takes as long as to read some blocks.
    """
    known: dict[str, Any] = {}
    asked: Counter[Any] = Counter()

    class Lean(highlighter):  # type: ignore[misc] # pymdownx has no types
        def get_lexer(
            self, src: str, language: str, inline: bool, stripnl: bool
        ) -> tuple[Any, str]:
            if language in known and not self.extend_pygments_lang:
                lexer, name = known[language](stripnl=stripnl), language
            else:
                lexer, name = super().get_lexer(src, language, inline, stripnl)
            kind = type(lexer)
            if language and language.lower() in lexer.aliases and not self.extend_pygments_lang:
                known[language] = kind
            asked[kind] += 1
            if asked[kind] == OFTEN:
                hasten(kind)
            return lexer, name

    return Lean


class LeanExtension(Extension):
    """Puts these in the place of the libraries' own."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the host's name
        """Replace what no other extension has replaced."""
        if type(md.treeprocessors["inline"]) is InlineProcessor:
            md.treeprocessors.register(LeanInlineProcessor(md), "inline", 20)
        md.preprocessors.register(LeanPreprocessor(md), "lean", 21.5)
        for each in md.registeredExtensions:
            if own := getattr(each, "get_pymdownx_highlighter", None):
                each.get_pymdownx_highlighter = partial(lean, own())  # type: ignore[attr-defined]


def makeExtension(**options: Any) -> LeanExtension:  # noqa: N802 - the host's name
    """Give the extension to Python-Markdown, which looks for this function."""
    return LeanExtension(**options)
