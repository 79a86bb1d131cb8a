"""What the diagram must say where hardware has settled it, against the committed records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from measured_glossary.lab.record import read_record
from measured_glossary.lab.table import Inconclusive, Racy, Row, Rows
from measured_glossary.source import read

ROOT = Path(__file__).resolve().parents[2]
CASES = json.loads((Path(__file__).parent / "expectations.json").read_text(encoding="utf-8"))[
    "cases"
]
THREADS = {"no-barrier": 256, "block-32-hides-it": 32}

Case = dict[str, Any]


def tables(experiment: str) -> Iterator[dict[str, Rows]]:
    """The tables of each machine's record."""
    for path in sorted((ROOT / "measurements" / experiment).glob("*.json")):
        source = read(ROOT, path.relative_to(ROOT).as_posix())
        assert source.value is not None
        record = read_record(source.value)
        assert record.value is not None, record.problems
        yield {table.name: Rows(table) for table in record.value.tables}


def said(row: Row) -> dict[str, str]:
    """A tool's verdict in the diagram's words; nothing where the tool came to none."""
    try:
        graded = "error" if row.errors > 0 else "warning"
    except Inconclusive:
        return {}
    return {row.tool: graded if row.verdict == "findings" else row.verdict}


def share(count: Racy) -> str:
    """Wrong elements in the diagram's words: in no launch, or in every one."""
    return "none" if count == 0 else "some" if count > 0 else "now and then"


def settled(case: Case) -> Iterator[dict[str, Any]]:
    """What each record says of a case, by the fields of the expectations."""
    choices = case["choices"]
    if choices["preset"] in THREADS:
        barrier = "in_place" if choices.get("barriers", [False])[0] else "removed"
        yield from reversed_tile(THREADS[choices["preset"]], barrier)
    elif choices["preset"] == "early-return":
        yield from early_return()
    else:
        yield from arms((16, 48) if choices.get("variant") == "inside-a-warp" else (32, 64))


def reversed_tile(threads: int, barrier: str) -> Iterator[dict[str, Any]]:
    """Day 14's kernels: a launch that gave its counts had returned."""
    for found in tables("day14-syncthreads"):
        wrong = found["mismatches"](threads_per_block=threads)[barrier]
        watched = found["racecheck"](threads_per_block=threads, barrier=barrier)
        yield {"outcome": "returned", "wrong": share(wrong), **said(watched)}


def early_return() -> Iterator[dict[str, Any]]:
    """Day 14's early return, and what synccheck says of the form."""
    for found in tables("day14-syncthreads"):
        row = found["early_return"](staying=96)
        yield {"outcome": row.outcome, "arrived": row.arrived}
    for found in tables("divergent-barrier"):
        row = found["launches"](form="early return", let_in=96)
        watched = found["synccheck"](form="early return", let_in=96)
        yield {"outcome": row.outcome, "arrived": row.arrived, **said(watched)}


def arms(let_in: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """A barrier in each arm, by where the condition cuts."""
    for found in tables("divergent-barrier"):
        for number in let_in:
            row = found["launches"](form="if and else", let_in=number)
            watched = found["synccheck"](form="if and else", let_in=number)
            yield {"outcome": row.outcome, **said(watched)}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["measured"]], ids=lambda c: c["name"]
)
def test_what_is_measured_agrees_with_the_records(case: Case) -> None:
    """Each field that hardware has settled is what every record says of that case."""
    found = list(settled(case))
    for field in case["measured"]:
        values = [facts[field] for facts in found if field in facts]
        assert values, f"no record says what {field} is"
        assert set(values) == {case["expect"][field]}
