"""Outcomes and sanitizers on a device: what hangs there, and what the tools say."""

from __future__ import annotations

from pathlib import Path

import pytest

from measured_glossary.lab import sanitizer
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import study
from measured_glossary.lab.study import Measurement
from measured_glossary.lab.table import Rows

ROOT = Path(__file__).resolve().parents[2]
LAUNCHES = 20
EXPERIMENTS = ("divergent-barrier", "data-race")

# A library's warnings on somebody's machine are no fault of ours.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measurement]:
    """The experiments, measured here; few launches where launches count."""
    settings = Settings(measure="live", launches=LAUNCHES, cache=tmp_path_factory.mktemp("cache"))
    found = {name: study(ROOT, name, settings) for name in EXPERIMENTS}
    assert {name: made.problems for name, made in found.items() if made.problems} == {}
    return {name: made.measurements[0] for name, made in found.items()}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_claim_is_refuted_on_this_machine(name: str, live: dict[str, Measurement]) -> None:
    """Each claim holds here, or says that the tool it rests on came to no verdict."""
    states = {claim.name: (claim.state, claim.detail) for claim in live[name].claims}
    assert {claim: state for claim, state in states.items() if state[0] == "refuted"} == {}
    unchecked = [detail for state, detail in states.values() if state != "held"]
    assert all("inconclusive" in detail for detail in unchecked)


def test_a_hung_case_leaves_the_others_alone(live: dict[str, Measurement]) -> None:
    """Every case has an outcome of its own, though some were killed beside it."""
    tables = {table.name: Rows(table) for table in live["divergent-barrier"].record.tables}
    outcomes = [row.outcome for row in tables["launches"]]
    assert outcomes.count("hung") >= 1
    assert outcomes.count("returned") >= 1


@pytest.mark.skipif(sanitizer.find() is None, reason="compute-sanitizer is not installed")
def test_what_racecheck_finds_is_in_the_kernel_s_own_lines(live: dict[str, Measurement]) -> None:
    """Each finding names its kernel and lines of the project's file, and no other path."""
    findings = live["data-race"].record.findings
    assert findings
    for finding in findings:
        assert finding.kernel in ("no_barrier", "one_barrier")
        assert all(line.startswith("code/data-race/data_race.cu:") for line in finding.lines)
        assert len(finding.lines) == 2
