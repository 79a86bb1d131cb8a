"""Claims of experiments, tried on doctored rows: `claims/<experiment>.yml`.

A file gives rows for which every claim holds, and figures that are not what they should be, each
with the claims that it must refute: no more, no fewer. A measured time is written `{about: 3.5}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from measured_glossary.lab import rehearsal
from measured_glossary.lab.rehearsal import Rows
from measured_glossary.lab.table import Table

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = Path(__file__).parent / "claims"


def of_every_experiment() -> pytest.MarkDecorator:
    """Every experiment that has doctored rows."""
    return pytest.mark.parametrize("name", sorted(path.stem for path in CLAIMS.glob("*.yml")))


def folder(name: str) -> Path:
    """Where the experiment is."""
    return ROOT / "code" / name


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
        yield rehearsal.doctored(given["good"], change["table"], change["row"], **change["cells"])


def filled(name: str, rows: Rows) -> tuple[Table, ...]:
    """The experiment's tables with these rows."""
    return rehearsal.filled(folder(name), rows)


@of_every_experiment()
def test_each_claim_is_refuted_by_the_figure_it_forbids(name: str) -> None:
    """All claims hold on good rows; one swapped figure refutes just those that rest on it."""
    measured = [written(name)["good"], *doctored(name)]
    good, *wrong = rehearsal.refuted_by_each(folder(name), measured)
    assert good == set()
    expected = [set(change["refutes"]) for change in written(name)["doctored"]]
    assert wrong == expected
    assert set().union(*expected) == rehearsal.claims(folder(name))
