"""Pages that show what happened, what a tool said of it, and the machine code behind it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from measured_glossary import expression
from measured_glossary.body import Value
from measured_glossary.lab.experiment import OUTCOME_COLUMN, SANITIZER_COLUMNS, TOOL_COLUMN
from measured_glossary.lab.record import Finding
from measured_glossary.lab.sass import Kernel, Sass
from measured_glossary.lab.study import Listing, Measurement, Study
from measured_glossary.lab.table import Column, Table, pairs
from measured_glossary.problem import Place
from test_page import COUNTS, KERNEL, MACHINE, Outline, expanded, measurement, shown, study

FORM = Column(name="form", label="Form", kind="exact")
ENDED = Table(
    name="ended",
    kind="outcome",
    text="One form.",
    launches=20,
    key=(FORM,),
    columns=(
        OUTCOME_COLUMN,
        Column(name="arrived", label="Arrived", kind="exact"),
        Column(name="passed", label="Passed", kind="exact"),
    ),
    rows=(
        {"form": "if", "outcome": "returned", "arrived": 64, "passed": 63},
        {"form": "else", "outcome": "hung", "arrived": None, "passed": None},
        {"form": "none", "outcome": "cuda error cudaErrorX", "arrived": None, "passed": None},
    ),
)


def said(form: str, verdict: str, errors: int | None = 0, warnings: int | None = 0) -> Any:
    """A row of the table `watched`."""
    reason = "hung under the tool: no summary" if verdict == "inconclusive" else ""
    counts = {"errors": errors, "warnings": warnings}
    return {"form": form, "tool": "synccheck", "verdict": verdict, **counts, "reason": reason}


WATCHED = Table(
    name="watched",
    kind="sanitizer",
    text="One form under a tool.",
    launches=1,
    key=(FORM, TOOL_COLUMN),
    columns=SANITIZER_COLUMNS,
    rows=(
        said("if", "clean"),
        said("else", "findings", 32),
        said("warned", "findings", 0, 1),
        said("none", "inconclusive", None, None),
    ),
)
DECLARED = tuple(replace(table, rows=()) for table in (COUNTS, ENDED, WATCHED))


def finding(form: str, kind: str, *lines: int, count: int = 2, kernel: str = "toy") -> Finding:
    """A finding in a row of `watched`."""
    return Finding(
        table="watched",
        row=pairs({"form": form, "tool": "synccheck"}),
        severity="error",
        kind=kind,
        count=count,
        kernel=kernel,
        lines=tuple(f"{KERNEL}:{line}" for line in lines),
    )


FOUND = (
    finding("else", "Race", 2, 3, count=1),
    finding("else", "RAW", 2, 3, count=1234),
    finding("warned", "Divergent thread(s) in block", 5, 2),
)


def run(*tables: Table, name: str = "Test GPU", **more: Any) -> Measurement:
    """A measurement of these tables."""
    plain = measurement(machine=replace(MACHINE, name=name))
    tools = {"nvrtc": "13.0", "compute-sanitizer": "1.2"}
    return replace(plain, record=replace(plain.record, tables=tables, toolchain=tools, **more))


def known(*runs: Measurement, **changes: Any) -> Study:
    """A study with an outcome probe and a sanitizer probe."""
    used = runs or (run(ENDED, WATCHED, findings=FOUND),)
    return study(*used, **{"declared_tables": DECLARED, **changes})


def text(body: str, *studies: Study) -> str:
    """What a reader reads of a body's blocks."""
    return Outline(shown(body, *(studies or (known(),)))).text


# ── outcomes ─────────────────────────────────────────────────────────────────────────────────


def test_each_case_is_a_line_and_each_machine_a_part() -> None:
    """A case says how it ended and what was counted; where it was not run, that."""
    fewer = replace(ENDED, rows=ENDED.rows[:1])
    both = known(run(ENDED), run(fewer, name="Other GPU"))
    found = text("::: outcomes ended", both)
    assert "recorded on Test GPU, 2026-11-29 recorded on Other GPU, 2026-11-29" in found
    assert "if ✓ returned 64 63 ✓ returned 64 63" in found
    assert "else ‖ hung – – not run here – –" in found
    assert "✗ cuda error cudaErrorX" in found


def test_columns_behind_the_outcome_can_be_chosen() -> None:
    """Named columns are shown and others not; an empty list leaves the outcome alone."""
    assert "Passed" not in text("::: outcomes ended\n    columns: [arrived]")
    assert "Arrived" not in text("::: outcomes ended\n    columns: []")


def test_a_tool_s_verdict_stands_beside_the_outcome_of_the_same_case() -> None:
    """The verdict is that of the same run; a case the tool did not see has none."""
    found = text("::: outcomes ended\n    columns: []\n    beside: watched")
    assert "Form Outcome synccheck" in found
    assert "if ✓ returned ✓ clean" in found
    assert "else ‖ hung ✗ findings 32 errors" in found
    assert "? inconclusive hung under the tool: no summary" in found
    alone = replace(WATCHED, rows=WATCHED.rows[1:])
    assert "if ✓ returned –" in text(
        "::: outcomes ended\n    columns: []\n    beside: watched", known(run(ENDED, alone))
    )


def test_outcomes_that_nobody_measured_say_so() -> None:
    """Without a record the block says how to make one."""
    assert "Not measured yet" in text("::: outcomes ended", study(declared_tables=DECLARED))


# ── sanitizers ───────────────────────────────────────────────────────────────────────────────


def test_verdicts_have_a_sign_and_words() -> None:
    """Clean, errors, warnings and no verdict are told apart without colour."""
    found = text("::: sanitizer watched")
    assert "Watched by synccheck (compute-sanitizer 1.2)." in found
    for words in ("if ✓ clean", "else ✗ findings 32 errors", "warned ! findings 1 warning"):
        assert words in found
    assert "none ? inconclusive hung under the tool: no summary" in found


def test_what_was_found_names_its_kernel_and_links_its_lines() -> None:
    """A hazard has two lines in order, the summing up comes last, a call leads outwards."""
    markdown = shown("::: sanitizer watched", known(), repository="https://example.org/blob/main")
    outline = Outline(markdown)
    assert "1,234 × read after write, unordered (RAW) in toy: toy.cu:2, then :3" in outline.text
    assert outline.text.index("(RAW)") < outline.text.index("1 × race")
    assert "2 × Divergent thread(s) in block in toy: toy.cu:5, called from :2" in outline.text
    links = [attributes["href"] for tag, attributes in outline.tags if tag == "a"]
    assert links[:2] == [f"https://example.org/blob/main/{KERNEL}#L{line}" for line in (2, 3)]


def test_verdicts_can_be_chosen_and_what_is_left_out_is_counted() -> None:
    """A table without its clean rows says how many it leaves out."""
    found = text("::: sanitizer watched\n    verdicts: [findings, inconclusive]")
    assert "✓ clean" not in found
    assert "Not shown: 1 with another verdict." in found


def test_a_machine_without_the_tool_says_so() -> None:
    """Where the tool was missing there is no version, and no row looks like a clean one."""
    rows = (said("if", "inconclusive", None, None) | {"reason": "not installed"},)
    bare = run(replace(WATCHED, rows=rows))
    bare = replace(bare, record=replace(bare.record, toolchain={}))
    found = text("::: sanitizer watched", known(bare))
    assert "(no compute-sanitizer)" in found
    assert "if ? inconclusive not installed" in found


def test_a_finding_cannot_break_out() -> None:
    """Whatever a record holds as kind or kernel stays text."""
    evil = finding("else", "RAW", 2, kernel="toy<script>alert(1)</script>`*_")
    markdown = shown("::: sanitizer watched", known(run(WATCHED, findings=(evil,))))
    assert "<script" not in markdown
    assert "toy<script>alert(1)</script>`*_" in Outline(markdown).text


# ── machine code ─────────────────────────────────────────────────────────────────────────────

CODE = ("S2R R0", "STS [R1]", "IADD R2", "BAR.SYNC.DEFER 0x0", "LDS R3", "MOV R4", "EXIT", "NOP")


def listing(architecture: str, name: str = "toy", code: tuple[str, ...] = CODE) -> Listing:
    """A kernel's machine code."""
    kernel = Kernel(
        name=name, symbol=name, registers=8, local_bytes=0, shared_bytes=0, instructions=code
    )
    tools = {"nvrtc": "13.0", "nvdisasm": "13.1"}
    sass = Sass(code=(kernel,))
    return Listing(source=KERNEL, architecture=architecture, sass=sass, toolchain=tools)


COMPILED = study(listings=(listing("sm_100"), listing("sm_75"), listing("sm_90")))


def code_lines(markdown: str) -> list[str]:
    """The lines of code as a reader reads them."""
    lines = re.findall(r"<code class=\"mg-line[^>]*>(.*?)</code>", markdown)
    return [Outline(line).text for line in lines]


def test_machine_code_stands_in_a_tab_for_each_architecture() -> None:
    """Tabs go from the oldest to the newest; each has its own count and digest."""
    outline = Outline(shown("::: sass toy\n    mark: BAR.SYNC", COMPILED))
    assert "sm_75sm_90sm_100" in outline.text.replace(" ", "")
    assert "Compiled by this build with nvdisasm 13.1 and NVRTC 13.0; this needs no GPU." in (
        outline.text
    )
    digest = COMPILED.listings[0].sass.digest("toy")
    assert f"sm_75: 1 marked of 7 instructions, SHA-256 {digest[:12]}." in outline.text
    assert [tag for tag, _ in outline.tags].count("input") == 3


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ("mark: BAR.SYNC\n    context: 1", ["…", "IADD R2", "▶ BAR.SYNC.DEFER 0x0", "LDS R3", "…"]),
        ("mark: [STS, LDS]\n    context: 0", ["…", "▶ STS [R1]", "…", "▶ LDS R3", "…"]),
        ("mark: S2R\n    context: 0", ["▶ S2R R0", "…"]),
        ("caption: All of it.", list(CODE[:-1])),
    ],
)
def test_marked_instructions_stand_with_their_context(options: str, lines: list[str]) -> None:
    """What is left out is a gap, padding is nothing, and without a mark all is shown."""
    body = f"::: sass toy\n    architectures: [sm_90]\n    {options}"
    assert code_lines(shown(body, COMPILED)) == lines


def test_without_a_compiler_the_block_says_so() -> None:
    """Where nothing was compiled the page tells why, and that is no problem of the entry."""
    notes = ("machine code is not checked here: no NVRTC",)
    found = text("::: sass toy\n    mark: BAR.SYNC", study(notes=notes))
    assert "Not compiled here." in found
    assert notes[0] in found


# ── what is wrong with a block ───────────────────────────────────────────────────────────────

OTHER_KEY = replace(WATCHED, name="elsewhere", rows=(), key=(*WATCHED.key, COUNTS.key[0]))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("::: outcomes counts", "probe-kind"),
        ("::: outcomes nothing", "unknown-probe"),
        ("::: outcomes ended\n    columns: [outcome]", "unknown-column"),
        ("::: outcomes ended\n    beside: ended", "probe-kind"),
        ("::: outcomes ended\n    beside: elsewhere", "probe-key"),
        ("::: sanitizer ended", "probe-kind"),
        ("::: sanitizer watched\n    verdicts: [fine]", "block-option"),
        ("::: sass nothing", "sass-kernel"),
        ("::: sass toy\n    architectures: [sm_80]", "sass-architecture"),
        ("::: sass toy\n    mark: LDG", "sass-mark"),
        ("::: sass toy\n    mark: BAR.SYN", "sass-mark"),
        ("::: sass toy\n    context: -1", "block-option"),
    ],
)
def test_a_wrong_block_is_a_problem_at_its_place(body: str, code: str) -> None:
    """Each mistake has a code of its own and says where it stands: an option's at the option."""
    whole = known(declared_tables=(*DECLARED, OTHER_KEY), listings=COMPILED.listings)
    (problem,) = expanded(body, whole).problems
    assert problem.code == code
    (block,) = expanded("::: nonsense", whole).problems
    assert problem.place.line == block.place.line + body.count("\n")


# ── values in the text ───────────────────────────────────────────────────────────────────────


def test_a_value_comes_from_a_machine_that_had_the_tool() -> None:
    """Where the first machine lacked the tool, a number of findings is that of the next."""
    rows = tuple(said(str(row["form"]), "inconclusive", None, None) for row in WATCHED.rows)
    without, having = run(ENDED, replace(WATCHED, rows=rows)), run(ENDED, WATCHED, name="Other")
    names = expression.names_of([known(without, having)])
    value = Value(expression="watched[form='else'].errors", place=Place("a.md", 1, 1))
    assert expression.evaluate(value, names).value == "32"
    alone = expression.evaluate(value, expression.names_of([known(without)]))
    assert "is inconclusive" in alone.problems[0].message
