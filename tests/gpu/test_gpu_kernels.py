"""Our cubins on the device: loaded by name, stopped when they hang, told when they fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from measured_glossary.lab.compile import closure, compile_cubin
from measured_glossary.lab.gpu import Gpu
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import study

KERNELS = Path(__file__).parents[1] / "lab" / "kernels"
AWKWARD = "code/day 0/awkward.cu"

# A library's warnings on somebody's machine are no fault of ours.
pytestmark = pytest.mark.filterwarnings("default")


def test_a_template_is_launched_by_the_name_in_its_source(
    architecture: str, tmp_path: Path
) -> None:
    """A cubin from a folder with spaces is loaded, and an instance of a template runs."""
    found = closure(KERNELS, AWKWARD)
    assert found.value is not None
    files = {name: source.raw for name, source in found.value.items()}
    cubin = compile_cubin(files, AWKWARD, architecture)
    assert cubin.value is not None, cubin.problems
    path = tmp_path / "a folder" / "kernels.cubin"
    path.parent.mkdir()
    path.write_bytes(cubin.value.code)

    gpu = Gpu([path], seed=1, launches=1)
    given = gpu.cupy.asarray([float(n) for n in range(64)], gpu.cupy.float32)
    turned = gpu.cupy.zeros(64, gpu.cupy.float32)
    gpu.kernel("tiles::reverse<64, float>")((1,), (64,), (given, turned))
    gpu.check()
    assert turned.get().tolist() == given.get().tolist()[::-1]
    with pytest.raises(LookupError, match="no kernel 'reverse'; the sources have"):
        gpu.kernel("reverse")


def test_a_kernel_that_spins_is_killed_and_the_gpu_answers_again(tmp_path: Path) -> None:
    """A hang costs its limit, a fault is told by name, and new processes get their results."""
    settings = Settings(measure="live", cache=tmp_path)
    found = study(Path(__file__).with_name("project"), "endings", settings)
    assert found.problems == ()
    (measurement,) = found.measurements
    (table,) = measurement.record.tables
    ended = {row["case"]: (row["outcome"], row["cell"]) for row in table.rows}
    assert ended == {
        "spins": ("hung", None),
        "returns": ("returned", 7),
        "faults": ("cuda error cudaErrorIllegalAddress", None),
        "returns after a fault": ("returned", 7),
    }
    assert {claim.state for claim in measurement.claims} == {"held"}


MEASURING = """
from pathlib import Path
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import study
study(Path.cwd(), "endings", Settings(measure="live"))
"""


def test_a_kernel_that_spins_ends_with_a_build_that_was_killed(tmp_path: Path) -> None:
    """Its process holds a pipe here, waits for the GPU, and learns of the end all the same."""
    project = Path(shutil.copytree(Path(__file__).with_name("project"), tmp_path / "project"))
    os.mkfifo(project / "alive")
    file = project / "code" / "endings" / "experiment.py"
    launched = "(target,))\n"
    held = f"""    if case == "spins":
        alive = open({str(project / "alive")!r}, "w")
        print(file=alive, flush=True)
"""
    text = file.read_text(encoding="utf-8")
    assert text.count(launched) == 1
    file.write_text(text.replace(launched, launched + held), encoding="utf-8")
    reading = os.open(project / "alive", os.O_RDONLY | os.O_NONBLOCK)
    found = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    command = [sys.executable, "-c", MEASURING]
    build = subprocess.Popen(command, cwd=project, env={**os.environ, **found})
    with os.fdopen(reading, "rb", buffering=0) as alive:
        try:
            wait_until(lambda: bool(alive.read(1)))
        finally:
            build.kill()
            build.wait()
        wait_until(lambda: alive.read(100) == b"")


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for something that happens soon."""
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)
