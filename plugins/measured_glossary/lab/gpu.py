"""What a probe gets: the GPU, through CuPy, and kernels from the cubin that we compiled.

Comes in: cubins, a seed, a number of launches. Goes out: `Gpu`. Must not compile: what runs is
what was digested and disassembled. Only a worker imports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measured_glossary.lab.sass import symbols
from measured_glossary.lab.stopwatch import Stopwatch


def _silent(done: int, total: int) -> None:
    """Report to nobody."""


class Gpu:
    """The GPU as a probe sees it.

    `cupy` is CuPy itself, `seed` what random choices start from, `launches` how many launches a
    row observes.
    """

    def __init__(
        self,
        cubins: Sequence[Path],
        *,
        seed: int,
        launches: int,
        progress: Callable[[int, int], None] = _silent,
    ) -> None:
        import cupy

        self.cupy: Any = cupy
        self.seed, self.launches, self.progress = seed, launches, progress
        self._modules = [
            (symbols(path.read_bytes()), cupy.RawModule(path=str(path))) for path in cubins
        ]

    def kernel(self, name: str) -> Any:
        """Give the kernel called `name` in the source, as a `cupy.RawKernel`.

        Launch it as `kernel(grid, block, arguments, shared_mem=bytes)`.
        """
        for names, module in self._modules:
            if name in names:
                return module.get_function(names[name])
        known = sorted(name for names, _ in self._modules for name in names)
        raise LookupError(f"no kernel {name!r}; the sources have {', '.join(known) or 'none'}")

    def attribute(self, name: str) -> int:
        """Give a device attribute by its CUDA name: `MultiProcessorCount`."""
        return int(self.cupy.cuda.Device().attributes[name])

    def stopwatch(self, *, cold: bool) -> Stopwatch:
        """Give what times calls, each with a cold or a hot L2 cache."""
        return Stopwatch(self.cupy, cold=cold, l2_bytes=self.attribute("L2CacheSize"))

    def answers(self) -> bool:
        """Say whether a trivial launch writes what it should."""
        return int(self.cupy.full(1, 7, self.cupy.uint32)[0]) == 7

    def check(self) -> None:
        """Wait until all launches have ended; a CUDA error is raised here."""
        self.cupy.cuda.Device().synchronize()


def cuda_error(error: BaseException) -> str | None:
    """Give CUDA's name of an error that CuPy raised, or `None` if it is something else."""
    found = re.match(r"cudaError\w+|CUDA_ERROR_\w+", str(error))
    from_cuda = type(error).__name__ in ("CUDARuntimeError", "CUDADriverError")
    return found.group() if found and from_cuda else None
