"""Kernels into machine code, the same on every machine, with or without a GPU.

Comes in: the bytes of a kernel's files, an architecture, options. Goes out: a `Cubin`, its `Sass`,
or the compiler's errors at their line. Must not know what an experiment or a record is.

NVRTC compiles, through NVIDIA's own bindings and not through CuPy, which needs a device, adds
`-ftz=true` and `--device-as-default-execution-space` in silence, and reuses a cached kernel after
an included file changed.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measured_glossary.lab.includes import closure
from measured_glossary.lab.sass import Sass, read_sass
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import path_problem

__all__ = [
    "Cubin",
    "architectures",
    "closure",
    "compile_cubin",
    "disassemble",
    "effective_options",
    "missing",
    "toolchain",
]

OLDEST = 75  # the oldest compute capability that CUDA 13 compiles for
NVDISASM_LIMIT_S = 60
INSTALL = "pip install 'mkdocs-measured-glossary[compile]'"

# Options that change the code and nothing else. Others read files that no digest covers (-I,
# --pre-include), write this machine's folders into the cubin (-lineinfo, -G) or set the target.
_ALLOWED = {
    *("D", "define-macro", "U", "undefine-macro", "std", "restrict", "maxrregcount"),
    *("ftz", "fmad", "prec-div", "prec-sqrt", "use_fast_math", "extra-device-vectorization"),
    *("Xptxas", "ptxas-options"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cubin:
    """Machine code for one architecture, and what the compiler said (warnings)."""

    architecture: str
    code: bytes
    log: str = ""


# ── what this machine can do ─────────────────────────────────────────────────────────────────


def architectures() -> tuple[str, ...]:
    """Give what NVRTC compiles for, oldest first (`sm_75`, …); nothing where it is missing."""
    nvrtc = _nvrtc()
    if nvrtc is None:
        return ()
    _, found = nvrtc.nvrtcGetSupportedArchs()
    return tuple(f"sm_{number}" for number in sorted(found) if number >= OLDEST)


def missing() -> str:
    """Say what is missing to compile and to read machine code, and what installs it; or nothing."""
    needs = {"NVRTC": _nvrtc(), "nvdisasm": _nvdisasm()}
    absent = " and ".join(name for name, found in needs.items() if not found)
    return f"no {absent} here: {INSTALL}" if absent else ""


def toolchain() -> dict[str, str]:
    """Give the versions of what is there: `nvrtc` and `nvdisasm`."""
    found = {}
    if nvrtc := _nvrtc():
        _, major, minor = nvrtc.nvrtcVersion()
        found["nvrtc"] = f"{major}.{minor}"
    if version := re.search(r"V(\d+\.\d+\.\d+)", _run_nvdisasm("--version") or ""):
        found["nvdisasm"] = version[1]
    return found


def _nvrtc() -> Any:
    """Give the bindings if the library behind them can be loaded, else `None`."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError):  # no bindings; bindings without their library
        return None
    return nvrtc


def _nvdisasm() -> str | None:
    """Give the path of nvdisasm: the package's, else the one a CUDA installation put on PATH."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(f) for f in (spec and spec.submodule_search_locations) or ()]
    packaged = [p for f in sorted(folders) for p in sorted(f.glob("*/bin/nvdisasm*"))]
    return str(packaged[-1]) if packaged else shutil.which("nvdisasm")


def _run_nvdisasm(*arguments: str) -> str | None:
    program = _nvdisasm()
    if program is None:
        return None
    command = [program, *arguments]
    done = subprocess.run(command, capture_output=True, timeout=NVDISASM_LIMIT_S, check=False)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


# ── compiling ────────────────────────────────────────────────────────────────────────────────


def effective_options(architecture: str, options: tuple[str, ...]) -> tuple[str, ...]:
    """Give the options as NVRTC gets them, folders left out."""
    return (f"--gpu-architecture={architecture}", *options)


def compile_cubin(
    files: Mapping[str, bytes],
    main: str,
    architecture: str,
    options: tuple[str, ...] = (),
    *,
    line_info: bool = False,
) -> Checked[Cubin]:
    """Compile `main` from `files`, its closure, and from nothing else on this machine.

    Errors become problems at their file and line; warnings stay in the `Cubin`'s log. With
    `line_info` the cubin tells each instruction's source line, and this machine's folders with
    it: for a sanitizer only, never for a digest.
    """
    nvrtc = _nvrtc()
    if nvrtc is None:
        return _refuse(main, "no-compiler", "there is no NVRTC here to compile it", INSTALL)
    forbidden = [_option_problem(main, option) for option in options if not _is_allowed(option)]
    forbidden += [problem for name in files if (problem := path_problem(name))]
    if forbidden:
        return Checked(value=None, problems=tuple(forbidden))
    with tempfile.TemporaryDirectory(prefix="glossary-compile-") as folder:
        _write(Path(folder), files)
        include = f"--include-path={folder}"
        lines = ("-lineinfo",) if line_info else ()
        given = (*effective_options(architecture, options), include, *lines)
        code, log = _compile(nvrtc, f"{folder}/{main}", _lines(main, files[main]), given)
    log = log.replace(f"{folder}/", "").strip("\0 \n")
    if code is None:
        return Checked(value=None, problems=_errors(main, architecture, log))
    return Checked(value=Cubin(architecture=architecture, code=code, log=log))


def _is_allowed(option: str) -> bool:
    name = option.lstrip("-").partition("=")[0]
    return option.startswith("-") and (name in _ALLOWED or option[:2] in ("-D", "-U"))


def _option_problem(main: str, option: str) -> Problem:
    return Problem(
        place=Place(main),
        code="compile-option",
        message=f"{option!r} is not a compile option used here",
        hint=f"use -DNAME=VALUE or one of {', '.join(sorted(_ALLOWED))}; a value follows '='",
    )


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, raw in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_lines(name, raw))


def _lines(name: str, raw: bytes) -> bytes:
    """Put the real name before a file's text, so that messages and `__FILE__` name it.

    NVRTC refuses a byte order mark, which nvcc takes: it is dropped.
    """
    quoted = name.replace('"', '\\"')
    return f'#line 1 "{quoted}"\n'.encode() + raw.removeprefix(b"\xef\xbb\xbf")


def _compile(
    nvrtc: Any, name: str, text: bytes, options: tuple[str, ...]
) -> tuple[bytes | None, str]:
    """Give the cubin, or `None`, and the log."""
    given = [option.encode() for option in options]
    with _program(nvrtc, text, name.encode()) as program:
        (result,) = nvrtc.nvrtcCompileProgram(program, len(given), given)
        log = _fetch(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        compiled = result == nvrtc.nvrtcResult.NVRTC_SUCCESS
        code = _fetch(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program) if compiled else None
    return code, log.decode(errors="replace") or result.name


@contextmanager
def _program(nvrtc: Any, text: bytes, name: bytes) -> Iterator[Any]:
    result, program = nvrtc.nvrtcCreateProgram(text, name, 0, [], [])
    if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(f"NVRTC made no program: {result.name}")
    try:
        yield program
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _fetch(size_of: Any, fill: Any, program: Any) -> bytes:
    _, size = size_of(program)
    # The bindings write into a bytes object. One of a single byte is shared by the whole process
    # (the NUL of an empty log would turn every b" " into b"\x00"), so it is never that short.
    buffer = bytes(size + 1)
    fill(program, buffer)
    return buffer[:size]


# ── what the compiler said ───────────────────────────────────────────────────────────────────

_MESSAGE = re.compile(
    r"^(?P<file>[^\n]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<text>[^\n]*)"
    r"(?:\n  (?P<source>[^\n]*)\n  (?P<indent>\s*)\^)?",
    re.MULTILINE,
)
_OTHER = re.compile(r"^(?:ptxas|nvrtc)[^\n]*?error\s*: (?P<text>[^\n]*)", re.MULTILINE)

_HINTS = {
    "open source file": "NVRTC has no host headers: put host code behind #ifndef __CUDACC_RTC__",
    "too much shared data": "declare less, or ask for dynamic shared memory at the launch",
}


def _errors(main: str, architecture: str, log: str) -> tuple[Problem, ...]:
    """Turn NVRTC's log into problems: the source's with file, line and column, then the others."""
    found = [_error(_place(m), m["text"]) for m in _MESSAGE.finditer(log)]
    others = [m["text"] for m in _OTHER.finditer(log)] or ([] if found else [log[:400]])
    found += [_error(Place(main), f"{text} ({architecture})") for text in others]
    return tuple(found)


def _place(message: re.Match[str]) -> Place:
    file, line = message["file"], int(message["line"])
    if message["source"] is None:
        return Place(file, line)
    before = message["source"].encode()[: len(message["indent"])]  # the caret counts bytes
    return Place(file, line, len(before.decode(errors="ignore")) + 1)


def _error(place: Place, text: str) -> Problem:
    hint = next((hint for sign, hint in _HINTS.items() if sign in text), "")
    return Problem(place=place, code="compile-error", message=text, hint=hint)


def _refuse(file: str, code: str, message: str, hint: str = "") -> Checked[Any]:
    problem = Problem(place=Place(file), code=code, message=message, hint=hint)
    return Checked(value=None, problems=(problem,))


# ── reading machine code ─────────────────────────────────────────────────────────────────────


def disassemble(cubin: Cubin, main: str = "") -> Checked[Sass]:
    """Read the machine code of a cubin; `main` names the kernel's file in a problem's place."""
    with tempfile.TemporaryDirectory(prefix="glossary-sass-") as folder:
        path = Path(folder) / "kernels.cubin"
        path.write_bytes(cubin.code)
        printed = _run_nvdisasm("-json", str(path))
    if printed is None:
        what = "nvdisasm refuses the cubin" if _nvdisasm() else "there is no nvdisasm here"
        return _refuse(main or ".", "no-machine-code", f"{what} ({cubin.architecture})", INSTALL)
    try:
        return Checked(value=read_sass(cubin.code, printed))
    except ValueError as error:
        return _refuse(main or ".", "no-machine-code", f"{error} ({cubin.architecture})")
