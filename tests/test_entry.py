"""Entries: what the front matter says, what prose may not hold, and every fault in its place."""

from __future__ import annotations

import codecs
import json
import pickle
from pathlib import Path

import pytest

from measured_glossary.body import Text, Value
from measured_glossary.entry import Entry, PlainTerm, json_schema, parse
from measured_glossary.problem import Place
from measured_glossary.source import Source, decode

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "plugins" / "measured_glossary" / "schema" / "entry.schema.json"

FRONT = """\
term: warp
question: What is a warp?
answer: It is a group of threads.
area: Execution model
applies_to: CC 7.5
experiments: [day-1]
claims: [one_holds]
sources:
  - title: A guide
    version: v1
    section: 1.2
    url: https://docs.example/guide
    accessed: 2026-11-29
    quotes: [a warp runs in groups of threads]
byline:
  written_by: test-author
"""
BODY = "\nThe guide says “a warp runs in groups of threads”, and {{ t[k=1].c }}.\n"


def source(text: str) -> Source:
    """A source of a text."""
    found = decode("glossary/warp/entry.md", text.encode()).value
    assert found is not None
    return found


def read(front: str = FRONT, body: str = BODY) -> Entry:
    """An entry without faults."""
    checked = parse("warp", source(f"---\n{front}---\n{body}"))
    assert checked.problems == ()
    assert checked.value is not None
    return checked.value


def faults(front: str = FRONT, body: str = BODY, *, id: str = "warp") -> list[str]:
    """`line:column code` of each problem, in the order given."""
    checked = parse(id, source(f"---\n{front}---\n{body}"))
    kept = {"unlisted-quote", "unused-quote", "unbacked-word"}
    assert (checked.value is None) == any(p.code not in kept for p in checked.problems)
    assert list(checked.problems) == sorted(checked.problems)
    return [f"{p.place.line}:{p.place.column} {p.code}" for p in checked.problems]


def prose(text: str) -> list[str]:
    """The faults of a body that also uses the listed quote; its lines count from 1."""
    begin = FRONT.count("\n") + 2
    found = faults(body=text + BODY)
    return [
        f"{int(line) - begin}:{rest}" for line, _, rest in (item.partition(":") for item in found)
    ]


def test_an_entry_comes_out_of_a_memo_as_it_was() -> None:
    """Every part is the same then; which fields were given is held once for all parts."""
    entry = read()
    again = pickle.loads(pickle.dumps(entry))  # noqa: S301 - made in the line itself
    assert again == entry
    parts = (again.front, *again.front.sources, again.front.byline)
    assert len({id(part.model_fields_set) for part in parts}) == 1


# ── front matter ─────────────────────────────────────────────────────────────────────────────


def test_an_entry_is_read_whole() -> None:
    """Front matter, places and pieces come together."""
    entry = read()
    assert (entry.id, entry.front.term, entry.front.claims) == ("warp", "warp", ("one_holds",))
    assert entry.front.sources[0].section == "1.2"
    assert entry.front.sources[0].accessed.isoformat() == "2026-11-29"
    assert entry.front.byline.reviewed_by is None
    assert entry.located.place(("byline", "written_by")).line == 17
    assert [isinstance(piece, Text) for piece in entry.pieces] == [True, False, True]
    assert entry.pieces[1] == Value(
        expression="t[k=1].c", place=Place("glossary/warp/entry.md", 20, 56)
    )


def test_the_smallest_entry_has_neither_experiment_nor_source() -> None:
    """What is optional may be left out."""
    small = FRONT[: FRONT.index("experiments")] + FRONT[FRONT.index("byline") :]
    assert read(small, "text\n").front.sources == ()


def test_every_option_is_read() -> None:
    """Aliases, related terms with and without entry, diagram, misconceptions and a reviewer."""
    entry = read(
        FRONT
        + "  reviewed_by: pending\n"
        + "aliases: [warps, NO, 1.10, 12:30]\nrelated: [block, term: thread block cluster]\n"
        + "diagram:\n  name: tile-lifecycle\n  presets: [one, two]\n  alt: Two threads.\n"
        + "misconceptions:\n  - claim: a warp is 16 wide\n    url: https://forum.example/q/1\n"
    )
    assert entry.front.aliases == ("warps", "NO", "1.10", "12:30")
    assert entry.front.related == ("block", PlainTerm(term="thread block cluster"))
    assert entry.front.diagram is not None
    assert entry.front.diagram.presets == ("one", "two")
    assert entry.front.misconceptions[0].claim == "a warp is 16 wide"


@pytest.mark.parametrize(
    ("answer", "alone"),
    [
        ("Yes, if it must.", "What is a warp? Yes, if it must."),
        ("No: it is 32 threads.", "What is a warp? No: it is 32 threads."),
        ("Nothing waits there.", "Nothing waits there."),
    ],
)
def test_yes_and_no_bring_their_question(answer: str, alone: str) -> None:
    """Where an answer stands without its question, one that needs the question has it."""
    entry = read(FRONT.replace("It is a group of threads.", f'"{answer}"'))
    assert entry.front.answer_alone() == alone


def test_an_unchecked_source_says_so() -> None:
    """A source whose own text nobody has seen is cited without quotes."""
    front = FRONT.replace(
        "quotes: [a warp runs in groups of threads]", "checked: not checked against the source"
    )
    checked = read(front, "text\n").front.sources[0].checked
    assert checked == "not checked against the source"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("term: warp", "term: ''", "2:1 entry-field"),
        ("term: warp", "term: [a]", "2:1 entry-field"),
        ("term: warp", "term: a <b>c</b>", "2:1 entry-field"),
        ("term: warp", "term: a {{ x }}", "2:1 entry-field"),
        ("term: warp", 'term: "a\\nb"', "2:1 entry-field"),
        ("term: warp", 'term: "a\\u202Eb"', "2:7 hidden-character"),
        ("term: warp", "trem: warp", "2:1 entry-field"),
        ("a warp?", "a warp", "3:1 entry-field"),
        ("of threads.\n", "of threads\n", "4:1 entry-field"),
        ("of threads.\n", "of threads. It runs.\n", "4:1 entry-field"),
        ("of threads.\n", f"{'x' * 300}.\n", "4:1 entry-field"),
        ("It is a", "It is. Reviewed by:a", "4:1 entry-field"),
        ("[day-1]", "[Day-1]", "7:15 entry-field"),
        ("[day-1]", "[../x]", "7:15 entry-field"),
        ("[day-1]", "[day-1, day-1]", "7:1 entry-field"),
        ("[day-1]", "[]", "8:1 entry-field"),
        ("[one_holds]", "[]", "8:1 entry-field"),
        ("[one_holds]", "[one-holds]", "8:10 entry-field"),
        ("[one_holds]", "[day-2.one_holds]", "8:1 entry-field"),
        ("    section: 1.2\n", "", "10:5 entry-field"),
        ("https://docs", "http://docs", "13:5 entry-field"),
        ("https://docs.example/guide", "https://a@b/", "13:5 entry-field"),
        ("https://docs.example/guide", "https://a/b c", "13:5 entry-field"),
        ("https://docs.example/guide", "javascript:alert(1)", "13:5 entry-field"),
        ("2026-11-29", "20261129", "14:5 entry-field"),
        ("2026-11-29", "2026-02-30", "14:5 entry-field"),
        ("    quotes", "    checked: not checked against the source\n    quotes",
         "10:5 entry-field"),
        ("    quotes", "    checked: yes\n    quotes", "15:5 entry-field"),
        ("written_by: test-author", "written_by: Test Author", "17:3 entry-field"),
        ("  written_by", "  written_on: today\n  written_by", "17:3 entry-field"),
        ("test-author", "test-author\n  reviewed_by: test-author", "16:1 entry-field"),
        ("byline:", "related: [term: x, Warp]\nbyline:", "16:20 entry-field"),
        ("byline:", "diagram: {name: x}\nbyline:", "16:1 entry-field"),
        ("byline:", "term: x\nbyline:", "16:1 yaml-duplicate-key"),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_is_placed(old: str, new: str, found: str) -> None:
    """Each key is checked, and its fault stands at the key or the item."""
    assert old in FRONT
    assert found in faults(FRONT.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("claims: [one_holds]\n", "",
         "claims: expected at least one claim of the experiments, which back nothing by "
         "themselves, found nothing"),
        ("[one_holds]", "one_holds",
         "claims: expected a list, as in '[one, two]', found 'one_holds'"),
        ("term: warp", "term: {a: b}", "term: expected a text, found {a: b}"),
        ("[a warp runs in groups of threads]", "[[a, b]]",
         "sources.0.quotes.0: expected a text, found [a, b]"),
        ("byline:\n  written_by: test-author", "byline: me",
         "byline: expected keys, each with its value, found 'me'"),
        ("version: v1", "version: ''",
         "sources.0.version: expected a text without blanks at its ends, found ''"),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_is_told_without_python(old: str, new: str, told: str) -> None:
    """What was found reads as it was written in YAML; what was expected names no type of ours."""
    checked = parse("warp", source(f"---\n{FRONT.replace(old, new)}---\n{BODY}"))
    assert told in [problem.message for problem in checked.problems]


def test_all_faults_come_at_once() -> None:
    """Faults of YAML, of fields and of the body are reported together and in order."""
    front = FRONT.replace("term: warp", "term: warp\nterm: w").replace("a warp?", "a warp")
    assert faults(front, BODY + "<b>\n\n    x\n") == [
        "3:1 yaml-duplicate-key",
        "4:1 entry-field",
        "22:1 raw-html",
        "24:5 indented-code",
    ]


def test_a_fault_in_a_field_does_not_hide_quotes() -> None:
    """The quotes are compared also where another field is wrong."""
    front = FRONT.replace("a warp?", "a warp")
    assert faults(front, "Said “one two three four five”.\n") == [
        "3:1 entry-field",
        "15:14 unused-quote",
        "19:6 unlisted-quote",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ("1:1", "no-front-matter")),
        ("# Title\n", ("1:1", "no-front-matter")),
        (" ---\nterm: x\n---\n", ("1:1", "no-front-matter")),
        ("---\nterm: x\n", ("1:1", "unclosed-front-matter")),
        ("---\nterm: x\n --- \n", ("1:1", "unclosed-front-matter")),
        ("---\r\nterm: x\r\n---\r\n", ("1:4", "crlf-line-ends")),
        (f"---\n{'x' * 300_000}", ("", "oversized-file")),
    ],
)
def test_a_file_without_its_borders_is_refused(text: str, found: tuple[str, str]) -> None:
    """Missing, unclosed and carriage-returned borders each have a code and a hint."""
    (problem,) = parse("warp", source(text)).problems
    assert (str(problem.place).partition(".md:")[2], problem.code) == found
    assert problem.hint


def test_carriage_returns_come_with_the_setting_that_stops_them() -> None:
    """The hint is the line to put into .gitattributes, and throws nobody's work away."""
    (problem,) = parse("warp", source("---\r\n")).problems
    assert "'* -text' in .gitattributes" in problem.hint
    assert "reset" not in problem.hint


def test_a_byte_order_mark_is_seen() -> None:
    """Nobody sees it, and it would be signed: the text is refused at its first sign."""
    raw = f"---\n{FRONT}---\n{BODY}".encode()
    found = decode("glossary/warp/entry.md", codecs.BOM_UTF8 + raw).value
    assert found
    (problem,) = parse("warp", found).problems
    assert (str(problem.place), problem.code) == ("glossary/warp/entry.md:1:1", "byte-order-mark")


NO_IDS = ["", "Warp", "a_b", "-a", "a--b", "a-", "a" * 61, "ä", "a\n", "con", "nul", "com1", "lpt9"]


@pytest.mark.parametrize("id", NO_IDS)
def test_an_id_is_plain(id: str) -> None:
    """The folder's name is the id, in signs that no system changes, and that all systems take."""
    assert [item for item in faults(id=id) if item.endswith("entry-id")] == ["0:0 entry-id"]


@pytest.mark.parametrize("id", ["icon", "con-a", "console", "com10", "lpt", "null", "a" * 60, "1"])
def test_an_id_may_be_like_one_that_is_kept(id: str) -> None:
    """Only the very names are kept by Windows."""
    assert [item for item in faults(id=id) if item.endswith("entry-id")] == []


# ── prose ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a <div>b</div>\n", "1:3 raw-html"),
        ("a <img src=x onerror=y>\n", "1:3 raw-html"),
        ("a <<<grid, block>>>\n", "1:5 raw-html"),
        ("a &lt;script&gt;\n", "1:3 raw-html"),
        ("a &#34;b\n", "1:3 raw-html"),
        ("::: claims\n    title: <b>x</b>\n", "2:12 raw-html"),
        ("[a](javascript:alert)\n", "1:4 unsafe-link"),
        ("[a](JaVaScRiPt:alert)\n", "1:4 unsafe-link"),
        ("[a](java&#115;cript&colon;alert)\n", "1:4 unsafe-link"),
        ("[a](javascript\\:alert)\n", "1:4 unsafe-link"),
        ("[a](javascript%3Aalert)\n", "1:4 unsafe-link"),
        ("[a](<javascript:alert> 'b')\n", "1:4 unsafe-link"),
        ("![a](data:image/svg+xml;base64,x)\n", "1:5 unsafe-link"),
        ("[a](http://docs.example)\n", "1:4 unsafe-link"),
        ("[a](//docs.example)\n", "1:4 unsafe-link"),
        ("[a](mailto:x@y.example)\n", "1:4 unsafe-link"),
        ("[a](https://x.example/{{ y }})\n", "1:4 unsafe-link"),
        ("<vbscript:x>\n", "1:1 unsafe-link"),
        ("http://docs.example\n", "1:1 unsafe-link"),
        ("[a]: javascript:alert\n", "1:5 unsafe-link"),
        ("[a\nb]: javascript:alert\n", "2:4 unsafe-link"),
        ("> [a]: javascript:alert\n", "1:7 unsafe-link"),
        ("-\t[a]: javascript:alert\n", "1:7 unsafe-link"),
        ("x [a]: y [b]: z\n[c]: javascript:alert\n", "2:5 unsafe-link"),
        ("[a]: https://b.example [c]: d\n[e]: javascript:alert\n", "2:5 unsafe-link"),
        ("[^a]: javascript:alert\n", "1:7 unsafe-link"),
        ("[a]:\njavascript:alert\n", "1:5 link-outside-entry"),
        ("[a](../other/entry.md)\n", "1:4 link-outside-entry"),
        ("[a](%2e%2e/x)\n", "1:4 link-outside-entry"),
        ("[a](/x)\n", "1:4 link-outside-entry"),
        ("![a](b/../../c.png)\n", "1:5 link-outside-entry"),
        ("[a]()\n", "1:4 link-outside-entry"),
        ("[a](x\\y)\n", "1:4 link-outside-entry"),
        ("a {: onclick=x }\n", "1:3 attribute-list"),
        ("a { .x }\n", "1:3 attribute-list"),
        ("# a {#b}\n", "1:5 attribute-list"),
        ("a {1, 2}\n", "1:3 attribute-list"),
        ("# Title\n", "1:1 level-one-heading"),
        ("#include\n", "1:1 level-one-heading"),
        ("- # Title\n", "1:3 level-one-heading"),
        ("## A # b\n\n# C # d\n", "3:1 level-one-heading"),
        ("A # b\n===\n", "2:3 level-one-heading"),
        ("Title\n===\n", "2:3 level-one-heading"),
        ("Written by: Test Author\n", "1:1 imitated-byline"),
        ("**Reviewed by:** x\n", "1:1 imitated-byline"),
        ("- *Last checked* on : x\n", "1:1 imitated-byline"),
        ("> Written\non: x\n", "1:1 imitated-byline"),
        ("Wr\u0456tt\u0435n b\u0443: x\n", "1:1 imitated-byline"),
        ("\uff37ritten by\uff1a x\n", "1:1 imitated-byline"),
        ("W\u0308ritten by: x\n", "1:1 imitated-byline"),
        ("`Written by:` x\n", "1:1 imitated-byline"),
        ("Wr\\itten by\\: x\n", "1:1 imitated-byline"),
        ("{{ 'Written by: x' }}\n", "1:1 imitated-byline"),
        ("[Written by:](https://x.example)\n", "1:1 imitated-byline"),
        ('!!! note "Written by: x"\n', "1:11 imitated-byline"),
        ("| a | Written by: x |\n", "1:6 imitated-byline"),
        ("It is so. Reviewed by: x\n", "1:10 imitated-byline"),
        ("::: claims\n    title: Written by: x\n", "2:11 imitated-byline"),
        ('--8<-- "secret"\n', "1:1 snippet-include"),
        ("```\n--8<-- 'secret'\n```\n", "2:1 snippet-include"),
        ("Said “one two three four”.\n", "1:6 unlisted-quote"),
        ('Said "one two three four".\n', "1:6 unlisted-quote"),
        ("Said „one two three four“.\n", "1:6 unlisted-quote"),
        ("Said «one two three four».\n", "1:6 unlisted-quote"),
        ("Said “one `two` three\nfour”.\n", "1:6 unlisted-quote"),
        ("Said “a warp runs in groups of fibers”.\n", "1:6 unlisted-quote"),
        ("Said “groups of threads … a warp runs”.\n", "1:6 unlisted-quote"),
        ("> A warp runs together.\n", "1:3 unlisted-quote"),
        ("Said:\n\n> a warp runs\n> in groups. It is so in fact.\n", "4:14 unlisted-quote"),
        ("- > A warp runs together.\n", "1:5 unlisted-quote"),
        ("> “A warp runs together.”\n", "1:3 unlisted-quote"),
        ("> > *Nobody ever said this.*\n", "1:5 unlisted-quote"),
        ('A 5" gap.\n', "1:4 unpaired-quote"),
        ("Said “one two.\n", "1:6 unpaired-quote"),
    ],
)
def test_prose_that_could_deceive_is_refused(text: str, found: str) -> None:
    """Markup that hides, links that leave, and bylines or quotes that nobody gave are problems."""
    assert found in prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "`<div>` and \\<div> and a < b\n",
        "```html\n<script>&lt;{: x }\n# Title\nWritten by: x\n```\n",
        "[a](https://docs.example/x?y=1#z) [b](figure.png) [c](img/a-b.svg 'T') [d](#below)\n",
        "<https://docs.example/> https://docs.example/a.\n",
        "\\{ .x \\} and `{ .x }`\n",
        "## Title\n\n### Smaller\n",
        "A cell that is written by: nobody, and a Writer by: name\n",
        "Said “a warp runs\nin groups”, “groups of threads,” and “**runs** in `groups`”.\n",
        "Said “a warp … groups of threads”.\n",
        "Three words: “safe for all”.\n",
        "> a warp runs\n> in groups\n>\n> — The test guide, in some section of it (1.2)\n",
        "> “a warp runs in groups” (1.2)\n> -- [the test guide says it so](https://x.example)\n",
        "> `__syncthreads();`\n\n> ```cpp\n> one two three four five\n> ```\n",
        '`printf("one two three four five")` and "a warp"\n',
        '!!! note "A title of five words"\n    text\n',
        '[a](https://docs.example "A title of five words")\n',
        "[^1]: Note: see below.\n",
    ],
)
def test_prose_that_is_plain_is_accepted(text: str) -> None:
    """What only resembles a fault is none."""
    assert prose(text) == []


@pytest.mark.parametrize(
    ("written", "found", "hint"),
    [
        ("{{ t[k=1].c }", "1:7 unclosed-value", "write '{{ t[k=1].c }}'"),
        ("{ t[k=1].c }}", "1:7 attribute-list", "write '{{ t[k=1].c }}' for a value"),
        ("{{ a } and {{ b }}", "1:7 unclosed-value", "write '{{ a }}'"),
        ("{{ }}", "1:7 value-syntax", ""),
        ("{{ `a` }}", "1:7 value-syntax", ""),
    ],
)
def test_a_mistyped_value_is_one_problem(written: str, found: str, hint: str) -> None:
    """Its braces are told once, with what was meant, and not as an attribute list besides."""
    assert prose(f"It is {written} so.\n") == [found]
    problems = parse("warp", source(f"---\n{FRONT}---\nIt is {written} so.\n{BODY}")).problems
    assert hint in problems[0].hint


@pytest.mark.parametrize("key", ["term", "question", "experiments", "claims", "sources", "byline"])
def test_a_mistyped_key_is_one_problem(key: str) -> None:
    """What rests on a key is judged as if it had been typed right."""
    line = FRONT.split("\n").index(next(x for x in FRONT.split("\n") if x.startswith(key))) + 2
    assert faults(FRONT.replace(f"{key}:", f"{key}x:")) == [f"{line}:1 entry-field"]
    assert faults(FRONT.replace("    quotes:", "    quote:")) == ["15:5 entry-field"]


def test_an_answer_that_says_always_rests_on_something() -> None:
    """An answer's "always" needs claims or sources behind it; the page stays readable."""
    front = FRONT.replace("It is a group", "It is always a group")
    assert faults(front) == []
    bare = front[: front.index("experiments:")] + front[front.index("byline:") :]
    assert faults(bare, "\nNothing.\n") == ["4:1 unbacked-word"]
    assert faults(bare.replace("always ", ""), "\nNothing.\n") == []


def test_a_misconception_may_be_quoted() -> None:
    """What people say is quoted from where they say it, and need not be."""
    front = (
        FRONT + "misconceptions:\n  - claim: a warp is always 16 wide\n    url: https://f.example\n"
    )
    assert faults(front, BODY + "\n“A warp” is wrong; “a warp is always 16 wide” too.\n") == []
    assert faults(front) == []


def test_a_listed_quote_that_is_not_used_is_reported_where_it_is_listed() -> None:
    """Quotes are kept few: one that no sentence needs has no place in the sources."""
    front = FRONT.replace("of threads]", "of threads, never used]")
    assert faults(front) == ["15:48 unused-quote"]


def test_a_quote_that_is_wrong_leaves_the_entry_readable() -> None:
    """Its page can be previewed as a draft that says what is wrong; other faults show no page."""
    text = "Said “one two three four”.\n" + BODY
    checked = parse("warp", source(f"---\n{FRONT}---\n{text}"))
    assert [problem.code for problem in checked.problems] == ["unlisted-quote"]
    assert checked.value is not None


def test_a_short_quote_counts_as_used() -> None:
    """Fewer than four words need no source, and yet use the quote they are a part of."""
    assert faults(body="The guide says “groups of threads”.\n") == []


# ── schema ───────────────────────────────────────────────────────────────────────────────────


def test_the_schema_file_is_the_generated_one() -> None:
    """Editors complete what is validated: the file is what `glossary schema` prints."""
    expected = json.dumps(json_schema(), indent=2) + "\n"
    assert SCHEMA.read_text(encoding="utf-8") == expected


def test_every_key_of_the_schema_is_described() -> None:
    """An editor shows a sentence for each key at each level."""
    schema = json_schema()
    for part in (schema, *schema["$defs"].values()):
        assert part["additionalProperties"] is False
        for name, field in part["properties"].items():
            assert field.get("description"), name


def test_the_entries_of_this_glossary_are_read() -> None:
    """Each entry of the project parses without a problem."""
    for path in sorted((ROOT / "glossary").glob("*/entry.md")):
        file = path.relative_to(ROOT).as_posix()
        decoded = decode(file, path.read_bytes()).value
        assert decoded is not None
        assert parse(path.parent.name, decoded).problems == ()
