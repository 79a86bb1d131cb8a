"""Inline expressions: what they may reach, how it is printed, and that nothing else happens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from measured_glossary.body import Value
from measured_glossary.expression import MAX_LENGTH, digits, evaluate, names_of, percent
from measured_glossary.lab.record import Record, Reported
from measured_glossary.lab.study import Measurement, Study
from measured_glossary.lab.table import Column, Table
from measured_glossary.problem import Place
from measured_glossary.source import Source
from site_world import MACHINE

PLACE = Place("glossary/warp/entry.md", 13, 1)
KEY = Column(name="threads", label="Threads", kind="exact")


def table(name: str, *columns: Column, rows: Any, kind: Any = "runtime") -> Table:
    """A measured table with the key `threads`."""
    return Table(name=name, kind=kind, key=(KEY,), columns=columns, launches=3, rows=rows)


COUNTS = table(
    "counts",
    Column(name="wrong", label="Wrong", kind="racy", of=1000),
    Column(name="blocks", label="Blocks", kind="exact"),
    Column(name="note", label="Note", kind="exact"),
    rows=(
        {"threads": 32, "wrong": (0, 0, 0), "blocks": 4096, "note": "one warp"},
        {"threads": 64, "wrong": (12, 7, 31), "blocks": 2048, "note": "two"},
    ),
)
TIMES = table(
    "times",
    Column(name="took", label="Took", kind="time", unit="ms"),
    rows=(
        {"threads": 32, "took": tuple(1.0 + n / 100 for n in range(20))},
        {"threads": 64, "took": tuple(4.0 + n / 100 for n in range(20))},
        {"threads": 65, "took": tuple(4.05 + n / 100 for n in range(20))},
    ),
)
SIZES = table(
    "sizes",
    Column(name="left", label="Left", kind="bytes"),
    rows=({"threads": 32, "left": 49152},),
)
ENDS = table(
    "ends",
    Column(name="outcome", label="Outcome", kind="outcome"),
    Column(name="arrived", label="Arrived", kind="exact"),
    rows=({"threads": 32, "outcome": "hung", "arrived": None},),
    kind="outcome",
)
UNMEASURED = replace(COUNTS, name="later", rows=())
RECORD = Record(
    experiment="my-copy", machine=MACHINE, captured="2026-11-19T12:00:00Z", inputs={},
    toolchain={"nvrtc": "13.0"}, options=(), seed=14, tables=(COUNTS, TIMES, SIZES, ENDS),
)  # fmt: skip
BLOCKS = replace(COUNTS, columns=COUNTS.columns[1:2], rows=({"threads": 32, "blocks": 7},))
REPORTED = Reported(
    file="measurements/my-copy/tesla-t4.reported.yml", machine_name="Tesla T4", captured="",
    toolchain="", source="A test", url="", where="", note="", tables=(BLOCKS,),
)  # fmt: skip


def study(identity: str = "my-copy", *records: Record, **changes: Any) -> Study:
    """An experiment with these records."""
    file = Source(f"code/{identity}/experiment.py", b"", "")
    made = [
        Measurement(record=record, origin="recorded", freshness="fresh", changed=(), claims=())
        for record in records
    ]
    plain = Study(
        id=identity, title="", inputs={}, files={file.file: file}, declared_claims=(),
        declared_tables=(COUNTS, TIMES, SIZES, ENDS, UNMEASURED), measurements=tuple(made),
        reported=(REPORTED,), static=(), claims=(), notes=(), problems=(),
    )  # fmt: skip
    return replace(plain, **changes)


NAMES = names_of([study("my-copy", RECORD)])


def value(expression: str, names: dict[str, object] | None = None) -> str | None:
    """What an expression prints; it must not be a problem."""
    found = evaluate(Value(expression=expression, place=PLACE), NAMES if names is None else names)
    assert found.problems == ()
    return found.value


def fault(expression: str, names: dict[str, object] | None = None) -> tuple[str, str]:
    """Message and hint of an expression that is a problem."""
    given_names = NAMES if names is None else names
    found = evaluate(Value(expression=expression, place=PLACE), given_names)
    assert found.value is None
    (problem,) = found.problems
    assert (problem.code, problem.place) == ("bad-expression", PLACE)
    start = f"{{{{ {expression} }}}}: "
    assert problem.message.startswith(start)
    return problem.message.removeprefix(start), problem.hint


# ── values ───────────────────────────────────────────────────────────────────────────────────

PRINTED = {
    "counts[threads=32].blocks": "4,096",
    "counts[ threads = 32 ].blocks": "4,096",
    "counts(threads=32).blocks": "4,096",
    "counts[threads=32]['blocks']": "4,096",
    "counts[threads=32].note": "one warp",
    "counts[threads=32].wrong": "0 wrong in 3 launches (95 %: at most 64 % of launches)",
    "counts[threads=64].wrong": "7 to 31 (median 12) in 3 launches",
    "counts[threads=64].wrong.max": "31",
    "counts[threads=64].wrong.max - counts[threads=64].wrong.min": "24",
    "counts[threads=32].blocks * 2 + 1": "8,193",
    "-counts[threads=32].blocks": "-4,096",
    "counts[threads=64].wrong.rate_of_launches|percent": "100.0 %",
    "(counts[threads=64].wrong.max / 1000)|percent(2)": "3.10 %",
    "counts[threads=32].blocks|digits": "4,100",
    "times[threads=32].took": "1.095 ms (1.048 to 1.143, n = 20)",
    "times[threads=64].took / times[threads=32].took": "3.74",
    "(times[threads=64].took / times[threads=32].took)|digits(2)": "3.7",
    "sizes[threads=32].left": "49,152 bytes",
    "sizes[threads=32].left / 1024": "48",
    "ends[threads=32].outcome": "hung",
    "machine.name": "Test GPU",
    "machine.compute_capability": "9.0",
    "record.experiment": "my-copy",
    "record.toolchain.nvrtc": "13.0",
    "my_copy.counts[threads=32].blocks": "4,096",
    "reported.tesla_t4.counts[threads=32].blocks": "7",
}


@pytest.mark.parametrize("expression", sorted(PRINTED))
def test_a_measured_value_is_printed(expression: str) -> None:
    """Values print as tables print them: separators, units, ranges, bounds."""
    assert value(expression) == PRINTED[expression]


FAULTS = {
    "": "not an expression: Expected an expression, got 'end of print statement'",
    "nothing": "'nothing' is no name here",
    "nothing[threads=32].wrong": "'nothing' is no name here",
    "counts": "gives a table, not one value to print",
    "counts[threads=32]": "gives a row, not one value to print",
    "counts[threads=33].wrong": "counts has no row with threads=33; threads is one of 32, 64",
    "counts[lanes=32].wrong": "counts has no key 'lanes'; its keys are threads",
    "counts[threads=32].right": "counts has no column 'right'; its columns are threads",
    "counts[32].wrong": "a table has no 32; it has table",
    "counts(32).wrong": "only a table takes a selection, and it names its key",
    "counts[threads=32](threads=32)": "only a table takes a selection, and it names its key",
    "counts[threads=64].wrong - 1": "'-' works on plain numbers, not on a racy count",
    "counts[threads=64].wrong|percent": "'percent' takes a plain number, not a racy count",
    "counts[threads=32].note + 'x'": "'+' works on plain numbers, not on a text",
    "counts[threads=32].note * 1000000000": "'*' works on plain numbers, not on a text",
    "counts[threads=32].note|percent": "'percent' takes a plain number, not a text",
    "counts[threads=64].wrong.bound": "gives nothing: the case left no value",
    "times[threads=65].took / times[threads=64].took": "overlap: their ratio is ambiguous",
    "times[threads=65].took - times[threads=64].took": "'-' works on plain numbers, not on a time",
    "ends[threads=32].arrived": "gives nothing: the case left no value, not one value to print",
    "counts[threads=32].blocks / 0": "division by zero",
    "counts[threads=32].blocks * 1e308 * 1e308": "gives inf, which is no number",
    "(counts[threads=32].blocks * 1e308 * 1e308)|digits": "'digits' takes a plain number",
    "counts[threads=32].blocks|percent(999999999)": "'percent' takes 0 to 6 places",
    "counts[threads=32].blocks|digits(999999999)": "'digits' takes 1 to 9 places",
    "counts[threads=32].blocks|digits('x')": "'digits' takes 1 to 9 places, found 'x'",
    "counts[threads=32].blocks|upper": "not an expression: No filter named 'upper'.",
    "counts[threads=32].blocks is odd": "'is' is not used in expressions",
    "counts[threads=32].blocks ** 2": "'**' is not used in expressions",
    "counts[threads=32].blocks ~ 'x'": "'~' is not used in expressions",
    "counts[threads=32].blocks if 1 else 2": "'if' is not used in expressions",
    "counts[threads=32].blocks == 7": "a comparison is not used in expressions",
    "not counts": "'not' is not used in expressions",
    "counts, times": "a comma is not used in expressions",
    "[counts]": "a list is not used in expressions",
    "{'a': counts}": "a dictionary is not used in expressions",
    "42": "names nothing that was measured",
    "'forty-two'": "names nothing that was measured",
    "machine": "gives the machine, not one value to print",
    "machine.serial": "the machine has no 'serial'; it has architecture, compute_capability, ",
    "record": "gives the record, not one value to print",
    "record.tables": "gives a list, not one value to print",
    "reported": "gives a group of names, not one value to print",
    "reported.tesla_p4": "a group of names has no 'tesla_p4'; did you mean 'tesla_t4'?",
    "counts[threads=32].wrong.samples": "gives a list, not one value to print",
    "machine.ecc": "gives nothing: the case left no value, not one value to print",
}  # fmt: skip


@pytest.mark.parametrize("expression", sorted(FAULTS))
def test_anything_else_is_a_problem(expression: str) -> None:
    """The message says what is there instead, in the glossary's own words."""
    message, _ = fault(expression)
    assert FAULTS[expression] in message
    assert "measured_glossary" not in message


def test_hints_say_what_to_type() -> None:
    """A racy count is answered with its numbers, an unknown name with the known ones."""
    assert fault("counts[threads=64].wrong - 1")[1].startswith("choose one number of it: .min")
    assert fault("nothing")[1].startswith("the names here are: counts, ends, later, machine")
    assert fault("counts")[1] == "write {{ table[key=value].column }}"


# ── the sandbox ──────────────────────────────────────────────────────────────────────────────

ESCAPES = [
    "''.__class__", "machine.__class__", "counts.__class__.__mro__", "machine.name.__class__",
    "counts[threads=32].__class__", "counts[threads=32]._cells", "counts.table.__dict__",
    "counts[threads=32].wrong.__eq__", "record.__init__.__globals__", "self", "self.__init__",
    "counts.__call__(threads=32)", "counts.where(threads=32)", "machine.name.upper()",
    "machine.name.format(1)", "machine.name.ljust(1000000000)", "machine.name.replace('T', '5')",
    "record.toolchain.items()", "record.toolchain.pop('nvrtc')", "record.inputs.update(a=1)",
    "counts.table.rows[0].clear()", "10**10**10", "'a'*10**9", "machine.name*10",
    "machine['__class__']", "machine|attr('__class__')", "cycler", "range(9)", "lipsum()",
    "namespace()", "dict()", "joiner", "config", "request", "context", "environment", "loop",
    "super()", "caller()", "varargs", "counts(threads=32, threads=64).wrong", "counts(__debug__=1)",
    "counts(**machine)", "counts(*machine)", "counts(if=1)", "machine.name[0:1]", "a.b.c.d.e",
    "machine.name %}{% for a in b %}{{ a", "x }}{{ 7", "# comment", "{# comment #}", "{% raw %}",
    "(" * 90 + "machine.ecc" + ")" * 90, "-" * 190 + "counts", "not " * 40 + "counts",
    "machine" + ".name" * 38, "a" * (MAX_LENGTH + 1), "counts" + "[threads=32]" * 15, "\\", "'",
    '"', "machine.name\n.upper", "machine\0name", "\ud800", "１", "counts[threads＝32]",
    "lambda: 1", "yield", "import os", "open('/etc/passwd').read()", "machine.name.__add__('x')",
    "counts.table.name.join('ab')",
]  # fmt: skip


@pytest.mark.parametrize("expression", ESCAPES)
def test_nothing_leads_out_of_the_sandbox(expression: str) -> None:
    """Attributes, methods, loops, powers and floods are problems, and raise nothing."""
    assert fault(expression)[0]


def test_an_expression_changes_nothing() -> None:
    """What was measured is the same after every attempt."""
    assert RECORD.toolchain == {"nvrtc": "13.0"}
    assert RECORD.inputs == {}


WORDS = """
counts times machine record reported my_copy later . [ ] ( ) [threads=32] [threads=64] .wrong
.blocks .max .took .name | percent digits + - * / ** , 1 0 1e308 'x' ~ % { } = == if else
for in is not _
__class__ \\ # " None True self super
"""
PIECES = st.sampled_from([*WORDS.split(), " ", "\n"])


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=60))
@example("counts(threads=32, threads=64)")
@example("(" * 99 + ")" * 99)
def test_any_text_is_a_value_or_a_problem(expression: str) -> None:
    """Whatever stands between the braces, it prints one line or is one problem."""
    found = evaluate(Value(expression=expression, place=PLACE), NAMES)
    assert len(found.problems) <= 1
    assert found.value is None or not found.problems
    assert found.value is None or len(found.value) < 1000


# ── names ────────────────────────────────────────────────────────────────────────────────────


def test_what_was_not_measured_has_no_value_and_no_problem() -> None:
    """A table without a record is said once, of the experiment, and not of each value."""
    unmeasured = names_of([study()])
    for expression in ("counts[threads=32].wrong.max", "machine.name", "record.experiment"):
        assert value(expression, unmeasured) is None
    assert value("later[threads=32].wrong.max") is None


DECLARED = [
    "counts[thread=32].wrong", "counts[threads=32].wrog", "counts[threads=32].wrong.maximum",
    "counts[threads=32].wrong - 1", "counts[threads=32].blocks.x", "counts[threads=32]", "counts",
    "counts[32].wrong", "counts[threads=64].wrong|percent", "my_copy.counts[lanes=1].wrong",
    "times[threads=32].took.mean", "times[threads=32].took * 2", "ends[threads=32].left",
    "machine.nme", "machine", "record.machines", "record.machine.nme", "record", "record.tables",
    "counts[threads=32].blocks + counts[threads=64].block",
]  # fmt: skip


@pytest.mark.parametrize("expression", DECLARED)
def test_what_is_declared_is_checked_before_it_was_measured(expression: str) -> None:
    """A name that no record will have is told at once, in the words of the measured table."""
    told = fault(expression, names_of([study("my-copy")]))
    assert told == fault(expression, names_of([study("my-copy", RECORD)]))


@pytest.mark.parametrize("expression", sorted(PRINTED))
def test_what_will_be_printed_is_no_fault_before(expression: str) -> None:
    """Whatever a record gives a value for, is without a fault as long as there is none."""
    if "reported" not in expression:
        assert value(expression, names_of([study("my-copy")])) is None


def test_figures_that_stand_in_decide_nothing() -> None:
    """Whether a divisor is zero or two times overlap is known once they are measured."""
    unmeasured = names_of([study("my-copy")])
    for expression in (
        "counts[threads=32].blocks / (counts[threads=64].blocks - counts[threads=32].blocks)",
        "times[threads=64].took / times[threads=32].took",
        "record.toolchain.nvrtc",
        "machine.ecc",
    ):
        assert value(expression, unmeasured) is None


def test_a_static_table_needs_no_record() -> None:
    """What was counted in machine code is there without any measurement."""
    static = names_of([study(static=(replace(SIZES, kind="static", launches=0),))])
    assert value("sizes[threads=32].left", static) == "49,152 bytes"


def test_the_first_measurement_speaks() -> None:
    """Live stands before recorded: the names are those of the study's first measurement."""
    other = replace(RECORD, machine=replace(MACHINE, name="Other GPU"))
    assert value("machine.name", names_of([study("my-copy", RECORD, other)])) == "Test GPU"


def test_a_table_of_two_experiments_needs_its_experiment() -> None:
    """A name that two experiments use is nobody's; behind its experiment it is one."""
    both = names_of([study("my-copy", RECORD), study("other", RECORD)])
    message, hint = fault("counts[threads=32].blocks", both)
    assert message == "several experiments have a table 'counts'"
    assert hint == "write my_copy.counts[…] or other.counts[…]"
    assert value("other.counts[threads=32].blocks", both) == "4,096"


def test_without_experiments_there_is_no_name() -> None:
    """An entry of prose alone has nothing to inject."""
    assert fault("machine.name", names_of([])) == (
        "'machine' is no name here",
        "the names here are: none",
    )


def test_reports_of_two_experiments_are_kept_apart_by_table() -> None:
    """Two experiments reported for one machine have their tables side by side."""
    second = replace(REPORTED, tables=(replace(SIZES, columns=(), rows=({"threads": 32},)),))
    names = names_of([study("my-copy", RECORD), study("other", RECORD, reported=(second,))])
    assert value("reported.tesla_t4.counts[threads=32].blocks", names) == "7"
    assert value("reported.tesla_t4.sizes[threads=32].threads", names) == "32"


# ── filters ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("number", "significant", "printed"),
    [
        (0, 3, "0.00"), (1, 3, "1.00"), (12.3456, 3, "12.3"), (1234.5, 3, "1,230"),
        (1234567, 7, "1,234,567"), (123456789, 3, "123,000,000"), (0.0012345, 3, "0.00123"),
        (0.999, 2, "1.0"), (-1234.5, 2, "-1,200"), (1.5e-9, 2, "1.5e-09"), (99.96, 3, "100"),
    ],
)  # fmt: skip
def test_significant_digits(number: float, significant: int, printed: str) -> None:
    """So many digits, no more and no fewer, with separators and without an exponent."""
    assert digits(number, significant) == printed


@pytest.mark.parametrize(
    ("share", "decimals", "printed"),
    [(0.034, 1, "3.4 %"), (0, 0, "0 %"), (1, 1, "100.0 %"), (12.5, 0, "1,250 %")],
)
def test_percentages(share: float, decimals: int, printed: str) -> None:
    """A share of one as a percentage."""
    assert percent(share, decimals) == printed
