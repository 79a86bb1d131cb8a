"""When enough has been timed, which samples count, and how sure a median is.

Comes in: functions to time, a stopwatch, a look at the GPU's state, a clock, all as values. Goes
out: raw samples of each function and what was noted of each batch. Standard library only; must not
know CuPy, tables or records, so that all of it is tested on synthetic series.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from measured_glossary.lab.table import MIN_TIMES

Cache = Literal["cold", "hot"]
Stopped = Literal["settled", "sample limit", "time limit"]
Call: TypeAlias = Callable[[], Any]
Stopwatch: TypeAlias = Callable[[Call], float]  # milliseconds that one call took on the GPU
Look: TypeAlias = Callable[[], Mapping[str, Any]]  # by the names of `record.Conditions`

# What NVML calls a reason and is a brake: an idle GPU and a clock set by its owner are none.
BRAKES = (
    "HwPowerBrakeSlowdown",
    "HwSlowdown",
    "HwThermalSlowdown",
    "SwPowerCap",
    "SwThermalSlowdown",
)
MS_PER_UNIT = {"s": 1000.0, "ms": 1.0, "us": 1e-3, "ns": 1e-6}

Z_95, Z_99 = 1.96, 2.576  # of the normal distribution, two-sided


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When to stop: all medians known to `settled`, `most` samples, or `limit_s` seconds.

    A batch, before and after which the GPU's state is looked at, takes about `batch_s` and at most
    `most_a_batch` samples of each function. Before the first, all run for `warm_up_s`.
    """

    limit_s: float
    settled: float = 0.005
    least: int = MIN_TIMES
    most: int = 1000
    batch_s: float = 0.1
    most_a_batch: int = 10
    warm_up_s: float = 0.3
    warm_up_calls: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """How a batch went: samples of each function, whether they were kept, clocks and brakes seen.

    `sm_clock_mhz` has what was read before and after; it is empty where it cannot be read.
    """

    samples: int
    kept: bool
    sm_clock_mhz: tuple[int, ...] = ()
    throttle_reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """What was timed: for each function its samples in milliseconds; why it stopped."""

    samples: tuple[tuple[float, ...], ...]
    batches: tuple[Batch, ...]
    stopped: Stopped

    @property
    def discarded(self) -> int:
        """How many samples of each function were taken under a brake and discarded."""
        return sum(batch.samples for batch in self.batches if not batch.kept)

    @property
    def brakes(self) -> tuple[str, ...]:
        """Every brake that was seen in any batch."""
        return tuple(sorted({name for batch in self.batches for name in batch.throttle_reasons}))


# ── how sure a median is ─────────────────────────────────────────────────────────────────────


def median_interval(samples: Sequence[float], z: float = Z_95) -> tuple[float, float]:
    """Bound the median by two of the samples, whatever their distribution.

    Of n samples the number below the true median is binomial (n, 1/2): the samples of the ranks
    (n - z sqrt n) / 2 from either end enclose it, at z = 1.96 in 95 studies of 100.
    """
    ordered = sorted(samples)
    rank = max(0, math.floor((len(ordered) - z * math.sqrt(len(ordered))) / 2))
    return ordered[rank], ordered[-1 - rank]


def noise(samples: Sequence[float]) -> float:
    """Give half the width of the median's 95 % interval, as a share of the median."""
    low, high = median_interval(samples)
    middle = statistics.median(samples)
    return (high - low) / (2 * middle) if middle > 0 else math.inf


def why_stop(samples: Sequence[Sequence[float]], elapsed_s: float, plan: Plan) -> Stopped | None:
    """Say why to stop now, or nothing: the stop rule."""
    taken = min(len(each) for each in samples)
    if taken >= plan.least and all(noise(each) <= plan.settled for each in samples):
        return "settled"
    if taken >= plan.most:
        return "sample limit"
    return "time limit" if elapsed_s >= plan.limit_s else None


# ── taking samples ───────────────────────────────────────────────────────────────────────────


@dataclass(slots=True, kw_only=True)
class Session:
    """Times functions against each other: batch by batch, in random order within a batch.

    `clock` gives seconds and `look` the GPU's state; `progress` is told how many of the least
    number of samples are there.
    """

    calls: Sequence[Call]
    stopwatch: Stopwatch
    look: Look
    clock: Callable[[], float]
    plan: Plan
    order: random.Random
    progress: Callable[[int, int], None] = lambda done, total: None
    samples: list[list[float]] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)

    def run(self) -> Timed:
        """Warm up, then take batches until the stop rule says so."""
        started = self.clock()
        rounds = self._warm_up()
        self.samples = [[] for _ in self.calls]
        stopped: Stopped | None = None
        while stopped is None:
            self._batch(rounds)
            taken = len(self.samples[0])
            self.progress(min(taken, self.plan.least), self.plan.least)
            stopped = why_stop(self.samples, self.clock() - started, self.plan)
        return Timed(
            samples=tuple(map(tuple, self.samples)), batches=tuple(self.batches), stopped=stopped
        )

    def _warm_up(self) -> int:
        """Run everything for a while; give how many rounds make a batch of the wanted length."""
        plan, started, rounds = self.plan, self.clock(), 0
        while rounds < plan.warm_up_calls or self.clock() - started < plan.warm_up_s:
            for call in self.calls:
                self.stopwatch(call)
            rounds += 1
            if self.clock() - started >= plan.limit_s:
                break
        round_s = (self.clock() - started) / rounds
        wanted = plan.batch_s / round_s if round_s > 0 else plan.most_a_batch
        return max(1, min(plan.most_a_batch, int(wanted)))

    def _batch(self, rounds: int) -> None:
        """Take `rounds` samples of each function; keep them unless the GPU was braked."""
        before = self.look()
        taken: list[list[float]] = [[] for _ in self.calls]
        for index in self._shuffled(rounds):
            taken[index].append(self.stopwatch(self.calls[index]))
        batch = noted(rounds, before, self.look())
        self.batches.append(batch)
        if batch.kept:
            for kept, new in zip(self.samples, taken, strict=True):
                kept += new

    def _shuffled(self, rounds: int) -> Iterator[int]:
        turns = [index for index in range(len(self.calls)) for _ in range(rounds)]
        self.order.shuffle(turns)
        return iter(turns)


def noted(samples: int, before: Mapping[str, Any], after: Mapping[str, Any]) -> Batch:
    """Judge a batch by the GPU's state before and after it."""
    states = (before, after)
    clocks = tuple(state["sm_clock_mhz"] for state in states if "sm_clock_mhz" in state)
    seen = {name for state in states for name in state.get("throttle_reasons", ())}
    brakes = tuple(sorted(seen.intersection(BRAKES)))
    return Batch(samples=samples, kept=not brakes, sm_clock_mhz=clocks, throttle_reasons=brakes)
