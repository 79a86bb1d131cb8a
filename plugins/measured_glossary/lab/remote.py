"""What a cluster's worker does for us: say which GPU it has, and measure one experiment on it.

Comes in: plain data, with an experiment's files as bytes. Goes out: plain data, so that nothing of
ours is unpickled at the other end. Must not know the cluster, nor keep anything.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from measured_glossary.lab.answer import Found
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.record import record_bytes
from measured_glossary.lab.settings import WORKER, Settings
from measured_glossary.lab.studies import measure, study
from measured_glossary.lab.table import to_data
from measured_glossary.problem import to_json

Command = tuple[str, ...]


def who(command: Command = WORKER) -> dict[str, Any]:
    """Say which GPU this worker has, asked in a process of its own; `machine` may be none."""
    with tempfile.TemporaryDirectory(prefix="glossary-") as folder:
        bench = Bench(experiment="", folder=Path(folder), settings=Settings(command=command))
        limit_s = bench.settings.limits.quick_s
        ran = bench.run(Found, "machine", limit_s)
        answer = bench.answer_of(ran, "machine")
    if answer.value is None:
        return {"machine": None, "problems": to_json(answer.problems)}
    machine = answer.value.machine
    return {"machine": machine.model_dump() if machine else None, "problems": []}


def work(
    experiment: str, files: Mapping[str, bytes], on_gpu: bool, command: Command = WORKER
) -> dict[str, Any]:
    """Measure an experiment on this worker's GPU, or without one read its machine code.

    `record` is the record's bytes; `static` are the tables and `claims` the states of what rests on
    machine code alone; `said` is what probes and claims printed.
    """
    with tempfile.TemporaryDirectory(prefix="glossary-") as folder:
        root = Path(folder)
        for name, raw in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        return _measured(root, experiment, command) if on_gpu else _read(root, experiment, command)


def _measured(root: Path, experiment: str, command: Command) -> dict[str, Any]:
    said: list[str] = []
    record = measure(root, experiment, Settings(command=command, tell=said.append))
    return {
        "said": said,
        "record": None if record.value is None else record_bytes(record.value),
        "problems": to_json(record.problems),
    }


def _read(root: Path, experiment: str, command: Command) -> dict[str, Any]:
    said: list[str] = []
    settings = Settings(measure="recorded", command=command, tell=said.append)
    found = study(root, experiment, settings)
    return {
        "said": said,
        "static": [to_data(table) for table in found.static],
        "claims": {claim.name: claim.state for claim in found.claims},
        "problems": to_json(found.problems),
    }
