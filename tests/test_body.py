"""A body's Markdown into pieces: code is never touched, and Python-Markdown is the judge of it."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser

import markdown
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from measured_glossary.body import IDENTIFIER, Block, Piece, Text, Value, escape_identifiers, pieces
from measured_glossary.problem import Place
from measured_glossary.source import Source, decode


def source(text: str) -> Source:
    """A source of a text."""
    found = decode("e.md", text.encode()).value
    assert found is not None
    return found


def split(text: str) -> tuple[Piece, ...]:
    """The pieces of a text without faults."""
    checked = pieces(source(text), text)
    assert checked.problems == ()
    assert checked.value is not None
    return checked.value


def values(text: str) -> list[str]:
    """The expressions found in a text without faults."""
    return [piece.expression for piece in split(text) if isinstance(piece, Value)]


def faults(text: str) -> list[tuple[str, str]]:
    """Where and what, of each problem; a text with problems has no pieces."""
    checked = pieces(source(text), text)
    assert (checked.value is None) == bool(checked.problems)
    return [(str(problem.place), problem.code) for problem in checked.problems]


# ── pieces ───────────────────────────────────────────────────────────────────────────────────


def test_text_and_values_come_in_order_with_their_places() -> None:
    """What is not expanded comes as it is written, so that the pieces make the text again."""
    assert split("a {{ x.y }} b\n{{z}}") == (
        Text(markdown="a ", place=Place("e.md", 1, 1)),
        Value(expression="x.y", place=Place("e.md", 1, 3)),
        Text(markdown=" b\n", place=Place("e.md", 1, 12)),
        Value(expression="z", place=Place("e.md", 2, 1)),
    )


def test_places_count_from_the_first_line_given() -> None:
    """A body that begins at line 20 of a file has its faults there."""
    checked = pieces(source(""), "a\n{{ x", 20)
    assert [str(problem.place) for problem in checked.problems] == ["e.md:21:1"]


def test_a_block_has_a_name_an_argument_and_options_with_places() -> None:
    """The form mkdocstrings uses: `:::` at the margin, YAML indented below."""
    text = "x\n\n::: excerpt a.cu:b\n    title: T\n\n    lines: [1, 2]\n\ny\n"
    block = split(text)[1]
    assert isinstance(block, Block)
    assert (block.name, block.argument, block.place) == ("excerpt", "a.cu:b", Place("e.md", 3, 1))
    assert block.options.data == {"title": "T", "lines": ["1", "2"]}
    assert block.options.place(("lines", 1)) == Place("e.md", 6, 16)
    assert split(text)[2] == Text(markdown="\n\ny\n", place=Place("e.md", 6, 18))


def test_a_block_needs_neither_argument_nor_options() -> None:
    """Without options the place of any option is the block's line below."""
    block = split("::: claims")[0]
    assert isinstance(block, Block)
    assert (block.name, block.argument, block.options.data) == ("claims", "", {})


@pytest.mark.parametrize(
    "text",
    [
        "`{{1, 2}, {3, 4}}`",
        "`` a ` {{ x }} ``",
        "`{{ x }}\n{{ y }}`",
        "\\\\`{{ x }}`",
        "```cpp\nint a[2][2] = {{1, 2}, {3, 4}};\n```",
        "~~~\n{{ x }}\n```\n{{ y }}\n~~~",
        '``` cpp title="t" linenums="1" hl_lines="1 2-3"\n{{ x }}\n```',
        "````\n```\n{{ x }}\n```\n````",
        "- a\n\n    ```\n    {{ x }}\n    ```",
        "!!! note\n\n    ```\n    {{ x }}\n\n    {{ y }}\n    ```",
        "> ```\n> {{ x }}\n> ```",
        "<!-- {{ x }} -->",
        "<!--\n{{ x }}\n\n    {{ y }}\n-->",
        "a <!-- {{ x }} --> b",
        "[t](https://e.example/{{x}})",
        "![t](<{{ x }}> 'T')",
        "[t]: https://e.example/{{x}}",
        "<https://e.example/{{x}}>",
        "\\{{ x }}",
        "```\n\t{{ x }}\r\n```",
    ],
)
def test_code_comments_and_targets_are_left_alone(text: str) -> None:
    """Braces in any of them are text, and the text is what was written."""
    assert split(text) == (Text(markdown=text, place=Place("e.md", 1, 1)),)


@pytest.mark.parametrize(
    "text",
    [
        "`a` {{ x }} `b`",
        "# {{ x }}",
        "- a\n\n    {{ x }}\n\n    - b\n\n        c",
        "1. a\n\n    {{ x }}",
        "> {{ x }}",
        "!!! note\n    {{ x }}",
        '=== "Tab"\n\n    {{ x }}',
        "[^1]: a\n\n    {{ x }}",
        "term\n:   a\n\n    {{ x }}",
        "| a | {{ x }} |",
        "[{{ x }}](https://e.example)",
        "\\`{{ x }}",
        "\\\\{{ x }}",
        "\\{{{ x }}",
        "**{{ x }}**",
        "``` a ``` {{ x }}",
        "a <!-- b --> {{ x }}",
        "a `b\nc` {{ x }}",
    ],
)
def test_values_in_prose_are_found(text: str) -> None:
    """Lists, quotations, tables, titles and emphasis are prose."""
    assert values(text) == ["x"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a {{ x", ("e.md:1:3", "unclosed-value")),
        ("a {{ x\n}}", ("e.md:1:3", "unclosed-value")),
        ("a {{ }}", ("e.md:1:3", "value-syntax")),
        ("a {{ {{ x }}", ("e.md:1:3", "unclosed-value")),
        ("a {{ `x` }}", ("e.md:1:3", "value-syntax")),
        ("a `b", ("e.md:1:3", "unclosed-code")),
        ("a ``b`", ("e.md:1:3", "unclosed-code")),
        ("```\na", ("e.md:1:1", "unclosed-fence")),
        ("```\na\n````\n```", ("e.md:3:1", "fence-end")),
        ("```\na\n ```\n```", ("e.md:3:2", "fence-end")),
        ("``` {.cpp onclick=x}\na\n```", ("e.md:1:1", "fence-header")),
        ("``` cpp run\na\n```", ("e.md:1:1", "fence-header")),
        ("- ```\n  a\n  ```", ("e.md:1:1", "fence-position")),
        ("  ```\na\n  ```", ("e.md:2:1", "fence-indent")),
        ("a\n\n    b", ("e.md:3:5", "indented-code")),
        ("# a\n    b", ("e.md:2:5", "indented-code")),
        ("- a\n\n        b", ("e.md:3:9", "indented-code")),
        ("- a\n\n      b", ("e.md:3:7", "indented-code")),
        (">     a", ("e.md:1:1", "indented-code")),
        ("\tb", ("e.md:1:2", "indented-code")),
        ("<!-- a", ("e.md:1:1", "comment-syntax")),
        ("<!-- a -- b -->", ("e.md:1:1", "comment-syntax")),
        ("<!--\n```\n-->", ("e.md:2:1", "comment-syntax")),
        ("<!--\n--> a", ("e.md:2:4", "comment-syntax")),
        ("<!-- a --> b", ("e.md:1:11", "comment-syntax")),
        ("- <!-- a --> b", ("e.md:1:13", "comment-syntax")),
        ("> <!-- a --> b", ("e.md:1:13", "comment-syntax")),
        ("100. a\n\n    b", ("e.md:3:5", "indented-code")),
        ("a <!-- b\nc -->", ("e.md:1:3", "comment-syntax")),
        ("a <!-- ` --> b", ("e.md:1:3", "comment-syntax")),
        ("`<!--`", ("e.md:1:1", "comment-syntax")),
        ("[a](https://e.example", ("e.md:1:3", "link-syntax")),
        ("[a](javascript:x\n'y')", ("e.md:1:3", "link-syntax")),
        ("- [^1]: a", ("e.md:1:1", "footnote-position")),
        (":::", ("e.md:1:1", "block-syntax")),
        ("::: ", ("e.md:1:1", "block-syntax")),
        (":::a", ("e.md:1:1", "block-syntax")),
        ("::: Name", ("e.md:1:1", "block-syntax")),
        (":::: a", ("e.md:1:1", "block-syntax")),
        (":: a b", ("e.md:1:1", "block-syntax")),
        ("- a\n\n    :: b", ("e.md:3:5", "block-position")),
        ("- a\n\n    ::: b", ("e.md:3:5", "block-position")),
        ("- ::: b", ("e.md:1:1", "block-position")),
        ("1. ::: b c", ("e.md:1:1", "block-position")),
        ("> ::: b", ("e.md:1:1", "block-position")),
        (">::: b", ("e.md:1:1", "block-position")),
        ("> - ::: b", ("e.md:1:1", "block-position")),
        ("::: a\n    - b", ("e.md:2:5", "block-options")),
        ("::: a\n    b: &c d", ("e.md:2:8", "yaml-anchor")),
        ("::: a\n    b: 1\n    b: 2", ("e.md:3:5", "yaml-duplicate-key")),
    ],
)
def test_what_renderers_read_differently_is_refused(text: str, found: tuple[str, str]) -> None:
    """Each such construct is a problem at its place, with a code of its own."""
    assert found in faults(text)


@pytest.mark.parametrize(
    "text",
    [
        "- a\n    ```\n    x\n    ```\n- b\n    - c\n\n        deep\n\n    back",
        "1. one\n\n    > quoted\n\n    - inner\n\n        deep `a\n        b`\n\n2. two",
        "!!! note\n    text\n\n    - a\n\n    ```\n    x\n    ```\n\n    end\n\nafter",
        "- a\n  wrapped `x\n  y` z\n\n  second\n\n- b",
        "- a\nlazy\n\n    more",
        "- a\n\n    !!! note\n\n        text\n\n    more",
        "## H\n- a\n\n    more",
        "x[^1]\n\n[^1]: a\n\n    more\n\n    more",
    ],
)
def test_ordinary_indentation_is_not_taken_for_code(text: str) -> None:
    """What belongs to a list item or an admonition may be indented, step by step."""
    assert faults(text) == []


def test_all_faults_are_reported_at_once() -> None:
    """One fault does not hide the next."""
    assert [code for _, code in faults("{{ }} `a\n\n    x\n\n:::\n\n{{")] == [
        "value-syntax",
        "unclosed-code",
        "indented-code",
        "block-syntax",
        "unclosed-value",
    ]


# ── Python-Markdown as the judge ─────────────────────────────────────────────────────────────

EXTENSIONS = [
    "abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables", "toc",
    "pymdownx.details", "pymdownx.highlight", "pymdownx.inlinehilite", "pymdownx.superfences",
    "pymdownx.tabbed",
]  # fmt: skip


JUDGE = markdown.Markdown(extensions=EXTENSIONS)


class Shown(HTMLParser):
    """What a page shows as prose, and what as code or not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.prose = self.code = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag in ("code", "pre")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag in ("code", "pre")

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.code += data
        else:
            self.prose += data

    def handle_comment(self, data: str) -> None:
        self.code += data


def judge(text: str) -> None:
    """Compare the values found in a text with what Python-Markdown does with the same text."""
    checked = pieces(source(text), text)
    if checked.value is None:
        return
    found = {piece.expression for piece in checked.value if isinstance(piece, Value)}
    page = Shown()
    # A word in place of each candidate, as its expansion will be.
    expanded = re.sub(r"\{\{ (v\d+) \}\}", r"Q\1Q", text)
    page.feed(JUDGE.reset().convert(expanded))
    page.close()
    assert set(re.findall(r"Q(v\d+)Q", page.prose)) <= found
    assert not set(re.findall(r"Q(v\d+)Q", page.code)) & found


def numbered(lines: list[str]) -> str:
    """A text of lines in which each candidate has a number of its own."""
    numbers = iter(range(1_000))
    return re.sub(r"\{\{ V \}\}", lambda _: f"{{{{ v{next(numbers)} }}}}", "\n".join(lines))


WORDS = [
    "word", "{{ V }}", "`c {{ V }}`", "`` a ` {{ V }} ``", "**b {{ V }}**", "\\`", "1024", "5 * 3",
    "[t {{ V }}](https://e.example/x)", "<!-- {{ V }} -->", "a < b", "`{{1, 2}}`", "-", "`a\\`",
    "`x\n{{ V }} y`", "line\nend {{ V }}", "__x__", "`int *\n a`", "{{ V }}`{{ V }}`",
    "\\\\`{{ V }}`",
]  # fmt: skip
CODE_LINES = [
    "int {{ V }};", "", "    x {{ V }}", "```", "~~~", "~~~~", "`{{ V }}", "<!-- {{ V }}", "-->",
    "- {{ V }}", "# {{ V }}", "!!! note", "> {{ V }}", "\tif {{ V }}", "````cpp",
]  # fmt: skip
LINES = [
    *WORDS, *CODE_LINES, "", "", "", "``a ` {{ V }}`` {{ V }}", "open `a {{ V }}", "b` {{ V }}",
    "<!--", "- `{{ V }}`", "1. {{ V }}", "* a", "> `a {{ V }}", "> - {{ V }}", "===", "---", "+ a",
    '??? tip "T {{ V }}"', '=== "T"', "a | b", "--|--", "{{ V }} | `c {{ V }}`", "[^1]: {{ V }}",
    "[r]: https://e.example", "term", ":   {{ V }}", "*[AB]: abc", "/// x", "- - {{ V }}",
    "- # {{ V }}", "- !!! note", "``` {{ V }} ```", "2) {{ V }}", "`` {{ V }}", "\\` {{ V }}",
]  # fmt: skip
paragraphs = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(
    lambda words: " ".join(words).split("\n")
)
code_lines = st.lists(st.sampled_from(CODE_LINES), max_size=5)
fences = st.builds(
    lambda fence, info, code: [fence + info, *code, fence],
    st.sampled_from(["```", "~~~", "````", "~~~~~"]),
    st.sampled_from(["", "cpp", ' py title="t"']),
    code_lines,
)
leaves = st.one_of(
    paragraphs,
    paragraphs,
    fences,
    code_lines.map(lambda code: ["<!-- x", *code, "-->"]),
    paragraphs.map(lambda lines: [f"## {lines[0]}", *lines[1:]]),
    paragraphs.map(lambda lines: [f"> {line}" for line in lines]),
    fences.map(lambda lines: [f"> {line}" for line in lines]),
)


def joined(blocks: list[tuple[list[str], list[str]]]) -> list[str]:
    """The lines of blocks, each with what separates it from the next."""
    return [line for block, gap in blocks for line in (*block, *gap)]


def nested(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    """Lists, admonitions, tabs, footnotes and definitions around blocks."""
    heads = st.one_of(
        st.builds(
            lambda mark, lines: [mark + lines[0], *(f"  {line}" for line in lines[1:]), ""],
            st.sampled_from(["- ", "1. ", "* ", "-   ", "10. "]),
            paragraphs,
        ),
        st.sampled_from([["!!! note"], ['??? tip "x"', ""], ['=== "T"', ""]]),
        st.sampled_from([["[^1]: n {{ V }}", ""], ["term", ":   d {{ V }}", ""]]),
    )
    return st.builds(
        lambda head, blocks, n: head + [" " * n + line if line else "" for line in joined(blocks)],
        heads,
        st.lists(st.tuples(inner, GAPS), max_size=3),
        st.sampled_from([4, 4, 4, 4, 4, 2, 3, 5]),
    )


GAPS = st.sampled_from([[""], [""], [""], []])
documents = st.lists(
    st.tuples(st.recursive(leaves, nested, max_leaves=4), GAPS), min_size=1, max_size=4
).map(joined)
loose_lines = st.lists(
    st.tuples(st.sampled_from([0, 0, 0, 0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9]), st.sampled_from(LINES)),
    min_size=1,
    max_size=6,
).map(lambda lines: [" " * indent + line for indent, line in lines])

quick = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))


@quick
@given(documents)
def test_python_markdown_agrees_on_ordinary_documents(lines: list[str]) -> None:
    """What it shows as prose are values, and what it shows as code or hides is none."""
    judge(numbered(lines))


@quick
@given(loose_lines)
def test_python_markdown_agrees_on_lines_thrown_together(lines: list[str]) -> None:
    """The same holds for lines in any order and at any indentation, where they are accepted."""
    judge(numbered(lines))


# ── identifiers ──────────────────────────────────────────────────────────────────────────────

SPELLED_OUT = re.compile(r"(?<![\w\\])(?:\\?_){2,}(?=[A-Za-z0-9])(?:\w|\\_)*")


@pytest.mark.parametrize("length", range(7))
def test_a_name_is_found_where_the_plain_rule_finds_it(length: int) -> None:
    """The rule is written so that it is quick; it is the same as the one that says what it is."""
    quick = re.compile(IDENTIFIER)
    for signs in itertools.product("\\_a *", repeat=length):
        text = "".join(signs)
        assert quick.findall(text) == SPELLED_OUT.findall(text)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("__shared__ a", "\\_\\_shared\\_\\_ a"),
        ("__launch_bounds__(256)", "\\_\\_launch\\_bounds\\_\\_(256)"),
        ("__a() and __b()", "\\_\\_a() and \\_\\_b()"),
        ("**__a__**", "**\\_\\_a\\_\\_**"),
        ("\\_\\_a\\_\\_ \\__b__", "\\_\\_a\\_\\_ \\_\\_b\\_\\_"),
        ("[__a__](__b__)", "[\\_\\_a\\_\\_](__b__)"),
    ],
)
def test_names_are_escaped(text: str, escaped: str) -> None:
    """All underscores of a name that begins with two are escaped, and only once."""
    assert escape_identifiers(text) == escaped
    assert escape_identifiers(escaped) == escaped


@pytest.mark.parametrize(
    "text",
    [
        "`__a__`", "```\n__a__\n```", "<!-- __a__ -->", "**b** *i* _i_ snake_case_name",
        "https://e.example/__a__", "<https://e.example/__a__>", "[x]: __a__", "[t][__a__]",
        "[^__a__]", "___", "a __ b", "`a\n__b__`",
    ],
)  # fmt: skip
def test_all_else_is_left_alone(text: str) -> None:
    """Code, targets, labels, rules and emphasis that is meant stay as they are."""
    assert escape_identifiers(text) == text
