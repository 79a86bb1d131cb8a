"""Tiny glossaries to build: copied, completed with people, a record, signatures, and edits.

Comes in: a case of `tests/sites/`, or files as text. Goes out: a `Site` in a temporary folder. Must
not know what is expected of it.
"""

from __future__ import annotations

import datetime
import hashlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from measured_glossary import pipeline
from measured_glossary.entry import parse
from measured_glossary.lab.record import Machine, Record, write_record
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import study
from measured_glossary.lab.study import Study
from measured_glossary.lab.table import Table, plain
from measured_glossary.source import read
from measured_glossary.trust.folder import read_folder
from measured_glossary.trust.statement import (
    Said,
    Statement,
    file_name,
    namespace,
    subjects,
    to_bytes,
)
from trust.trust_keys import TestKey, sshsig, string

TODAY = datetime.date(2026, 11, 29)
SIGNED_ON = datetime.date(2026, 11, 20)
PROJECT = "test-glossary"
PEOPLE = ("author", "reviewer")
MACHINE = Machine(name="Test GPU", compute_capability="9.0", driver="1.0", cuda="13.0")

SETTINGS = "title: Test glossary\nlicence: CC BY 4.0\n"
HOME = "# Home\n\nA page written by hand.\n"
MKDOCS = """\
site_name: Test glossary
site_url: https://test.example/
strict: true
theme: mkdocs
nav: [{Home: index.md}, {Glossary: glossary/index.md}]
plugins: [search, measured-glossary: {measure: recorded}]
markdown_extensions: [attr_list, md_in_html, tables, measured_glossary.markdown]
"""

# An entry without an experiment, whole and without a fault; tests change a line of it.
ENTRY = """\
---
term: warp
question: What is a warp?
answer: A warp is 32 threads that the hardware schedules together.
area: Execution model
applies_to: CC 7.5
byline:
  written_by: test-author
---

Every block is cut into warps.
"""


def test_key(name: str) -> TestKey:
    """Make a test person's key, the same in each session: what is signed is the same then too."""
    seed = hashlib.sha256(f"test key of {name}".encode()).digest()
    private = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
    point = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    blob = string(b"ssh-ed25519") + string(point)
    return TestKey(type="ssh-ed25519", blob=blob, private=private)


test_key.__test__ = False  # type: ignore[attr-defined]


def people_text() -> str:
    """Give the registry of the test people, as `people.yml` has it."""
    people = [
        {
            "id": f"test-{name}",
            "name": f"Test {name.title()}",
            "kind": "human",
            "may": ["author", "review", "check"],
            "areas": ["all"],
            "keys": [{"key": test_key(name).line, "not_before": "2026-01-01"}],
        }
        for name in PEOPLE
    ]
    return yaml.safe_dump({"project": PROJECT, "people": people}, sort_keys=False, width=10**6)


# ── a site ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A glossary in a temporary folder; `cache` is where its kernels are compiled."""

    root: Path
    cache: Path

    @property
    def settings(self) -> pipeline.Settings:
        """Give the settings of a build that looks for no GPU."""
        return pipeline.Settings(lab=Settings(measure="recorded", cache=self.cache))

    def build(self) -> pipeline.Glossary:
        """Judge the glossary as of the tests' day."""
        return pipeline.build(self.root, self.settings, TODAY)

    def study(self, experiment: str) -> Study:
        """Study one experiment."""
        return study(self.root, experiment, self.settings.lab)

    def path(self, file: str) -> Path:
        """Give a file's path, its folder made."""
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, file: str, text: str) -> Site:
        """Write a file."""
        self.path(file).write_text(text, encoding="utf-8", newline="\n")
        return self

    def replace(self, file: str, old: str, new: str) -> Site:
        """Change a text that stands in a file."""
        text = self.path(file).read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        return self.write(file, text.replace(old, new))

    def remove(self, name: str) -> Site:
        """Remove a file or a folder."""
        path = self.root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        return self

    def record(self, experiment: str, rows: Mapping[str, Any]) -> Site:
        """Keep a record of an experiment with these rows, as if the test's GPU had made it."""
        known = self.study(experiment)
        assert not known.problems, known.problems
        tables = [t for t in known.declared_tables if t.kind != "static"]
        record = Record(
            experiment=experiment,
            machine=MACHINE,
            captured="2026-11-19T12:00:00Z",
            inputs=dict(known.inputs),
            toolchain={"nvrtc": "13.0"},
            options=("--gpu-architecture=sm_90",),
            seed=14,
            tables=tuple(_filled(table, rows[table.name]) for table in tables),
        )
        write_record(self.root, record)
        return self

    def sign(self, entry: str, *, said: Said, by: str, reason: str = "") -> Site:
        """Sign an entry's bytes as they lie there."""
        statement = Statement(
            project=PROJECT,
            entry=entry,
            said=said,
            person=f"test-{by}",
            date=SIGNED_ON,
            subjects=subjects(self._signed_files(entry)),
            scope=("prose", "claims") if said == "review" else (),
            reason=reason,
        )
        raw = to_bytes(statement)
        file = f"glossary/{entry}/signatures/{file_name(said, statement.person)}"
        self.path(file).write_bytes(raw)
        self.path(f"{file}.sig").write_bytes(sshsig(test_key(by), namespace(said), raw))
        return self

    def publish(self, entry: str) -> Site:
        """Have an entry signed by its author and by its reviewer."""
        self.sign(entry, said="author", by="author")
        return self.sign(entry, said="review", by="reviewer")

    def _signed_files(self, entry: str) -> dict[str, bytes]:
        folder = read_folder(self.root, entry).value
        source = read(self.root, f"glossary/{entry}/entry.md").value
        assert folder
        assert source
        parsed = parse(entry, source).value
        assert parsed, parse(entry, source).problems
        studies = [self.study(name) for name in parsed.front.experiments]
        code = {name: source.raw for each in studies for name, source in each.files.items()}
        return {**code, **folder.files}


def _filled(table: Table, rows: list[dict[str, Any]]) -> Table:
    launches = 3 if table.kind == "runtime" else 1
    cells = tuple({name: plain(value) for name, value in row.items()} for row in rows)
    return replace(table, launches=launches, rows=cells)


def new_site(root: Path, cache: Path, files: Mapping[str, str] | None = None) -> Site:
    """Give a glossary of these files; what every glossary has is there unless given."""
    site = Site(root=root, cache=cache)
    given = {
        "glossary/settings.yml": SETTINGS,
        "glossary/people.yml": people_text(),
        "docs/index.md": HOME,
        "mkdocs.yml": MKDOCS,
        **(files or {}),
    }
    for file, text in given.items():
        if not (root / file).exists():
            site.write(file, text)
    return site


# ── steps of a golden case, as its `case.yml` names them ─────────────────────────────────────


def take(site: Site, step: Mapping[str, Any]) -> None:
    """Do one step: `{verb: {argument: value, …}}`."""
    ((verb, arguments),) = step.items()
    STEPS[verb](site, **arguments)


VERBS = ("record", "sign", "publish", "replace", "remove", "write")
STEPS: Mapping[str, Callable[..., Site]] = {name: getattr(Site, name) for name in VERBS}
