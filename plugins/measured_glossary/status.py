"""What each entry is and what it still needs, as a table for people and as JSON for programs.

Comes in: a `Glossary`. Goes out: text. Must not decide anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from measured_glossary.pipeline import Glossary, Judged
from measured_glossary.problem import to_json


def as_text(glossary: Glossary) -> str:
    """Give a table of entries: verdict, what keeps each back, the next command."""
    width = max((len(entry.id) for entry in glossary.entries), default=0)
    lines = [line for entry in glossary.entries for line in _rows(entry, width)]
    if not lines:
        return "no entries yet: glossary new TERM"
    return "\n".join([*lines, "", *_advice(glossary), *footer(glossary)])


def _advice(glossary: Glossary) -> Iterator[str]:
    if any(entry.verdict.reasons for entry in glossary.entries):
        yield "glossary check ENTRY says of each problem what to type"


def as_json(glossary: Glossary) -> str:
    """Give the same for programs."""
    data = {
        "project": glossary.registry.project,
        "registry": {"sha256": glossary.registry.sha256, "pinned": glossary.registry.pinned},
        "entries": [_entry_data(entry) for entry in glossary.entries],
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def footer(glossary: Glossary) -> Iterator[str]:
    """Say how many entries there are of each verdict, and whether the registry is pinned."""
    states = [entry.verdict.state for entry in glossary.entries]
    counted = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    entries = "entry" if len(states) == 1 else "entries"
    yield f"{len(states)} {entries}: {counted}" if states else "no entries"
    if not glossary.registry.people:
        yield "nobody is registered yet: glossary people add ID --name NAME --key FILE.pub"
    if not glossary.registry.pinned:
        yield f"registry not pinned (SHA-256 {glossary.registry.sha256[:16]}…)"


def summary(glossary: Glossary) -> Iterator[str]:
    """Say what each unpublished entry needs, a line for each problem, then the footer."""
    for entry in glossary.entries:
        if entry.verdict.state != "published":
            yield from _summed_up(entry)
    yield from footer(glossary)


def _summed_up(entry: Judged) -> Iterator[str]:
    number = len(entry.verdict.reasons)
    lines = needs(entry)
    problems, rest = lines[:number], "; ".join(lines[number:])
    if not problems:
        yield f"{entry.id}: {entry.verdict.state}; {rest}"
        return
    counted = f"{number} problem{'s' if number > 1 else ''}"
    yield f"{entry.id}: {entry.verdict.state}, {counted}; to mend: glossary check {entry.id}"
    yield from (f"    {line}" for line in (*problems, rest) if line)


def needs(entry: Judged) -> tuple[str, ...]:
    """Give what keeps an entry back: problems, signatures of earlier bytes, missing ones."""
    reasons = (f"{p.place}: {p.code}: {p.message}" for p in entry.verdict.reasons)
    earlier = entry.signoff.outdated if entry.signoff else ()
    return (
        *reasons,
        *(f"no longer counts: {old}" for old in earlier),
        *(f"missing: {what}" for what in entry.verdict.missing),
    )


def _rows(entry: Judged, width: int) -> Iterator[str]:
    first, *more = needs(entry) or (_settled(entry),)
    yield f"{entry.id:<{width}}  {entry.verdict.state:<9}  {first}"
    for line in more:
        yield f"{'':<{width}}  {'':<9}  {line}"


def _settled(entry: Judged) -> str:
    """Say why nothing is needed: a published entry has all, a retracted one wants none."""
    retraction = entry.signoff.retraction if entry.signoff else None
    if entry.verdict.state == "retracted" and retraction:
        said = retraction.statement
        return f"by {said.person} on {said.date}: {said.reason}"
    return "signed by both, claims held" if entry.uses_claims else "signed by both"


def _entry_data(entry: Judged) -> dict[str, object]:
    return {
        "id": entry.id,
        "term": entry.entry.front.term if entry.entry else None,
        "verdict": entry.verdict.state,
        "manifest": entry.signoff.manifest if entry.signoff else None,
        "missing": list(entry.verdict.missing),
        "problems": to_json(entry.verdict.reasons),
    }
