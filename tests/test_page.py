"""Pages: what a reader sees of an entry, and that nothing in it is more than it says."""

from __future__ import annotations

import datetime
import gzip
import html
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import markdown
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measured_glossary import blocks, expression, page, readings
from measured_glossary.body import Block
from measured_glossary.entry import Entry, parse
from measured_glossary.gate import State, Verdict
from measured_glossary.lab.record import Machine, Record, Reported
from measured_glossary.lab.study import (
    ClaimResult,
    DeclaredClaim,
    Freshness,
    Measurement,
    Origin,
    Study,
)
from measured_glossary.lab.study import State as ClaimState
from measured_glossary.lab.table import Column, Rows, Table
from measured_glossary.markup import TEMPLATES, href, inert, prose, unbroken
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Source
from measured_glossary.trust.signoff import Signoff

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "plugins" / "measured_glossary"
KERNEL = "code/toy/toy.cu"
CODE = """\
// --8<-- [start:main]
__global__ void toy() { /* ``` */ }
// --8<-- [end:main]
int main() { return 0; }
"""


# ── reading HTML ─────────────────────────────────────────────────────────────────────────────

VOID = {"br", "hr", "img", "line", "circle", "rect", "path"}


class Outline(HTMLParser):
    """Elements and text of a page; `unbalanced` holds end tags that closed nothing open."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember an element and that it is open."""
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember an element without content."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Close the element opened last."""
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        """Remember text."""
        self.texts.append(data)

    @property
    def text(self) -> str:
        """All text, white space folded."""
        return " ".join("".join(self.texts).split())

    def names(self) -> set[str]:
        """The names of all elements."""
        return {tag for tag, _ in self.tags}


def to_html(text: str) -> str:
    """Markdown as a site would render it."""
    extensions = ["tables", "fenced_code", "toc", "attr_list", "md_in_html", "footnotes", "abbr"]
    extensions += ["pymdownx.magiclink", "pymdownx.tilde", "pymdownx.caret", "pymdownx.mark"]
    return markdown.markdown(text, extensions=extensions)


# ── a tiny experiment and an entry on it ─────────────────────────────────────────────────────


def counts(**given: tuple[int, ...]) -> Table:
    """The table `counts`: wrong elements by threads, racy."""
    return Table(
        name="counts",
        kind="runtime",
        text="One block size.",
        launches=3,
        key=(Column(name="threads", label="Threads per block", kind="exact"),),
        columns=(
            Column(name="removed", label="Wrong, removed", kind="racy", of=4096),
            Column(name="mean", label="Mean", kind="exact"),
        ),
        rows=tuple({"threads": int(k[1:]), "removed": v, "mean": 1} for k, v in given.items()),
    )


COUNTS = counts(t32=(0, 0, 0), t64=(1200, 1000, 1100))
PLACE = Place("code/toy/experiment.py", 9, 1)
MACHINE = Machine(name="Test GPU", compute_capability="9.0", driver="1.2", cuda="13.0")


def measurement(
    origin: Origin = "recorded",
    *,
    table: Table = COUNTS,
    machine: Machine = MACHINE,
    state: ClaimState = "held",
    freshness: Freshness = "fresh",
    changed: tuple[str, ...] = (),
) -> Measurement:
    """A measurement of the toy experiment with one claim."""
    record = Record(
        experiment="toy",
        machine=machine,
        captured="2026-11-29T10:00:00Z",
        inputs={KERNEL: "0" * 64},
        toolchain={"nvrtc": "13.0"},
        options=("-arch=sm_90",),
        seed=1,
        tables=(table,),
        conditions={"before": {"sm_clock_mhz": 1980, "throttle_reasons": []}},
    )
    claim = ClaimResult(
        name="one_warp", text="At 32 threads it is right.", state=state, detail="", place=PLACE
    )
    return Measurement(
        record=record, origin=origin, freshness=freshness, changed=changed, claims=(claim,)
    )


REPORTED = Reported(
    file="measurements/toy/old-card.reported.yml",
    machine_name="Old card",
    captured="2020-01-01",
    toolchain="nvcc",
    source="A book",
    url="https://example.org/book",
    where="page 3",
    note="",
    tables=(replace(COUNTS, columns=(COUNTS.columns[0],), rows=({"threads": 32, "removed": 7},)),),
)
REPORTED = replace(
    REPORTED,
    tables=(replace(REPORTED.tables[0], columns=(replace(COUNTS.columns[0], kind="exact"),)),),
)


def study(*measurements: Measurement, **changes: Any) -> Study:
    """The toy experiment as this build knows it."""
    claim = DeclaredClaim(
        name="one_warp", text="At 32 threads it is right.", tables=("counts",), place=PLACE
    )
    whole = Study(
        id="toy",
        title="Toy",
        inputs={KERNEL: "0" * 64},
        files={KERNEL: Source(KERNEL, CODE.encode(), CODE)},
        declared_claims=(claim,),
        declared_tables=(replace(COUNTS, rows=()),),
        measurements=measurements,
        reported=(REPORTED,),
        static=(),
        claims=(),
        notes=(),
        problems=(),
    )
    return replace(whole, **changes)


FRONT = """\
term: __toy()
question: What does __toy() do?
answer: It does `nothing` at all, and __says__ so.
area: Execution model
applies_to: CC 7.5
experiments: [toy]
claims: [one_warp]
related:
  - other
  - term: never written
sources:
  - title: A guide
    version: v1
    section: 1.2
    url: https://example.org/guide
    accessed: 2026-11-29
    quotes: [does nothing at all, really]
  - title: A rumour
    url: https://example.org/rumour
    accessed: 2026-11-29
    checked: not checked against the source
diagram:
  name: tile-lifecycle
  alt: It shows that nothing happens.
byline:
  written_by: pending
"""


def entry(body: str, front: str = FRONT) -> Entry:
    """A parsed entry; the quotations its front matter lists stand in the body."""
    quoted = "\n\nThe guide says “does nothing at all” and “really”.\n"
    text = f"---\n{front}---\n{body}{quoted}"
    checked = parse("toy", Source("glossary/toy/entry.md", text.encode(), text))
    assert checked.value, checked.problems
    return checked.value


def evidence(*studies: Study, repository: str = "") -> page.Evidence:
    """What a body may show."""
    names = {"counts": Rows(COUNTS)}
    return page.Evidence(
        studies=studies,
        evaluate=lambda value: expression.evaluate(value, names),
        repository=repository,
    )


def expanded(body: str, *studies: Study, repository: str = "") -> Checked[str]:
    """A body, expanded over studies: by default the toy's, recorded."""
    used = studies or (study(measurement()),)
    return page.expand(entry(body), evidence(*used, repository=repository))


def shown(body: str, *studies: Study, repository: str = "") -> str:
    """The Markdown of a body that expands without a problem."""
    checked = expanded(body, *studies, repository=repository)
    assert checked.problems == ()
    return checked.value or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An entry with its verdict, as a page wants it."""

    id: str
    entry: Entry | None
    body: str
    verdict: Verdict


def rendered(
    state: State = "draft",
    *,
    front: str = FRONT,
    verdict: Verdict | None = None,
    **context: Any,
) -> str:
    """The whole page of an entry with a short body."""
    given = verdict or Verdict(state=state)
    parsed = entry("A body.", front)
    body = page.expand(parsed, evidence(study(measurement()))).value or ""
    site = page.Site(title="Glossary", index_url="../index.md")
    around: dict[str, Any] = {"site": site, "others": {}} | context
    return page.render(
        Judged(id="toy", entry=parsed, body=body, verdict=given),
        page.PageContext(verdict=given, **around),
    )


# ── values that come from data are inert ─────────────────────────────────────────────────────

EVIL = [
    "a | b",
    "<script>alert(1)</script>",
    "__bold__ and *italic* and _this_",
    "`code` and ``more``",
    "[link](javascript:alert(1)) and ![image](x) and [ref][1] and [^1]",
    "{: .class onclick=x } {#id}",
    "&lt;b&gt; &amp; &#60;",
    "# heading",
    "- item",
    "1. item",
    "12) item",
    "> quote",
    "--- ",
    "=== ",
    "~~~",
    "```",
    "!!! note",
    "??? note",
    ": definition",
    "*[abbr]: long",
    "::: block",
    '--8<-- "file"',
    "{{ value }} and {% tag %}",
    "https://evil.example and www.evil.example and a@b.example",
    "==mark== ^^ins^^ ~~del~~ ++key++",
    ":smile: and :a:",
    "$math$ and \\(more\\)",
    'quote " and \' and \\" done',
    "two\n\nparagraphs",
]
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp")), max_size=40
)


def folded(text: str) -> str:
    """Text with its white space folded, as HTML shows it."""
    return " ".join(text.split())


def check_inert(text: str) -> None:
    """Assert that a text is itself and nothing else wherever a template inserts it."""
    safe = inert(text)
    for before, after, allowed in (
        ("", "", {"p"}),
        ("Before ", " after.", {"p"}),
        ('<p class="x">', "</p>", {"p"}),
        ("- ", "", {"ul", "li"}),
    ):
        outline = Outline(to_html(f"{before}{safe}{after}"))
        assert outline.names() <= allowed, (before, outline.names())
        wanted = folded(Outline(f"{before.removeprefix('- ')}").text + " " + folded(text))
        assert outline.text.startswith(wanted), (before, outline.text)
    cell = Outline(to_html(f"| a | b |\n|---|---|\n| x{safe} | y |"))
    assert [tag for tag, _ in cell.tags].count("td") == 2
    assert cell.names() == {"table", "thead", "tbody", "tr", "th", "td"}
    ((_, attributes),) = Outline(f'<p title="{safe}"></p>').tags
    assert folded(attributes["title"] or "") == folded(text)


@pytest.mark.parametrize("text", EVIL)
def test_a_value_cannot_break_out(text: str) -> None:
    """Syntax of Markdown, its extensions or HTML in a value is printed as it stands."""
    check_inert(text)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_no_value_breaks_out(text: str) -> None:
    """Whatever printable text a value holds, it is that text and nothing else."""
    check_inert(text)


SYNTAX = re.compile(
    r"[&<>\"`*_\[\]{}|~^=+\\$@#]|:(?=\S)|(?<=www)\."
    r"|\A[!-/:-@\[-`{-~]|(?<=\A\d)[.)]|(?<=\A\d\d)[.)]"
)
NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


@given(
    st.lists(st.sampled_from([*string.punctuation, "www", "1", "٣", "a", "é", " "])).map("".join)
)
def test_a_sign_is_written_out_where_it_is_syntax(text: str) -> None:
    """In a line or at its start: what one alternative for each would find, no sign more or less."""
    shown = SYNTAX.sub(
        lambda found: NAMED.get(found.group(), f"&#{ord(found.group())};"), folded(text)
    )
    assert inert(text) == shown


def test_prose_keeps_code_spans_only() -> None:
    """An author's line may hold code spans; names with underscores stay as they are."""
    html = to_html(f"It is {prose('a `__x__|<b>` and __y__ <i> of `z`')}.")
    outline = Outline(html)
    assert outline.names() == {"p", "code"}
    assert outline.text == "It is a __x__|<b> and __y__ <i> of z."


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://example.org/a?b=1&c=2#d", "https://example.org/a?b=1&amp;c=2#d"),
        ("../other/index.md#part", "../other/index.md#part"),
        ('https://example.org/"><script>', "https://example.org/%22%3E%3Cscript%3E"),
        ("https://example.org/a_(b)", "https://example.org/a_%28b%29"),
        ("javascript:alert(1)", ""),
        (" java\nscript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("//evil.example/x", ""),
        ("/etc/passwd", ""),
    ],
)
def test_links_lead_to_the_web_or_inside(url: str, safe: str) -> None:
    """An address is http(s) or relative, and cannot end its attribute; any other is dropped."""
    assert str(href(url)) == safe


def test_templates_insert_values_in_safe_places_only() -> None:
    """No template trusts a value, joins text before escaping it, or quotes with apostrophes."""
    for path in sorted(TEMPLATES.rglob("*.*")):
        text = path.read_text(encoding="utf-8")
        faults = r"\|\s*safe\b|=\s*'|=\s*\{\{|autoescape|<script(?! src=\")|\bon\w+="
        assert not re.search(faults, text), path


# ── tables, charts, claims ───────────────────────────────────────────────────────────────────


def test_a_racy_cell_shows_range_median_and_share() -> None:
    """A count that a race decides is shown as a distribution rather than one number."""
    text = Outline(shown("::: measured-table counts")).text
    assert "1,000 to 1,200 median 1,100; above 0 in every launch" in text
    some = measurement(table=counts(t64=(0, 5, 9)))
    text = Outline(shown("::: measured-table counts", study(some))).text
    assert "0 to 9 median 5; above 0 in 2 of 3 launches" in text


def test_a_zero_shows_its_bound() -> None:
    """Zero wrong launches are printed with the share that could be wrong all the same."""
    assert "0 at most 64 % of launches (95 %)" in Outline(shown("::: measured-table counts")).text


def test_columns_are_chosen_and_captioned() -> None:
    """The option `columns` selects, `caption` comes before what the probe says of its rows."""
    body = "::: measured-table counts\n    columns: [mean]\n    caption: My __own__ words."
    outline = Outline(shown(body))
    assert [tag for tag, _ in outline.tags].count("td") == 2
    assert "My __own__ words." in outline.text
    assert "Each row is one block size." in outline.text


@pytest.mark.parametrize("block", ["measured-table", "chart"])
@pytest.mark.parametrize("wanted", ["64", "[64]"])
def test_rows_are_chosen_and_the_figure_says_of_how_many(block: str, wanted: str) -> None:
    """The option `where` keeps the rows with these values of the key, and does not hide it."""
    whole = Outline(shown(f"::: {block} counts")).text
    part = Outline(shown(f"::: {block} counts\n    where: {{threads: {wanted}}}")).text
    assert "of 2 rows" not in whole
    assert "1 of 2 rows." in part
    assert len(part) < len(whole)


def test_a_choice_of_rows_waits_for_a_measurement() -> None:
    """Which values there are is known once something was measured: before, none is wrong."""
    body = "::: measured-table counts\n    where: {threads: 33}"
    assert "Not measured yet." in Outline(shown(body, study())).text


@pytest.mark.parametrize(
    ("origin", "badge", "absent"),
    [("live", "Live", "Recorded"), ("recorded", "Recorded", "Live")],
)
def test_live_and_recorded_differ_in_word_and_look(origin: Origin, badge: str, absent: str) -> None:
    """Table, chart and machine carry the badge of their origin, and never the other one."""
    blocks_shown = "::: measured-table counts\n\n::: chart counts\n\n::: machine"
    outline = Outline(shown(blocks_shown, study(measurement(origin))))
    classes = " ".join(attributes.get("class") or "" for _, attributes in outline.tags)
    assert outline.text.count(f"{badge} ") == 3
    assert absent not in outline.text
    assert f"mg-{origin}" in classes
    assert f"mg-{absent.lower()}" not in classes
    assert ("Measured by this build" in outline.text) == (origin == "live")


def test_several_machines_stand_side_by_side_live_first() -> None:
    """The live reading stands open, the others fold away below it with their own origin."""
    other = replace(MACHINE, name="Other GPU")
    both = study(measurement("recorded", machine=other), measurement("live"))
    html = shown("::: measured-table counts", both)
    assert html.index("mg-live") < html.index("<details") < html.index("mg-recorded")
    assert "recorded on Other GPU, 2026-11-29" in Outline(html).text


def test_a_stale_record_says_what_changed() -> None:
    """A table recorded from other code names the file that changed since."""
    stale = measurement(freshness="stale", changed=(KERNEL,))
    text = Outline(shown("::: measured-table counts\n\n::: excerpt toy.cu:main", study(stale))).text
    assert f"The code is another one since: {KERNEL} changed." in text
    assert "The file has changed since the recorded run" in text


def test_an_unmeasured_table_says_so() -> None:
    """Without any record a page says so and how to get one; it never shows an empty table."""
    text = Outline(shown("::: measured-table counts\n\n::: claims\n\n::: machine", study())).text
    assert "Not measured yet." in text
    assert "glossary measure toy" in text
    assert "not checked here (not measured yet)" in text


def test_reported_figures_are_not_taken_for_ours() -> None:
    """Somebody else's figures carry their label and source, and none of our words on the rows."""
    outline = Outline(shown("::: reported-table old-card counts"))
    assert "Reported, not measured here" in outline.text
    assert "Source: A book, page 3." in outline.text
    assert COUNTS.text not in outline.text
    assert "4,096" not in outline.text
    classes = " ".join(attributes.get("class") or "" for _, attributes in outline.tags)
    assert "mg-live" not in classes
    assert "mg-recorded" not in classes


@pytest.mark.parametrize("state", ["held", "refuted", "not checked here"])
def test_a_claim_is_marked_in_words(state: ClaimState) -> None:
    """A claim's mark is a word beside a sign, with the machine it stands for."""
    outline = Outline(shown("::: claims", study(measurement("live", state=state))))
    assert f"{state} (live on Test GPU, 2026-11-29)" in outline.text
    assert "At 32 threads it is right." in outline.text


def test_a_static_table_needs_no_machine() -> None:
    """What this build found in machine code is its own, whatever records there are."""
    static = replace(COUNTS, kind="static", launches=0)
    text = Outline(shown("::: measured-table counts", study(measurement(), static=(static,)))).text
    assert "Live" in text
    assert "needs no GPU" in text
    assert "Test GPU" not in text


def test_every_field_of_a_machine_has_a_name_on_the_page() -> None:
    """The full card leaves out no field that a record can hold."""
    values: dict[str, Any] = {f.name: "1.0" for f in fields(Machine)}
    card = dict(readings.facts(measurement(machine=Machine(**values))))
    assert len(card) >= len(values) + 5
    assert card["State before"] == "sm clock mhz 1,980, throttle reasons none"


# ── code ─────────────────────────────────────────────────────────────────────────────────────


def test_an_excerpt_links_its_lines_and_survives_backticks() -> None:
    """Code is fenced longer than any fence in it; file, lines and digest stand above it."""
    text = shown("::: excerpt toy.cu:main", repository="https://example.org/blob/main")
    assert "\n````cuda\n__global__ void toy() { /* ``` */ }\n````" in text
    outline = Outline(text)
    links = [attributes["href"] for tag, attributes in outline.tags if tag == "a"]
    assert links == [f"https://example.org/blob/main/{KERNEL}#L2-L2"]
    assert "Cut from the file that was compiled" in outline.text


def test_how_to_repeat_it_names_both_ways() -> None:
    """The commands for this project and for the toolkit alone are printed."""
    text = shown("::: reproduce")
    assert "glossary measure toy" in text
    assert f"nvcc -O3 -arch=native {KERNEL}" in text


def test_what_varies_is_named_by_what_was_measured() -> None:
    """Only counts that a race decides and times are said to differ from run to run."""
    clock = Column(name="took", label="Took", kind="time", unit="us")
    whole = Column(name="whole", label="Whole", kind="exact")

    def repeated(*columns: Column) -> str:
        tables = (replace(COUNTS, rows=(), columns=columns),)
        return " ".join(str(blocks.reproduce([study(declared_tables=tables)], [])).split())

    (racy,) = (column for column in COUNTS.columns if column.kind == "racy")
    assert "Counts that a race decides will differ" in repeated(racy, whole)
    assert "Times will differ" in repeated(clock, whole)
    assert "Times and counts that a race decides will differ" in repeated(racy, clock)
    assert "differ" not in repeated(whole)


def test_an_experiment_beside_one_that_needs_a_gpu_is_checked_without() -> None:
    """Each of two experiments is repeated by the command that repeats it."""
    static = study(id="code", declared_tables=(replace(COUNTS, rows=(), kind="static"),))
    told = str(blocks.reproduce([study(), static], ["warp"]))
    assert "```sh\nglossary measure toy\n```" in told
    assert "What is counted in machine code needs no GPU:\n\n```sh\nglossary check warp\n" in told


def test_without_a_compiler_nothing_is_said_to_be_measured_or_missing() -> None:
    """A static table names what is lacking, and asks for no GPU."""
    lacking = "machine code is not checked here: pip install 'x'"
    static = study(notes=(lacking,), declared_tables=(replace(COUNTS, rows=(), kind="static"),))
    text = Outline(shown("::: measured-table counts\n\n::: machine", static)).text
    assert f"Not counted here. {lacking}" in text
    assert "which this build did not have" in text
    assert "glossary measure" not in text


def test_an_experiment_that_fails_is_told_where_its_figures_would_stand() -> None:
    """A fault is shown with its place; a GPU that is not there is no fault of the experiment."""
    error = Problem(place=Place(KERNEL, 6, 25), code="compile-error", message="no such name")
    raised = replace(error, code="probe-error", message="it raised")
    no_gpu = replace(error, code="no-gpu", message="no GPU answers")
    shown_of = {
        problem.code: Outline(
            shown("::: measured-table counts\n\n::: excerpt toy.cu:main\n\n::: claims",
                  study(problems=(problem,)))
        ).text
        for problem in (error, raised, no_gpu)
    }  # fmt: skip
    assert f"the code does not compile. no such name {KERNEL}:6:25" in shown_of["compile-error"]
    assert "as it is; the code does not compile" in shown_of["compile-error"]
    assert "not checked here (the code does not compile)" in shown_of["compile-error"]
    assert "the experiment has a fault. it raised" in shown_of["probe-error"]
    assert "not checked here (the experiment has a fault)" in shown_of["probe-error"]
    assert "Cut from the file that was compiled" in shown_of["no-gpu"]
    assert "Not measured yet" in shown_of["no-gpu"]


def test_a_command_can_be_typed_as_it_is_printed() -> None:
    """No sign of a file's name is escaped in a fence; what a shell would take apart is quoted."""
    for name, typed in (("two_words.cu", "two_words.cu"), ("two words.cu", "'two words.cu'")):
        source = Source(name, b"int main() {}", "int main() {}")
        printed = str(blocks.reproduce([study(files={name: source})], []))
        assert f"nvcc -O3 -arch=native {typed} -o a.out" in html.unescape(printed)
        assert name != typed or typed in printed


# ── what is wrong with a block ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("::: nonsense", "unknown-block"),
        ("::: claims all", "block-argument"),
        ("::: measured-table", "block-argument"),
        ("::: excerpt toy.cu", "block-argument"),
        ("::: measured-table counts\n    rows: [32]", "block-option"),
        ("::: measured-table nothing", "unknown-probe"),
        ("::: measured-table counts\n    columns: [nothing]", "unknown-column"),
        ("::: measured-table counts\n    where: {mean: 32}", "unknown-column"),
        ("::: measured-table counts\n    where: {threads: [32, 33]}", "unknown-row"),
        ("::: chart counts\n    where: {threads: many}", "unknown-row"),
        ("::: chart counts\n    columns: [mean]", "unknown-column"),
        ("::: reported-table new-card counts", "unknown-report"),
        ("::: reported-table old-card nothing", "unknown-report"),
        ("::: excerpt other.cu:main", "excerpt-file"),
        ("::: excerpt toy.cu:nothing", "section-missing"),
        ("::: diagram nothing", "unknown-diagram"),
        ("::: diagram tile-lifecycle\n    preset: nothing", "unknown-preset"),
        ("Text {{ nothing.at.all }}.", "bad-expression"),
    ],
)
def test_a_fault_in_a_block_has_its_place(body: str, code: str) -> None:
    """What cannot be shown is a problem with file and line, and the page shows a mark there.

    What is wrong with an option stands in the option's line.
    """
    checked = expanded(f"First.\n\n{body}")
    (problem,) = checked.problems
    assert problem.code == code
    (block,) = expanded("First.\n\n::: nonsense").problems
    assert problem.place.file in ("glossary/toy/entry.md", KERNEL)
    assert problem.place.file == KERNEL or problem.place.line == block.place.line + body.count("\n")
    assert problem.message
    assert problem.hint
    assert "mg-fault" in (checked.value or "")


def test_all_faults_of_a_body_come_at_once() -> None:
    """Expanding does not stop at the first fault."""
    checked = expanded("{{ one }} and\n\n::: two\n\n::: three\n")
    assert len(checked.problems) == 3


def test_a_probe_of_two_experiments_is_named_in_full() -> None:
    """A name that two experiments share is refused; with the experiment's id it is found."""
    two = (study(measurement()), study(measurement("live"), id="other"))
    (problem,) = expanded("::: measured-table counts", *two).problems
    assert "toy.counts, other.counts" in problem.hint
    assert "Live" in shown("::: measured-table other.counts", *two)
    assert "Recorded" not in shown("::: measured-table other.counts", *two)


# ── the whole page ───────────────────────────────────────────────────────────────────────────

EVERYTHING = """\
Values such as {{ counts[threads=64].removed.max }} and __shared__ in prose.

::: measured-table counts

::: chart counts

::: claims

::: machine

::: reported-table old-card counts

::: excerpt toy.cu:main

::: diagram tile-lifecycle

::: reproduce
"""


def test_every_block_is_whole_html() -> None:
    """All blocks together leave no element open and close none that is not."""
    outline = Outline(to_html(shown(EVERYTHING)))
    assert outline.unbalanced == []
    assert outline.open == []
    assert "1,200 and __shared__ in prose." in outline.text
    assert "strong" in outline.names()  # captions; the name in prose is checked above


def test_ids_on_a_page_differ() -> None:
    """The same block twice, or on two machines, gives no id twice."""
    other = measurement("live", machine=replace(MACHINE, name="Other GPU"))
    twice = "::: chart counts\n\n::: chart counts\n\n::: measured-table counts\n\n::: machine"
    outline = Outline(shown(twice, study(other, measurement())))
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids)) > 5


def test_tables_scroll_in_a_labelled_box_of_their_own() -> None:
    """A wide table scrolls inside a region that the keyboard reaches and a caption names."""
    outline = Outline(shown("::: measured-table counts"))
    ids = {attributes.get("id") for _, attributes in outline.tags}
    (region,) = [a for _, a in outline.tags if a.get("role") == "region"]
    assert region["tabindex"] == "0"
    assert region["aria-labelledby"] in ids


def test_the_page_has_its_parts_in_order() -> None:
    """Title, scope, answer, banner, body, related terms, sources and byline stand in this order."""
    text = Outline(to_html(rendered())).text
    parts = ["Glossary › Execution model", "What does __toy() do?", "CC 7.5", "It does nothing at"]
    parts += [
        "all, and __says__ so.",
        "This is a draft",
        "A body.",
        "Related terms",
        "Where you meet this",
    ]
    parts += ["Sources", "Byline"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_page_is_plain_text() -> None:
    """What is put before a page, such as front matter, is not escaped by the page."""
    assert ('a: "b"' + rendered()).startswith('a: "b"')
    assert type(page.render_index(page.Site(title="Glossary"), [])) is str


def test_nobody_has_signed_so_everything_is_pending() -> None:
    """Without verified statements the byline says pending four times, whatever else holds."""
    text = Outline(to_html(rendered(signoff=None))).text
    names = ("Written by", "Reviewed by", "Written on", "Last checked on")
    assert all(f"{name} pending" in text for name in names)


def signed(name: str) -> SimpleNamespace:
    """A verified statement by a test person."""
    day = datetime.date(2026, 11, 29)
    statement = SimpleNamespace(scope=("prose", "claims"), date=day, reason="A | <b>reason</b>")
    return SimpleNamespace(person=SimpleNamespace(name=name), on=day, statement=statement)


def signoff(**changes: Any) -> Signoff:
    """What verification gave, as far as a page looks at it."""
    author = signed("Test <i>Author</i> | __x__")
    whole = {
        "authors": (author,),
        "author": author,
        "reviews": (signed("Test Reviewer"),),
        "last_checked": None,
        "retraction": None,
    }
    return cast(Signoff, SimpleNamespace(**(whole | changes)))


def test_the_byline_is_what_was_verified() -> None:
    """Names, dates and what a review covered come from statements, and are inert."""
    outline = Outline(to_html(rendered("draft", signoff=signoff())))
    assert "Written by Test <i>Author</i> | __x__ Reviewed by Test Reviewer" in outline.text
    assert "on 2026-11-29 (prose, claims)" in outline.text
    assert "Last checked on pending" in outline.text
    assert "i" not in outline.names()


@pytest.mark.parametrize("state", ["draft", "outdated", "refused"])
def test_what_is_not_published_says_why(state: State) -> None:
    """A banner gives the state, every reason with its place, and what is missing."""
    reason = Problem(place=Place("a.md", 3, 4), code="some-code", message="a | <b> is wrong")
    verdict = Verdict(state=state, reasons=(reason,), missing=("a review, from nobody",))
    outline = Outline(to_html(rendered(verdict=verdict)))
    assert "a | <b> is wrong a.md:3:4 (some-code)" in outline.text
    assert "a review, from nobody" in outline.text
    assert "b" not in outline.names()


def test_a_published_page_has_no_banner() -> None:
    """A page that both people signed carries no banner at all."""
    assert "mg-banner" not in rendered("published")


def test_a_retracted_page_shows_nothing_of_the_entry() -> None:
    """A tombstone gives the id, the date and the reason, and no word of what was withdrawn."""
    gone = signoff(retraction=signed("Test Author"))
    outline = Outline(to_html(rendered("retracted", signoff=gone)))
    text = outline.text
    assert text.startswith("toy: retracted")
    assert "Retracted on 2026-11-29." in text
    assert "A | <b>reason</b>" in text
    for part in ("__toy()", "It does", "A body", "Execution", "Byline"):
        assert part not in text


def test_an_entry_that_cannot_be_read_still_has_a_page() -> None:
    """For a file that does not parse, the preview shows its problems."""
    reason = Problem(place=Place("glossary/toy/entry.md", 2), code="yaml-syntax", message="no YAML")
    verdict = Verdict(state="refused", reasons=(reason,))
    context = page.PageContext(site=page.Site(title="Glossary"), verdict=verdict, others={})
    text = page.render(Judged(id="toy", entry=None, body="", verdict=verdict), context)
    assert "no YAML" in text


def test_only_given_terms_are_linked() -> None:
    """A related entry is linked when it may be; a term without a page is named without a link."""
    other = page.Other(term="__other()", answer="It is another.", url="../other/index.md")
    html = to_html(rendered(others={"other": other}))
    assert ("a", {"href": "../other/index.md"}) in Outline(html).tags
    assert "__other(): It is another." in Outline(html).text
    assert "Without a published page so far: never written." in Outline(html).text
    assert (
        "Without a published page so far: other, never written."
        in Outline(to_html(rendered())).text
    )


def test_the_experiments_own_pages_are_linked() -> None:
    """Where the site has pages for experiments, an entry leads to the raw samples."""
    site = page.Site(title="Glossary", experiments_url="../../experiments")
    links = [a.get("href") for tag, a in Outline(to_html(rendered(site=site))).tags if tag == "a"]
    assert "../../experiments/toy/index.md" in links


def test_sources_say_what_was_checked() -> None:
    """Each source gives version, section, day and quotes, or says that it was not checked."""
    text = Outline(to_html(rendered())).text
    quoted = "Quoted: “does nothing at all”; “really”"
    assert f"A guide, v1, section 1.2, read on 2026-11-29. {quoted}" in text
    assert "A rumour, read on 2026-11-29. Not checked against the source." in text


def test_the_index_sorts_by_letters_and_groups_by_area() -> None:
    """Terms stand by their letters, drafts are marked, areas have a heading each."""
    states: tuple[tuple[str, str, State], ...] = (
        ("warp", "warp", "published"),
        ("sync", "__syncthreads()", "draft"),
    )
    made = [
        Judged(id=name, entry=entry("B.", FRONT.replace("term: __toy()", f"term: {term}")),
               body="", verdict=Verdict(state=state))
        for name, term, state in states
    ]  # fmt: skip
    html = to_html(page.render_index(page.Site(title="My | glossary"), made))
    outline = Outline(html)
    assert outline.text.index("__syncthreads() (draft)") < outline.text.index("warp:")
    assert outline.text.startswith("My | glossary")
    assert ("h3", {"id": "execution-model"}) in outline.tags
    assert 'href="sync/index.md"' in html


def test_letters_with_few_terms_share_a_heading() -> None:
    """A long index has headings, and none but the last stands over fewer than five terms."""
    names = [f"{letter}{number}" for letter in "abcdefgh" for number in range(2)]
    made = [
        Judged(id=name, entry=entry("B.", FRONT.replace("term: __toy()", f"term: {name}")),
               body="", verdict=Verdict(state="published"))
        for name in names
    ]  # fmt: skip
    html = to_html(page.render_index(page.Site(title="Glossary"), made))
    assert re.findall(r"<h2[^>]*>([A-Z][^<]*)</h2>", html)[:3] == ["A to C", "D to F", "G to H"]


def test_a_page_leads_to_its_neighbours_in_the_index() -> None:
    """The entries before and after stand at the page's end; the first and the last have one."""
    others = {
        name: page.Other(term=term, url=f"../{name}/index.md")
        for name, term in (("c", "warp"), ("a", "__syncthreads()"), ("b", "tile"))
    }
    turns = page.turns(others)
    assert turns == {
        "a": (None, others["b"]), "b": (others["a"], others["c"]), "c": (others["b"], None)
    }  # fmt: skip
    text = Outline(to_html(rendered(turn=turns["b"]))).text
    assert text.endswith("Previous entry: __syncthreads() Next entry: warp")
    assert "Next entry" not in Outline(to_html(rendered(turn=turns["c"]))).text


def test_dates_and_shares_stay_on_one_line() -> None:
    """A day and a per cent are not torn apart; everything around them is inert as ever."""
    made = str(unbroken("On 2026-11-29, *at most* 0.3 % (95 %)"))
    assert re.findall(r'mg-unbroken">([^<]*)<', made) == ["2026-11-29", "0.3 %", "95 %"]
    assert "*" not in made


def test_an_empty_glossary_says_what_is_missing() -> None:
    """Without entries the index says what an entry needs."""
    assert "signature" in page.render_index(page.Site(title="Glossary"), [])


def test_an_experiment_page_shows_everything_with_its_origin() -> None:
    """Machines, tables, claims, raw records and inputs of an experiment stand on its page."""
    both = study(measurement("live"), measurement(machine=replace(MACHINE, name="Other GPU")))
    html = to_html(page.render_experiment(page.Site(title="Glossary"), both, []))
    outline = Outline(html)
    assert outline.unbalanced == []
    assert 'href="other-gpu.json"' in html
    assert "held (live on Test GPU, 2026-11-29)" in outline.text
    assert f"{KERNEL}, SHA-256 {'0' * 64}" in outline.text


# ── the style sheet, and the first entry ─────────────────────────────────────────────────────


def css() -> str:
    """The style sheet."""
    return (PACKAGE / "assets" / "glossary.css").read_text(encoding="utf-8")


def test_the_style_sheet_is_small_and_asks_nobody() -> None:
    """It stays under 18 kB, a quarter of that when compressed, and loads nothing."""
    assert len(css().encode()) < 18_000
    assert len(gzip.compress(css().encode())) < 4_400
    assert "url(" not in css()
    assert "@import" not in css()


def colours(selector: str) -> Iterator[tuple[str, str]]:
    """The custom colours that a rule of the style sheet sets."""
    rule = re.search(rf"^{re.escape(selector)} \{{(.*?)^\}}", css(), re.MULTILINE | re.DOTALL)
    assert rule
    yield from re.findall(r"--(mg-[\w-]+): (#[0-9a-f]{6});", rule[1])


def luminance(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("selector", "paper"), [(":root", "#ffffff"), ('[data-md-color-scheme="slate"]', "#1e2129")]
)
def test_colours_of_text_have_contrast(selector: str, paper: str) -> None:
    """Every colour used for text reaches 4.5 : 1 on the page and on our own tint."""
    found = dict(colours(selector))
    text = {name: value for name, value in found.items() if name not in ("mg-line", "mg-tint")}
    assert len(text) >= 9
    for name, value in text.items():
        for ground in (paper, found["mg-tint"]):
            low, high = sorted((luminance(value), luminance(ground)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground)


def test_the_first_entry_reads_without_a_fault() -> None:
    """The entry on `__syncthreads()` parses, and names blocks that exist."""
    raw = (ROOT / "glossary" / "syncthreads" / "entry.md").read_bytes()
    checked = parse("syncthreads", Source("glossary/syncthreads/entry.md", raw, raw.decode()))
    assert checked.problems == ()
    assert checked.value
    named = [piece.name for piece in checked.value.pieces if isinstance(piece, Block)]
    assert set(named) <= set(blocks.BLOCKS)
