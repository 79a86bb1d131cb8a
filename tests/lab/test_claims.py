"""Claims of experiments, tried on doctored rows: `claims/<experiment>.yml`.

A file gives rows for which every claim holds, and figures that are not what they should be, each
with the claims that it must refute: no more, no fewer. A measured time is written `{about: 3.5}`.
"""

from __future__ import annotations

import copy
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from measured_glossary.lab.answer import Checks
from measured_glossary.lab.experiment import Experiment
from measured_glossary.lab.runner import run_worker
from measured_glossary.lab.table import Table, faults, from_data, to_data

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = Path(__file__).parent / "claims"
LAUNCHES = {"runtime": 3, "timed": 0, "outcome": 3, "static": 0, "sanitizer": 1}
NOISE = tuple(0.99 + 0.001 * sample for sample in range(21))  # of a measured time: its median is 1

Rows = dict[str, list[dict[str, Any]]]


def of_every_experiment() -> pytest.MarkDecorator:
    """Every experiment that has doctored rows."""
    return pytest.mark.parametrize("name", sorted(path.stem for path in CLAIMS.glob("*.yml")))


@cache
def declared(name: str) -> Experiment:
    """The experiment, from a module like any: neither CuPy nor a GPU is needed."""
    path = ROOT / "code" / name / "experiment.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert isinstance(module.experiment, Experiment)
    return module.experiment


def written(name: str) -> dict[str, Any]:
    """What an experiment's file says."""
    given = yaml.safe_load((CLAIMS / f"{name}.yml").read_text(encoding="utf-8"))
    assert isinstance(given, dict)
    assert set(given) == {"good", "doctored"}
    return given


def doctored(name: str) -> Iterator[Rows]:
    """The good rows, each time with some cells of one row replaced."""
    given = written(name)
    for change in given["doctored"]:
        rows = copy.deepcopy(given["good"])
        row = rows[change["table"]][change["row"]]
        assert set(change["cells"]) <= set(row)
        row |= change["cells"]
        yield rows


def filled(name: str, rows: Rows) -> list[Table]:
    """The experiment's tables with these rows, three launches each where launches count."""
    tables = [probe.table for probe in declared(name).probes]
    assert set(rows) == {table.name for table in tables}
    return [
        replace(table, rows=tuple(map(sampled, rows[table.name])), launches=LAUNCHES[table.kind])
        for table in tables
    ]


def sampled(row: dict[str, Any]) -> dict[str, Any]:
    """A row with tuples for the lists that YAML has, and samples for a time."""
    return {key: samples(cell) for key, cell in row.items()}


def samples(cell: Any) -> Any:
    """The samples that a cell stands for, if it stands for any."""
    if isinstance(cell, dict):
        return tuple(cell["about"] * noise for noise in NOISE)
    return tuple(cell) if isinstance(cell, list) else cell


def refuted(name: str, folder: Path, measurements: list[Rows]) -> list[set[str]]:
    """The claims that a worker finds refuted, for each of some measurements."""
    asked = [
        {"tables": [to_data(t) for t in filled(name, rows)], "other_code": False}
        for rows in measurements
    ]
    file = f"code/{name}/experiment.py"
    request = {"mode": "check", "root": str(ROOT), "file": file, "reasons": {}}
    ran = run_worker(Checks, {**request, "measurements": asked}, folder=folder, limit_s=60)
    assert ran.answer.value is not None, (ran.outcome, ran.answer.problems, ran.log)
    results = ran.answer.value.measurements
    assert all(r.state != "not checked here" for each in results for r in each)
    return [{r.name for r in each if r.state == "refuted"} for each in results]


@of_every_experiment()
def test_the_rows_are_rows_of_the_experiment(name: str) -> None:
    """The tables that the claims are tried on have the columns and kinds that are declared."""
    assert declared(name).faults() == ()
    for rows in (written(name)["good"], *doctored(name)):
        for table in filled(name, rows):
            assert faults(table) == ()
            assert from_data(json.loads(json.dumps(to_data(table)))) == table


@of_every_experiment()
def test_each_claim_is_refuted_by_the_figure_it_forbids(name: str, tmp_path: Path) -> None:
    """All claims hold on good rows; one swapped figure refutes just those that rest on it."""
    good, *wrong = refuted(name, tmp_path, [written(name)["good"], *doctored(name)])
    assert good == set()
    expected = [set(change["refutes"]) for change in written(name)["doctored"]]
    assert wrong == expected
    assert set().union(*expected) == {claim.name for claim in declared(name).claims}
