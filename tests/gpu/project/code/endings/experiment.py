"""Launches that return, spin for ever, and write where nothing is."""

from typing import Any

from measured_glossary.lab.experiment import Experiment, exact

experiment = Experiment(title="Ways for a launch to end", sources=["endings.cu"])


@experiment.outcomes(
    cases=[{"case": name} for name in ("spins", "returns", "faults", "returns after a fault")],
    key={"case": exact("Case")},
    columns={"cell": exact("What the cell holds")},
    limit_s=5,
)
def endings(gpu: Any, case: str) -> dict[str, int]:
    """One launch in a process of its own."""
    cell = gpu.cupy.zeros(1, gpu.cupy.uint32)
    target = gpu.cupy.uint64(0) if case == "faults" else cell
    gpu.kernel("spins" if case == "spins" else "returns")((1,), (1,), (target,))
    gpu.check()
    return {"cell": int(cell[0])}


@experiment.claim
def each_ends_in_its_way(endings: Any) -> None:
    """A kernel that spins is stopped, one that faults is told by name, and others go on."""
    assert endings(case="spins").outcome == "hung"
    assert endings(case="returns").outcome == "returned"
    assert endings(case="faults").outcome == "cuda error cudaErrorIllegalAddress"
    assert endings(case="returns after a fault").cell == 7
