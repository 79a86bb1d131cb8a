"""Compiling: what a kernel is made of, what the compiler is given, what it says."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured_glossary.lab import compile as compiler
from measured_glossary.lab.compile import closure, compile_cubin
from measured_glossary.problem import Checked, Problem

KERNELS = Path(__file__).with_name("kernels")
AWKWARD = "code/day 0/awkward.cu"


def project(root: Path, files: dict[str, str]) -> Path:
    """Write a tiny project."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return root


def facts(problems: Iterable[Problem]) -> list[tuple[str, str]]:
    """Place and code of problems, sorted."""
    return sorted((str(problem.place), problem.code) for problem in problems)


def compiled(
    text: str | bytes, architecture: str = "sm_90", *options: str
) -> Checked[compiler.Cubin]:
    """Compile one file."""
    raw = text.encode() if isinstance(text, str) else text
    return compile_cubin({"code/x/x.cu": raw}, "code/x/x.cu", architecture, options)


def awkward_files() -> dict[str, bytes]:
    """The closure of the awkward kernel, as bytes."""
    found = closure(KERNELS, AWKWARD)
    assert found.value is not None, found.problems
    return {name: source.raw for name, source in found.value.items()}


# ── the closure ──────────────────────────────────────────────────────────────────────────────


def test_the_compiler_writes_into_no_bytes_that_others_share() -> None:
    """An empty log is a single NUL, and must not become what every b" " of the process holds."""
    assert compiled('extern "C" __global__ void nothing() {}').value is not None
    assert bytes([32]).hex() == "20"


def test_closure_holds_the_file_and_all_that_it_includes() -> None:
    """Quoted and angled includes are followed through continued lines, digraphs and cycles."""
    assert list(awkward_files()) == [
        AWKWARD,
        "code/day 0/parts/mirror.cuh",
        "code/common/sizes.cuh",
    ]


def test_each_include_that_leads_nowhere_is_a_problem_at_its_place(tmp_path: Path) -> None:
    """All faults of a closure are reported at once, in the files where they stand."""
    root = project(
        tmp_path,
        {
            "code/x/x.cu": (
                '#include "h.cuh"\n'
                '  #  include "missing.cuh"\r\n'
                "/* over\nlines */ #include MACRO\n"
                '#if 0\n#include_next "not-compiled.cuh"\n#endif\n'
                "#include </etc/hostname>\n"
            ),
            "code/x/h.cuh": '#include "../../../outside.cuh"\n#include "h.cuh"\n#include\n',
        },
    )
    assert facts(closure(root, "code/x/x.cu").problems) == [
        ("code/x/h.cuh:1:1", "outside-include"),
        ("code/x/h.cuh:3:1", "macro-include"),
        ("code/x/x.cu:2:3", "missing-include"),
        ("code/x/x.cu:4:10", "macro-include"),
        ("code/x/x.cu:6:1", "missing-include"),
        ("code/x/x.cu:8:1", "outside-include"),
    ]


def test_the_toolkits_headers_are_in_no_closure(tmp_path: Path) -> None:
    """`<x>` that the project does not have is a toolkit's header; one that it has is its own."""
    text = "#include <cuda_fp16.h>\n#include <code/own.cuh>\n"
    root = project(tmp_path, {"code/x.cu": text, "code/own.cuh": ""})
    found = closure(root, "code/x.cu")
    assert list(found.value or ()) == ["code/x.cu", "code/own.cuh"]


def test_what_stands_in_comments_and_strings_is_not_included(tmp_path: Path) -> None:
    """Comment signs in strings, quotes in comments and digit separators mislead nobody."""
    text = (
        'const char *a = "/*";\n'
        "const int n = 1'000'000, m = '\"'; // don't\n"
        '#include "real.cuh"\n'
        '// #include "no.cuh"\n/* \'\n#include "no.cuh"\n*/\n'
        'const char *b = R"x( /* )x";\n'
        '#include "real too.cuh"\n'
    )
    root = project(tmp_path, {"x.cu": text, "real.cuh": "", "real too.cuh": ""})
    found = closure(root, "x.cu")
    assert list(found.value or ()) == ["x.cu", "real.cuh", "real too.cuh"]


def test_a_linked_header_is_refused(tmp_path: Path) -> None:
    """A header that is a symbolic link is no file of the project."""
    root = project(tmp_path, {"x.cu": '#include "h.cuh"\n', "elsewhere.cuh": ""})
    (root / "h.cuh").symlink_to("elsewhere.cuh")
    assert facts(closure(root, "x.cu").problems) == [("h.cuh", "unreadable-file")]


PIECES = st.sampled_from(
    [
        *("#include ", "#", "include", "%:", "x.cu", "/", "..", "<", ">"),
        *('"', "'", 'R"(', ")", "1'0", "/*", "*/", "//", "\\\n", "\n", "\r\n", "\t", "μ"),
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_text_upsets_the_search_for_includes(text: str) -> None:
    """Whatever a file holds, its closure is found or refused with problems."""
    with tempfile.TemporaryDirectory() as folder:
        found = closure(project(Path(folder), {"x.cu": text}), "x.cu")
    assert (found.value is None) == bool(found.problems)


# ── what the compiler is given ───────────────────────────────────────────────────────────────


def test_an_awkward_kernel_compiles_for_every_architecture() -> None:
    """Byte order marks, CRLF, tabs, CJK comments, templates and spaces in paths are no trouble."""
    architectures = compiler.architectures()
    assert architectures[0] == "sm_75"
    assert "sm_90" in architectures
    for architecture in architectures:
        cubin = compile_cubin(awkward_files(), AWKWARD, architecture)
        assert cubin.problems == ()
        assert cubin.value is not None
        assert cubin.value.architecture == architecture
        assert cubin.value.code.startswith(b"\x7fELF")
        assert cubin.value.log == ""


def test_a_file_that_was_not_given_cannot_be_included(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header that lies in the working directory, but was not given, is not found."""
    monkeypatch.chdir(project(tmp_path, {"here.cuh": "", "code/x/here.cuh": ""}))
    for include in ('#include "here.cuh"', "#include <here.cuh>"):
        cubin = compiled(f"{include}\n__global__ void kernel() {{}}\n")
        assert facts(cubin.problems)[0][0].startswith("code/x/x.cu:1:")


def test_the_machine_code_does_not_depend_on_where_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two temporary folders give the same bytes; `__FILE__` is the name in the project."""
    made = []
    for name in ("one", "an other one"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
        made.append(compile_cubin(awkward_files(), AWKWARD, "sm_90").value)
    assert made[0] == made[1]
    assert made[0] is not None
    assert AWKWARD.encode() in made[0].code
    assert os.fsencode(tmp_path) not in made[0].code


def test_options_reach_the_compiler() -> None:
    """A macro from the options changes what is compiled."""
    text = "#ifndef SIZE\n#error no size\n#endif\n__global__ void kernel() {}\n"
    assert compiled(text, "sm_90", "-DSIZE=3").problems == ()
    assert facts(compiled(text).problems) == [("code/x/x.cu:2:2", "compile-error")]
    assert compiler.effective_options("sm_90", ("-DSIZE=3",)) == (
        "--gpu-architecture=sm_90",
        "-DSIZE=3",
    )


@pytest.mark.parametrize(
    "option",
    [
        *("-lineinfo", "-G", "-I/usr/include", "--include-path=x", "--pre-include=x.h"),
        *("-arch=sm_75", "--gpu-architecture=sm_75", "-default-device", "x.cu", "", "-", "@file"),
    ],
)
def test_an_option_that_does_more_than_change_the_code_is_refused(option: str) -> None:
    """Options that read or name this machine's files, or set the target, are not passed on."""
    cubin = compiled("__global__ void kernel() {}\n", "sm_90", option)
    assert facts(cubin.problems) == [("code/x/x.cu", "compile-option")]


# ── what the compiler says ───────────────────────────────────────────────────────────────────


def test_errors_stand_at_their_line_and_column_of_the_real_file() -> None:
    """Errors in the main file and in a header are found there, tabs and CJK text counted right."""
    files = {
        "code/a b/x.cu": (
            b'\xef\xbb\xbf#include "h.cuh"\r\n'
            b"__global__ void kernel(int *out)\r\n{\r\n"
            b"\t/* \xe4\xb8\xad\xe6\x96\x87 */ out[0] = absent;\r\n}\r\n"
        ),
        "code/a b/h.cuh": b"#pragma once\n\n__device__ int half() { return nothing; }\n",
    }
    cubin = compile_cubin(files, "code/a b/x.cu", "sm_75")
    assert cubin.value is None
    assert facts(cubin.problems) == [
        ("code/a b/h.cuh:3:32", "compile-error"),
        ("code/a b/x.cu:4:20", "compile-error"),
    ]
    messages = {problem.message for problem in cubin.problems}
    assert messages == {
        'identifier "absent" is undefined',
        'identifier "nothing" is undefined',
    }


def test_an_error_of_the_assembler_names_the_architecture() -> None:
    """Too much shared memory is found after parsing, has no line, and depends on the target."""
    text = (
        "__global__ void kernel(int *out)\n{\n__shared__ int tile[100000];\n"
        "tile[threadIdx.x] = 1; __syncthreads(); out[0] = tile[out[1]];\n}\n"
    )
    (problem,) = compiled(text, "sm_75").problems
    assert (str(problem.place), problem.code) == ("code/x/x.cu", "compile-error")
    assert "too much shared data" in problem.message
    assert "(sm_75)" in problem.message
    assert problem.hint


def test_host_code_without_its_guard_is_told_what_to_write() -> None:
    """NVRTC finds no host header; the hint says where host code belongs."""
    (problem,) = compiled("#include <cstdio>\n__global__ void kernel() {}\n").problems
    assert problem.place.line == 1
    assert "__CUDACC_RTC__" in problem.hint


def test_an_unknown_architecture_is_a_problem() -> None:
    """What NVRTC says of an architecture it does not know is passed on."""
    (problem,) = compiled("__global__ void kernel() {}\n", "sm_1").problems
    assert problem.code == "compile-error"
    assert "sm_1" in problem.message


def test_warnings_are_kept_in_the_log_and_name_no_folder() -> None:
    """A warning is no problem; the log names the file as the project does."""
    cubin = compiled("__global__ void kernel() { int unused; }\n").value
    assert cubin is not None
    assert cubin.log.startswith("code/x/x.cu(1): warning")
    assert tempfile.gettempdir() not in cubin.log


# ── what is there ────────────────────────────────────────────────────────────────────────────


def test_without_nvrtc_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the bindings has no architectures, and says what brings them."""
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    assert compiler.architectures() == ()
    assert "mkdocs-measured-glossary[compile]" in compiler.missing()
    assert "nvrtc" not in compiler.toolchain()
    (problem,) = compiled("__global__ void kernel() {}\n").problems
    assert problem.code == "no-compiler"
    assert "pip install" in problem.hint


def test_the_tools_versions_are_known() -> None:
    """The compiler and the disassembler tell their versions, and nothing is missing."""
    assert compiler.missing() == ""
    assert set(compiler.toolchain()) == {"nvrtc", "nvdisasm"}
