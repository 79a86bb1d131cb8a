"""Our cubins on the device: loaded by name, stopped when they hang, told when they fail."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from textwrap import indent

import pytest

from killed_build import held, kill_while_held
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
    file = project / "code" / "endings" / "experiment.py"
    text, launched = file.read_text(encoding="utf-8"), "(target,))\n"
    assert text.count(launched) == 1
    holding = f'    if case == "spins":\n{indent(held(project), "        ")}'
    file.write_text(text.replace(launched, launched + holding), encoding="utf-8")
    found = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    kill_while_held([sys.executable, "-c", MEASURING], project, {**os.environ, **found})
