"""Waiting for the device: what the host finds if it fetches a result without, and with."""

import ctypes
from time import perf_counter_ns

from measured_glossary.lab.experiment import Experiment, exact, racy, time

WAIT_MS = 2  # so long the kernel waits before it writes
DEFAULT, APART = "default", "non-blocking"
BLOCKING, ASYNC = "cudaMemcpy", "cudaMemcpyAsync"
NOWHERE, BEFORE, AFTER = "nowhere", "before the copy", "after the copy"
CASES = [
    (DEFAULT, BLOCKING, NOWHERE),
    (DEFAULT, BLOCKING, BEFORE),
    (DEFAULT, ASYNC, NOWHERE),
    (DEFAULT, ASYNC, AFTER),
    (APART, BLOCKING, NOWHERE),
    (APART, BLOCKING, BEFORE),
]

experiment = Experiment(
    title="Fetching what a slow kernel writes, with and without waiting for the device",
    sources=["device_synchronize.cu"],
)


class Bench:
    """A slow kernel, the number that it writes, and where the host keeps its copy."""

    def __init__(self, gpu):
        cupy, self.launches = gpu.cupy, 0
        self.runtime, self.uint32, self.uint64 = cupy.cuda.runtime, cupy.uint32, cupy.uint64
        self.kernel, self.number = gpu.kernel("write_late"), cupy.zeros(1, cupy.uint32)
        self.streams = {DEFAULT: cupy.cuda.Stream.null, APART: cupy.cuda.Stream(non_blocking=True)}
        self.pinned = cupy.cuda.alloc_pinned_memory(4)
        self.copied = {
            BLOCKING: ctypes.c_uint32(),
            ASYNC: ctypes.c_uint32.from_address(self.pinned.ptr),
        }

    def launch(self, stream):
        """Launch the kernel with a number that no earlier launch had."""
        self.launches += 1
        wait_ns = self.uint64(WAIT_MS * 1_000_000)
        with self.streams[stream]:
            self.kernel((1,), (1,), (self.number, self.uint32(self.launches), wait_ns))

    def copy(self, how):
        """Copy the number to the host, through the default stream."""
        to = ctypes.addressof(self.copied[how])
        source, size, kind = self.number.data.ptr, 4, self.runtime.memcpyDeviceToHost
        if how == BLOCKING:
            self.runtime.memcpy(to, source, size, kind)
        else:
            self.runtime.memcpyAsync(to, source, size, kind, self.streams[DEFAULT].ptr)

    def fetch(self, stream, how, waits):
        """Launch, fetch the number and read it; give whether it is old, and two times in ms."""
        start = perf_counter_ns()
        self.launch(stream)
        launched = perf_counter_ns()
        if waits == BEFORE:
            self.runtime.deviceSynchronize()
        self.copy(how)
        if waits == AFTER:
            self.runtime.deviceSynchronize()
        is_old = int(self.copied[how].value != self.launches)
        read = perf_counter_ns()
        self.runtime.deviceSynchronize()  # so that the next launch finds an idle device
        return is_old, (launched - start) / 1e6, (read - start) / 1e6


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.runtime(
    key={
        "stream": exact("Stream of the kernel"),
        "copy": exact("Copy"),
        "waits": exact("cudaDeviceSynchronize()"),
    },
    columns={
        "kernel_waits": exact("The kernel waits", "ms"),
        "old": racy("The host read an old number", of=1),
        "launched": time("The launch returned after", "ms"),
        "read": time("The host had its number after", "ms"),
    },
    launches=100,
)
def fetches(gpu):
    """One way to fetch the number that each launch of a slow kernel writes."""
    bench = Bench(gpu)
    for case in CASES:
        bench.fetch(*case)  # warms up
    taken = {case: [] for case in CASES}
    for launch in range(gpu.launches):
        for case in CASES:
            taken[case].append(bench.fetch(*case))
        gpu.progress(launch + 1, gpu.launches)
    for (stream, copy, waits), samples in taken.items():
        old, launched, read = zip(*samples, strict=True)
        key = {"stream": stream, "copy": copy, "waits": waits}
        yield {**key, "kernel_waits": WAIT_MS, "old": old, "launched": launched, "read": read}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def the_launch_returns_first(fetches):
    """Every launch call returned long before its kernel could have written."""
    for row in fetches.where():
        assert row.launched < row.kernel_waits / 2


@experiment.claim
def a_blocking_copy_waits(fetches):
    """A blocking copy right after the launch fetched the new number, and took as long as that."""
    row = fetches(stream=DEFAULT, copy=BLOCKING, waits=NOWHERE)
    assert row.old == 0
    assert row.read > row.kernel_waits


@experiment.claim
def waiting_before_it_adds_nothing(fetches):
    """With a synchronisation before the blocking copy the host read the same: the new number."""
    row = fetches(stream=DEFAULT, copy=BLOCKING, waits=BEFORE)
    assert row.old == 0
    assert row.read > row.kernel_waits


@experiment.claim
def an_asynchronous_copy_does_not_wait(fetches):
    """After an asynchronous copy the host read an old number each time, unless it waited."""
    assert fetches(stream=DEFAULT, copy=ASYNC, waits=NOWHERE).old > 0
    assert fetches(stream=DEFAULT, copy=ASYNC, waits=AFTER).old == 0


@experiment.claim
def another_stream_is_not_waited_for(fetches):
    """A blocking copy did not wait for a kernel in a non-blocking stream, unless the host had."""
    row = fetches(stream=APART, copy=BLOCKING, waits=NOWHERE)
    assert row.old > 0
    assert row.read < row.kernel_waits
    assert fetches(stream=APART, copy=BLOCKING, waits=BEFORE).old == 0
