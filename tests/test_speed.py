"""The page on speed says what was measured, and nothing that was not."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from statistics import median_low
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def report() -> ModuleType:
    """Give the program that writes the page; `benchmarks/` is no package."""
    spec = importlib.util.spec_from_file_location(
        "benchmark_report", ROOT / "benchmarks" / "report.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where a dataclass looks for its module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results() -> dict[str, Any]:
    """Give the committed results."""
    found = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.fixture
def live() -> dict[str, Any]:
    """Give the committed results of measuring live."""
    found = json.loads((ROOT / "benchmarks" / "live.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def row(name: str, size: int, kind: str, wall_s: float, turn: int = 0) -> dict[str, Any]:
    """Give a row of results."""
    cost = {"wall_s": wall_s, "cpu_s": wall_s, "largest_mb": 90.0, "sum_mb": 100.0}
    return {"row": "build", "name": name, "size": size, "kind": kind, "round": turn, **cost}


def aim(report: ModuleType, results: dict[str, Any], what: str) -> tuple[str, ...]:
    """Give the line of one aim."""
    measured = report.Measured(results, {"adds_s": 2.0})
    (found,) = (each for each in report.aims(measured) if each.what == what)
    line: tuple[str, ...] = found.line()
    return line


def test_the_page_is_what_the_results_say(
    report: ModuleType, results: dict[str, Any], live: dict[str, Any]
) -> None:
    """Page and results are committed together: `python benchmarks/report.py` writes the page."""
    assert (ROOT / "docs" / "speed.md").read_text(encoding="utf-8") == report.page(results, live)


def test_a_ratio_is_taken_round_by_round(report: ModuleType, results: dict[str, Any]) -> None:
    """A round in which the machine was busy slows both, and tells nothing of either."""
    rows = [row("ours", 1000, "cold", 4.0), row("material", 1000, "cold", 10.0)]
    rows += [row("ours", 1000, "cold", 40.0, 1), row("material", 1000, "cold", 100.0, 1)]
    told = aim(report, {**results, "rows": rows}, "cold / Material with areas in the nav, 1,000")
    assert told[1:] == ("≤ 0.45", "0.40", "yes")


def test_an_aim_that_is_missed_is_said_to_be(report: ModuleType, results: dict[str, Any]) -> None:
    """A figure above its bound is marked, and one that is not there is no success."""
    rows = [row("ours", 1000, "cold", 9.0), row("ours", 5000, "cold", 90.0)]
    given = {**results, "rows": rows}
    growth = aim(report, given, "growth from 1,000 to 5,000, cold: exponent")
    assert growth[2:] == ("1.43", "**no**")
    pairs = [(1000, 10.0), (5000, 40.0), (1000, 20.0), (5000, 100.0), (1000, 1.0), (5000, 6.0)]
    in_turn = [{**row("ours", size, "cold", wall_s), "row": "growth"} for size, wall_s in pairs]
    paired = aim(report, {**given, "rows": rows + in_turn}, growth[0])
    assert paired[2:] == ("1.00", "yes")
    nothing = aim(report, given, "cold / Zensical cold, 1,000")
    assert nothing[2:] == ("not measured", "–")


def test_live_measuring_has_its_bound(report: ModuleType, results: dict[str, Any]) -> None:
    """What starting processes adds is told beside its aim."""
    told = aim(report, results, "live measuring, beyond what is timed and the longest hang")
    assert told[1:] == ("≤ 1.5 s", "2.00 s", "**no**")


def test_the_committed_live_results_are_of_whole_measurements(live: dict[str, Any]) -> None:
    """Nothing failed, and the parts make up the whole."""
    assert live["problems"] == []
    assert live["experiments"] == len(list((ROOT / "code").glob("*/experiment.py")))
    parts = ("recorded_s", "alone_s", "longest_hang_s", "adds_s")
    assert sum(live[part] for part in parts) == pytest.approx(live["live_s"])
    adds = live["all_adds_s"]
    assert len(adds) >= 3
    assert live["adds_s"] == median_low(adds)


def test_what_was_measured_once_is_named(
    report: ModuleType, results: dict[str, Any], live: dict[str, Any]
) -> None:
    """Where a size was built in one round only, no reader takes its figure for a median."""
    rows = [row("ours", 1000, "cold", 4.0, turn) for turn in range(3)]
    for once, said in (
        ([row("ours", 5000, "cold", 20.0)], "3 rounds (one of 5,000 entries) in"),
        ([], "3 rounds in"),
    ):
        sizes = [1000, *(each["size"] for each in once)]
        given = {**results, "rounds": 3, "sizes": sizes, "rows": [*rows, *once]}
        assert f", {said} which" in report.page(given, live)


def test_what_stands_in_the_way_of_an_aim_is_said(
    report: ModuleType, results: dict[str, Any], live: dict[str, Any]
) -> None:
    """In seconds beside the aim’s own, from the same results; without them nothing is said."""
    rows = [row("hugo", 5000, "cold", 20.0), row("ours", 5000, "one edit", 5.0)]
    rows += [row("one page", 1000, "cold", 0.9)]
    given = {**results, "rows": rows, "verify": {**results["verify"], "ours_per_s": 4000.0}}
    said = " ".join(report.page(given, live).split())
    assert "busy for 2.5 s, where 0.08 of Hugo’s build are 1.6 s; an edit takes 5.0 s" in said
    assert "which has nothing to verify, takes 0.9 s." in said
    assert "keep one core busy" not in report.page({**given, "rows": rows[1:]}, live)


def test_what_was_not_run_is_named(
    report: ModuleType, results: dict[str, Any], live: dict[str, Any]
) -> None:
    """A reader sees which sizes and generators the figures leave open."""
    given = {**results, "not_run": ["hugo is not installed (apt-get install hugo)"], "rows": []}
    page = report.page(given, live)
    assert "- hugo is not installed (apt-get install hugo)\n" in page
    assert "*Not measured.*" in page


def test_the_machine_is_a_class_and_no_name(results: dict[str, Any]) -> None:
    """Results say what kind of machine it was, and nothing that tells which."""
    assert results["machine"].keys() == {"processor", "cores", "memory_gib", "system", "files"}
    text = json.dumps(results)
    assert not re.search(r"/(?:home|root|tmp|Users)/|@", text)
