"""What claims and expressions see: rows selected by key, cells that compare by their kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured_glossary.lab.table import (
    MIN_TIMES,
    AmbiguousTimes,
    Bytes,
    Cell,
    Column,
    Outcome,
    Racy,
    RacyComparison,
    Rows,
    Table,
    TableError,
    Times,
    faults,
    from_data,
    plain,
    shown,
    to_data,
    wrapped,
)

THREADS = Column(name="threads", label="Threads", kind="exact")
WRONG = Column(name="wrong", label="Wrong elements", kind="racy", of=100)
TABLE = Table(
    name="mismatches",
    kind="runtime",
    key=(THREADS,),
    columns=(WRONG,),
    launches=3,
    rows=(
        {"threads": 32, "wrong": (0, 0, 0)},
        {"threads": 64, "wrong": (0, 5, 7)},
        {"threads": 128, "wrong": (8, 9, 10)},
    ),
)
ROWS = Rows(TABLE)


def times(*samples: float) -> Times:
    """Times in milliseconds."""
    return Times(samples, "ms")


# ── selecting ────────────────────────────────────────────────────────────────────────────────


def test_a_key_selects_one_row() -> None:
    """Calling rows with a key gives its row, and a column is an attribute of it."""
    assert ROWS(threads=32).threads == 32
    assert ROWS(threads=64)["wrong"].samples == (0, 5, 7)


def test_rows_are_gone_through_in_order() -> None:
    """Rows can be counted and gone through."""
    assert [row.threads for row in ROWS] == [32, 64, 128]
    assert len(ROWS) == 3


def test_where_selects_by_key_and_by_predicate() -> None:
    """`where` gives rows again."""
    assert [row.threads for row in ROWS.where(lambda row: row.threads > 32)] == [64, 128]
    assert len(ROWS.where(threads=32)) == 1


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (
            lambda: ROWS(threads=33),
            "mismatches has no row with threads=33; threads is one of 32, 64, 128",
        ),
        (
            lambda: ROWS(),
            "mismatches has 3 rows, not one; say also threads, one of 32, 64, 128",
        ),
        (lambda: ROWS(block=32), "mismatches has no key 'block'; its keys are threads"),
        (
            lambda: ROWS(threads=32).removed,
            "mismatches has no column 'removed'; its columns are threads, wrong",
        ),
        (
            lambda: ROWS.where(lambda row: False),
            "mismatches has no row with that; "
            "its rows are (threads=32), (threads=64), (threads=128)",
        ),
        (
            lambda: ROWS.where(threads=33),
            "mismatches has no row with threads=33; threads is one of 32, 64, 128",
        ),
    ],
)
def test_a_wrong_selection_lists_what_is_there(select: Callable[[], object], message: str) -> None:
    """An unknown row, key or column is an error that names the known ones."""
    with pytest.raises(TableError) as caught:
        select()
    assert caught.value.args == (message,)


CODE = Rows(
    Table(
        name="loads",
        kind="static",
        key=tuple(Column(name=n, label=n, kind="exact") for n in ("architecture", "kernel")),
        columns=(Column(name="wide", label="Wide", kind="exact"),),
        rows=tuple(
            {"architecture": f"sm_{number}", "kernel": kernel, "wide": number}
            for number in range(75, 88)
            for kernel in ("copy_loose", "copy_aligned")
        ),
    )
)


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (
            lambda: CODE(architecture="sm_75", kernel="copy_losse"),
            "loads has no row with architecture='sm_75', kernel='copy_losse'; "
            "did you mean 'copy_loose'?",
        ),
        (lambda: CODE(kernal="copy_loose"), "loads has no key 'kernal'; did you mean 'kernel'?"),
        (
            lambda: CODE(architecture="sm_75", kernel="copy_loose").wider,
            "loads has no column 'wider'; did you mean 'wide'?",
        ),
        (
            lambda: CODE(kernel="copy_loose"),
            "loads has 13 rows, not one, with kernel='copy_loose'; say also architecture, "
            "one of 'sm_75', 'sm_76', 'sm_77', 'sm_78', 'sm_79' and 8 more",
        ),
        (
            lambda: CODE(architecture=90, kernel="copy_loose"),
            "loads has no row with architecture=90, kernel='copy_loose'; architecture is "
            "one of 'sm_75', 'sm_76', 'sm_77', 'sm_78', 'sm_79' and 8 more",
        ),
        (
            lambda: CODE.where(lambda row: row.wide == 0, kernel="copy_loose"),
            "loads has no row with kernel='copy_loose'; its rows are "
            + ", ".join(
                f"(architecture='sm_{n}', kernel='{k}')"
                for n, k in [(75, "copy_loose"), (75, "copy_aligned"), (76, "copy_loose"),
                             (76, "copy_aligned"), (77, "copy_loose")]
            )
            + " and 21 more",
        ),
    ],
)  # fmt: skip
def test_a_wrong_selection_of_many_rows_is_told_briefly(
    select: Callable[[], object], message: str
) -> None:
    """The name that is meant, the key that is left open or the value that never occurs is told."""
    with pytest.raises(TableError) as caught:
        select()
    assert caught.value.args == (message,)


def test_a_row_is_printed_as_its_selection() -> None:
    """What a refuted claim prints of a row can be typed to get it."""
    assert repr(ROWS(threads=64)) == "mismatches(threads=64)"


def test_a_row_has_no_private_columns() -> None:
    """Names with an underscore are no columns, so that sandboxes and copying work."""
    assert not hasattr(ROWS(threads=32), "__html__")


# ── racy counts ──────────────────────────────────────────────────────────────────────────────


def test_a_racy_count_is_zero_if_every_launch_is() -> None:
    """`== 0` and `!= 0` are each other's opposite."""
    always, sometimes = Racy((0, 0)), Racy((0, 4))
    assert [always == 0, always != 0] == [True, False]
    assert [sometimes == 0, sometimes != 0] == [False, True]


def test_racy_counts_are_ordered_over_every_pair() -> None:
    """`<` and `>` hold only where they hold for each pair of launches."""
    low, middle, high = Racy((1, 5)), Racy((5, 9)), Racy((10, 12))
    assert middle < high
    assert high > middle
    assert low <= middle
    assert not low < middle
    assert middle >= 5
    assert not middle > 5
    assert not low > high
    assert low < 5.5


@pytest.mark.parametrize(
    "compare",
    [
        lambda racy: racy == 5,
        lambda racy: racy != 5,
        lambda racy: racy == Racy((0, 4)),
        lambda racy: racy == 0.0,
        lambda racy: racy == False,  # noqa: E712
        lambda racy: racy in [3, 4],
        lambda racy: bool(racy),
        lambda racy: racy < True,
        lambda racy: racy < "5",
        lambda racy: racy > float("nan"),
        lambda racy: times(1.0, 2.0) == 1.5,
        lambda racy: bool(times(1.0)),
        lambda racy: times(1.0) < Times((2.0,), "µs"),
    ],
)
def test_a_comparison_that_chance_decides_is_refused(compare: Callable[[Racy], object]) -> None:
    """Equality with a number, truth, and comparison with what is no number raise."""
    with pytest.raises(RacyComparison):
        compare(Racy((0, 4)))


def test_a_refused_comparison_says_what_to_write() -> None:
    """The message names the comparisons that mean something."""
    with pytest.raises(RacyComparison, match=r"equality with '17,312' .* write '== 0', '!= 0'"):
        _ = Racy((0, 4)) == 17312


def test_a_racy_count_has_its_distribution() -> None:
    """Extremes, quartiles, and the launches that went wrong."""
    racy = Racy((0, 0, 4, 8))
    assert (racy.min, racy.q1, racy.median, racy.q3, racy.max) == (0, 0, 2, 5, 8)
    assert (racy.launches, racy.wrong_launches, racy.rate_of_launches) == (4, 2, 0.5)
    assert racy.bound is None


@pytest.mark.parametrize(
    ("launches", "bound", "text"),
    [
        (1, 0.95, "0 wrong in 1 launch (95 %: at most 95 % of launches)"),
        (20, 0.1391, "0 wrong in 20 launches (95 %: at most 14 % of launches)"),
        (100, 0.0295, "0 wrong in 100 launches (95 %: at most 3 % of launches)"),
        (1000, 0.00299, "0 wrong in 1,000 launches (95 %: at most 0.3 % of launches)"),
    ],
)
def test_a_zero_is_a_bound(launches: int, bound: float, text: str) -> None:
    """A zero prints with the rate that it cannot exclude, rounded up."""
    racy = Racy((0,) * launches)
    assert racy.bound == pytest.approx(bound, rel=0.01)
    assert str(racy) == text


@given(st.integers(1, 100_000))
def test_a_printed_bound_is_never_too_low(launches: int) -> None:
    """Rounding keeps "at most" true, and adds at most a tenth."""
    racy = Racy((0,) * launches)
    printed = float(str(racy).partition("at most ")[2].partition(" %")[0]) / 100
    assert racy.bound is not None
    assert racy.bound * (1 - 1e-9) <= printed <= racy.bound * 1.101


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        ((7, 7), "7 in each of 2 launches"),
        ((1000, 2001), "1,000 to 2,001 (median 1,500) in 2 launches"),
        ((0, 0, 9), "0 to 9 (median 0) in 3 launches, not zero in 1 of them"),
    ],
)
def test_a_racy_count_prints_as_a_range(samples: tuple[int, ...], text: str) -> None:
    """A count that is not always zero prints as a range over launches, not as one number."""
    assert str(Racy(samples)) == text


# ── times and the others ─────────────────────────────────────────────────────────────────────


def test_times_compare_by_their_intervals() -> None:
    """Order holds, and a ratio is given, only where the quartiles do not overlap."""
    fast, slow = times(1.0, 1.1, 1.2), times(2.0, 2.2, 2.4)
    assert fast < slow
    assert slow > fast
    assert slow / fast == pytest.approx(2.0)
    assert slow > 1.5


def test_overlapping_times_have_no_ratio() -> None:
    """A ratio of times that overlap is ambiguous, which refutes a claim that needs it."""
    first, second = times(1.0, 2.0, 3.0), times(2.0, 3.0, 4.0)
    assert not first < second
    with pytest.raises(AmbiguousTimes, match="overlap"):
        _ = first / second
    assert issubclass(AmbiguousTimes, AssertionError)


def test_times_print_with_unit_and_quartiles() -> None:
    """A time is never printed as one number."""
    assert str(times(1.0, 2.0, 3.0)) == "2 ms (1.5 to 2.5, n = 3)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (17312, "17,312"),
        (True, "yes"),
        (False, "no"),
        (None, "–"),
        (0.63456, "0.6346"),
        (1234.5, "1,234"),
        ("sm_90", "sm_90"),
        (Bytes(49152), "49,152 bytes"),
        (Bytes(1), "1 byte"),
        (Outcome("hung"), "hung"),
        (Racy((7,)), "7 in each of 1 launch"),
    ],
)
def test_values_print_as_on_a_page(value: object, text: str) -> None:
    """One function prints every value."""
    assert shown(value) == text


def test_cells_are_wrapped_by_their_kind() -> None:
    """A column's kind decides what a claim sees."""

    def cell(kind: Any, value: Cell) -> Any:
        return wrapped(Column(name="c", label="C", kind=kind, unit="ms"), value)

    assert cell("exact", 5) == 5
    assert cell("racy", (1, 2)).max == 2
    assert cell("time", (1.0, 2.0)).unit == "ms"
    assert cell("outcome", "hung") == "hung"
    assert cell("bytes", 1024) == 1024
    assert cell("outcome", None) is None


# ── rows against columns ─────────────────────────────────────────────────────────────────────

ALL = Table(
    name="all",
    kind="outcome",
    launches=2,
    key=(Column(name="k", label="K", kind="exact"),),
    columns=(
        Column(name="outcome", label="Outcome", kind="outcome"),
        Column(name="r", label="R", kind="racy"),
        Column(name="t", label="T", kind="time", unit="ms"),
        Column(name="b", label="B", kind="bytes"),
    ),
)
LONG = "expected a whole number of at most 64 bits"
GOOD: dict[str, Cell] = {
    "k": "first",
    "outcome": "returned",
    "r": (1, 2),
    "t": (1.5,) * MIN_TIMES,
    "b": 4,
}


def test_good_rows_have_no_faults() -> None:
    """Rows that fit, and rows that are empty since their case did not return, are accepted."""
    hung: dict[str, Cell] = {"k": "second", "outcome": "hung", "r": None, "t": None, "b": None}
    assert faults(replace(ALL, rows=(GOOD, hung))) == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "row 1 has an undeclared column 'extra'"),
        ({10**5000: 1}, "row 1 has an undeclared column a whole number of 16,610 bits"),
        ({"r": (1,)}, "row 1, column 'r': found 1 samples, expected 2 counts, one a launch"),
        ({"r": (1, -2)}, "row 1, column 'r': found 2 samples, expected 2 counts, one a launch"),
        ({"r": (1, 2.5)}, "row 1, column 'r': found 2 samples, expected 2 counts, one a launch"),
        ({"r": 7}, "row 1, column 'r': found 7, expected 2 counts, one a launch"),
        ({"r": None}, "row 1, column 'r': found None, expected 2 counts, one a launch"),
        ({"t": (1.0,)}, "row 1, column 't': found 1 samples, expected at least 20 samples, as"),
        ({"b": 1.5}, "row 1, column 'b': found 1.5, expected a whole number of bytes"),
        ({"b": True}, "row 1, column 'b': found True, expected a whole number of bytes"),
        ({"k": ["a"]}, "row 1, column 'k': found ['a'], expected a number or a text"),
        ({"outcome": "crashed (exit 3)"}, "row 1, column 'outcome': found 'crashed (exit 3)', ex"),
        ({"outcome": "hangs"}, "row 1, column 'outcome': found 'hangs', expected returned, hung"),
        ({"outcome": None}, "row 1, column 'outcome': found None, expected returned, hung"),
        ({"k": float("nan")}, "row 1, column 'k': found nan, expected a finite number"),
        ({"k": 10**5000}, f"row 1, column 'k': found a whole number of 16,610 bits, {LONG}"),
        ({"k": 1 << 64}, f"row 1, column 'k': found a whole number of 65 bits, {LONG}"),
        ({"k": -(1 << 63) - 1}, f"row 1, column 'k': found a whole number of 64 bits, {LONG}"),
        ({"k": [10**5000]}, "row 1, column 'k': found a list that cannot be printed, expected a n"),
        ({"r": (1, 10**5000)}, f"row 1, column 'r': found 2 samples, {LONG}"),
        ({"t": (10**5000,) * 20}, f"row 1, column 't': found 20 samples, {LONG}"),
        ({"b": 10**5000}, f"row 1, column 'b': found a whole number of 16,610 bits, {LONG}"),
    ],
)
def test_a_cell_that_does_not_fit_is_a_fault(change: dict[str, Any], message: str) -> None:
    """Each fault names row and column, what was found and what was expected."""
    (fault,) = faults(replace(ALL, rows=({**GOOD, **change},)))
    assert fault.message.startswith(message)


def test_a_missing_column_is_a_fault() -> None:
    """A row must give every column."""
    row = {name: cell for name, cell in GOOD.items() if name != "b"}
    (fault,) = faults(replace(ALL, rows=(row,)))
    assert fault.message == "row 1 lacks the column 'b'"


def test_a_key_that_stands_twice_is_a_fault() -> None:
    """Two rows with one key could never be selected."""
    (fault,) = faults(replace(ALL, rows=(GOOD, GOOD)))
    assert fault.message == "row 2 repeats the key k='first'"


@pytest.mark.parametrize("cell", [{"t": (float("inf"),) * 20}, {"k": float("nan")}])
def test_what_is_no_number_is_told_apart(cell: dict[str, Any]) -> None:
    """NaN and infinities are a fault of their own kind."""
    assert [f.not_a_number for f in faults(replace(ALL, rows=({**GOOD, **cell},)))] == [True]


@pytest.mark.parametrize("number", [(1 << 64) - 1, -(1 << 63)])
def test_what_64_bits_hold_is_a_number(number: int) -> None:
    """A hash or a mask of 64 bits is data, and so is the least number with a sign."""
    count = abs(number)
    table = replace(ALL, rows=({**GOOD, "k": number, "r": (count, 1), "b": count},))
    assert not faults(from_data(json.loads(json.dumps(to_data(table)))))


@pytest.mark.parametrize("outcome", ["returned", "crashed (SIGSEGV)", "cuda error cudaErrorX"])
def test_outcomes_are_a_closed_set(outcome: str) -> None:
    """The known outcomes are accepted."""
    assert not faults(replace(ALL, rows=({**GOOD, "outcome": outcome},)))


def test_arrays_become_plain_data() -> None:
    """What NumPy and CuPy hand over is taken by its `tolist`, without importing either."""

    class Array:
        def tolist(self) -> list[int]:
            return [1, 2]

    assert plain(Array()) == plain([1, 2]) == (1, 2)
    assert plain(5) == 5


# ── as JSON ──────────────────────────────────────────────────────────────────────────────────

cells = st.fixed_dictionaries(
    {
        "k": st.integers() | st.text('ab é☃"\\0\n') | st.booleans() | st.floats(allow_nan=False),
        "outcome": st.just("returned"),
        "r": st.lists(st.integers(0, 10**18 - 1), min_size=1).map(tuple),
        "t": st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1).map(tuple),
        "b": st.integers(0) | st.none(),
    }
)


@given(st.lists(cells).map(tuple))
def test_a_table_reads_back_as_it_was_written(rows: tuple[dict[str, Any], ...]) -> None:
    """A table survives JSON, each sample included."""
    table = replace(ALL, rows=rows)
    assert from_data(json.loads(json.dumps(to_data(table)))) == table


def test_samples_are_one_line_of_text() -> None:
    """A thousand samples stay readable in a record, and small."""
    assert to_data(TABLE)["rows"][1] == {"threads": 64, "wrong": "0 5 7"}


@pytest.mark.parametrize("text", ["", "1  2", "1,2", "0x1", "-1", "1 2 ", "nan", "9" * 30])
def test_samples_that_cannot_be_read_are_faults(text: str) -> None:
    """A damaged text of samples stays what it is, and is refused."""
    data = to_data(TABLE)
    data["rows"][0]["wrong"] = text
    assert faults(from_data(data))
