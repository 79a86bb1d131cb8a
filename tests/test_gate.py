"""Which claims back an entry: held on one fresh record at least, and refuted on none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from measured_glossary.gate import evidence_faults
from measured_glossary.lab.study import Freshness, Measurement
from measured_glossary.lab.study import State as ClaimState
from measured_glossary.source import Source
from test_page import MACHINE, entry, measurement, study

CLAIMED = entry("A body.")


def seen(state: ClaimState, freshness: Freshness = "fresh", name: str = "A GPU") -> Measurement:
    """A record on which the entry's one claim stands so."""
    machine = replace(MACHINE, name=name)
    changed = ("code/toy/toy.cu",) if freshness == "stale" else ()
    return measurement(state=state, freshness=freshness, machine=machine, changed=changed)


def faults(*measurements: Measurement) -> list[str]:
    """The codes of what keeps the entry back."""
    return [problem.code for problem in evidence_faults(CLAIMED, [study(*measurements)])]


def test_a_claim_held_on_one_machine_is_not_lost_on_one_that_could_not_check_it() -> None:
    """A card without the tool takes nothing away, whichever record comes first."""
    held, unchecked = seen("held"), seen("not checked here", "foreign", "Another GPU")
    assert faults(held, unchecked) == []
    assert faults(unchecked, held) == []


def test_a_claim_refuted_anywhere_is_refuted() -> None:
    """One machine that contradicts a claim keeps the entry back, however many agree with it."""
    held, refuted = seen("held"), seen("refuted", "foreign", "Another GPU")
    (problem,) = evidence_faults(CLAIMED, [study(held, held, refuted)])
    assert problem.code == "refuted-claim"
    assert "Another GPU" in problem.message


def test_a_claim_that_nobody_checked_is_not_held() -> None:
    """Where every record is inconclusive each says so, and the entry is kept back."""
    unchecked = seen("not checked here")
    assert faults(unchecked, unchecked) == ["unchecked-claim", "unchecked-claim"]


def test_a_machine_that_could_not_check_does_not_hide_one_that_refutes() -> None:
    """Unchecked and refuted are both told, as long as nothing holds the claim."""
    both = faults(seen("not checked here"), seen("refuted"))
    assert sorted(both) == ["refuted-claim", "unchecked-claim"]


@pytest.mark.parametrize("state", ["held", "refuted"])
def test_a_stale_record_backs_nothing(state: ClaimState) -> None:
    """What held or failed on other code does not count beside a fresh record, nor alone."""
    assert faults(seen(state, "stale")) == ["stale-record"]
    assert faults(seen(state, "stale"), seen("not checked here")) == ["unchecked-claim"]
    assert faults(seen(state, "stale"), seen("held")) == []


def test_line_ends_of_windows_in_code_are_told_before_anybody_signs() -> None:
    """Each file of the experiment is looked at, at its first such line; the hint loses no work."""
    held = study(seen("held"))
    raw = b"int a;\nint b;\r\nint c;\r\n"
    files = {**held.files, "code/toy/toy.cu": Source("code/toy/toy.cu", raw, raw.decode())}
    (problem,) = evidence_faults(CLAIMED, [replace(held, files=files)])
    assert (str(problem.place), problem.code) == ("code/toy/toy.cu:2:7", "crlf-line-ends")
    assert "reset" not in problem.hint
