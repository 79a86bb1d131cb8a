"""The real worker with a pretended GPU and compiler: `pretend_gpu.py NAME… REQUEST.json`.

Each NAME takes something away or changes it: `no-gpu`, `no-compiler`, `other-driver`, `lost-gpu`,
`braked` and `braked-once`.
Everything between the pretended parts and the author's file is the code that runs in earnest.
"""

from __future__ import annotations

import itertools
import mmap
import os
import re
import runpy
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from measured_glossary.lab import gpu
from measured_glossary.lab.sass import Kernel, Sass
from measured_glossary.problem import Checked, Place, Problem

CHANGES = set(sys.argv[1:-1])


class CUDARuntimeError(RuntimeError):
    """Named like CuPy's."""


class Cubin(types.SimpleNamespace):
    """A pretended cubin: the source's own text."""


class Stopwatch(types.SimpleNamespace):
    """A pretended stopwatch: a call gives the time that it takes."""

    flushed_bytes: int

    def __call__(self, call: Callable[[], float]) -> float:
        """Run the call."""
        return call()


class Gpu:
    """A GPU whose kernels are written down in the test: `gpu.fail` raises as a launch would."""

    def __init__(
        self,
        cubins: Sequence[Path],
        *,
        seed: int,
        launches: int,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self.text = "".join(path.read_text(encoding="utf-8") for path in cubins)
        self.seed, self.launches, self.progress = seed, launches, progress

    def fail(self, name: str) -> None:
        """Raise a CUDA error, as a launch would."""
        raise CUDARuntimeError(f"{name}: unspecified")

    def stopwatch(self, *, cold: bool) -> Stopwatch:
        """Give a clock on which a call takes what the call itself says, in milliseconds."""
        return Stopwatch(flushed_bytes=1 << 20 if cold else 0)

    def answers(self) -> bool:
        """Answer, unless the GPU is pretended to be lost."""
        return "lost-gpu" not in CHANGES

    def check(self) -> None:
        """Wait for nothing."""


def compile_cubin(
    files: Mapping[str, bytes],
    main: str,
    architecture: str,
    options: Sequence[str] = (),
    **_more: Any,
) -> Checked[Any]:
    """Take the source for the cubin; a source that says `bad` does not compile."""
    text = files[main].decode()
    if "bad" in text:
        place = Place(main, text[: text.index("bad")].count("\n") + 1, 5)
        problem = Problem(place=place, code="compile-error", message="bad is undefined")
        return Checked(value=None, problems=(problem,))
    return Checked(value=Cubin(architecture=architecture, code=files[main], log=""))


def disassemble(cubin: Any, main: str = "") -> Checked[Sass]:
    """Find a kernel in each line that begins with `kernel`, and its barriers."""
    found = re.findall(r"^kernel (\w+)(.*)$", cubin.code.decode(), re.MULTILINE)
    kernels = tuple(
        Kernel(
            name=name,
            symbol=name,
            registers=8,
            local_bytes=0,
            shared_bytes=0,
            instructions=("BAR.SYNC 0x0",) * body.count("barrier"),
        )
        for name, body in found
    )
    return Checked(value=Sass(code=kernels))


def module(name: str, **members: Any) -> None:
    """Put a pretended module in the place of a real one."""
    pretended = types.ModuleType(name)
    vars(pretended).update(members)
    sys.modules[f"measured_glossary.lab.{name}"] = pretended
    setattr(sys.modules["measured_glossary.lab"], name, pretended)


FINGERPRINT = {
    "name": "Pretended GPU",
    "compute_capability": "9.0",
    "driver": "2.0" if "other-driver" in CHANGES else "1.0",
}


LOOKS = itertools.count()


def conditions() -> dict[str, Any]:
    """Tell a clock; where it is braked, that, and `braked-once` at the third look only."""
    look = next(LOOKS)
    braked = "braked" in CHANGES or ("braked-once" in CHANGES and look == 3)
    return {"sm_clock_mhz": 1000, **({"throttle_reasons": ["SwPowerCap"]} if braked else {})}


def pretend() -> None:
    """Pretend the compiler, the machine and the GPU."""
    no_compiler = "no-compiler" in CHANGES
    module(
        "compile",
        architectures=lambda: () if no_compiler else ("sm_75", "sm_90"),
        missing=lambda: "no NVRTC here: install it" if no_compiler else "",
        toolchain=lambda: {"nvrtc": "0.0"},
        compile_cubin=compile_cubin,
        disassemble=disassemble,
    )
    module(
        "machine",
        fingerprint=lambda: None if "no-gpu" in CHANGES else FINGERPRINT,
        conditions=conditions,
        software=lambda: {"cupy": "0.0"},
    )
    module("gpu", Gpu=Gpu, cuda_error=gpu.cuda_error)


def map_library() -> mmap.mmap | None:
    """Have in this process the file that a pretended tool names, as its library would be."""
    name = os.environ.get("PRETENDED_LIBRARY")
    if name is None:
        return None
    with Path(name).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


if __name__ == "__main__":
    pretend()
    library = map_library()
    sys.argv = [sys.argv[0], sys.argv[-1]]
    runpy.run_module("measured_glossary.lab.worker", run_name="__main__")
