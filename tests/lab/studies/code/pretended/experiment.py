"""An experiment for a pretended GPU: every kind of probe, and every way a case can end."""

import os
import signal

from measured_glossary.lab.experiment import Experiment, bytes_, exact, racy, time

experiment = Experiment(title="Pretended", sources=["kernels.cu"])


@experiment.runtime(
    key={"threads": exact("Threads")},
    columns={"wrong": racy("Wrong elements", of=100), "took": time("Took", "ms")},
    launches=5,
)
def mismatches(gpu):
    """One block size."""
    for index, threads in enumerate((32, 64)):
        wrong = [0] * gpu.launches if threads == 32 else range(1, gpu.launches + 1)
        yield {"threads": threads, "wrong": wrong, "took": [threads] * 20}
        gpu.progress(index + 1, 2)


@experiment.static(
    key={"architecture": exact("Architecture"), "kernel": exact("Kernel")},
    columns={"barriers": exact("Barriers"), "local": bytes_("Local memory")},
)
def barriers(sass):
    """One kernel on one architecture."""
    for architecture in sass.architectures:
        for name in sass.kernels(architecture):
            count = sass.count(architecture, name, "BAR.SYNC")
            local = sass.kernel(architecture, name).local_bytes
            yield {"architecture": architecture, "kernel": name, "barriers": count, "local": local}


@experiment.outcomes(
    cases=[{"how": how} for how in ("returns", "hangs", "crashes", "fails")],
    key={"how": exact("How")},
    columns={"arrived": exact("Arrived")},
    limit_s=1,
)
def endings(gpu, how):
    """One way to end."""
    if how == "hangs":
        signal.pause()
    if how == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "fails":
        gpu.fail("cudaErrorLaunchFailure")
    return {"arrived": 96}


@experiment.claim
def one_warp_is_right(mismatches):
    """At 32 threads no launch gave a wrong element."""
    assert mismatches(threads=32).wrong == 0


@experiment.claim
def two_warps_are_right(mismatches):
    """At 64 threads no launch gave a wrong element."""
    for row in mismatches.where(threads=64):
        assert row.wrong == 0, "as expected"


@experiment.claim
def one_barrier(barriers):
    """The kernels differ by one barrier."""
    for row in barriers:
        assert row.barriers == int(row.kernel == "with_barrier")


@experiment.claim
def faster_with_fewer(mismatches, barriers):
    """Fewer threads take less time, and both kernels exist."""
    assert mismatches(threads=64).took / mismatches(threads=32).took > 1.5
    assert len(barriers) == 4


@experiment.claim
def only_one_returns(endings):
    """Of four endings one is a return."""
    assert [row.how for row in endings if row.outcome == "returned"] == ["returns"]
