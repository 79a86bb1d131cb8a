"""What this machine can do: compile for which architectures, run on which GPU.

Comes in: settings, and the worker that may use the GPU. Goes out: `Means`, or problems that say
what is missing. Must not know what is to be compiled or run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from measured_glossary.lab.answer import Compilers, Found
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.record import Machine
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.warm import WarmWorker
from measured_glossary.problem import Checked, Place, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What this machine can do.

    `missing` says what it lacks to compile; `machine` is none where there is no GPU, or where
    nobody looked for it.
    """

    architectures: tuple[str, ...]
    missing: str
    toolchain: Mapping[str, str]
    machine: Machine | None


def find_means(settings: Settings, warm: WarmWorker) -> Checked[Means]:
    """Ask for the compiler, and beside it for the GPU if one is looked for, `warm` for its use."""
    with tempfile.TemporaryDirectory(prefix="glossary-") as folder, ThreadPoolExecutor(1) as pool:
        bench = Bench(experiment="", folder=Path(folder), settings=settings, warm=warm)
        looking = pool.submit(_machine, bench)
        compilers = bench.ask(Compilers, "compilers", settings.limits.quick_s)
        found = looking.result()
    if compilers.value is None or found.value is None:
        return Checked(value=None, problems=(*compilers.problems, *found.problems))
    machine = found.value.machine
    return Checked(
        value=Means(
            architectures=tuple(compilers.value.architectures),
            missing=compilers.value.missing,
            toolchain=compilers.value.toolchain,
            machine=Machine(**machine.model_dump()) if machine else None,
        )
    )


def _machine(bench: Bench) -> Checked[Found]:
    if not bench.settings.looks_for_gpu:
        return Checked(value=Found(machine=None))
    ran = bench.run_warm(Found, "machine", bench.settings.limits.quick_s)
    return bench.answer_of(ran, "machine")


def missing_means(means: Means, file: str) -> Iterator[Problem]:
    """Say what measuring the experiment of `file` live would need and is not here."""
    place = Place(file)
    if means.missing:
        message = f"measuring live needs a compiler: {means.missing}"
        yield Problem(place=place, code="no-compiler", message=message)
    if means.machine is None:
        message = "measuring live was asked for, and no GPU answers here"
        hint = "build with measure: recorded, or check nvidia-smi and that CuPy is installed"
        yield Problem(place=place, code="no-gpu", message=message, hint=hint)
