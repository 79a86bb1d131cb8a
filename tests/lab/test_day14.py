"""The first experiment: its machine code, and that each of its claims can fail."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from measured_glossary.lab.answer import Checks
from measured_glossary.lab.compile import closure, compile_cubin, disassemble
from measured_glossary.lab.record import read_reported
from measured_glossary.lab.runner import run_worker
from measured_glossary.lab.sass import Sass
from measured_glossary.lab.table import Table, faults, from_data, to_data
from measured_glossary.source import read

ROOT = Path(__file__).resolve().parents[2]
KERNELS = "code/day14-syncthreads/syncthreads.cu"
EXPERIMENT = "code/day14-syncthreads/experiment.py"
WITH, WITHOUT = "reverse_with_barrier", "reverse_without_barrier"
MISPLACED = "reverse_barrier_misplaced"


@pytest.fixture(scope="module")
def experiment() -> ModuleType:
    """The experiment's module, imported as any Python file: neither CuPy nor a GPU is needed."""
    spec = importlib.util.spec_from_file_location("day14", ROOT / EXPERIMENT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def declared(experiment: ModuleType) -> dict[str, Table]:
    """The experiment's tables, without rows."""
    assert experiment.experiment.faults() == ()
    return {probe.table.name: probe.table for probe in experiment.experiment.probes}


def machine_code(architecture: str) -> Sass:
    """The machine code of the experiment's kernels."""
    found = closure(ROOT, KERNELS)
    assert found.value is not None
    files = {name: source.raw for name, source in found.value.items()}
    cubin = compile_cubin(files, KERNELS, architecture)
    assert cubin.value is not None, cubin.problems
    assert cubin.value.log == ""
    sass = disassemble(cubin.value)
    assert sass.value is not None, sass.problems
    return sass.value


# ── machine code ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_the_kernels_differ_by_the_barrier_alone(architecture: str) -> None:
    """With and without the barrier the kernels have the same instructions but for one."""
    code = machine_code(architecture)
    more = code.opcodes(WITH) - code.opcodes(WITHOUT)
    assert [name.partition(".DEFER")[0] for name in more.elements()] == ["BAR.SYNC"]
    assert code.opcodes(WITHOUT) - code.opcodes(WITH) == {}
    assert code.opcodes(MISPLACED) == code.opcodes(WITH)


def test_the_misplaced_barrier_lies_below_both_accesses() -> None:
    """The compiler keeps the barrier where the source has it: below the read, or between."""
    code = machine_code("sm_90")
    assert order(code.lines(WITH)) == ["STS", "BAR", "LDS"]
    assert order(code.lines(MISPLACED)) == ["STS", "LDS", "BAR"]
    assert order(code.lines(WITHOUT)) == ["STS", "LDS"]


def order(lines: tuple[str, ...]) -> list[str]:
    """The accesses to shared memory and the barriers of a kernel, in order."""
    return [line[:3] for line in lines if line.startswith(("STS", "LDS", "BAR"))]


def test_the_poison_is_not_optimised_away() -> None:
    """Stores that no thread reads are still made: without them nothing is poisoned."""
    assert machine_code("sm_90").count("poison_shared", "STS") > 0


# ── launches ─────────────────────────────────────────────────────────────────────────────────


def test_launches_are_interleaved_and_none_is_lost(experiment: ModuleType) -> None:
    """Every pair gets each of its launches once, in an order that the seed alone decides."""
    pairs = [(32, "removed"), (64, "in_place")]
    order = experiment.interleaved(pairs, 50, 14)
    assert sorted(order) == sorted((pair, launch) for pair in pairs for launch in range(50))
    assert order == experiment.interleaved(pairs, 50, 14)
    assert order != experiment.interleaved(pairs, 50, 15)
    assert {pair for pair, _ in order[:10]} == set(pairs)


HARNESS = """
#define __CUDACC_RTC__
#define __global__
#define __device__
#define __shared__
struct Index { unsigned x; };
static Index threadIdx, blockIdx, blockDim;
static void __syncthreads() {}
static void atomicAdd(unsigned *cell, unsigned value) { *cell += value; }
unsigned everything[1];
#include <cstdio>
#include "%s"
int main()
{
    unsigned launch, block, threads, value;
    while (std::scanf("%%u %%u %%u %%u", &value, &launch, &block, &threads) == 4)
        std::printf("%%d ", origin(value, launch, block, threads));
}
"""


def test_each_planted_defect_has_the_origin_it_is_named_for(
    experiment: ModuleType, tmp_path: Path
) -> None:
    """The kernels' own `origin`, built for the host, tells the planted values apart, in order."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler to build the kernels' own function for the host")
    source, program = tmp_path / "harness.cpp", tmp_path / "harness"
    source.write_text(HARNESS % (ROOT / KERNELS), encoding="utf-8")
    subprocess.run([compiler, "-std=c++17", "-w", str(source), "-o", str(program)], check=True)
    launch, threads, first = 2, 256, 7 * 256
    defects = list(experiment.defects(launch, first).values())
    questions = "\n".join(f"{v[0]} {launch} {first // threads} {threads}" for v in defects)
    answer = subprocess.run([str(program)], input=questions, text=True, capture_output=True)
    assert answer.stdout.split() == [str(index) for index in range(experiment.ORIGINS)]
    assert [len(values) for values in defects] == [1, 2, 3, 4, 5, 6]


# ── claims ───────────────────────────────────────────────────────────────────────────────────

Rows = dict[str, list[dict[str, Any]]]


def good_rows(launches: int = 3) -> Rows:
    """Rows for which every claim holds."""
    zeros, some = (0,) * launches, tuple(range(17_000, 17_000 + launches))

    def mismatches(threads: int) -> dict[str, Any]:
        wrong = zeros if threads == 32 else some
        return {
            "threads_per_block": threads,
            **{"removed": wrong, "misplaced": wrong, "in_place": zeros},
            **{"removed_poison": wrong, "removed_earlier_block": zeros},
            **{"removed_earlier_launch": zeros, "removed_unexplained": zeros},
        }

    def staying(threads: int) -> dict[str, Any]:
        holes = min(threads, 256 - threads)
        left = {"arrived": threads, "wrong_cells": holes}
        return {"staying": threads, "outcome": "returned", **left}

    def watched(threads: int, barrier: str, errors: int, warnings: int) -> dict[str, Any]:
        verdict = "findings" if errors or warnings else "clean"
        key = {"threads_per_block": threads, "barrier": barrier, "tool": "racecheck"}
        counts = {"errors": errors, "warnings": warnings}
        return {**key, "verdict": verdict, **counts, "reason": ""}

    counted = {WITH: 1, WITHOUT: 0, MISPLACED: 1, "early_return": 1}
    barrier = {"only_with": "1 × BAR.SYNC", "only_without": "nothing"}
    return {
        "mismatches": [mismatches(threads) for threads in (32, 64, 128, 256, 512, 1024)],
        "checker": [
            {"origin": f"kind {n}", "before": 0, "planted": n, "found": n} for n in (1, 2, 3)
        ],
        "early_return": [staying(threads) for threads in (32, 96, 100, 160, 256)],
        "racecheck": [
            watched(32, "removed", 0, 513),
            watched(32, "in_place", 0, 0),
            watched(256, "removed", 4097, 0),
            watched(256, "in_place", 0, 0),
        ],
        "barriers": [
            {"architecture": "sm_75", "kernel": name, "barriers": count}
            for name, count in counted.items()
        ],
        "difference": [{"architecture": "sm_75", **barrier}],
    }


# Each figure that is not what it should be, and the claims it must refute, no more and no fewer.
DOCTORED: list[tuple[str, int, dict[str, Any], set[str]]] = [
    ("mismatches", 0, {"removed": (0, 0, 1)}, {"one_warp_hides_it"}),
    ("mismatches", 0, {"misplaced": (1, 0, 0)}, {"one_warp_hides_it"}),
    ("mismatches", 0, {"in_place": (0, 1, 0)}, {"one_warp_hides_it", "in_place_it_is_enough"}),
    ("mismatches", 5, {"in_place": (0, 0, 1)}, {"in_place_it_is_enough"}),
    ("mismatches", 1, {"removed": (17_000, 0, 17_000)}, {"more_warps_show_it"}),
    ("mismatches", 5, {"misplaced": (0, 0, 0)}, {"below_the_read_it_changes_nothing"}),
    ("mismatches", 3, {"removed_unexplained": (0, 0, 1)}, {"what_was_read_is_a_leftover"}),
    ("checker", 0, {"before": 1}, {"the_checker_finds_what_is_planted"}),
    ("checker", 1, {"found": 1}, {"the_checker_finds_what_is_planted"}),
    ("checker", 2, {"found": 0, "planted": 0}, {"the_checker_finds_what_is_planted"}),
    ("early_return", 1, {"arrived": 256}, {"those_who_stay_arrive"}),
    ("early_return", 1, {"wrong_cells": 95}, {"who_left_left_a_hole"}),
    ("early_return", 4, {"wrong_cells": 1}, {"who_left_left_a_hole"}),
    (
        "early_return",
        2,
        {"outcome": "hung", "arrived": None, "wrong_cells": None},
        {"an_early_return_does_not_hang", "those_who_stay_arrive", "who_left_left_a_hole"},
    ),
    ("racecheck", 0, {"warnings": 0}, {"racecheck_warns_at_one_warp"}),
    ("racecheck", 0, {"errors": 1}, {"racecheck_warns_at_one_warp"}),
    ("racecheck", 1, {"verdict": "findings", "errors": 1}, {"racecheck_accepts_the_barrier"}),
    ("racecheck", 2, {"errors": 0}, {"racecheck_finds_the_race"}),
    ("racecheck", 3, {"verdict": "findings"}, {"racecheck_accepts_the_barrier"}),
    ("barriers", 0, {"barriers": 2}, {"one_barrier_apart"}),
    ("barriers", 1, {"barriers": 1}, {"one_barrier_apart"}),
    ("difference", 0, {"only_with": "2 × BAR.SYNC"}, {"nothing_else_differs"}),
    ("difference", 0, {"only_with": "1 × BAR.SYNC, 1 × MOV"}, {"nothing_else_differs"}),
    ("difference", 0, {"only_with": "nothing"}, {"nothing_else_differs"}),
    ("difference", 0, {"only_without": "1 × MOV"}, {"nothing_else_differs"}),
]


def doctored() -> Iterator[Rows]:
    """The good rows, each time with one row's figures replaced."""
    for table, index, cells, _ in DOCTORED:
        rows = good_rows()
        rows[table][index] |= cells
        yield rows


def filled(declared: dict[str, Table], rows: Rows) -> list[Table]:
    """The experiment's tables with these rows, three launches each where launches count."""
    counted = {"runtime": 3, "outcome": 3, "static": 0, "sanitizer": 1}
    return [
        replace(table, rows=tuple(rows[name]), launches=counted[table.kind])
        for name, table in declared.items()
    ]


def refuted(declared: dict[str, Table], folder: Path, measurements: list[Rows]) -> list[set[str]]:
    """The claims that a worker finds refuted, for each of some measurements."""
    asked = [
        {"tables": [to_data(t) for t in filled(declared, rows)], "other_code": False}
        for rows in measurements
    ]
    request = {"mode": "check", "root": str(ROOT), "file": EXPERIMENT, "reasons": {}}
    ran = run_worker(Checks, {**request, "measurements": asked}, folder=folder, limit_s=60)
    assert ran.answer.value is not None, (ran.outcome, ran.answer.problems, ran.log)
    results = ran.answer.value.measurements
    assert all(r.state != "not checked here" for each in results for r in each)
    return [{r.name for r in each if r.state == "refuted"} for each in results]


def test_the_doctored_rows_are_rows_of_the_experiment(declared: dict[str, Table]) -> None:
    """The tables that the claims are tried on have the columns and kinds that are declared."""
    assert set(good_rows()) == set(declared)
    for rows in (good_rows(), *doctored()):
        for table in filled(declared, rows):
            assert faults(table) == ()
            assert from_data(json.loads(json.dumps(to_data(table)))) == table


def test_each_claim_is_refuted_by_the_figure_it_forbids(
    declared: dict[str, Table], experiment: ModuleType, tmp_path: Path
) -> None:
    """All claims hold on good rows; one swapped figure refutes just those that rest on it."""
    good, *wrong = refuted(declared, tmp_path, [good_rows(), *doctored()])
    assert good == set()
    assert wrong == [claims for *_, claims in DOCTORED]
    tried = {claim for *_, claims in DOCTORED for claim in claims}
    assert tried == {claim.name for claim in experiment.experiment.claims}


# ── what a Tesla T4 is reported to have shown ────────────────────────────────────────────────


def test_the_reported_figures_fit_the_experiment(declared: dict[str, Table]) -> None:
    """The cited figures of the earlier card fill columns of this experiment."""
    source = read(ROOT, "measurements/day14-syncthreads/tesla-t4.reported.yml")
    assert source.value is not None
    reported = read_reported(source.value, declared)
    assert reported.value is not None, reported.problems
    mismatches, early_return = reported.value.tables
    assert [row["removed"] for row in mismatches.rows] == [0, 17_312, 21_696, 46_656]
    assert [row["in_place"] for row in mismatches.rows] == [0, 0, 0, 0]
    assert early_return.rows == ({"staying": 96, "arrived": 96},)
