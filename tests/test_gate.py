"""The gate: which faults and signatures make which verdict, and what backs a claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from measured_glossary import gate
from measured_glossary.entry import Entry, parse
from measured_glossary.lab.record import Machine, Record
from measured_glossary.lab.study import ClaimResult, DeclaredClaim, Measurement, Study
from measured_glossary.problem import Place, Problem
from measured_glossary.source import Source
from measured_glossary.trust.signoff import Signoff
from site_world import ENTRY, MACHINE, Site, new_site

WARP = "glossary/warp/entry.md"
FAULT = Problem(place=Place(WARP, 1, 1), code="bad-expression", message="a fault", hint="mend it")
CODE = "code/copy/experiment.py"


def entry(claims: str = "holds", experiments: str = "copy") -> Entry:
    """An entry that rests on claims."""
    lists = f"experiments: [{experiments}]\nclaims: [{claims}]\nbyline:"
    text = ENTRY.replace("byline:", lists)
    parsed = parse("warp", Source(WARP, text.encode(), text)).value
    assert parsed
    return parsed


# ── evidence ─────────────────────────────────────────────────────────────────────────────────


def result(state: Any, name: str = "holds") -> ClaimResult:
    """What checking a claim gave."""
    detail = {"held": "", "refuted": "it was 7", "not checked here": "there is no table"}[state]
    place = Place(CODE, 12)
    return ClaimResult(name=name, text="It holds.", state=state, detail=detail, place=place)


def measurement(state: Any, machine: Machine = MACHINE, **changes: Any) -> Measurement:
    """A record on which the claim was checked."""
    record = Record(
        experiment="copy", machine=machine, captured="2026-11-19T12:00:00Z", inputs={},
        toolchain={}, options=(), seed=14, tables=(),
    )  # fmt: skip
    plain = Measurement(
        record=record, origin="recorded", freshness="fresh", changed=(), claims=(result(state),)
    )
    return replace(plain, **changes)


def study(*measurements: Measurement, **changes: Any) -> Study:
    """An experiment that makes the claim `holds`."""
    file = Source(CODE, b"", "")
    declared = DeclaredClaim(name="holds", text="It holds.", tables=("rows",), place=Place(CODE, 9))
    plain = Study(
        id="copy", title="Copying", inputs={CODE: file.sha256}, files={CODE: file},
        declared_claims=(declared,), declared_tables=(), measurements=measurements, reported=(),
        static=(), claims=(), notes=(), problems=(),
    )  # fmt: skip
    return replace(plain, **changes)


STALE: dict[str, Any] = {"freshness": "stale", "changed": ("code/copy/copy.cu",)}
OTHER = Machine(name="Test GPU 2", compute_capability="8.0")

BACKED = {
    "held on a fresh record": study(measurement("held")),
    "held on a foreign record": study(measurement("held", freshness="foreign")),
    "held live, with a stale record beside": study(
        measurement("held", origin="live"), measurement("refuted", OTHER, **STALE)
    ),
    "held in machine code, without a record": study(claims=(result("held"),)),
    "held in machine code, with a stale record": study(
        measurement("not checked here", **STALE), claims=(result("held"),)
    ),
}


@pytest.mark.parametrize("name", sorted(BACKED))
def test_a_claim_is_backed(name: str) -> None:
    """A claim that holds wherever it was checked on this code keeps nothing back."""
    assert gate.evidence_faults(entry(), [BACKED[name]]) == []


UNBACKED = {
    "never measured": (study(), ["no-measurement"]),
    "stale only": (study(measurement("held", **STALE)), ["stale-record"]),
    "two stale records": (
        study(measurement("held", **STALE), measurement("held", OTHER, **STALE)),
        ["stale-record", "stale-record"],
    ),
    "refuted": (study(measurement("refuted")), ["refuted-claim"]),
    "held here, refuted there": (
        study(measurement("held"), measurement("refuted", OTHER)),
        ["refuted-claim"],
    ),
    "held live, refuted in the record": (
        study(measurement("held", origin="live"), measurement("refuted", freshness="foreign")),
        ["refuted-claim"],
    ),
    "not checked": (study(measurement("not checked here")), ["unchecked-claim"]),
    "not among the results": (study(measurement("held", claims=())), ["unchecked-claim"]),
    "refuted in machine code": (
        study(measurement("held"), claims=(result("refuted"),)),
        ["refuted-claim"],
    ),
    "no compiler here": (study(claims=(result("not checked here"),)), ["unchecked-claim"]),
    "another fault": (study(measurement("held"), problems=(FAULT,)), ["bad-expression"]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(UNBACKED))
def test_a_claim_is_not_backed(name: str) -> None:
    """What is missing, old, refuted or unchecked keeps an entry back, and is never silent."""
    evidence, codes = UNBACKED[name]
    faults = gate.evidence_faults(entry(), [evidence])
    assert [fault.code for fault in faults] == codes
    assert all(fault.place.file == WARP for fault in faults)


def test_a_refutation_says_where_and_what() -> None:
    """The claim as printed, the machine, what was found, and where the claim stands."""
    (fault,) = gate.evidence_faults(entry(), [study(measurement("refuted"))])
    assert fault.message == "“It holds.” is refuted (recorded on Test GPU): it was 7"
    assert fault.hint.startswith(f"the claim stands at {CODE}:12; ")


def test_several_claims_share_a_missing_record() -> None:
    """That an experiment was never measured is said once, and not of each claim."""
    two = (*study().declared_claims, replace(study().declared_claims[0], name="also"))
    faults = gate.evidence_faults(entry("holds, also"), [study(declared_claims=two)])
    assert len(set(faults)) == 1


def test_a_compiler_is_suggested_where_one_is_missing() -> None:
    """The hint to install one stands only where that is the reason."""
    unchecked = study(claims=(result("not checked here"),))
    (without,) = gate.evidence_faults(entry(), [replace(unchecked, notes=("no compiler",))])
    (failed,) = gate.evidence_faults(entry(), [unchecked])
    assert without.hint.startswith("pip install")
    assert failed.hint == ""


# ── names of claims ──────────────────────────────────────────────────────────────────────────


def test_an_unknown_claim_lists_the_known() -> None:
    """A mistyped name is answered with the names there are."""
    (fault,) = gate.evidence_faults(entry("hold"), [study(measurement("held"))])
    assert (fault.code, fault.hint) == ("unknown-claim", "the claims are: copy.holds")


def test_a_claim_may_name_its_experiment() -> None:
    """`experiment.claim` is the claim of that experiment."""
    assert gate.evidence_faults(entry("copy.holds"), [study(measurement("held"))]) == []


def test_a_shared_name_needs_its_experiment() -> None:
    """Where two experiments make claims of one name, neither is taken for the other."""
    both = [study(measurement("held")), study(measurement("refuted"), id="move")]
    (fault,) = gate.evidence_faults(entry("holds", "copy, move"), both)
    assert fault.code == "unknown-claim"
    assert fault.hint == "the claims are: copy.holds, move.holds"
    assert gate.evidence_faults(entry("copy.holds", "copy, move"), both) == []


def test_a_broken_experiment_is_told_once() -> None:
    """What an experiment that cannot be read claims is unknown, and not a fault of the entry."""
    missing = Problem(place=Place(CODE), code="missing-file", message="there is no such file")
    broken = study(files={}, declared_claims=(), problems=(missing,))
    (fault,) = gate.evidence_faults(entry(), [broken])
    assert (fault.code, fault.place.file) == ("missing-file", CODE)
    assert fault.hint.startswith(f"{WARP}:7:15 names it")


# ── verdicts ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def signoff(tmp_path: Path, lab_cache: Path) -> Callable[..., Signoff]:
    """Give the sign-off of an entry after some steps."""

    def after(*steps: Callable[[Site], Any]) -> Signoff:
        site = new_site(tmp_path / "site", lab_cache, {WARP: ENTRY})
        for step in steps:
            step(site)
        judged = site.build().entries[0].signoff
        assert judged
        return judged

    return after


def sign(site: Site) -> None:
    """Both people sign."""
    site.publish("warp")


def edit(site: Site) -> None:
    """Somebody changes a character."""
    site.replace(WARP, "cut into", "made of")


def forge(site: Site) -> None:
    """Somebody writes a signature by hand."""
    site.write("glossary/warp/signatures/review.test-reviewer.json.sig", "x\n")


def retract(site: Site) -> None:
    """The author takes the entry back."""
    site.sign("warp", said="retract", by="author", reason="It was wrong.")


VERDICTS = {
    "nobody signed": ((), (), "draft"),
    "nobody signed, and a fault": ((), (FAULT,), "draft"),
    "both signed": ((sign,), (), "published"),
    "both signed, and a fault": ((sign,), (FAULT,), "refused"),
    "signed, then edited": ((sign, edit), (), "outdated"),
    "signed, then edited, and a fault": ((sign, edit), (FAULT,), "outdated"),
    "a false signature": ((sign, forge), (), "refused"),
    "a false signature on a draft": ((forge,), (), "refused"),
    "retracted": ((sign, retract), (), "retracted"),
    "retracted, and a fault": ((sign, retract), (FAULT,), "retracted"),
    "retracted, and a false signature": ((sign, retract, forge), (), "refused"),
}


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_a_verdict(name: str, signoff: Callable[..., Signoff]) -> None:
    """A signed page never vanishes in silence, an unsigned one is never more than a draft."""
    steps, faults, state = VERDICTS[name]
    verdict = gate.decide(entry("", ""), faults, (), signoff(*steps))
    assert verdict.state == state
    if state == "published":
        assert (verdict.reasons, verdict.missing) == ((), ())
    if state in ("draft", "outdated"):
        assert verdict.missing != ()
        assert verdict.reasons == faults
    if state == "refused":
        assert verdict.reasons != ()


def test_reasons_are_sorted_and_told_once(signoff: Callable[..., Signoff]) -> None:
    """Several checks may find one fault; it is one reason, and reasons follow the file."""
    later = replace(FAULT, place=Place(WARP, 3, 1))
    verdict = gate.decide(entry("", ""), (later, FAULT, later), (), signoff())
    assert verdict.reasons == (FAULT, later)


def test_an_unreadable_entry_is_refused() -> None:
    """Nobody can have signed what cannot be read."""
    assert gate.unreadable((FAULT, FAULT)) == gate.Verdict(state="refused", reasons=(FAULT,))
