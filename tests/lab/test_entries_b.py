"""Bank conflicts, coalescing, divergence, atomics: what the kernels must not lose to the compiler.

That each claim can fail is tried in `test_claims.py`.
"""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from measured_glossary.lab.compile import closure, compile_cubin, disassemble
from measured_glossary.lab.sass import Sass

ROOT = Path(__file__).resolve().parents[2]


def experiment(name: str) -> ModuleType:
    """An experiment's module, imported as any Python file: neither CuPy nor a GPU is needed."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "code" / name / "experiment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def machine_code(file: str, architecture: str) -> Sass:
    """The machine code of an experiment's kernels, compiled without a warning."""
    found = closure(ROOT, file)
    assert found.value is not None
    files = {name: source.raw for name, source in found.value.items()}
    cubin = compile_cubin(files, file, architecture)
    assert cubin.value is not None, cubin.problems
    assert cubin.value.log == ""
    sass = disassemble(cubin.value)
    assert sass.value is not None, sass.problems
    return sass.value


def opcodes(lines: tuple[str, ...]) -> list[str]:
    """The first part of each instruction's name, in order."""
    return [line.split()[line.startswith("@")].partition(".")[0] for line in lines]


# ── bank conflicts ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("stride", "words"), [(0, 1), (1, 1), (2, 2), (3, 1), (12, 4), (24, 8), (32, 32), (33, 1)]
)
def test_words_asked_of_one_bank(stride: int, words: int) -> None:
    """As many words as the stride shares factors of two with the banks; one if all are the same."""
    assert experiment("bank-conflict").ways(stride) == words


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_the_loads_lie_between_the_clocks(architecture: str) -> None:
    """The clock is read before the first load of a chain and after the last, on either kernel."""
    code = machine_code("code/bank-conflict/bank_conflict.cu", architecture)
    for kernel in ("busy", "waiting"):
        names = opcodes(code.lines(kernel))
        first, last = (at for at, name in enumerate(names) if name == "CS2R")
        loads = [at for at, name in enumerate(names) if name == "LDS"]
        assert first < min(loads) <= max(loads) < last


def test_only_the_chain_waits_for_its_loads() -> None:
    """In one kernel each load gives the next one's address, in the other all have the same."""
    code = machine_code("code/bank-conflict/bank_conflict.cu", "sm_75")

    def loads(kernel: str) -> list[tuple[str, str]]:
        found = [line.split()[1] for line in code.lines(kernel) if line.startswith("LDS")]
        return [(loaded, address) for loaded, address in (each.split(",") for each in found)]

    chain, free = loads("waiting"), loads("busy")
    assert all(f"[{a[0]}]" == b[1] for a, b in pairwise(chain))
    assert len({address.strip("[]").partition("+")[0] for _, address in free}) == 1


# ── divergence ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_120"])
def test_no_two_paths_are_merged(architecture: str) -> None:
    """Each path is a loop of its own, with all eight of its unrolled steps."""
    lines = machine_code("code/warp-divergence/warp_divergence.cu", architecture).lines("branch")
    names = opcodes(lines)
    loops = [
        names[target // 16 : at]
        for at, line in enumerate(lines)
        if names[at] == "BRA" and (target := int(line.split()[-1].split(",")[-1], 16)) < at * 16
    ]
    assert [body.count("FFMA") for body in loops] == 32 * [8]


# ── coalescing and atomics ───────────────────────────────────────────────────────────────────


def test_bytes_of_the_sectors_are_those_touched() -> None:
    """Up to a word a sector the sectors are what lies between; then each word has its own."""
    module = experiment("coalescing")
    assert module.SECTOR == 8
    assert module.LINE == 4 * module.SECTOR
    touched = {
        stride: len({word * stride * 4 // 32 for word in range(1024)}) for stride in module.STRIDES
    }
    expected = {stride: 1024 * min(stride, 8) // 8 for stride in module.STRIDES}
    assert touched == expected


def test_the_expected_sum_is_that_of_the_kernels() -> None:
    """Each lane adds its number and the round's; the sum fits into the word it is kept in."""
    module = experiment("atomics")
    assert module.total(1) == module.WARPS * sum(range(64))
    assert module.total(32) == 8192 * (64 * sum(range(32)) + 32 * sum(range(64)))
    assert module.total(32) < 1 << 32


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_only_the_float_in_shared_memory_loops(architecture: str) -> None:
    """A float addition to global memory is one instruction; to shared memory it is a loop."""
    code = machine_code("code/atomics/atomics.cu", architecture)
    names = opcodes(code.lines("add_shared_float"))
    spin = names.index("ATOMS")
    assert "LDS" in names[:spin]
    assert "BRA" in names[spin : spin + 3]
