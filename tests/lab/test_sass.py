"""Machine code: names, counts, resources, and what happens to damaged input."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured_glossary.lab import compile as compiler
from measured_glossary.lab.compile import Cubin, closure, compile_cubin, disassemble
from measured_glossary.lab.sass import Sass, plain_name, read_sass, symbols

KERNELS = Path(__file__).with_name("kernels")
RESOURCES = "code/resources.cu"
AWKWARD = "code/day 0/awkward.cu"


@cache
def cubin(main: str, architecture: str, *options: str) -> Cubin:
    """Compile one of the kernel files beside this test."""
    found = closure(KERNELS, main)
    assert found.value is not None
    files = {name: source.raw for name, source in found.value.items()}
    made = compile_cubin(files, main, architecture, options)
    assert made.value is not None, made.problems
    return made.value


@cache
def sass(main: str, architecture: str, *options: str) -> Sass:
    """Compile and disassemble one of the kernel files beside this test."""
    found = disassemble(cubin(main, architecture, *options))
    assert found.value is not None, found.problems
    return found.value


NEWEST = (compiler.architectures() or ("none",))[-1]


# ── counting ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", NEWEST])
def test_one_prefix_counts_one_instruction_on_every_architecture(architecture: str) -> None:
    """`BAR.SYNC` is found under each architecture's name for it, and `LD` does not count `LDS`."""
    code = sass(RESOURCES, architecture)
    assert code.count("shares", "BAR.SYNC") == 1
    assert code.count("shares", "BAR") == 1
    assert code.count("calls", "BAR.SYNC") == 0
    assert code.count("shares", "LDS") >= 2
    assert code.count("shares", "LD") == 0
    assert code.count("shares", "NOP") == 0


def test_the_code_is_what_nvcc_makes_without_fast_math() -> None:
    """No option is added in silence: denormal numbers are not flushed to zero."""
    flushed = sass(RESOURCES, "sm_90", "--ftz=true")
    assert any(".FTZ" in line for line in flushed.lines("spills"))
    assert not any(".FTZ" in line for line in sass(RESOURCES, "sm_90").lines("spills"))


def test_lines_are_printed_with_predicate_and_operands() -> None:
    """An instruction reads as `nvdisasm` prints it."""
    lines = sass(RESOURCES, "sm_75").lines("shares")
    assert "BAR.SYNC 0x0" in lines
    assert any(re.fullmatch(r"@!?P\d \S+( .*)?", line) for line in _all_lines("sm_75"))


def _all_lines(architecture: str) -> list[str]:
    code = sass(RESOURCES, architecture)
    return [line for kernel in code.kernels for line in code.lines(kernel)]


# ── names ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("reverse", "reverse"),
        ("_Z5callsPf", "calls"),
        ("_Z2tkILi5EdEvPT0_", "tk<5, double>"),
        ("_Z2tkILin5ELb1EEvv", "tk<-5, true>"),
        ("_ZN2ns5inner4tileILj64EfEEvPT0_", "ns::inner::tile<64, float>"),
        ("_ZN34_GLOBAL__N__00000000_4_x_cu_spilly4anonEPi", "(anonymous namespace)::anon"),
        ("_Z1kI6float4EvPT_", "_Z1kI6float4EvPT_"),
        ("_ZN2nsE", "ns"),
        ("_Z", "_Z"),
        ("_ZN2ns", "_ZN2ns"),
        ("_Z2tkILi5", "_Z2tkILi5"),
    ],
)
def test_a_kernel_is_called_what_its_source_calls_it(symbol: str, name: str) -> None:
    """Simple names are undone; those that need more of the ABI stay the linker's."""
    assert plain_name(symbol) == name


def test_templates_and_overloads_are_found_by_name() -> None:
    """An instance is named with its arguments; overloads, which share a name, by the linker's."""
    assert sass(AWKWARD, "sm_90").kernels == (
        "tiles::reverse<1024, double>",
        "tiles::reverse<64, float>",
        "where_am_i",
    )
    names = symbols(cubin(RESOURCES, "sm_90").code)
    assert names["calls"] == "_Z5callsPf"
    assert {"_Z10overloadedPi", "_Z10overloadedPf"} <= set(names)
    assert sass(RESOURCES, "sm_90").lines("_Z5callsPf")


def test_a_kernel_that_is_not_there_is_refused_with_the_names_that_are() -> None:
    """Asking for a kernel that does not exist lists those that do."""
    with pytest.raises(LookupError, match=r"no kernel 'shared'; there are .*shares"):
        sass(RESOURCES, "sm_90").lines("shared")


# ── what a kernel occupies ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("architecture", ["sm_75", "sm_89", NEWEST])
def test_resources_are_those_the_assembler_reports(architecture: str) -> None:
    """Registers, local and shared bytes read from the cubin are those `ptxas -v` prints."""
    code = sass(RESOURCES, architecture, "--ptxas-options=-v")
    printed = reported(cubin(RESOURCES, architecture, "--ptxas-options=-v").log)
    assert len(printed) == len(code.code) == 6
    for kernel in code.code:
        assert printed[kernel.symbol] == {
            "registers": code.registers(kernel.name),
            "local": code.local_bytes(kernel.name),
            "shared": code.shared_bytes(kernel.name),
        }
    assert code.local_bytes("spills") > 64 * 4
    assert code.shared_bytes("shares") == 300 * 4 + 10 * 8
    assert code.shared_bytes("shares_at_launch") == 0


def reported(log: str) -> dict[str, dict[str, int]]:
    """Read what `ptxas -v` said of each kernel."""
    found = {}
    for entry in log.split("Compiling entry function ")[1:]:
        symbol = entry.split("'")[1]
        used = next(line for line in entry.splitlines() if "Used " in line)
        patterns = {
            "registers": r"(\d+) registers",
            "local": r"(\d+) bytes cumulative stack",
            "shared": r"(\d+) bytes smem",
        }
        matches = {name: re.search(pattern, used) for name, pattern in patterns.items()}
        found[symbol] = {name: int(m[1]) if m else 0 for name, m in matches.items()}
    return found


# ── digests and data ─────────────────────────────────────────────────────────────────────────


def test_the_digest_is_that_of_the_instructions() -> None:
    """The same source gives the same digest; another kernel, or another target, a different one."""
    again = disassemble(compile_again()).value
    code = sass(RESOURCES, "sm_90")
    assert again is not None
    assert {k: again.digest(k) for k in again.kernels} == {k: code.digest(k) for k in code.kernels}
    assert code.digest("shares") != code.digest("calls")
    assert code.digest("shares") != sass(RESOURCES, "sm_75").digest("shares")


def compile_again() -> Cubin:
    """Compile once more, past the cache of this test."""
    return cubin.__wrapped__(RESOURCES, "sm_90")


def test_machine_code_survives_json() -> None:
    """What is written as JSON is read back equal; other data is refused."""
    code = sass(RESOURCES, "sm_90")
    assert Sass.from_data(json.loads(json.dumps(code.to_data()))) == code
    wrong: list[object] = [None, {}, {"code": [{}]}, {"code": [{"name": "x"}]}, {"code": 3}, []]
    for data in wrong:
        with pytest.raises(ValueError, match="not machine code"):
            Sass.from_data(data)


# ── damaged input ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "printed", ["", "[]", "[1, 2]", '[{}, [{"function-name": "x"}]]', "[1, []]"]
)
def test_a_disassembly_that_does_not_fit_is_refused(printed: str) -> None:
    """What nvdisasm printed must name every kernel of the cubin."""
    with pytest.raises(ValueError, match=r"disassembly does not match|Expecting value"):
        read_sass(cubin(RESOURCES, "sm_90").code, printed)


@given(st.data())
def test_no_damage_to_a_cubin_raises_anything_else(data: st.DataObject) -> None:
    """A cubin with changed or missing bytes is read, or refused with `ValueError`."""
    code = bytearray(cubin(RESOURCES, "sm_90").code)
    for _ in range(data.draw(st.integers(1, 8))):
        code[data.draw(st.integers(0, len(code) - 1))] = data.draw(st.integers(0, 255))
    length = data.draw(st.integers(0, len(code)))
    try:
        symbols(bytes(code[:length]))
        read_sass(bytes(code[:length]), "[{}, []]")
    except ValueError as refused:
        assert str(refused)


def test_gaps_between_instructions_are_left_out() -> None:
    """`nvdisasm` marks a gap with an empty opcode, which is no instruction."""
    code = cubin(RESOURCES, "sm_90").code
    gap, end = {"opcode": ""}, {"opcode": "EXIT"}
    listing = [
        {"function-name": s, "sass-instructions": [gap, end]} for s in symbols(code).values()
    ]
    assert read_sass(code, json.dumps([{}, listing])).lines("shares") == ("EXIT",)


def test_what_is_placed_behind_a_kernel_is_the_kernels() -> None:
    """An older `nvdisasm` lists by itself what stands behind a kernel; it counts all the same."""
    code = cubin(RESOURCES, "sm_90").code
    listing = [
        {"function-name": name, "start": start, "sass-instructions": [{"opcode": opcode}]}
        for symbol in symbols(code).values()
        for name, start, opcode in ((symbol, 0, "EXIT"), ("$__internal_0_$f", 16, "WARPSYNC"))
    ]
    assert read_sass(code, json.dumps([{}, listing])).lines("shares") == ("EXIT", "WARPSYNC")


def test_a_disassembler_that_fails_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disassembler that exits with an error, or prints nonsense, gives a problem, not a crash."""
    for name, script in {"fails": "exit 3", "babbles": "echo '[]'"}.items():
        stand_in = tmp_path / name
        stand_in.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        stand_in.chmod(0o755)
        monkeypatch.setattr(compiler, "_nvdisasm", lambda program=str(stand_in): program)
        (problem,) = disassemble(cubin(RESOURCES, "sm_90"), RESOURCES).problems
        assert (str(problem.place), problem.code) == (RESOURCES, "no-machine-code")
        assert "sm_90" in problem.message
