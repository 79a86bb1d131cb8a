"""A small world to attack: a registry, an entry with an experiment, and its signatures.

Comes in: throw-away keys. Goes out: a `World` that is published until a test spoils it. Must not
know which attack is tried.
"""

from __future__ import annotations

import dataclasses
import datetime
from dataclasses import dataclass, field
from typing import Any

import yaml

from measured_glossary.source import decode
from measured_glossary.trust.ahead import good_marks
from measured_glossary.trust.registry import Registry, read_registry
from measured_glossary.trust.signoff import Evidence, Signoff, judge
from measured_glossary.trust.statement import Statement, file_name, namespace, subjects, to_bytes
from trust.trust_keys import TestKey, sshsig

TODAY = datetime.date(2026, 11, 29)
SIGNED_ON = datetime.date(2026, 11, 20)
ENTRY = "test-entry"
PROSE = f"glossary/{ENTRY}/entry.md"
KERNEL, EXPERIMENT = "code/test-experiment/kernel.cu", "code/test-experiment/experiment.py"


def person(name: str, *keys: TestKey, **changes: Any) -> dict[str, Any]:
    """Give a person of the registry, as `people.yml` has it."""
    made = {
        "id": f"test-{name}",
        "name": f"Test {name.title()}",
        "kind": "human",
        "may": ["author", "review", "check"],
        "areas": ["all"],
        "keys": [{"key": key.line, "not_before": "2026-01-01"} for key in keys],
    }
    return {**made, **changes}


@dataclass
class World:
    """Everything a sign-off is judged from; a test changes what it likes."""

    keys: dict[str, TestKey]
    people: list[dict[str, Any]]
    files: dict[str, bytes]
    signatures: dict[str, bytes] = field(default_factory=dict)
    authors: tuple[str, ...] = ("test-author",)
    nominated: str = ""
    area: str = "Execution model"
    project: str = "test-glossary"
    revoked: list[dict[str, str]] = field(default_factory=list)
    withdrawn: list[dict[str, str]] = field(default_factory=list)
    today: datetime.date = TODAY

    def registry_text(self) -> str:
        """Give the registry as text."""
        data = {"project": self.project, "people": self.people}
        data |= {"revoked": self.revoked} if self.revoked else {}
        data |= {"withdrawn": self.withdrawn} if self.withdrawn else {}
        return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=10**6)

    def registry(self) -> Registry:
        """Give the registry, which must be a good one."""
        source = decode("glossary/people.yml", self.registry_text().encode()).value
        assert source is not None
        read = read_registry(source)
        assert read.value is not None, read.problems
        return read.value

    def person(self, name: str) -> dict[str, Any]:
        """Give a person's lines in the registry, to be changed."""
        return next(p for p in self.people if p["id"] == f"test-{name}")

    def statement(self, said: Any, name: str, **changes: Any) -> Statement:
        """Give the honest statement of a person over the files as they stand."""
        honest = Statement(
            project=self.project,
            entry=ENTRY,
            said=said,
            person=f"test-{name}",
            date=SIGNED_ON,
            subjects=subjects(self.files),
            scope=("prose", "claims", "code") if said == "review" else (),
            reason="it was wrong" if said == "retract" else "",
        )
        return dataclasses.replace(honest, **changes)

    def sign(
        self,
        said: Any,
        name: str,
        *,
        key: str = "",
        into: str = "",
        space: str = "",
        **changes: Any,
    ) -> World:
        """Sign and put both files in place; the key and any part of the statement may be false."""
        raw = to_bytes(self.statement(said, name, **changes))
        file = into or file_name(said, f"test-{name}")
        self.signatures[file] = raw
        used = self.keys[key or name]
        self.signatures[f"{file}.sig"] = sshsig(used, space or namespace(said), raw)
        return self

    def evidence(self) -> Evidence:
        """Give what is judged."""
        return Evidence(
            entry=ENTRY,
            area=self.area,
            authors=self.authors,
            nominated=self.nominated,
            subjects=self.files,
            signatures=self.signatures,
        )

    def judge(self) -> Signoff:
        """Judge the entry as of the world's day: alike, whoever verified its signatures."""
        evidence, registry = self.evidence(), self.registry()
        signoff = judge(evidence, registry, self.today)
        good = set(good_marks(evidence.signatures))
        assert judge(evidence, registry, self.today, good) == signoff
        return signoff

    def codes(self) -> set[str]:
        """Give the codes of everything wrong with the evidence."""
        return {problem.code for problem in self.judge().problems}


def unsigned_world(keys: dict[str, TestKey]) -> World:
    """Give an entry that nobody signed yet."""
    return World(
        keys=keys,
        people=[
            person("author", keys["author"]),
            person("reviewer", keys["reviewer"], vouched_by="test-author"),
            person("second", keys["second"]),
            person("machine", keys["machine"], kind="machine", may=["measure"], areas=[]),
        ],
        files={
            PROSE: b"---\nterm: test\nanswer: One sentence.\n---\n\nProse.\n",
            f"glossary/{ENTRY}/figure.png": b"\x89PNG\r\n\x1a\ntest",
            KERNEL: b'#include "shared.cuh"\n__global__ void test() {}\n',
            "code/test-experiment/shared.cuh": b"#define TILE 32\n",
            EXPERIMENT: b"LAUNCHES = 1000\n",
        },
    )


def complete_world(keys: dict[str, TestKey]) -> World:
    """Give an entry that its author and its reviewer signed."""
    world = unsigned_world(keys)
    world.sign("author", "author")
    world.sign("review", "reviewer")
    return world
