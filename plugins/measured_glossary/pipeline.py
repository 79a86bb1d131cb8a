"""The whole flow, once: read, parse, measure, check, judge, render.

Comes in: the project's root, settings, today's date. Goes out: a `Glossary`, entries with their
verdicts and pages. Must not know MkDocs, the command line, the clock or the environment.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from measured_glossary import attachment, blocks, gate, leftover, page
from measured_glossary.aside import cores
from measured_glossary.document import Document, read_documents
from measured_glossary.entry import Entry, FrontMatter, Measured, parse
from measured_glossary.expansion import Expansion, expansion, expansions
from measured_glossary.expression import evaluate, names_of
from measured_glossary.gate import Verdict
from measured_glossary.lab.settings import Measure, Progress
from measured_glossary.lab.settings import Settings as LabSettings
from measured_glossary.lab.study import Study
from measured_glossary.memo import Memo, digest, package, plain_digest
from measured_glossary.path import StudyPath, read_paths
from measured_glossary.problem import Checked, Place, Problem, Refused, meant
from measured_glossary.project import Project, read_project
from measured_glossary.scan import Lines
from measured_glossary.source import Source, decode, read
from measured_glossary.terms import Term, Vocabulary, keys_of, problems, vocabulary
from measured_glossary.trust import signoff
from measured_glossary.trust.ahead import Ahead, verified_ahead
from measured_glossary.trust.attest import with_attestations
from measured_glossary.trust.folder import ENTRIES, EntryFolder, entry_ids, read_folder
from measured_glossary.trust.registry import PEOPLE_FILE, Registry, judging
from measured_glossary.trust.signoff import Signoff

if TYPE_CHECKING:
    from measured_glossary.lab.studies import Studies

T = TypeVar("T")

CACHE = ".cache/measured-glossary"
PIN = "GLOSSARY_REGISTRY_PIN"
MISSING_MEANS = frozenset({"no-gpu", "no-compiler"})  # of a build that was told to measure live


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to build: how to measure, and which registry judges.

    `docs` is the folder of the hand-written pages, below the project's root or absolute. `registry`
    is the judging registry where it is not the tree's own, `registry_ref` the git revision it was
    read from; `pin` is the SHA-256 that the registry must have, or nothing. `only` names the
    entries whose experiments are studied; nobody looks at the others, nor at hand-written pages.
    `memo` keeps what was parsed and rendered before; who signed what is found out in every build.
    """

    lab: LabSettings
    memo: Memo = field(default_factory=Memo)
    docs: str = "docs"
    registry: Source | None = None
    registry_ref: str = ""
    pin: str = ""
    only: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An entry as read: parsed, or the reasons why it could not be; `term` is its names."""

    id: str
    entry: Entry | None = None
    folder: EntryFolder | None = None
    problems: tuple[Problem, ...] = ()
    term: Term | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A build under way: the entries are read, their experiments run, signatures are verified."""

    root: Path
    project: Project
    registry: Registry
    drafts: tuple[Draft, ...]
    documents: Checked[tuple[Document, ...]]
    paths: Checked[tuple[StudyPath, ...]]
    studies: Studies | None
    memo: Memo
    ahead: Ahead | None = None

    def give_up(self) -> None:
        """Stop what runs; for whoever does not finish."""
        if self.studies:
            self.studies.give_up()
        if self.ahead:
            self.ahead.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An entry with its verdict."""

    draft: Draft
    verdict: Verdict
    signoff: Signoff | None = None
    expansion: Expansion = field(default_factory=Expansion)

    @property
    def body(self) -> str:
        """Its expanded Markdown."""
        return self.expansion.text()

    @property
    def id(self) -> str:
        """The entry's id."""
        return self.draft.id

    @property
    def entry(self) -> Entry | None:
        """The parsed entry, where it could be parsed."""
        return self.draft.entry

    @property
    def uses_claims(self) -> bool:
        """Whether the entry rests on anything measured."""
        return self.entry is not None and bool(self.entry.front.claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expanded:
    """A hand-written page with what it shows; `body` is its expanded Markdown."""

    document: Document
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Glossary:
    """Everything a site, an export or a status table is made from.

    `documents` are the hand-written pages that show what was measured, by where they stand.
    `paths` are the study paths of its authors.
    `faults` are what is wrong with them and with files that belong to nothing: they have no
    verdict, a fault refuses the build.
    """

    root: Path
    project: Project
    registry: Registry
    entries: tuple[Judged, ...]
    studies: Mapping[str, Study]
    documents: Mapping[str, Expanded]
    memo: Memo
    paths: tuple[StudyPath, ...] = ()
    faults: tuple[Problem, ...] = ()

    def published(self) -> tuple[Judged, ...]:
        """Give the entries that may leave the house."""
        return tuple(entry for entry in self.entries if entry.verdict.state == "published")

    def public_experiments(self) -> frozenset[str]:
        """Give the experiments that a page which leaves the house rests on."""
        pages: list[Measured] = [e.entry for e in self.published() if e.entry]
        pages += [expanded.document for expanded in self.documents.values()]
        return frozenset(name for page in pages for name in page.front.experiments)


def settings_for(
    root: Path,
    measure: Measure,
    environ: Mapping[str, str],
    progress: Progress | None = None,
    *,
    today: date | None = None,
) -> Settings:
    """Give the settings of a build: its cache below the project, its pin from the environment.

    Without `today` nothing that was parsed or rendered before is used.
    """
    cache = root.resolve() / CACHE
    memo = Memo(cache if today else None, jobs=cores(), day=today.toordinal() if today else 0)
    lab = LabSettings(measure=measure, cache=cache, progress=progress)
    return Settings(lab=lab, memo=memo, pin=environ.get(PIN, "").strip().lower())


def build(root: Path, settings: Settings, today: date) -> Glossary:
    """Make the glossary of a project: the whole flow, in its order."""
    return finish(start(root, settings), today)


def start(root: Path, settings: Settings, ahead: Ahead | None = None) -> Started:
    """Read the entries and set their experiments running.

    `ahead` verifies the entries' signatures already; without, that begins here.
    """
    project = _required(read_project(root))
    registry = judging_registry(root, settings)
    ids = entry_ids(root)
    ahead = ahead or verified_ahead(root, ids, settings.memo.jobs)
    drafts = _read_entries(root, settings.memo, ids)
    documents = read_documents(root / settings.docs)
    pages: list[Measured] = [draft.entry for draft in drafts if draft.entry]
    pages += documents.value or ()
    if settings.only:
        pages = [draft.entry for draft in drafts if draft.entry and draft.id in settings.only]
    wanted = {name for each in pages for name in each.front.experiments}
    return Started(
        root=root,
        project=project,
        registry=registry,
        drafts=drafts,
        documents=documents,
        paths=read_paths(root, [draft.id for draft in drafts], root / settings.docs),
        studies=_studies(root, sorted(wanted), settings.lab),
        memo=settings.memo,
        ahead=ahead,
    )


def _studies(root: Path, ids: Sequence[str], settings: LabSettings) -> Studies | None:
    """Begin to study experiments; a glossary without any need not load what does that."""
    if not ids:
        return None
    from measured_glossary.lab.studies import start_studies

    return start_studies(root, ids, settings)


def finish(started: Started, today: date) -> Glossary:
    """Wait for the experiments and judge every entry."""
    found = started.studies.collect() if started.studies else ()
    attested = partial(with_attestations, started.root, registry=started.registry, today=today)
    studies = {study.id: attested(study) for study in found}
    ids = frozenset(draft.id for draft in started.drafts)
    terms = cache(partial(_terms, started.drafts))
    judge = partial(_judge, started.registry, studies=studies, terms=terms, ids=ids, today=today)
    bodies = _bodies(started, studies)
    judged = tuple(map(partial(judge, good=started.ahead or ()), started.drafts, bodies))
    if started.ahead:
        started.ahead.close()
    shown = [_expanded(started.project, each, studies) for each in started.documents.value or ()]
    faults = [*leftover.problems(started.root), *started.documents.problems]
    faults += started.paths.problems
    faults += [problem for each in shown for problem in each.problems]
    return Glossary(
        root=started.root,
        project=started.project,
        registry=started.registry,
        entries=judged,
        studies=studies,
        memo=started.memo,
        documents={each.value.document.uri: each.value for each in shown if each.value},
        paths=started.paths.value or (),
        faults=tuple(sorted(set(faults))),
    )


# What a page says of itself, where the figure stands: it must not keep a site from being built.
SAID_THERE = frozenset({"no-measurement", "stale-record", "unchecked-claim"})


def judged_again(glossary: Glossary, entry_id: str, today: date) -> Judged:
    """Read and judge one entry once more, beside all else as it was found then.

    Raises `Refused` if it cannot be read, or shows an experiment that nobody studied.
    """
    draft = next(iter(_read_entries(glossary.root, Memo(), [entry_id])))
    entry, studies = draft.entry, glossary.studies
    if entry is None or not set(entry.front.experiments) <= studies.keys():
        raise Refused(draft.problems)
    others = [each.draft for each in glossary.entries if each.id != entry_id]
    evidence = _evidence(glossary.project, _used(entry, studies), top="../../")
    return _judge(
        glossary.registry,
        draft,
        expansion(page.expand(entry, evidence)),
        studies=studies,
        terms=partial(_terms, [*others, draft]),
        ids=frozenset(each.id for each in glossary.entries),
        today=today,
    )


def _expanded(
    project: Project, document: Document, studies: Mapping[str, Study]
) -> Checked[Expanded]:
    used = tuple(studies[name] for name in document.front.experiments if name in studies)
    body = page.expand(document, _evidence(project, used, top=document.top))
    told = () if any(map(gate.is_broken, used)) else body.problems
    faults = [p for p in gate.evidence_faults(document, used) if p.code not in SAID_THERE]
    expanded = Expanded(document=document, body=f"{body.value or ''}\n")
    found = (*told, *faults, *blocks.diagram_faults(document))
    return Checked(value=expanded, problems=tuple(dict.fromkeys(found)))


def _evidence(project: Project, used: tuple[Study, ...], top: str) -> page.Evidence:
    return page.Evidence(
        studies=used,
        evaluate=partial(evaluate, names=names_of(used)),
        repository=project.repository,
        top=top,
    )


def _bodies(started: Started, studies: Mapping[str, Study]) -> list[Expansion]:
    """Expand the body of each entry; of one that could not be read there is none."""
    digests = {name: digest(pickle.dumps(study)) for name, study in studies.items()}
    around = package(), started.project.repository

    def key(draft: Draft) -> bytes:
        names = draft.entry.front.experiments if draft.entry else ()
        sha256 = draft.entry.sha256 if draft.entry else ""
        evidence = [digests[name] for name in names if name in digests]
        return plain_digest("body", around, draft.id, sha256, evidence)

    def expand(index: int) -> Checked[str]:
        entry = started.drafts[index].entry
        if entry is None:
            return Checked(value=None)
        evidence = _evidence(started.project, _used(entry, studies), top="../../")
        return page.expand(entry, evidence)

    return expansions([key(draft) for draft in started.drafts], expand, started.memo)


def _used(entry: Entry, studies: Mapping[str, Study]) -> tuple[Study, ...]:
    return tuple(studies[name] for name in entry.front.experiments if name in studies)


def _judge(
    registry: Registry,
    draft: Draft,
    body: Expansion,
    *,
    studies: Mapping[str, Study],
    terms: Callable[[], Vocabulary],
    ids: Collection[str],
    today: date,
    good: Container[bytes] = (),
) -> Judged:
    if draft.entry is None or draft.folder is None:
        return Judged(draft=draft, verdict=gate.unreadable(draft.problems))
    entry, used = draft.entry, _used(draft.entry, studies)
    # What a body asks of an experiment that cannot be read is not wrong yet.
    told = () if any(map(gate.is_broken, used)) else body.known.problems
    names = (*_unknown_entries(entry, ids), *_own_name(entry), *_term_faults(entry, terms))
    names += blocks.diagram_faults(entry)
    faults = (*draft.problems, *told, *names, *gate.days_to_come(entry, today))
    signed = signoff.judge(signing_evidence(draft, used), registry, today, good)
    verdict = gate.decide(entry, faults, used, signed)
    return Judged(draft=draft, verdict=verdict, signoff=signed, expansion=body)


def refuse_wrong_evidence(glossary: Glossary) -> None:
    """Refuse to publish anything while the evidence of one entry is wrong.

    Drafts and outdated entries are simply left out; but a page that was signed and can no longer
    be published must be seen by a person, not vanish. So must a build that was to measure and
    could not.
    """
    refused = [entry for entry in glossary.entries if entry.verdict.state == "refused"]
    found = [problem for entry in refused for problem in entry.verdict.reasons]
    told = [problem for study in glossary.studies.values() for problem in study.problems]
    found += [problem for problem in told if problem.code in MISSING_MEANS]
    if found:
        raise Refused(found)


# ── reading ──────────────────────────────────────────────────────────────────────────────────


def experiment_ids(root: Path) -> tuple[str, ...]:
    """Give the ids of the experiments: the folders below `code/` that declare one, in order."""
    return tuple(sorted(path.parent.name for path in root.glob("code/*/experiment.py")))


# Of a file: its front matter, the keys of its names, the files it links, what is wrong with it.
_Parsed = tuple[
    FrontMatter | None, tuple[str, ...], tuple[tuple[str, Place], ...], tuple[Problem, ...]
]


def _read_entries(root: Path, memo: Memo, entries: Sequence[str]) -> tuple[Draft, ...]:
    """Read entries' folders; parse what was not parsed before."""
    folders = {entry_id: read_folder(root, entry_id) for entry_id in entries}
    raws = {
        entry_id: folder.value.files[_file(entry_id)]
        for entry_id, folder in folders.items()
        if folder.value and _file(entry_id) in folder.value.files
    }
    ids = tuple(raws)
    keys = [digest(package(), "entry", name, sha256(raw).hexdigest()) for name, raw in raws.items()]
    parsed = memo.values(keys, lambda index: _parsed(ids[index], raws[ids[index]]))
    known = dict(zip(ids, parsed, strict=True))
    return tuple(_draft(name, folder, known.get(name)) for name, folder in folders.items())


def _file(entry_id: str) -> str:
    return f"{ENTRIES}/{entry_id}/entry.md"


def _parsed(entry_id: str, raw: bytes) -> _Parsed:
    """Parse an entry; what is kept of it does not hold the text a second time."""
    source = decode(_file(entry_id), raw)
    found = parse(entry_id, source.value) if source.value else Checked(value=None)
    problems = (*source.problems, *found.problems)
    if found.value is None:
        return None, (), (), problems
    front = found.value.front
    return front, keys_of((front.term, *front.aliases)), found.value.linked, problems


def _draft(entry_id: str, folder: Checked[EntryFolder], parsed: _Parsed | None) -> Draft:
    if folder.value is None:
        return Draft(id=entry_id, problems=folder.problems)
    file = _file(entry_id)
    if parsed is None:
        return Draft(id=entry_id, problems=(_no_entry_file(file),))
    front, keys, linked, found = parsed
    files = folder.value.files
    problems = (*found, *attachment.problems(files), *_missing_files(entry_id, linked, files))
    if front is None:
        return Draft(id=entry_id, folder=folder.value, problems=problems)
    return Draft(
        id=entry_id,
        entry=Entry(id=entry_id, file=file, raw=files[file], front=front),
        folder=folder.value,
        problems=problems,
        term=Term(id=entry_id, names=(front.term, *front.aliases), keys=keys),
    )


def _missing_files(
    entry_id: str, linked: Sequence[tuple[str, Place]], files: Collection[str]
) -> Iterator[Problem]:
    """Say which linked files are not in the entry's folder; `index.md` is the page itself."""
    beside = f"{ENTRIES}/{entry_id}/"
    there = [name.removeprefix(beside) for name in files if name != _file(entry_id)]
    for path, place in linked:
        if path not in (*there, "index.md"):
            yield Problem(
                place=place,
                code="link-outside-entry",
                message=f"there is no file {path!r} in the entry's folder",
                hint=meant(path, there, f"put it into {beside}, or link to https://…"),
            )


def _no_entry_file(file: str) -> Problem:
    return Problem(
        place=Place(file),
        code="missing-file",
        message="there is no such file",
        hint=f"every folder of {ENTRIES}/ is an entry: write its entry.md, or delete the folder",
    )


def signing_evidence(draft: Draft, studies: Sequence[Study]) -> signoff.Evidence:
    """Give what is signed and who is asked: the entry's bytes and those of its experiments."""
    if draft.entry is None or draft.folder is None:
        raise Refused(draft.problems)
    front = draft.entry.front
    code = {file: source.raw for study in studies for file, source in study.files.items()}
    return signoff.Evidence(
        entry=draft.id,
        area=front.area,
        authors=front.byline.authors,
        nominated=front.byline.nominated,
        subjects={**code, **draft.folder.files},
        signatures=draft.folder.signatures,
    )


def _unknown_entries(entry: Entry, ids: Collection[str]) -> list[Problem]:
    return [
        Problem(
            place=entry.located.place(("related", index)),
            code="unknown-entry",
            message=f"there is no entry {name!r}",
            hint=meant(
                name,
                ids,
                f"the entries are: {', '.join(sorted(ids))}; "
                f"a term without an entry is written '- term: {name}'",
            ),
        )
        for index, name in enumerate(entry.front.related)
        if isinstance(name, str) and name not in ids
    ]


def _own_name(entry: Entry) -> list[Problem]:
    return [
        Problem(
            place=entry.located.place(("related", index)),
            code="related-to-itself",
            message=f"{name!r} is this entry itself",
            hint="name another entry, or take it out",
        )
        for index, name in enumerate(entry.front.related)
        if name == entry.id
    ]


def _terms(drafts: Sequence[Draft]) -> Vocabulary:
    """Give the names of all entries; whether one may be linked is known after the verdicts."""
    return vocabulary(draft.term for draft in drafts if draft.term)


def _term_faults(entry: Entry, terms: Callable[[], Vocabulary]) -> tuple[Problem, ...]:
    """Give what is wrong with the `[[term]]`s of a body; it begins where its first piece does.

    Few entries have one: the names of all others are arranged when the first is met.
    """
    if b"[[" not in entry.raw or not (found := entry.pieces):
        return ()
    source, first = entry.source, found[0].place.line
    body = "\n".join(source.text.split("\n")[first - 1 :])
    return tuple(problems(body, terms(), Lines(source.file, body, first)))


# ── the registry that judges ─────────────────────────────────────────────────────────────────


def judging_registry(root: Path, settings: Settings) -> Registry:
    """Read the registry: the given one or the tree's, with the digest it must have."""
    source = settings.registry or _required(read(root, PEOPLE_FILE))
    return _required(judging(source, pin=settings.pin, ref=settings.registry_ref))


def _required(checked: Checked[T]) -> T:
    if checked.value is None or checked.problems:
        raise Refused(checked.problems)
    return checked.value
