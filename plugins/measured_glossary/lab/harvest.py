"""What a cluster's workers sent, taken in through the door by which every record comes.

Comes in: plain data of a worker, and the job it was for. Goes out: a record in `measurements/`, a
static result in the cache, or problems. Must not know the cluster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import measured_glossary
from measured_glossary.lab.board import STATIC, Job
from measured_glossary.lab.declared import Declared
from measured_glossary.lab.record import Machine, Record, read_record, write_record
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import canonical_json, decode, read, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """Where results go: the project, the experiments' declarations, and a cache, if there is one.

    There is no record of machine code, only of a GPU: what a worker without one read is remembered
    in the cache, so that it is not read again.
    """

    root: Path
    declared: Mapping[str, Declared]
    cache: Path | None

    def take(self, job: Job, result: Mapping[str, Any]) -> Checked[Record]:
        """Keep what a worker sent; the value is the record that was written."""
        problems = tuple(map(_reported, result["problems"]))
        if job.kind == STATIC:
            refuted = tuple(self._take_static(job, result, whole=not problems))
            return Checked(value=None, problems=problems + refuted)
        if result["record"] is None:
            return Checked(value=None, problems=problems)
        record = self._checked(job, result["record"])
        if record.value is not None:
            write_record(self.root, record.value)
        return Checked(value=record.value, problems=problems + record.problems)

    def was_done(self, job: Job, machine: Machine | None) -> bool:
        """Say whether a record of the same inputs and machine, or the static result, is there."""
        if machine is None:
            path = self._static_path(job)
            return path is not None and path.is_file()
        source = read(self.root, _file(job))
        record = read_record(source.value).value if source.value else None
        inputs = self.declared[job.experiment].inputs
        return record is not None and record.inputs == inputs and record.machine == machine

    def _checked(self, job: Job, raw: bytes) -> Checked[Record]:
        """Read a record that was sent: of the files that were sent, and of that kind of machine."""
        source = decode(_file(job), raw)
        if source.value is None:
            return Checked(value=None, problems=source.problems)
        record = read_record(source.value)
        if record.value is None or record.value.inputs == self.declared[job.experiment].inputs:
            return record
        message = f"{job.kind} sent a record of other files than were sent to it"
        return Checked(value=None, problems=(job_problem(job, "cluster-wrong-record", message),))

    def _take_static(self, job: Job, result: Mapping[str, Any], *, whole: bool) -> list[Problem]:
        claims = result["claims"].items()
        refuted = sorted(name for name, state in claims if state == "refuted")
        path = self._static_path(job)
        if path is not None and whole and not refuted:
            told = canonical_json({name: result[name] for name in ("static", "claims")})
            write(path.parent, path.name, told)
        said = "the claim {} is refuted by the machine code that was compiled there"
        return [job_problem(job, "cluster-refuted", said.format(name)) for name in refuted]

    def _static_path(self, job: Job) -> Path | None:
        if self.cache is None:
            return None
        inputs = self.declared[job.experiment].inputs
        parts = {"inputs": inputs, "version": measured_glossary.__version__}
        digest = hashlib.sha256(canonical_json(parts)).hexdigest()
        return self.cache / "cluster" / f"{job.experiment}-{digest}.json"


def job_problem(job: Job, code: str, message: str, hint: str = "") -> Problem:
    """Give a problem with a job, at the experiment's file."""
    place = Place(f"code/{job.experiment}/experiment.py")
    return Problem(place=place, code=code, message=message, hint=hint)


def _file(job: Job) -> str:
    return f"measurements/{job.experiment}/{job.kind}.json"


def _reported(problem: Mapping[str, Any]) -> Problem:
    place = Place(problem["file"], problem["line"], problem["column"])
    return Problem(place=place, **{n: problem[n] for n in ("code", "message", "hint")})
