"""What sentences assert: typed numbers, "always", "N times", and what backs them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measured_glossary.scan import Lines, scan
from measured_glossary.sentence import sentences
from measured_glossary.wording import Backing, lint, sweeping

BACKING = Backing.of(claims=("holds", "lab.other"), sections=("2.2.4.1", "Shared Memory"))
SHOWN = "\n\n::: claims\n"


def found(body: str) -> list[str]:
    """The place, code and words of each problem of a body that lists its claims."""
    text = body + SHOWN
    problems = lint(scan(text), Lines("e.md", text, 1), BACKING)
    return [
        f"{p.place.line}:{p.place.column} {p.code} {p.message.split(chr(39))[1]}"
        for p in sorted(problems)
    ]


def words(body: str) -> list[str]:
    """The words that are found, without their places."""
    return [each.split(" ", 2)[2] for each in found(body)]


# ── always, never, N times ───────────────────────────────────────────────────────────────────

UNBACKED = [
    ("A divergent barrier always deadlocks.", "always"),
    ("It Never fails.", "Never"),
    ("Use it *always*.", "always"),
    ("Use it __always__ and gladly.", "always"),
    ("The warp is invariably right.", "invariably"),
    ("It holds in all cases.", "in all cases"),
    ("It holds under no\ncircumstances.", "under no circumstances"),
    ("It holds in no\n  case.", "in no case"),
    ("The same is seen on every GPU.", "on every GPU"),
    ("The same is seen on any\ndevice.", "on any device"),
    ("It takes thrice\nthe time.", "thrice the"),
    ("It is 5 per\ncent slower.", "5 per cent slower"),
    ("Nearly always it hangs.", "always"),
    ("It is 32 times slower.", "32 times"),
    ("It takes 1.5 times as long.", "1.5 times"),
    ("It takes three times as long.", "three times as"),
    ("Shared memory is a hundred times faster.", "a hundred times faster"),
    ("It is twice as fast.", "twice as"),
    ("It takes twice the time.", "twice the"),
    ("It runs half as fast.", "half as"),
    ("A gain of 3×.", "3×"),
    ("It is 3× faster.", "3×"),
    ("It got 2.5x with that.", "2.5x"),
    ("The gain is ×4 here.", "×4"),
    ("It is 20 % faster.", "20 % faster"),
    ("It uses 20% fewer registers.", "20% fewer"),
    ("It is 5 percent slightly slower.", "5 percent slightly slower"),
    ("A tenfold gain.", "tenfold"),
    ("A 10-fold gain.", "10-fold"),
    ("It wins by a factor of 8.", "factor of 8"),
    ("It wins by a factor of about two.", "factor of about two"),
    ("It is orders of magnitude slower.", "orders of magnitude"),
    ("A stride of two cuts the throughput in half.", "cuts the throughput in half"),
    ("Padding doubles the throughput.", "doubles the throughput"),
    ("More than double the bandwidth.", "double the bandwidth"),
    ("It is two- to three-times faster.", "three-times faster"),
    ("It is 3 x faster.", "3 x faster"),
    ("A speedup of about 2.3 is seen.", "speedup of about 2.3"),
    ("A 10% speed-up.", "10% speed-up"),
    ("- It never hangs.", "never"),
    ("| case | it never hangs |", "never"),
    ("So [it](figure.svg) never hangs.", "never"),
    ("First {{ x.y }} wrong. It never hangs.", "never"),
    ("See [this](https://a.example). It never hangs.", "never"),
    ("It never hangs. See (2.2.4.1).", "never"),
    ("It never hangs (9.9).", "never"),
    ("So it is {{ a / b }}, or 3 times as long.", "3 times"),
    ("::: chart x\n    caption: It never hangs.", "never"),
]


@pytest.mark.parametrize(("body", "said"), UNBACKED)
def test_what_nobody_measured_is_found_with_its_words(body: str, said: str) -> None:
    """Words such as "always" and typed ratios are problems where nothing backs them."""
    assert words(body) == [said]
    assert {each.split()[1] for each in found(body)} == {"unbacked-word"}


@pytest.mark.parametrize(
    "body",
    [
        "It [always](#claim-holds) hangs.",
        "It [is three times as long](#claim-other) here.",
        "In {{ x.launches }} launches it never hung.",
        "It took {{ a / b }} times as long.",
        "It took {{ a }}× as long, {{ a }} % faster.",
        "It never hangs (2.2.4.1).",
        "It never hangs (Shared Memory, 2.2.4.1).",
        "It [never hangs, says a blog](https://a.example/x).",
        "It never hangs.[^1]\n\n[^1]: [A blog](https://a.example/x).",
        "It never hangs, <https://a.example/x> says.",
        "It is often said: 'always deadlocks'.",
        "It is often said: ‘it's always so’.",
        "They call it “always right”, or \"twice as fast\".",
        "`always`, `3 times` and `2×` are code.",
        "```cpp\n// always 3 times\n```",
        "<!-- always 3 times -->",
        "## It always hangs, 3 times as long",
        "It always hangs\n===",
        "Does it always hang?",
        '??? question "Does it never hang, 3 times as long?"\n\n    No.',
        "It does not always hang, and it doesn't always return.",
        "A test may never see it. As always, measure.",
        "A never-ending loop, an always-on device.",
        "An [answer](always-never.svg) and a _nevermore_ alwaysness.",
        "Which of three times is meant; the first two times hold.",
        "The bank answers twice, and a block has twice.",
        "A tile of 32 × 32 elements, 256 × 4 bytes, *n* × 2 and 0x1F.",
        "The greatest common factor of *s* and 32.",
        "A third of the warps, half of the lanes, 12.5 % of the bytes.",
        "It is 32-way, a 2-way conflict, a 16-byte load.",
        "The upper half halves; each step halves the number of sums.",
        "\\{{ always \\}} is [linked](#claim-holds).",
    ],
)  # fmt: skip
def test_what_is_backed_or_not_said_is_accepted(body: str) -> None:
    """A claim's link, a citation or a value backs a sentence; code and quotations say nothing."""
    assert found(body) == []


@pytest.mark.parametrize("said", sorted({said for _, said in UNBACKED}))
def test_what_is_passed_over_quickly_says_nothing(said: str) -> None:
    """The quick look and the thorough one agree, in capital letters too."""
    assert sweeping(f"It is {said}, so.")
    assert len(words(f"It is {said}, so.")) == len(words(f"IT IS {said.upper()}, SO.")) == 1


def test_a_ratio_needs_more_than_a_value_beside_it() -> None:
    """A value in the sentence does not keep a typed ratio from drifting; a claim does."""
    assert words("At {{ n }} threads it is twice as fast.") == ["twice as"]
    assert words("At {{ n }} threads it is [twice as](#claim-holds) fast.") == []


def test_the_place_is_that_of_the_words() -> None:
    """The column is the first letter of what was found, in the file's own lines."""
    assert found("Some text.\nIt is so, and\nalways so.") == ["3:1 unbacked-word always"]
    assert found("> - It never is.") == ["1:8 unbacked-word never"]


# ── links to claims ──────────────────────────────────────────────────────────────────────────


def test_a_link_to_a_claim_must_lead_to_one() -> None:
    """A link to a claim that the page does not rest on backs nothing and is told as such."""
    assert found("It [always](#claim-gone) hangs.") == ["1:12 dead-claim-link gone"]


def test_a_page_that_links_its_claims_lists_them() -> None:
    """Without the block the link leads nowhere."""
    text = "It [always](#claim-holds) hangs.\n\n```\n::: claims\n```\n"
    problems = lint(scan(text), Lines("e.md", text, 1), BACKING)
    assert [(p.code, p.hint) for p in problems] == [
        ("dead-claim-link", "write '::: claims' where the claims are to stand")
    ]


# ── numbers where it is measured ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "numbers"),
    [
        ("The kernel took 17 µs.", ["17"]),
        ("It took 17µs, and 3.5 ms.", ["17", "3.5"]),
        ("At 95 % of 1,000 launches.", ["95", "1,000"]),
        ("It lost −5 and -3 elements.", ["5", "3"]),
        ("At 256 threads it gave {{ t[n=32].wrong }}.", ["256"]),
        ("At 32 threads {{ t[n=32].wrong }}. At 64 none.", ["64"]),
        ("| 32 | {{ t[n=64].wrong }} |\n|---|---|\n| 5 | 6 |", ["32", "5", "6"]),
        ("1. The first took 3 µs.\n2. None.", ["3"]),
        ("It gave 12 (9.9).", ["12", "9.9"]),
        ("[It gave 12](figure.svg).", ["12"]),
        ("See [this](https://a.example). It gave 12.", ["12"]),
        ("::: chart x\n    caption: The 12 blocks.\n    bins: 30", ["12"]),
        ("A 17-microsecond delay.", ["17"]),
        ("At 64 threads 31 were wrong.", ["64", "31"]),
        ("### How to read it\n\nIt gave 12.", ["12"]),
    ],
)
def test_a_typed_number_is_found_where_it_is_measured(body: str, numbers: list[str]) -> None:
    """Only what is injected or cited stands in a Measured section, and what selects a value."""
    assert [each.split()[1:] for each in found(f"## Measured\n\n{body}")] == [
        ["typed-number", number] for number in numbers
    ]
    assert found(f"## How it works\n\n{body}") == []


@pytest.mark.parametrize(
    "body",
    [
        "It took {{ t[n=256].took }} at 256 threads.",
        'At 16 threads {{ t(form="if", n=16).outcome }}, of {{ t.of }}.',
        "The guide allows 255 registers (2.2.4.1).",
        "A [test](https://a.example) saw 12 µs.",
        "It is 12 µs.[^1]\n\n[^1]: [A blog](https://a.example/x) of 2024.",
        "An H200, `sm_90`, sm_90, float4, L1 and v13.1.",
        "Compute capability 7.0, CC 7.5, CUDA 13 and Python 3.11.",
        "Lane 0, threads 1, 2 and 3, warp 7, and row 2 to 4, step 1 of 3.",
        "An RTX 4090, a Tesla T4, table 3 and Figure 2.",
        "A 32-bit word, 16-byte loads, the 1st and a 2D tile.",
        "If `t` is less than `256 − k`, they said “12 µs”.",
        "1. First.\n2) Second.\n\n   3. Third.",
        "```\n12 µs\n```\n\n::: chart x\n    bins: 30",
        "### In 12 steps",
        "## Code\n\nIt has 12 lines.",
    ],
)
def test_a_number_that_is_injected_cited_or_a_name_is_accepted(body: str) -> None:
    """Names of things have digits too, and a section ends where its heading's level ends."""
    assert found(f"## Measured\n\n{body}") == []


def test_a_measured_section_begins_with_that_word_at_any_level() -> None:
    """What is below it belongs to it, however its heading is written."""
    for head in ("# Measured", "### *Measured* on a card", "Measured\n---"):
        assert words(f"It has 5.\n\n{head}\n\nIt has 6.\n\n# End\n\nIt has 7.") == ["6"]


# ── sentences ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two is it. Three", ["One.", "Two is it.", "Three"]),
        ("One (1.2). “Two.” (3.4) It is.", ["One (1.2).", "“Two.” (3.4) It is."]),
        ("Use e.g. This one. And", ["Use e.g. This one.", "And"]),
        ("- One. Two\n- three", ["One.", "Two", "three"]),
        ("> One.\n> Two\n> too.", ["One.", "Two\n> too."]),
        ("a b.\n\nc d", ["a b.", "c d"]),
        ("| a. B | c |\n| d |", ["| a.", "B | c |", "| d |"]),
        ("v1.2 and 3.5 ms. *So* it is.", ["v1.2 and 3.5 ms.", "*So* it is."]),
    ],
)
def test_sentences_end_where_a_reader_stops(text: str, expected: list[str]) -> None:
    """Items, rows and paragraphs end a sentence; a number's point and an abbreviation do not."""
    assert [text[start:end] for start, end in sentences(text)] == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([case[0] for case in UNBACKED if not case[0].startswith((":::", "|"))]),
        min_size=1,
        max_size=4,
    )
)
def test_each_sentence_is_judged_alone(bodies: list[str]) -> None:
    """What stands in one paragraph is found in another order of paragraphs, and nothing else."""
    together = words("\n\n".join(bodies))
    assert sorted(together) == sorted(word for body in bodies for word in words(body))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab1 .\n>|-*`{}[]()#:always\"'“”×%", max_size=60))
def test_any_text_is_read_and_found_where_it_stands(body: str) -> None:
    """Whatever is typed, a place is one of the text, and the words found stand there."""
    text = f"## Measured\n\n{body}"
    for problem in lint(scan(text), Lines("e.md", text, 1), BACKING):
        line = text.split("\n")[problem.place.line - 1]
        said = problem.message.split("'")[1].split(" ")[0]
        assert line[problem.place.column - 1 :].startswith(said) or problem.code[:4] == "dead"


def test_an_answer_is_read_too() -> None:
    """A plain text has no links: only the words are asked for."""
    assert sweeping("It always\n waits for 3 times as long.") == "always"
    assert sweeping("It does not always wait.") == ""
