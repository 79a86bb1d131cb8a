"""Terms in prose: which mention becomes a link, where none may, what is wrong with a reference."""

from __future__ import annotations

import re

import pytest

from measured_glossary.backlinks import Written, mentions, named, sentence_at
from measured_glossary.scan import Lines
from measured_glossary.terms import Term, link, problems, targets, vocabulary
from measured_glossary.terms import mentions as found

TERMS = (
    Term(
        id="syncthreads",
        names=("__syncthreads()", "syncthreads", "sync threads", "block barrier"),
        answer="It is a `barrier` (for one block).",
        uri="glossary/syncthreads/index.md",
    ),
    Term(id="warp", names=("warp",), answer="32 threads.", uri="glossary/warp/index.md"),
    Term(id="memory", names=("memory", "Bank"), answer="Cells.", uri="glossary/memory/index.md"),
    Term(id="shared", names=("shared memory",), answer="On chip.", uri="glossary/shared/index.md"),
    Term(id="bank", names=("bank conflict", "bank"), answer="Two.", uri="glossary/bank/index.md"),
    Term(id="race", names=("data race",)),  # a draft: known, and without a page
)
KNOWN = vocabulary(TERMS)


def linked(text: str, own: str = "") -> list[tuple[str, str]]:
    """Give the links of a text after its terms were linked: what is shown, and the entry."""
    made = link(text, KNOWN, page="docs/page.md", own=own)
    return re.findall(r'\[([^\]]+)\]\(\.\./(?:glossary/)?([\w/-]+)/index\.md "', made)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("A warp waits.", [("warp", "warp")], id="the term"),
        pytest.param("Warps wait.", [("Warps", "warp")], id="plural and capital"),
        pytest.param("A warp's lanes.", [("warp's", "warp")], id="possessive"),
        pytest.param("Two memories.", [("memories", "memory")], id="plural in -ies"),
        pytest.param("The block barrier.", [("block barrier", "syncthreads")], id="several words"),
        pytest.param("The block\nbarrier.", [("block\nbarrier", "syncthreads")], id="over a line"),
        pytest.param("A block-barrier.", [("block-barrier", "syncthreads")], id="with a hyphen"),
        pytest.param("In shared memory.", [("shared memory", "shared")], id="longest first"),
        pytest.param(
            "Call __syncthreads().", [("__syncthreads()", "syncthreads")], id="identifier"
        ),
        pytest.param(
            r"Call \_\_syncthreads() now.", [(r"\_\_syncthreads()", "syncthreads")], id="escaped"
        ),
        pytest.param("Call syncthreads().", [("syncthreads()", "syncthreads")], id="with brackets"),
        pytest.param("A warp, another warp.", [("warp", "warp")], id="once"),
        pytest.param("A warp.\n\n## On\n\nA warp.", [("warp", "warp")] * 2, id="once a section"),
        pytest.param("| a warp |\n|---|\n| b |", [("warp", "warp")], id="in a table"),
        pytest.param("A bank.", [("bank", "terms/bank")], id="shared name"),
        pytest.param("`warp` is a [[warp]].", [("warp", "warp")], id="forced"),
        pytest.param("Those [[warp|32 threads]].", [("32 threads", "warp")], id="other words"),
        pytest.param("By id: [[bank]].", [("bank", "bank")], id="an id is never ambiguous"),
        pytest.param("[[`__syncthreads()`]]", [("`__syncthreads()`", "syncthreads")], id="as code"),
        pytest.param("[[!warp]] and warp", [("warp", "warp")], id="forbidden, then allowed"),
    ],
)
def test_a_mention_becomes_a_link(text: str, expected: list[tuple[str, str]]) -> None:
    """The first mention in each section is linked, in whatever form the name stands there."""
    assert linked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "`warp`",
        "```\nwarp\n```",
        "# A warp",
        "A warp\n======",
        "[a warp](x.md)",
        "[a warp][x]",
        "![a warp](x.png)",
        "<https://warp.example/>",
        "https://warp.example/warp",
        "<p>\nA warp in HTML.\n</p>",
        "An <b title='warp'>x</b>.",
        '!!! note "A warp"',
        '=== "A warp"',
        "[warp]: x.md",
        "<!-- warp -->",
        "{{ warp }}",
        "x { .warp }",
        "[[!warp]]",
        "subwarp warped warp-level warp.x x.warp",
        "A data race, and [[data race]].",
        "`[[warp]]`",
    ],
)
def test_nothing_is_linked_there(text: str) -> None:
    """Code, headings, links, HTML, titles, other words and drafts stay as they are."""
    assert linked(text) == []


def test_an_entry_does_not_link_to_itself() -> None:
    """On a term's own page its name stays plain, forced or not."""
    assert linked("A warp in memory, [[warp]].", own="warp") == [("memory", "memory")]


def test_brackets_are_gone_even_where_there_is_no_link() -> None:
    """A forced or forbidden mention without a page shows its words alone."""
    made = link("[[data race]], [[race|racing]], [[!warp]].", KNOWN, page="a.md")
    assert made == "data race, racing, warp."


def test_the_title_is_inert_and_keeps_its_parentheses_to_itself() -> None:
    """The answer stands in the title without code marks and without signs that end a title."""
    made = link("block barrier", KNOWN, page="a.md")
    title = '"It is a barrier &#40;for one block&#41;."'
    assert made == f"[block barrier](glossary/syncthreads/index.md {title})"


def test_the_ends_of_a_page_stand() -> None:
    """What is no mention is returned as it was, byte for byte."""
    text = "\n\nNo term.\r\n\tHere `code`.\n\n"
    assert link(text, KNOWN, page="a.md") == text


def test_a_page_is_made_anew_when_a_shared_name_moves() -> None:
    """A third term that takes the shorter name changes where a mention of the longer one leads."""
    one = Term(id="one", names=("bank", "cache bank"), uri="glossary/one/index.md")
    two = Term(id="two", names=("bank", "cache bank"), uri="glossary/two/index.md")
    three = Term(id="three", names=("bank",), uri="glossary/three/index.md")
    before, after, text = vocabulary([one, two]), vocabulary([one, two, three]), "A cache bank."
    assert found(text, before) == found(text, after)
    assert link(text, before, page="a.md") != link(text, after, page="a.md")
    assert targets(found(text, before), before) != targets(found(text, after), after)


def test_a_shared_name_has_a_page() -> None:
    """Two terms with one name share a page named after it."""
    (shared,) = KNOWN.shared.values()
    assert (shared.name, shared.uri) == ("Bank", "terms/bank/index.md")
    assert [term.id for term in shared.terms] == ["memory", "bank"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a [[]] b [[|x]] c [[warp|]] d", [3, 10, 19]),
        ("`[[]]` [[warp]] [[warp|two]] [[`warp`]] [](b) [[a]](https://b.example) [[1], [2]]", []),
        ("```\n[[]]\n```\n", []),
    ],
)
def test_a_reference_without_a_name_is_a_problem(text: str, columns: list[int]) -> None:
    """It would stand on the page as it was typed; code and other brackets are no references."""
    found = [p for p in problems(text, KNOWN, Lines("a.md", text, 1)) if p.code == "empty-term"]
    assert [p.place.column for p in found] == columns


def test_references_to_nothing_and_to_two_are_problems() -> None:
    """An unknown and an ambiguous reference are told with file, line and column."""
    known = vocabulary([*TERMS, Term(id="other", names=("Warp",))])
    text = "Fine: [[data race]].\n\nA [[waarp]] and [[Warp]].\n"
    found = [(str(p.place), p.code) for p in problems(text, known, Lines("a.md", text, 10))]
    assert found == [("a.md:12:3", "unknown-term"), ("a.md:12:17", "ambiguous-term")]


def test_brackets_in_code_are_no_reference() -> None:
    """Attributes of C++ in code are left alone; in prose they are a reference to nobody."""
    text = "`[[nodiscard]]`\n\n```cpp\n[[nodiscard]] int f();\n```\n\n[[nodiscard]]"
    assert [p.place.line for p in problems(text, KNOWN, Lines("a.md", text, 1))] == [7]


# ── backlinks ────────────────────────────────────────────────────────────────────────────────


def test_a_page_that_names_a_term_is_met() -> None:
    """Each other page is told once, with the sentence of the first link or mention."""
    pages = [
        Written(
            uri="lesson.md", title="Lesson", markdown="# L\n\nFirst. A `k` *warp* waits. Warp."
        ),
        Written(uri="linked.md", title="Linked", markdown="See [it](glossary/warp/index.md) now."),
        Written(uri="glossary/warp/index.md", title="warp", markdown="A warp.", own="warp"),
    ]
    found = mentions((page, named(page.markdown, KNOWN)) for page in pages)
    assert [(m.uri, m.sentence) for m in found["warp"]] == [
        ("lesson.md", "A k warp waits."),
        ("linked.md", "See it now."),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two warp three. Four.", "Two warp three."),
        ("Intro.\n\n- item\n- a warp here\n- more", "a warp here"),
        ("| a | warp |\n|---|---|", ""),
        ("> quoted warp.\n", "quoted warp."),
        ("Its [[warp|lanes]] wait.", "Its lanes wait."),
        ("A &#95;&#95;warp wait.", "A __warp wait."),
    ],
)
def test_the_sentence_is_plain_words(text: str, sentence: str) -> None:
    """A sentence ends where a list's item or a quotation does; a table's row has none."""
    assert sentence_at(text, text.index("warp")) == sentence
