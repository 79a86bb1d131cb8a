"""The first experiment on a device, and the same file as a program of its own."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import study
from measured_glossary.lab.study import Measurement
from measured_glossary.lab.table import Rows

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "code" / "day14-syncthreads" / "syncthreads.cu"
LAUNCHES = 20
VARIANTS = ("removed", "misplaced", "in_place")

# A library's warnings on somebody's machine are no fault of ours.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    """The experiment, measured here with few launches."""
    settings = Settings(measure="live", launches=LAUNCHES, cache=tmp_path_factory.mktemp("cache"))
    found = study(ROOT, "day14-syncthreads", settings)
    measurements = [each for each in found.measurements if each.origin == "live"]
    assert len(measurements) == 1, found.problems
    return measurements[0]


def rows(live: Measurement, name: str) -> Rows:
    """One measured table."""
    return Rows(next(table for table in live.record.tables if table.name == name))


def test_every_claim_holds_on_this_machine(live: Measurement) -> None:
    """What the experiment claims is so here, machine code included; a missing tool is told."""
    assert len(live.claims) >= 11
    not_held = [claim for claim in live.claims if claim.state != "held"]
    assert [c for c in not_held if "compute-sanitizer is not installed" not in c.detail] == []


def test_each_row_holds_one_count_a_launch(live: Measurement) -> None:
    """Every racy cell has a sample for each launch, and the origins add up to the wrong ones."""
    for row in rows(live, "mismatches"):
        origins = ("poison", "earlier_block", "earlier_launch", "unexplained")
        parts = [row[f"removed_{origin}"].samples for origin in origins]
        assert len(row.removed.samples) == LAUNCHES
        assert tuple(map(sum, zip(*parts, strict=True))) == row.removed.samples


def test_the_poison_reaches_the_memory_that_is_raced_for(live: Measurement) -> None:
    """Where threads read too early, some find the poison: shared memory was filled before."""
    assert rows(live, "mismatches")(threads_per_block=256).removed_poison > 0


def test_the_record_gives_nothing_of_the_machine_away(live: Measurement) -> None:
    """The machine is named by its class, and the toolchain by versions."""
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", live.record.machine.id)
    assert {"nvrtc", "cupy", "python"} <= set(live.record.toolchain)
    assert live.record.options == (f"--gpu-architecture={live.record.machine.architecture}",)


# ── the same file, built with nvcc ───────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def printed(
    nvcc: str, architecture: str, tmp_path_factory: pytest.TempPathFactory
) -> list[list[str]]:
    """The words of each line that the program prints."""
    program = tmp_path_factory.mktemp("nvcc") / "a.out"
    command = [nvcc, "-O3", f"-arch={architecture}", str(KERNELS), "-o", str(program)]
    subprocess.run(command, check=True, timeout=300)
    done = subprocess.run(
        [str(program), str(LAUNCHES)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def ranges(printed: list[list[str]]) -> dict[int, dict[str, tuple[int, int]]]:
    """The program's first table: least and most wrong elements by block size and variant."""
    found = {}
    for words in printed:
        if len(words) == 1 + len(VARIANTS) and words[0].isdigit() and ".." in words[1]:
            cells = [word.split("..") for word in words[1:]]
            pairs = [(int(least), int(most)) for least, most in cells]
            found[int(words[0])] = dict(zip(VARIANTS, pairs, strict=True))
    return found


def test_the_program_sees_wrong_elements_where_the_experiment_does(
    live: Measurement, printed: list[list[str]]
) -> None:
    """By block size and variant, nvcc's program and the CuPy run agree on zero or not zero."""
    seen = ranges(printed)
    compared: dict[Any, tuple[bool, bool]] = {}
    for row in rows(live, "mismatches"):
        for variant in VARIANTS:
            most = seen[row.threads_per_block][variant][1]
            compared[row.threads_per_block, variant] = (most > 0, row[variant] != 0)
    assert len(compared) == 18
    assert {pair: both for pair, both in compared.items() if both[0] != both[1]} == {}


def test_the_program_counts_the_same_arrivals(live: Measurement, printed: list[list[str]]) -> None:
    """Arrivals and wrong cells after an early return are the same numbers in both."""
    numbers = [words for words in printed if len(words) == 3 and all(w.isdigit() for w in words)]
    program = {int(staying): (int(a), int(w)) for staying, a, w in numbers}
    measured = {r.staying: (r.arrived, r.wrong_cells) for r in rows(live, "early_return")}
    assert program == measured
