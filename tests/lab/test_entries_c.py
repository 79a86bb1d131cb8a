"""Occupancy, spilling, launches and waiting: what the entries print, and what the kernels do.

That the claims can fail is tried in `test_claims.py`, on the rows that these entries print too.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from test_claims import filled, written

from measured_glossary.body import Value
from measured_glossary.entry import parse
from measured_glossary.expression import evaluate
from measured_glossary.lab.compile import closure, compile_cubin, disassemble
from measured_glossary.lab.sass import Sass
from measured_glossary.lab.table import Rows
from measured_glossary.source import read

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = ("occupancy", "register-spilling", "launch-latency", "device-synchronize")


def machine_code(file: str, architecture: str) -> Sass:
    """The machine code of a file's kernels."""
    found = closure(ROOT, file)
    assert found.value is not None
    files = {name: source.raw for name, source in found.value.items()}
    cubin = compile_cubin(files, file, architecture)
    assert cubin.value is not None, cubin.problems
    assert cubin.value.log == ""
    sass = disassemble(cubin.value)
    assert sass.value is not None, sass.problems
    return sass.value


def module_of(name: str) -> ModuleType:
    """The module of an experiment."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "code" / name / "experiment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ENTRIES)
def test_every_expression_of_the_entry_gives_a_value(name: str) -> None:
    """What the text prints is there in rows for which the claims hold."""
    source = read(ROOT, f"glossary/{name}/entry.md")
    assert source.value is not None
    entry = parse(name, source.value)
    assert entry.value is not None, entry.problems
    tables = {table.name: Rows(table) for table in filled(name, written(name)["good"])}
    values = [piece for piece in entry.value.pieces if isinstance(piece, Value)]
    assert values
    for value in values:
        printed = evaluate(value, tables)
        assert printed.value, (value.expression, printed.problems)


# ── kernels ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_120"])
def test_spills_lie_inside_the_loop(architecture: str) -> None:
    """What the tightest cap spills is stored and loaded in every round, not only around them."""
    file = "code/register-spilling/register_spilling.cu"
    lines = machine_code(file, architecture).lines("mix<32>")
    rounds = [at for at, line in enumerate(lines) if line.startswith("IMAD R")]
    inside = lines[rounds[0] : rounds[-1]]
    assert sum(line.startswith("LDL") for line in inside) > 20
    assert sum(line.startswith("STL") for line in inside) > 20


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_120"])
def test_the_slow_kernel_looks_at_the_clock_again_before_it_writes(architecture: str) -> None:
    """The clock is read twice, the second time in a loop, and the store stands behind both."""
    file = "code/device-synchronize/device_synchronize.cu"
    lines = machine_code(file, architecture).lines("write_late")
    clocks = [at for at, line in enumerate(lines) if "GLOBALTIMER" in line]
    (store,) = (at for at, line in enumerate(lines) if line.startswith("STG"))
    assert len(clocks) == 2
    assert any("BRA" in line for line in lines[clocks[-1] : store])


# ── what the host does ───────────────────────────────────────────────────────────────────────


def test_one_kernel_more_is_the_difference_divided_by_how_many_more() -> None:
    """The ways to the GPU and back, which both timings hold, cancel out."""
    module = module_of("launch-latency")
    launched: list[tuple[int, ...]] = []
    way_ms, kernel_ms = 0.5, 0.002

    def stopwatch(call: object) -> float:
        launched.clear()
        assert callable(call)
        call()
        return way_ms + kernel_ms * len(launched)

    driver = SimpleNamespace(launchKernel=lambda *given: launched.append(given))
    runtime = SimpleNamespace(deviceSynchronize=lambda: None)
    gpu = SimpleNamespace(
        check=lambda: None,
        stopwatch=lambda cold: stopwatch,
        kernel=lambda name: SimpleNamespace(kernel=SimpleNamespace(ptr=7)),
        cupy=SimpleNamespace(cuda=SimpleNamespace(driver=driver, runtime=runtime)),
    )
    bench = module.Bench(gpu)
    assert bench.in_the_queue() == pytest.approx(1000 * kernel_ms)
    enqueued_us, finished_us = bench.on_the_host()
    assert 0 <= enqueued_us <= finished_us
