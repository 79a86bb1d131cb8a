"""Commands that look at signatures and change nothing: doctor, verify, audit, manifest.

Comes in: parsed arguments, the environment, the clock. Goes out: text and an exit status. Must not
decide anything itself, nor write into the project.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from measured_glossary import pipeline
from measured_glossary.audit import audit
from measured_glossary.expectation import expectation
from measured_glossary.pipeline import Glossary, Judged
from measured_glossary.problem import Checked, Place, Problem, Refused, render, to_json
from measured_glossary.progress import Progress
from measured_glossary.source import read, read_bytes
from measured_glossary.trust.folder import ENTRIES
from measured_glossary.trust.identity import (
    Available,
    identities,
    key_in_file,
    keys_in_agent,
    keys_in_folder,
)
from measured_glossary.trust.registry import (
    PEOPLE_FILE,
    Key,
    Person,
    Registry,
    judging,
    read_registry,
    rollbacks,
)
from measured_glossary.trust.registry_git import dropped_retractions, registry_of
from measured_glossary.trust.signed import Signed
from measured_glossary.trust.signing import agent_keys, find_tool, second_opinion, self_test
from measured_glossary.trust.signoff import Evidence, Signoff
from measured_glossary.trust.statement import manifest_of, namespace, subjects

SOON_DAYS = 60
THEMES = ("material", "mkdocs", "zensical")


def today() -> datetime.date:
    """Give the day by which everybody signs and verifies, wherever they are."""
    return datetime.datetime.now(datetime.UTC).date()


def build(arguments: argparse.Namespace) -> Glossary:
    """Judge the project's entries, by the registry the arguments name."""
    root: Path = arguments.root
    progress = Progress(sys.stderr)
    settings = pipeline.settings_for(root, "recorded", os.environ, progress, today=today())
    ref = getattr(arguments, "registry_from", "")
    if ref:
        source = registry_of(root, ref)
        if source.value is None:
            raise Refused(source.problems)
        settings = replace(settings, registry=source.value, registry_ref=ref)
    return pipeline.build(root, settings, today())


def entry_of(glossary: Glossary, entry_id: str) -> Judged:
    """Give an entry by its id."""
    for entry in glossary.entries:
        if entry.id == entry_id:
            return entry
    known = ", ".join(entry.id for entry in glossary.entries) or "none yet"
    raise Refused([_problem("no-entry", f"there is no entry {entry_id!r}", f"there are: {known}")])


def whose_registry(registry: Registry) -> str:
    """Say in a line which registry judged."""
    where = f"of {registry.ref}" if registry.ref else "of the working tree"
    pinned = "pinned" if registry.pinned else "registry not pinned"
    return f"judged by the registry {where}, {pinned} (SHA-256 {registry.sha256[:16]}…)"


def ssh_keygen(arguments: argparse.Namespace) -> Path:
    """Give the tool that signs: the one named, or the system's."""
    named: Path | None = getattr(arguments, "ssh_keygen", None)
    tool = named.absolute() if named else find_tool()
    if tool is None or not tool.is_file():
        raise Refused([_problem("second-verifier", "there is no ssh-keygen here", _INSTALL)])
    return tool


_INSTALL = "install OpenSSH 8.2 or newer, or name one: --ssh-keygen FILE"


def keys_at_hand(arguments: argparse.Namespace) -> tuple[Available, ...]:
    """Give the keys somebody can sign with here: the one named, or the agent's and `~/.ssh`'s."""
    named: Path | None = getattr(arguments, "key", None)
    if named:
        return key_in_file(named)
    add = find_tool("ssh-add")
    held = keys_in_agent(agent_keys(add, os.environ)) if add else ()
    return (*keys_in_folder(Path.home() / ".ssh"), *held)


def _problem(code: str, message: str, hint: str = "", file: str = ENTRIES) -> Problem:
    return Problem(place=Place(file), code=code, message=message, hint=hint)


# ── verify ───────────────────────────────────────────────────────────────────────────────────


def run_verify(arguments: argparse.Namespace) -> int:
    """Verify signatures and tell who signed what; with an id, only a published entry is good."""
    glossary = build(arguments)
    wanted = [entry_of(glossary, arguments.entry)] if arguments.entry else glossary.entries
    tool = _second_verifier(arguments)
    problems = list(_tree_problems(arguments, glossary))
    if tool:
        problems += [p for entry in wanted for p in _second_opinions(tool, entry)]
    if arguments.json:
        print(json.dumps(_verify_data(glossary, wanted, problems), indent=2, ensure_ascii=False))
    else:
        print("\n".join(_verify_lines(glossary, wanted, problems)))
        print(f"second verifier: {tool}" if tool else "verified in process only")
    states = {entry.verdict.state for entry in wanted}
    is_good = states <= {"published"} if arguments.entry else "refused" not in states
    return 0 if is_good and not problems else 1


def _second_verifier(arguments: argparse.Namespace) -> Path | None:
    """Give the second verifier, once it passed its self-test; nothing where none is asked for."""
    if not arguments.also_with:
        return None
    tool = ssh_keygen(arguments)
    if fault := self_test(tool):
        raise Refused([fault.at(Place(tool.as_posix()))])
    return tool


def _second_opinions(tool: Path, entry: Judged) -> Iterator[Problem]:
    """Ask the second verifier about every signature that ours accepted."""
    for signed in all_signed(entry.signoff) if entry.signoff else ():
        files = entry.draft.folder.signatures if entry.draft.folder else {}
        name = signed.file.rpartition("/")[2]
        fault = second_opinion(
            tool,
            signed.key.public,
            namespace=namespace(signed.statement.said),
            message=files[name],
            armored=files[f"{name}.sig"],
        )
        if fault:
            yield fault.at(Place(f"{signed.file}.sig"))


def all_signed(signoff: Signoff) -> tuple[Signed, ...]:
    """Give every statement with a good signature, over whatever bytes."""
    now = (*signoff.authors, *signoff.reviews, *signoff.checks)
    retraction = (signoff.retraction,) if signoff.retraction else ()
    found = {s.file: s for s in (*now, *retraction, *(o.signed for o in signoff.outdated))}
    return tuple(found[file] for file in sorted(found))


def _tree_problems(arguments: argparse.Namespace, glossary: Glossary) -> tuple[Problem, ...]:
    """Compare the tree with the revision whose registry judged: nothing settled is taken back."""
    if not glossary.registry.ref:
        return ()
    dropped = dropped_retractions(arguments.root, glossary.registry.ref)
    source = read(arguments.root, PEOPLE_FILE)
    if source.value is None:
        return (*dropped, *source.problems)
    read_here = read_registry(source.value)
    if read_here.value is None:
        return (*dropped, *read_here.problems)
    return (*dropped, *rollbacks(glossary.registry, read_here.value))


def _verify_lines(
    glossary: Glossary, told: Iterable[Judged], problems: list[Problem]
) -> Iterator[str]:
    for one in told:
        yield from entry_lines(one)
    if problems:
        yield render(problems, "text")
    yield whose_registry(glossary.registry)


def entry_lines(entry: Judged) -> Iterator[str]:
    """Tell an entry's verdict, who signed what, and what is missing or wrong."""
    yield f"{entry.id}: {entry.verdict.state}"
    if entry.signoff:
        yield f"  manifest {entry.signoff.manifest}"
        outdated = {one.signed.file for one in entry.signoff.outdated}
        for signed in all_signed(entry.signoff):
            yield f"  {_signed_line(signed)}{', outdated' if signed.file in outdated else ''}"
        for one in entry.signoff.outdated:
            yield f"  since {one}"
    yield from (f"  {problem}" for problem in entry.verdict.reasons)
    yield from (f"  missing: {missing}" for missing in entry.verdict.missing)


def _signed_line(signed: Signed) -> str:
    said = signed.statement
    scope = f", looked at {', '.join(said.scope)}" if said.scope else ""
    who = f"{signed.person.name} ({signed.person.id})"
    return f"{said.said} by {who} on {signed.on}{scope}, {signed.key.public.fingerprint}"


def _verify_data(
    glossary: Glossary, told: Iterable[Judged], problems: list[Problem]
) -> dict[str, object]:
    registry = glossary.registry
    return {
        "project": registry.project,
        "registry": {"sha256": registry.sha256, "pinned": registry.pinned, "ref": registry.ref},
        "entries": [_entry_data(one) for one in told],
        "problems": to_json(problems),
    }


def _entry_data(entry: Judged) -> dict[str, object]:
    signed = all_signed(entry.signoff) if entry.signoff else ()
    return {
        "id": entry.id,
        "verdict": entry.verdict.state,
        "manifest": entry.signoff.manifest if entry.signoff else None,
        "signed": [
            {
                "kind": one.statement.said,
                "person": one.person.id,
                "name": one.person.name,
                "date": one.statement.date.isoformat(),
                "first_signed": one.on.isoformat(),
                "scope": list(one.statement.scope),
                "key": one.key.public.fingerprint,
                "manifest": one.statement.manifest,
                "file": one.file,
            }
            for one in signed
        ],
        "missing": list(entry.verdict.missing),
        "problems": to_json(entry.verdict.reasons),
    }


# ── audit ────────────────────────────────────────────────────────────────────────────────────


def run_audit(arguments: argparse.Namespace) -> int:
    """Audit a built tree; only a tree that passed may be deployed."""
    glossary = build(arguments)
    themes = [*_theme_folders(), *arguments.also_known]
    jobs, progress = glossary.memo.jobs, Progress(sys.stderr)
    expected = expectation(glossary, themes)
    problems = audit(arguments.site, expected, jobs=jobs, progress=progress)
    if problems:
        print(render(problems, arguments.format))
        print(f"{len(problems)} problems: do not deploy {arguments.site}", file=sys.stderr)
        return 1
    published = len(glossary.published())
    print(f"{arguments.site}: {published} published, nothing of the others; it may be deployed")
    print(whose_registry(glossary.registry))
    return 0


def _theme_folders() -> Iterator[Path]:
    """Give the folders whose texts stand in every site that MkDocs, Material or Zensical build."""
    for name in THEMES:
        try:
            yield Path(str(resources.files(name)))
        except ModuleNotFoundError:
            continue


# ── manifest ─────────────────────────────────────────────────────────────────────────────────


def run_manifest(arguments: argparse.Namespace) -> int:
    """Print what is signed of an entry: the digests that `sha256sum -c` reads, and their digest."""
    glossary = build(arguments)
    signed = subjects(evidence_of(glossary, entry_of(glossary, arguments.entry)).subjects)
    if arguments.json:
        listed = [{"name": s.name, "sha256": s.sha256} for s in signed]
        print(json.dumps({"manifest": manifest_of(signed), "subjects": listed}, indent=2))
        return 0
    print("\n".join(f"{subject.sha256}  {subject.name}" for subject in signed))
    print(f"manifest {manifest_of(signed)}", file=sys.stderr)
    return 0


def evidence_of(glossary: Glossary, entry: Judged) -> Evidence:
    """Give what is signed of an entry; refused where an experiment's files are not known."""
    if entry.entry is None:
        raise Refused(entry.verdict.reasons)
    names = entry.entry.front.experiments
    used = [glossary.studies[name] for name in names if name in glossary.studies]
    broken = [study for study in used if not study.files]
    if broken or len(used) != len(names):
        raise Refused(entry.verdict.reasons)
    return pipeline.signing_evidence(entry.draft, used)


# ── doctor ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the doctor's: what was looked at, whether it works, what to do."""

    what: str
    is_good: bool
    told: str
    hint: str = ""

    def __str__(self) -> str:
        """Print as a line, and the hint on one of its own."""
        first = f"{'ok  ' if self.is_good else 'FIX '} {self.what:<12} {self.told}"
        return f"{first}\n     {'':<12} {self.hint}" if self.hint and not self.is_good else first


def run_doctor(arguments: argparse.Namespace) -> int:
    """Say whether one can sign here: tool, agent, keys, registry, line ends."""
    findings = list(_findings(arguments))
    print("\n".join(map(str, findings)))
    return 0 if all(finding.is_good for finding in findings) else 1


def _findings(arguments: argparse.Namespace) -> Iterator[Finding]:
    yield _tool_finding(arguments)
    available = keys_at_hand(arguments)
    yield Finding(
        what="keys",
        is_good=bool(available),
        told=", ".join(f"{k.public.type} ({k.found_in})" for k in available) or "none at hand",
        hint="ssh-keygen -t ed25519 makes one; ssh-add loads it into the agent",
    )
    registry = _registry(arguments)
    if registry.value is None:
        told = "; ".join(str(problem) for problem in registry.problems)
        yield Finding(what="registry", is_good=False, told=told, hint="glossary people lint")
    else:
        yield Finding(what="registry", is_good=True, told=whose_registry(registry.value))
        yield from _people_findings(registry.value, available)
    yield _line_end_finding(arguments.root)
    yield Finding(what="clock", is_good=True, told=f"today is {today()} (UTC)")


def _tool_finding(arguments: argparse.Namespace) -> Finding:
    try:
        tool = ssh_keygen(arguments)
    except Refused:
        return Finding(what="ssh-keygen", is_good=False, told="not found", hint=_INSTALL)
    if fault := self_test(tool):
        return Finding(what="ssh-keygen", is_good=False, told=fault.message, hint=fault.hint)
    return Finding(what="ssh-keygen", is_good=True, told=f"{tool}, answers as it should")


def _registry(arguments: argparse.Namespace) -> Checked[Registry]:
    source = read(arguments.root, PEOPLE_FILE)
    if source.value is None:
        return Checked(value=None, problems=source.problems)
    return judging(source.value, pin=os.environ.get(pipeline.PIN, "").strip())


def _people_findings(registry: Registry, available: tuple[Available, ...]) -> Iterator[Finding]:
    mine = identities(registry, available, today())
    told = ", ".join(f"{i.person.id} with {i.available.found_in}" for i in mine)
    yield Finding(
        what="you",
        is_good=bool(mine),
        told=told or "no key at hand is live in the registry",
        hint="glossary people add, in a change of its own that others approve",
    )
    for person in registry.people:
        for key in person.keys:
            if told := _ends_soon(person, key):
                yield Finding(what="key", is_good=False, told=told, hint=_ROTATE)


_ROTATE = "add the person's next key to the registry; then they type: glossary rotate"


def _ends_soon(person: Person, key: Key) -> str:
    if key.not_after is None or key.revoked:
        return ""
    days = (key.not_after - today()).days
    others = [k for k in person.live_keys(today()) if k is not key and k.not_after != key.not_after]
    is_last = 0 <= days <= SOON_DAYS and not others
    return f"{person.id}'s last key ends in {days} days, on {key.not_after}" if is_last else ""


def _line_end_finding(root: Path) -> Finding:
    raw = read_bytes(root, ".gitattributes").value or b""  # of git's own encoding: any
    lines = {b" ".join(line.split()).decode("utf-8", "replace") for line in raw.splitlines()}
    return Finding(
        what="line ends",
        is_good="* -text" in lines,
        told=".gitattributes keeps bytes as they are" if "* -text" in lines else "may be changed",
        hint="write '* -text' into .gitattributes: signatures are over raw bytes",
    )
