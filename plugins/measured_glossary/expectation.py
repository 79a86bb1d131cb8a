"""What a built tree may hold, as the audit needs it: what is public, hidden, and known anyway.

Comes in: a judged `Glossary` and the folders of the generator's theme. Goes out: an `Expectation`.
Must not look at the tree that is audited.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path

from measured_glossary import page
from measured_glossary.audit import Expectation, PublicEntry
from measured_glossary.path import public_words
from measured_glossary.pipeline import Glossary, Judged
from measured_glossary.trace import TEXT_SUFFIXES
from measured_glossary.trust.folder import ENTRIES

# What the project itself says in public, whatever its entries are.
PUBLIC_FILES = ("mkdocs.yml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md")
PUBLIC_FOLDERS = ("docs",)
SETTINGS = (f"{ENTRIES}/settings.yml", f"{ENTRIES}/people.yml")
# A theme's icons are pictures, and its program is not part of a tree.
_NOT_SEEN = frozenset({".svg", ".py"})
MAX_KNOWN_BYTES = 4 << 20


def expectation(glossary: Glossary, theme: Iterable[Path]) -> Expectation:
    """Give what a tree built from a glossary may and must hold."""
    shown = {"published", "retracted"}
    hidden = [entry for entry in glossary.entries if entry.verdict.state != "published"]
    return Expectation(
        public={e.id: _public(e) for e in glossary.entries if e.verdict.state in shown},
        hidden={entry.id: _hidden_files(glossary, entry) for entry in hidden},
        known={**_known(glossary), **_theme_files(theme), **_engine_files()},
    )


def _public(entry: Judged) -> PublicEntry:
    signoff = entry.signoff
    if signoff is None:
        return PublicEntry(verdict=entry.verdict.state, manifest="")
    names = [signed.person.name for signed in (*signoff.authors, *signoff.reviews)]
    return PublicEntry(
        verdict=entry.verdict.state, manifest=signoff.manifest, names=tuple(sorted(set(names)))
    )


# ── hidden ───────────────────────────────────────────────────────────────────────────────────


def _hidden_files(glossary: Glossary, entry: Judged) -> dict[str, bytes]:
    """Give the files of an entry and of the experiments that only hidden entries use."""
    folder = f"{ENTRIES}/{entry.id}"
    files = {n: raw for n, raw in _files_below(glossary.root, folder) if "/signatures/" not in n}
    used_in_public = glossary.public_experiments()
    own = entry.entry.front.experiments if entry.entry else ()
    for name in own:
        if name not in used_in_public and name in glossary.studies:
            files |= _experiment_files(glossary, name)
            files |= dict(_files_below(glossary.root, f"measurements/{name}"))
    return files


def _experiment_files(glossary: Glossary, name: str) -> dict[str, bytes]:
    study = glossary.studies[name]
    code = {file: source.raw for file, source in study.files.items()}
    return {**code, **dict(_files_below(glossary.root, f"code/{name}"))}


# ── known anyway ─────────────────────────────────────────────────────────────────────────────


def _known(glossary: Glossary) -> dict[str, bytes]:
    root = glossary.root
    known = {name: raw for name in (*PUBLIC_FILES, *SETTINGS) for raw in _bytes(root / name)}
    for folder in PUBLIC_FOLDERS:
        known |= dict(_files_below(root, folder))
    for entry in glossary.published():
        known |= dict(_files_below(root, f"{ENTRIES}/{entry.id}"))
    for name in sorted(glossary.public_experiments()):
        known |= _experiment_shown(glossary, name) if name in glossary.studies else {}
        known |= dict(_files_below(root, f"measurements/{name}"))
    shown = [entry.id for entry in glossary.published()]
    known["words of study paths.txt"] = public_words(glossary.paths, shown).encode("utf-8")
    for uri, expanded in glossary.documents.items():
        known[f"{uri} with its figures.md"] = expanded.body.encode("utf-8")
    for entry in glossary.entries:
        if entry.verdict.state == "retracted":
            known[f"tombstone of {entry.id}.txt"] = _tombstone(entry).encode("utf-8")
    return known


def _experiment_shown(glossary: Glossary, name: str) -> dict[str, bytes]:
    """Give an experiment's files and its page: a draft may use the same words of the same run."""
    shown = page.render_experiment(page.Site(title=""), glossary.studies[name], ())
    return {**_experiment_files(glossary, name), f"page of {name}.md": shown.encode("utf-8")}


def _tombstone(entry: Judged) -> str:
    """Give what may be said of a retracted entry: its name, and why it was taken back."""
    retraction = entry.signoff.retraction if entry.signoff else None
    names = [entry.id, entry.entry.front.term if entry.entry else ""]
    return "\n".join([*names, retraction.statement.reason if retraction else ""])


def _theme_files(folders: Iterable[Path]) -> Mapping[str, bytes]:
    """Give the texts of the generator's theme, which stand in every tree."""
    return {
        f"{folder.name}/{name}": raw
        for folder in folders
        for name, raw in _files_below(folder, "")
        if Path(name).suffix in TEXT_SUFFIXES - _NOT_SEEN
    }


def _engine_files() -> Mapping[str, bytes]:
    """Give the engine's own words: its program writes labels and sentences into pages."""
    folder = Path(str(resources.files("measured_glossary")))
    return {
        f"{folder.name}/{name}": raw
        for name, raw in _files_below(folder, "")
        if Path(name).suffix in TEXT_SUFFIXES
    }


# ── reading ──────────────────────────────────────────────────────────────────────────────────


def _files_below(root: Path, folder: str) -> Iterator[tuple[str, bytes]]:
    top = root / folder
    for path in sorted(_paths_below(top)) if top.is_dir() and not top.is_symlink() else ():
        for raw in _bytes(path):
            yield path.relative_to(root).as_posix(), raw


def _paths_below(top: Path) -> Iterator[Path]:
    """Give the files below a folder; hidden folders hold a theme's ten thousand icons."""
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder, name) for name in names)


def _bytes(path: Path) -> Iterator[bytes]:
    """Give a plain file's bytes; what is none, or is very large, explains nothing."""
    if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_KNOWN_BYTES:
        yield path.read_bytes()
