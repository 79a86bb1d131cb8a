"""Commands that sign: sign, review, check --sign, retract, rotate, request-review; and people.

Comes in: parsed arguments, the environment, the clock, a human's answers. Goes out: statements,
text and an exit status. Must not decide anything itself, nor read a private key.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from measured_glossary import gate, scaffold
from measured_glossary.cli_verify import (
    build,
    entry_of,
    evidence_of,
    keys_at_hand,
    run_audit,
    run_doctor,
    run_manifest,
    run_verify,
    ssh_keygen,
    today,
    whose_registry,
)
from measured_glossary.lab.record import record_bytes
from measured_glossary.pipeline import Glossary, Judged
from measured_glossary.problem import Checked, Place, Problem, Refused, render
from measured_glossary.source import read, write
from measured_glossary.trust.acts import Desk, objections, perform, rotatable
from measured_glossary.trust.bundle import bundle, digest
from measured_glossary.trust.folder import ENTRIES
from measured_glossary.trust.identity import identify
from measured_glossary.trust.joining import Newcomer, add_person
from measured_glossary.trust.registry import EVERY_AREA, PEOPLE_FILE, read_registry, rollbacks
from measured_glossary.trust.registry_git import earlier_bytes, registry_of
from measured_glossary.trust.signed import Signed
from measured_glossary.trust.signoff import Outdated, Signoff
from measured_glossary.trust.statement import PARTS, Part, Statement, Subject, subjects

Command = Callable[[argparse.Namespace], int]
T = TypeVar("T")


# ── arguments ────────────────────────────────────────────────────────────────────────────────


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the commands of sign-off."""
    _add_looking(commands)
    _add_signing(commands)
    _add_people(commands)


def _add_looking(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    made = _command(commands, "doctor", run_doctor, "say whether you can sign here, and what to do")
    _key_options(made)
    made = _command(commands, "verify", run_verify, "verify who signed what")
    made.add_argument("entry", nargs="?", help="good only if this entry is published")
    made.add_argument("--also-with", choices=("ssh-keygen",), help="a second verifier must agree")
    made.add_argument("--ssh-keygen", type=Path, help="where that tool is")
    made.add_argument("--json", action="store_true", help="for programs")
    _registry_option(made)
    made = _command(commands, "manifest", run_manifest, "print what is signed, for sha256sum -c")
    made.add_argument("entry")
    made.add_argument("--json", action="store_true", help="for programs")
    made = _command(commands, "audit", run_audit, "audit a built site before it is deployed")
    made.add_argument("site", type=Path, help="the folder that would be deployed")
    made.add_argument(
        "--also-known",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="texts of another theme, which may occur whatever drafts say",
    )
    made.add_argument("--format", choices=("text", "github", "json"), default="text")
    _registry_option(made)


def _add_signing(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    made = _command(commands, "sign", run_sign, "sign an entry as its author")
    _signing_options(made)
    made = _command(commands, "review", run_review, "read an entry, part by part, and sign it")
    _signing_options(made)
    made.add_argument("--scope", help=f"what you looked at, of {','.join(PARTS)}")
    made.add_argument("--yes", action="store_true", help="ask nothing; needs --scope")
    made = _command(commands, "retract", run_retract, "take a published entry back, with a reason")
    _signing_options(made)
    made.add_argument("--reason", required=True, help="one sentence, shown in the page's place")
    made = _command(commands, "rotate", run_rotate, "sign unchanged content with your new key")
    _signing_options(made, many=True)
    _extend_check(commands)
    made = _command(
        commands, "request-review", run_request, "make a bundle for an outside reviewer"
    )
    made.add_argument("entry")
    made.add_argument("--of", default="", metavar="ID", help="the reviewer, once registered")
    made.add_argument("--scope", default=",".join(PARTS), help="what is asked; default: all")
    made.add_argument("--output", type=Path, help="a new file; default: review-ENTRY.zip")


def _extend_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Let `check ID --sign` put a name to what `check` found; alone it changes nothing."""
    made = commands.choices.get("check") or _command(
        commands, "check", _unsigned_check, "check entries"
    )
    if made.get_default("command") is _unsigned_check:
        made.add_argument("entry", nargs="*", help="the entries")
    unsigned: Command = made.get_default("command")
    made.add_argument(
        "--sign", action="store_true", help='sign that you checked: "last checked on"'
    )
    _who_options(made)

    def run(arguments: argparse.Namespace) -> int:
        return run_sign_check(arguments) if arguments.sign else unsigned(arguments)

    made.set_defaults(command=run)


def _unsigned_check(arguments: argparse.Namespace) -> int:
    return _misuse("check needs --sign here")


def _add_people(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    made = _command(commands, "people", run_lint, "the registry of people: add, lint")
    parts = made.add_subparsers(metavar="COMMAND", required=True)
    lint = _command(parts, "lint", run_lint, "check the registry, and what it takes back")
    lint.add_argument("--format", choices=("text", "github", "json"), default="text")
    _registry_option(lint)
    add = _command(parts, "add", run_add, "add a person to the registry")
    add.add_argument("id", help="small letters, digits and hyphens")
    add.add_argument("--name", required=True, help="as it is printed")
    add.add_argument("--key", required=True, type=Path, help="the .pub file of their key")
    add.add_argument("--may", default="author,review,check", help="default: %(default)s")
    add.add_argument("--areas", default=EVERY_AREA, help="separated by commas; default: all")
    add.add_argument("--kind", choices=("human", "machine"), default="human")
    add.add_argument("--vouched-by", default="", metavar="ID", help="who knows them")
    add.add_argument("--not-before", help="the key's first day; default: today")
    add.add_argument("--not-after", default="", help="the key's last day; default: none")


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    command: Command,
    summary: str,
) -> argparse.ArgumentParser:
    made = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
    )
    made.add_argument("--root", type=Path, default=Path(), help="the project; default: this folder")
    made.set_defaults(command=command)
    return made


def _signing_options(made: argparse.ArgumentParser, *, many: bool = False) -> None:
    if many:
        made.add_argument("entry", nargs="*", help="default: every entry")
    else:
        made.add_argument("entry")
    _who_options(made)
    _registry_option(made)


def _who_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("--as", dest="who", default="", metavar="ID", help="who signs")
    _key_options(made)


def _key_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("--key", type=Path, help="default: what the agent and ~/.ssh hold")
    made.add_argument("--ssh-keygen", type=Path, help="the tool that signs; default: the system's")


def _registry_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("--registry-from", default="", metavar="REF",
                      help="judge by the registry of a git revision, as CI does")  # fmt: skip


# ── signing ──────────────────────────────────────────────────────────────────────────────────


def run_sign(arguments: argparse.Namespace) -> int:
    """Sign an entry as its author."""
    glossary = build(arguments)
    entry = entry_of(glossary, arguments.entry)
    authors = entry.entry.front.byline.authors if entry.entry else ()
    desk = _desk(arguments, glossary, entry, likely=authors)
    statement = desk.statement("author", records=_records(glossary, entry))
    print(f"you sign as author: {desk.identity.person.name} ({desk.identity.person.id})")
    print("\n".join(f"  {subject.name}" for subject in statement.subjects))
    return _finish(desk, glossary, entry, statement)


def run_review(arguments: argparse.Namespace) -> int:
    """Show what is to be reviewed, ask part by part, record the scope, then sign."""
    if arguments.yes and not arguments.scope:
        return _misuse(f"--yes needs --scope: what you looked at, of {','.join(PARTS)}")
    if not arguments.yes and not sys.stdin.isatty():
        return _misuse("nobody is here to answer; --yes --scope PARTS says it all at once")
    scope = _parts(arguments.scope) if arguments.scope else ()
    glossary = build(arguments)
    entry = entry_of(glossary, arguments.entry)
    desk = _desk(arguments, glossary, entry)
    # A review is objected to before anybody reads for an hour.
    _refuse(objections(desk, desk.statement("review", scope=PARTS)))
    print("\n".join(_reading(desk, glossary, entry)))
    if not arguments.yes:
        scope = _answers(glossary, entry, scope)
        if not scope or not _ask("do you put your name to it?"):
            print("nothing was signed; tell the author what you found")
            return 1
    statement = desk.statement("review", scope=scope, records=_records(glossary, entry))
    return _finish(desk, glossary, entry, statement)


def run_sign_check(arguments: argparse.Namespace) -> int:
    """Sign that entries were checked today and still hold."""
    if not arguments.entry:
        return _misuse("check --sign needs the ids of the entries you checked")
    glossary = build(arguments)
    done = []
    for name in arguments.entry:
        entry = entry_of(glossary, name)
        desk = _desk(arguments, glossary, entry)
        statement = desk.statement("check", records=_records(glossary, entry))
        done.append(_finish(desk, glossary, entry, statement))
    return max(done)


def run_retract(arguments: argparse.Namespace) -> int:
    """Take an entry back; a tombstone with the reason stays in its place."""
    glossary = build(arguments)
    entry = entry_of(glossary, arguments.entry)
    desk = _desk(arguments, glossary, entry)
    statement = desk.statement("retract", reason=arguments.reason)
    return _finish(desk, glossary, entry, statement)


def run_rotate(arguments: argparse.Namespace) -> int:
    """Sign again, with a new key, what an older key of the same person signed unchanged."""
    glossary = build(arguments)
    wanted = arguments.entry or [entry.id for entry in glossary.entries if entry.entry]
    done: list[int] = []
    for name in wanted:
        entry = entry_of(glossary, name)
        desk = _desk(arguments, glossary, entry)
        for statement in rotatable(desk):
            done.append(_finish(desk, glossary, entry, statement))
            entry = entry_of(build(arguments), name)
            desk = _desk(arguments, glossary, entry)
    print(f"{len(done)} statements signed with the new key")
    return max(done, default=0)


def _desk(
    arguments: argparse.Namespace,
    glossary: Glossary,
    entry: Judged,
    *,
    likely: tuple[str, ...] = (),
) -> Desk:
    at_hand = keys_at_hand(arguments)
    identity = identify(glossary.registry, at_hand, today(), arguments.who, likely)
    if identity.value is None:
        raise Refused(identity.problems)
    return Desk(
        root=arguments.root,
        evidence=evidence_of(glossary, entry),
        registry=glossary.registry,
        today=today(),
        identity=identity.value,
        tool=ssh_keygen(arguments),
        environment=os.environ,
        interactive=sys.stdin.isatty(),
    )


def _finish(desk: Desk, glossary: Glossary, entry: Judged, statement: Statement) -> int:
    """Sign, write, and say what CI will say of it."""
    act = _required(perform(desk, statement))
    print(f"wrote    {act.file}\n         {act.file}.sig")
    print(
        f"verified {statement.said} by {statement.person}, {desk.identity.key.public.fingerprint}"
    )
    verdict = _verdict_after(glossary, entry, act.signoff)
    print(f"{entry.id}: {verdict.state}")
    print("".join(f"  {problem}\n" for problem in verdict.reasons), end="")
    print("".join(f"  missing: {missing}\n" for missing in verdict.missing), end="")
    print(f"next:    git add {Path(act.file).parent.as_posix()} && git commit")
    print(f"note:    {whose_registry(desk.registry)}; CI judges by the base branch's")
    return 0


def _verdict_after(glossary: Glossary, entry: Judged, signoff: Signoff) -> gate.Verdict:
    """Decide again with the new signature; all that was found besides signatures stays."""
    if entry.entry is None or entry.signoff is None:
        return entry.verdict
    faults = [p for p in entry.verdict.reasons if p not in entry.signoff.problems]
    names = entry.entry.front.experiments
    used = [glossary.studies[name] for name in names if name in glossary.studies]
    return gate.decide(entry.entry, faults, used, signoff)


def _records(glossary: Glossary, entry: Judged) -> tuple[Subject, ...]:
    """Give the digests of the records the signer could see; for information only."""
    names = entry.entry.front.experiments if entry.entry else ()
    seen = {
        measured.record.file: record_bytes(measured.record)
        for name in names
        if name in glossary.studies
        for measured in glossary.studies[name].measurements
        if measured.origin == "recorded"
    }
    return subjects(seen)


# ── reading for a review ─────────────────────────────────────────────────────────────────────


def _reading(desk: Desk, glossary: Glossary, entry: Judged) -> Iterator[str]:
    """Tell a reviewer what to read: the page, the files, what changed since they last signed."""
    page = desk.root / "preview" / ENTRIES / entry.id / "index.html"
    fresh = "as built last" if page.is_file() else "not built yet"
    yield f"you review as {desk.identity.person.name} ({desk.identity.person.id})"
    yield f"the page:  {page} ({fresh}; glossary preview {entry.id} --open builds it)"
    yield f"the rest:  {', '.join(sorted(desk.evidence.subjects))}"
    mine = _last_signed(desk, entry)
    if mine is None:
        yield "you have not signed any version of this entry: all of it is new to you"
        return
    yield f"since you signed on {mine.signed.on}: {mine.since}"
    for name in mine.since.changed:
        yield from _diff(desk, mine.signed, name)


def _last_signed(desk: Desk, entry: Judged) -> Outdated | None:
    outdated = entry.signoff.outdated if entry.signoff else ()
    mine = [o for o in outdated if o.signed.person.id == desk.identity.person.id]
    return max(mine, key=lambda o: o.signed.statement.date, default=None)


def _diff(desk: Desk, signed: Signed, name: str) -> Iterator[str]:
    digests = {subject.name: subject.sha256 for subject in signed.statement.subjects}
    before = earlier_bytes(desk.root, name, digests[name])
    if before is None:
        yield f"  {name}: the text you signed is not in git's history"
        return
    old, new = (_lines(raw) for raw in (before, desk.evidence.subjects[name]))
    yield from difflib.unified_diff(old, new, f"{name} (signed)", name, lineterm="")


def _lines(raw: bytes) -> list[str]:
    try:
        return raw.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return [f"{len(raw)} bytes that are no text"]


def _claims(glossary: Glossary, entry: Judged) -> Iterator[str]:
    """Give the claims the page rests on, each as printed, with what this build found."""
    if entry.entry is None:
        return
    front = entry.entry.front
    studies = [glossary.studies[name] for name in front.experiments if name in glossary.studies]
    for name in front.claims:
        found = [
            f"{result.text} [{result.state}, {where}]"
            for study in studies
            if name in gate.claim_names(study)
            for where, result in gate.results(study, name.rpartition(".")[2])
        ]
        yield "\n         ".join(found) or f"{name} [not checked here]"


def _answers(glossary: Glossary, entry: Judged, scope: tuple[Part, ...]) -> tuple[Part, ...]:
    """Ask claim by claim and part by part; one claim not found held and nothing is covered."""
    for text in _claims(glossary, entry):
        if not _ask(f"claim: {text}\n  do you find it held?"):
            return ()
    return scope or tuple(part for part in PARTS if _ask(f"did you look at the {part}?"))


def _parts(text: str) -> tuple[Part, ...]:
    named = [part.strip() for part in text.split(",")]
    if unknown := [part for part in named if part not in PARTS]:
        said = f"{', '.join(unknown)!r} is no part of an entry"
        problem = Problem(place=Place(ENTRIES), code="review-scope", message=said,
                          hint=f"the parts are {','.join(PARTS)}")  # fmt: skip
        raise Refused([problem])
    return tuple(part for part in PARTS if part in named)


def _ask(question: str) -> bool:
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


# ── a reviewer outside ───────────────────────────────────────────────────────────────────────


def run_request(arguments: argparse.Namespace) -> int:
    """Write a bundle that somebody outside can read, verify and sign with `ssh-keygen` alone."""
    scope = _parts(arguments.scope)
    glossary = build(arguments)
    entry = entry_of(glossary, arguments.entry)
    evidence = evidence_of(glossary, entry)
    reviewer = arguments.of or evidence.nominated
    is_known = glossary.registry.person(reviewer) is not None
    if arguments.of and not is_known:
        print(f"{reviewer} is not registered yet, so there is no statement for them to sign yet")
    statement = Statement(
        project=glossary.registry.project,
        entry=entry.id,
        said="review",
        person=reviewer,
        date=today(),
        subjects=subjects(evidence.subjects),
        scope=scope,
        records=_records(glossary, entry),
    )
    asked = statement if is_known else None
    made = bundle(entry.id, glossary.registry.project, evidence.subjects, asked)
    output = arguments.output or Path(f"review-{entry.id}.zip")
    scaffold.write_all(Path(), {output.as_posix(): made})
    print(f"wrote {output} (SHA-256 {digest(made)}); its README.txt says what to do")
    back = f"glossary verify {entry.id}" if is_known else f"glossary people add {reviewer or 'ID'}"
    print(f"when the answer is back: {back}")
    return 0


# ── people ───────────────────────────────────────────────────────────────────────────────────


def run_lint(arguments: argparse.Namespace) -> int:
    """Check the registry; against a revision's, also what it takes back."""
    source = _required(read(arguments.root, PEOPLE_FILE))
    registry = read_registry(source)
    problems = list(registry.problems)
    if arguments.registry_from and registry.value:
        base = _required(registry_of(arguments.root, arguments.registry_from))
        problems += rollbacks(_required(read_registry(base)), registry.value)
    if problems or arguments.format == "json":
        print(render(problems, arguments.format))
    elif registry.value:
        people = registry.value.people
        print(f"{PEOPLE_FILE}: {len(people)} people, in order (SHA-256 {source.sha256})")
    return 1 if problems else 0


def run_add(arguments: argparse.Namespace) -> int:
    """Add a person; a registry that would not be in order is not written."""
    source = _required(read(arguments.root, PEOPLE_FILE))
    is_human = arguments.kind == "human"
    newcomer = Newcomer(
        id=arguments.id,
        name=arguments.name,
        kind=arguments.kind,
        may=_items(arguments.may) if is_human else ("measure",),
        areas=_items(arguments.areas) if is_human else (),
        key=_public_line(arguments.key),
        not_before=arguments.not_before or today().isoformat(),
        not_after=arguments.not_after,
        vouched_by=arguments.vouched_by,
    )
    text = _required(add_person(source, newcomer))
    write(arguments.root, PEOPLE_FILE, text.encode("utf-8"))
    print(f"added {arguments.id} to {PEOPLE_FILE}; commit it in a change of its own:")
    print("  a change cannot vouch for itself, so signatures count once this one is merged")
    return 0


def _public_line(file: Path) -> str:
    if file.suffix != ".pub":
        problem = Problem(place=Place(file.as_posix()), code="key-malformed",
                          message="is not the file of a public key",
                          hint=f"name the public one: {file}.pub")  # fmt: skip
        raise Refused([problem])
    place = Place(file.as_posix())
    try:
        if not file.is_file():
            told = "there is no such file"
            raise Refused([Problem(place=place, code="missing-file", message=told)])
        words = file.read_text(encoding="utf-8", errors="replace").split()
    except OSError as error:
        told = f"cannot be read: {error.strerror}"
        raise Refused([Problem(place=place, code="unreadable-file", message=told)]) from None
    return " ".join(words[:2])


def _items(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


# ── outcomes ─────────────────────────────────────────────────────────────────────────────────


def _required(checked: Checked[T]) -> T:
    if checked.value is None:
        raise Refused(checked.problems)
    return checked.value


def _refuse(problems: Iterable[Problem]) -> None:
    found = tuple(problems)
    if found:
        raise Refused(found)


def _misuse(message: str) -> int:
    print(f"glossary: {message}", file=sys.stderr)
    return 2
