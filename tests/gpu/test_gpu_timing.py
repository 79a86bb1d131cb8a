"""Times on a device: against a known bound, and against another clock on the same kernel."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from measured_glossary.lab.compile import closure, compile_cubin
from measured_glossary.lab.gpu import Gpu
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import study
from measured_glossary.lab.study import Measurement
from measured_glossary.lab.table import Times
from measured_glossary.lab.timing import median_interval

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "code/copy-bandwidth/copy.cu"
BYTES = 1 << 30
SAMPLES = 60
# Both clocks are CUDA events around the same launch; the other one counts what the host needs to
# launch as well, some microseconds beside several hundred.
TOLERANCE = 0.05

# A library's warnings on somebody's machine are no fault of ours.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    """The copy experiment, measured here."""
    settings = Settings(measure="live", cache=tmp_path_factory.mktemp("cache"))
    found = study(ROOT, "copy-bandwidth", settings)
    measurements = [each for each in found.measurements if each.origin == "live"]
    assert len(measurements) == 1, found.problems
    return measurements[0]


def test_no_time_beats_the_memory_s_wires(live: Measurement) -> None:
    """The known bound holds, large copies come near it, and hot is faster than cold."""
    states = {claim.name: (claim.state, claim.detail) for claim in live.claims}
    assert len(states) == 3
    assert {name: state for name, state in states.items() if state[0] != "held"} == {}


def test_each_batch_tells_its_clock(live: Measurement) -> None:
    """Where NVML answers, the SM clock stands beside each batch, and twice the L2 was flushed."""
    pytest.importorskip("pynvml")
    l2_bytes = live.record.machine.l2_bytes
    assert l2_bytes
    cold, hot = live.record.timings
    assert (cold.flushed_bytes, hot.flushed_bytes) == (2 * l2_bytes, 0)
    assert all(len(batch.sm_clock_mhz) == 2 for batch in (*cold.batches, *hot.batches))


def benchmark(*arguments: Any, **options: Any) -> Any:
    """Time a call with CuPy's own profiler."""
    profiler = pytest.importorskip("cupyx.profiler")
    return profiler.benchmark(*arguments, name="copy", **options)  # a partial has no name


@pytest.fixture(scope="module")
def gpu(architecture: str, tmp_path_factory: pytest.TempPathFactory) -> Gpu:
    """The GPU with the copy kernel."""
    found = closure(ROOT, SOURCE)
    assert found.value is not None
    files = {name: source.raw for name, source in found.value.items()}
    cubin = compile_cubin(files, SOURCE, architecture)
    assert cubin.value is not None, cubin.problems
    path = tmp_path_factory.mktemp("cubin") / "copy.cubin"
    path.write_bytes(cubin.value.code)
    return Gpu([path], seed=1, launches=1)


@pytest.fixture(scope="module")
def copy(gpu: Gpu) -> Any:
    """One launch that copies a gibibyte."""
    source, target = (gpu.cupy.ones(BYTES, gpu.cupy.uint8) for _ in range(2))
    grid = (8 * gpu.attribute("MultiProcessorCount"),)
    arguments = (source, target, gpu.cupy.uint64(BYTES // 16))
    return partial(gpu.kernel("copy"), grid, (256,), arguments)


def test_our_times_agree_with_cupy_s_profiler(gpu: Gpu, copy: Any) -> None:
    """The medians' 99 % intervals by both clocks, in turns, come within 5 % of each other."""
    stopwatch = gpu.stopwatch(cold=False)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(SAMPLES // 10):
        ours += [stopwatch(copy) for _ in range(10)]
        measured = benchmark(copy, n_repeat=10, n_warmup=1)
        theirs += [1000 * float(seconds) for seconds in measured.gpu_times.ravel()]
    (low, high), (their_low, their_high) = (
        median_interval(samples, z=2.576) for samples in (ours, theirs)
    )
    assert low <= their_high * (1 + TOLERANCE), (low, high, their_low, their_high)
    assert their_low <= high * (1 + TOLERANCE), (low, high, their_low, their_high)


def test_a_launch_is_not_charged_with_the_host_s_time(gpu: Gpu) -> None:
    """A launch of no length is shorter by our clock than by one that the host can delay."""
    grid, nothing = (1,), gpu.cupy.zeros(16, gpu.cupy.uint8)
    call = partial(gpu.kernel("copy"), grid, (32,), (nothing, nothing, gpu.cupy.uint64(0)))
    stopwatch = gpu.stopwatch(cold=False)
    ours = Times(tuple(stopwatch(call) for _ in range(200)), "ms")
    measured = benchmark(call, n_repeat=200, n_warmup=10)
    theirs = Times(tuple(1000 * float(each) for each in measured.gpu_times.ravel()), "ms")
    assert ours < theirs


def test_a_call_that_waits_for_the_gpu_does_not_hang(gpu: Gpu) -> None:
    """The stream is held for a moment only, so that a call may wait for it."""
    stopwatch = gpu.stopwatch(cold=True)
    cells = gpu.cupy.zeros(1, gpu.cupy.uint32)
    assert stopwatch(lambda: int(cells[0])) > 0
