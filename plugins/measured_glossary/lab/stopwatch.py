"""How long a call keeps the GPU busy, by CUDA events.

Comes in: CuPy, as a value, and whether the L2 cache is to be cold. Goes out: milliseconds, one call
at a time. Must not know what is timed, how often, or what a sample is kept for.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

FLUSH_TIMES_L2 = 2
HOLD_LIMIT_S = 0.05  # so long a call that waits for the GPU itself is held up, not for ever


class Stopwatch:
    """Times calls on CuPy's current stream; `flushed_bytes` is 0 where the cache stays hot.

    The stream is held until the call and both events are enqueued, so that what the host needs to
    launch is not counted. Before each sample, cold: twice the L2 is overwritten; hot: the same call
    runs once, uncounted.
    """

    def __init__(self, cupy: Any, *, cold: bool, l2_bytes: int) -> None:
        self._cupy = cupy
        self.flushed_bytes = FLUSH_TIMES_L2 * l2_bytes if cold else 0
        self._flush = cupy.empty(self.flushed_bytes, cupy.uint8) if cold else None
        self._start, self._stop = cupy.cuda.Event(), cupy.cuda.Event()

    def __call__(self, call: Callable[[], Any]) -> float:
        """Give the milliseconds from the call's first work on the GPU to the end of its last."""
        stream = self._cupy.cuda.get_current_stream()
        release = Event()
        stream.launch_host_func(_hold, release)
        try:
            self._prepare(call, stream)
            self._start.record(stream)
            call()
            self._stop.record(stream)
        finally:
            release.set()
        self._stop.synchronize()
        return float(self._cupy.cuda.get_elapsed_time(self._start, self._stop))

    def _prepare(self, call: Callable[[], Any], stream: Any) -> None:
        if self._flush is None:
            call()
        else:
            self._flush.data.memset_async(0, self.flushed_bytes, stream)


def _hold(release: Event) -> None:
    release.wait(HOLD_LIMIT_S)
