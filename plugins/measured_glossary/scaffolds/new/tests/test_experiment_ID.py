"""$escaped: each claim of its experiment is refuted by the figure that it forbids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from measured_glossary.lab.rehearsal import Rows, claims, doctored, refuted

EXPERIMENT = Path(__file__).resolve().parents[1] / "code" / "$id"

# Rows as the probes would give them, on which every claim holds.
GOOD: Rows = {
    "doubling": [
        {"threads_per_block": 32, "launches": 20, "wrong": 0},
        {"threads_per_block": 256, "launches": 20, "wrong": 0},
    ],
    "arithmetic": [{"architecture": "sm_90", "multiplications": 1}],
}
# Table, row, a figure that is not what it should be, and the claims that fall with it.
WRONG: list[tuple[str, int, dict[str, Any], set[str]]] = [
    ("doubling", 0, {"wrong": 1}, {"every_element_is_doubled"}),
    ("arithmetic", 0, {"multiplications": 2}, {"one_multiplication"}),
]


def test_every_claim_holds_on_good_rows() -> None:
    """Rows as they should be refute nothing."""
    assert refuted(EXPERIMENT, GOOD) == set()


@pytest.mark.parametrize(("table", "row", "cells", "fall"), WRONG)
def test_a_wrong_figure_refutes_what_rests_on_it(
    table: str, row: int, cells: dict[str, Any], fall: set[str]
) -> None:
    """One figure is doctored; the claims that forbid it are refuted, and no other."""
    assert refuted(EXPERIMENT, doctored(GOOD, table, row, **cells)) == fall


def test_each_claim_can_fall() -> None:
    """A claim that no figure refutes would say nothing."""
    assert set().union(*(fall for *_, fall in WRONG)) == claims(EXPERIMENT)
