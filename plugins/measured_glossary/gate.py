"""The verdict on an entry: published, draft, outdated, refused or retracted, with its reasons.

Comes in: the faults found, the studies of the entry's experiments and the sign-off. Goes out: a
`Verdict`. Must not read anything itself, and must not know how a page looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

from measured_glossary.entry import PENDING, Entry, Measured
from measured_glossary.lab.study import ClaimResult, Measurement, Study
from measured_glossary.problem import Place, Problem, meant
from measured_glossary.source import LF_HINT, Loc
from measured_glossary.trust.registry import Registry
from measured_glossary.trust.signoff import Signoff

State = Literal["published", "draft", "outdated", "refused", "retracted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What becomes of an entry.

    `reasons` are the problems that keep it back, `missing` the signatures it still needs, in
    words. A published entry has neither.
    """

    state: State
    reasons: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()


def decide(entry: Entry, faults: Sequence[Problem], studies: Sequence[Study],
           signoff: Signoff) -> Verdict:  # fmt: skip
    """Decide on an entry whose text could be parsed.

    Evidence that is wrong, misplaced or malformed refuses the entry whatever else holds. An entry
    that both people signed and that has any fault is refused too: a page that was published must
    not vanish in silence. Anything else that is missing or wrong keeps it a draft.
    """
    found = (*faults, *evidence_faults(entry, studies), *_unknown_people(entry, signoff.registry))
    reasons = tuple(sorted(set(found)))
    if signoff.problems:
        return Verdict(state="refused", reasons=(*signoff.problems, *reasons))
    if signoff.retraction:
        return Verdict(state="retracted")
    if not signoff.missing:
        return Verdict(state="refused" if reasons else "published", reasons=reasons)
    state: State = "outdated" if signoff.outdated else "draft"
    return Verdict(state=state, reasons=reasons, missing=signoff.missing)


def _unknown_people(entry: Entry, registry: Registry) -> Iterator[Problem]:
    """Say who is named in the byline and is nobody in the registry: mostly a mistyped id."""
    byline = entry.front.byline
    named = [("written_by", byline.written_by), ("reviewed_by", byline.reviewed_by or PENDING)]
    places: list[tuple[Loc, str]] = [(("byline", key), person) for key, person in named]
    places += [(("byline", "also_by", index), each) for index, each in enumerate(byline.also_by)]
    for loc, person in places:
        if person != PENDING and registry.person(person) is None:
            known = sorted(person.id for person in registry.people)
            add = f"glossary people add {person} --name NAME --key FILE.pub"
            yield Problem(
                place=entry.located.place(loc),
                code="unknown-person",
                message=f"{person!r} is nobody in the registry",
                hint=meant(person, known, add),
            )


def days_to_come(entry: Entry, today: date) -> Iterator[Problem]:
    """Say which sources were read on a day that has begun nowhere on earth yet."""
    for index, source in enumerate(entry.front.sources):
        if source.accessed > today + timedelta(days=1):
            yield Problem(
                place=entry.located.place(("sources", index, "accessed")),
                code="day-to-come",
                message=f"{source.accessed}, on which the source was read, is still to come",
                hint="write the day on which it was read",
            )


def unreadable(problems: Sequence[Problem]) -> Verdict:
    """Give the verdict on an entry that could not be parsed: nobody can have signed it."""
    return Verdict(state="refused", reasons=tuple(sorted(set(problems))))


def evidence_faults(page: Measured, studies: Sequence[Study]) -> list[Problem]:
    """Say which claims of the page are not backed by what was measured, and why."""
    found = [_told(problem, study, page) for study in studies for problem in study.problems]
    found += [fault for study in studies for fault in _line_end_faults(study)]
    for name, place in _claims(page):
        owners = [study for study in studies if name in claim_names(study)]
        if len(owners) == 1:
            found += _claim_faults(page, name.rpartition(".")[2], owners[0], place)
        elif owners or not any(map(is_broken, studies)):
            found.append(_unknown_claim(name, place, owners or studies))
    return found


def _claims(page: Measured) -> list[tuple[str, Place]]:
    """Give the claims that a page names, and where."""
    if not page.front.claims:
        return []  # as most pages do, and their places are made when asked for
    located = page.located
    return [(name, located.place(("claims", n))) for n, name in enumerate(page.front.claims)]


def _line_end_faults(study: Study) -> Iterator[Problem]:
    """Say which files of an experiment have the line ends of Windows, before anybody signs them."""
    for source in study.files.values():
        if "\r" in source.text:
            place = source.at(source.text.index("\r"))
            message = "the line ends with CR LF; signatures are over LF"
            yield Problem(place=place, code="crlf-line-ends", message=message, hint=LF_HINT)


def _told(problem: Problem, study: Study, page: Measured) -> Problem:
    """Say of an experiment that is not there who asks for it: mostly the name is mistyped."""
    if problem.code != "missing-file" or problem.place.file != f"code/{study.id}/experiment.py":
        return problem
    instead = problem.hint or "glossary new TERM writes one to start from"
    return replace(problem, hint=f"{_cited(study, page)} names it; {instead}")


def is_broken(study: Study) -> bool:
    """Say whether an experiment could not be read: nobody knows what it declares."""
    return not study.files


def claim_names(study: Study) -> tuple[str, ...]:
    """Give the names by which an entry may cite a study's claims: plain, or behind its id."""
    plain = [claim.name for claim in study.declared_claims]
    return (*plain, *(f"{study.id}.{name}" for name in plain))


def results(study: Study, claim: str) -> tuple[tuple[str, ClaimResult], ...]:
    """Give what became of a claim, and where: in machine code, or else on each machine."""
    of_code = [("machine code", result) for result in study.claims if result.name == claim]
    on_machines = (
        (measured.record.machine.name, result)
        for measured in study.measurements
        for result in measured.claims
        if result.name == claim
    )
    return tuple(of_code) or tuple(on_machines)


def _unknown_claim(name: str, place: Place, studies: Sequence[Study]) -> Problem:
    """Say that no claim has this name, or that several experiments' claims have it."""
    known = sorted(f"{s.id}.{claim.name}" for s in studies for claim in s.declared_claims)
    same = [claim for claim in known if claim.endswith(f".{name}")]
    there = f"the claims are: {', '.join(same or known) or 'none'}"
    names = [each for study in studies for each in claim_names(study)]
    what = "several experiments make" if same else "no experiment of this page makes"
    return Problem(
        place=place,
        code="unknown-claim",
        message=f"{what} the claim {name!r}",
        hint=there if same else meant(name, names, there),
    )


def _claim_faults(page: Measured, name: str, study: Study, place: Place) -> list[Problem]:
    """Judge one claim on every machine: it must hold on one record at least and fail on none.

    A machine that could not check it takes nothing away from one that could: a card without
    compute-sanitizer says nothing of a race. A stale record backs nothing and hides nothing.
    """
    if of_code := [claim for claim in study.claims if claim.name == name]:
        # What does not compile or count has its own problem: nothing is to be done to the claim.
        told = [c for c in of_code if _is_refuted(c) or not (held(c) or study.problems)]
        return [_not_held(study, None, claim, name, place) for claim in told]
    fresh = [measured for measured in study.measurements if measured.freshness != "stale"]
    if not study.measurements:
        # Where a record is there and cannot be read, or the experiment fails, that is the reason.
        return [] if study.problems else [_missing_record(study, page)]
    if not fresh:
        return [_stale(study, measured, page) for measured in study.measurements]
    results = [(m, next((c for c in m.claims if c.name == name), None)) for m in fresh]
    is_backed = any(held(result) for _, result in results)
    counts_against = _is_refuted if is_backed else _is_not_held
    return [_not_held(study, m, r, name, place) for m, r in results if counts_against(r)]


_INSTALL = "pip install 'mkdocs-measured-glossary[compile]' lets any machine check machine code"


def held(result: ClaimResult | None) -> bool:
    """Say whether a claim was checked and holds."""
    return result is not None and result.state == "held"


def _is_not_held(result: ClaimResult | None) -> bool:
    return not held(result)


def _is_refuted(result: ClaimResult | None) -> bool:
    return result is not None and result.state == "refuted"


def _missing_record(study: Study, page: Measured) -> Problem:
    return Problem(
        place=_cited(study, page),
        code="no-measurement",
        message=f"{study.id} was measured neither by this build nor earlier",
        hint=f"on a machine with a GPU: glossary measure {study.id}",
    )


def _stale(study: Study, measured: Measurement, page: Measured) -> Problem:
    return Problem(
        place=_cited(study, page),
        code="stale-record",
        message=(
            f"{study.id} was recorded on {measured.record.machine.name} from other code: "
            f"{', '.join(measured.changed)} changed since"
        ),
        hint=f"on that kind of machine: glossary measure {study.id}",
    )


def _cited(study: Study, page: Measured) -> Place:
    """Give the place where an entry names an experiment: its claims share one fault there."""
    return page.located.place(("experiments", page.front.experiments.index(study.id)))


def _not_held(
    study: Study, measured: Measurement | None, result: ClaimResult | None, name: str, place: Place
) -> Problem:
    on = f"{measured.origin} on {measured.record.machine.name}" if measured else "machine code"
    if result is not None and _is_refuted(result):
        return Problem(
            place=place,
            code="refuted-claim",
            message=f"“{result.text}” is refuted ({on}): {result.detail}",
            hint=f"the claim stands at {result.place}; change it, or find out why it fails",
        )
    why = result.detail if result else "the experiment did not answer"
    return Problem(
        place=place,
        code="unchecked-claim",
        message=f"{study.id}.{name} was not checked ({on}): {why}",
        hint=_INSTALL if study.notes else "",
    )
