"""When enough has been timed, on synthetic series: no GPU, no clock but the test's own."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured_glossary.lab.timing import (
    Batch,
    Plan,
    Session,
    Timed,
    median_interval,
    noise,
    noted,
    why_stop,
)


def seeded(seed: int | str) -> random.Random:
    """Chance that is the same each time."""
    return random.Random(seed)  # noqa: S311 - an order, not a secret


PLAN = Plan(limit_s=10, batch_s=1, warm_up_s=0.005)


@dataclass(slots=True)
class World:
    """A clock that advances by what each call takes, and a GPU that is braked at some looks."""

    braked_at: frozenset[int] = frozenset()
    now_s: float = 0.0
    looks: Iterator[int] = field(default_factory=count)
    called: list[int] = field(default_factory=list)

    def clock(self) -> float:
        return self.now_s

    def look(self) -> Mapping[str, Any]:
        reasons = ["SwPowerCap"] if next(self.looks) in self.braked_at else ["GpuIdle"]
        return {"sm_clock_mhz": 1980, "throttle_reasons": reasons}

    def stopwatch(self, call: Any) -> float:
        milliseconds = float(call())
        self.now_s += milliseconds / 1000
        return milliseconds


def session(world: World, *series: Iterator[float], plan: Plan = PLAN) -> Timed:
    """Time calls that take what their series say, in milliseconds."""

    def call(index: int, times: Iterator[float]) -> Any:
        def one() -> float:
            world.called.append(index)
            return next(times)

        return one

    calls = [call(index, times) for index, times in enumerate(series)]
    return Session(
        calls=calls,
        stopwatch=world.stopwatch,
        look=world.look,
        clock=world.clock,
        plan=plan,
        order=seeded(14),
    ).run()


def steady(middle: float, spread: float) -> Iterator[float]:
    """Times around a middle, by a generator of their own."""
    chance = seeded(str(middle))
    while True:
        yield chance.gauss(middle, spread * middle)


# ── how sure a median is ─────────────────────────────────────────────────────────────────────


def test_the_interval_is_two_of_the_samples() -> None:
    """Of twenty samples the sixth from either end bound the median."""
    assert median_interval([float(n) for n in range(20)]) == (5.0, 14.0)


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=60))
def test_the_interval_encloses_the_median(samples: list[float]) -> None:
    """Whatever the samples, their median is inside, and more confidence is a wider interval."""
    low, high = median_interval(samples)
    wide_low, wide_high = median_interval(samples, z=2.576)
    middle = sorted(samples)[len(samples) // 2]
    assert wide_low <= low <= middle <= high <= wide_high


def test_the_interval_covers_as_often_as_it_says() -> None:
    """In at least 93 of 100 studies of thirty skewed samples the true median is inside."""
    chance = seeded(5)
    truth = math.log(2)
    studies = [[chance.expovariate(1) for _ in range(30)] for _ in range(1000)]
    inside = sum(low <= truth <= high for low, high in map(median_interval, studies))
    assert 930 <= inside <= 990


def test_noise_is_relative() -> None:
    """The same spread around a larger median is less noise, and time that stands still is none."""
    samples = [100 + n % 5 for n in range(40)]
    assert noise(samples) > noise([10 * s + 1000 for s in samples]) > 0
    assert noise([5.0] * 20) == 0
    assert noise([0.0] * 20) == math.inf


# ── the stop rule ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("samples", "elapsed_s", "reason"),
    [
        ([[5.0] * 19], 0, None),
        ([[5.0] * 20], 0, "settled"),
        ([[5.0] * 20, [1.0, 2.0] * 10], 0, None),
        ([[1.0, 2.0] * 10], 10, "time limit"),
        ([[1.0, 2.0] * 500], 0, "sample limit"),
        ([[5.0] * 3], 10, "time limit"),
        ([[5.0] * 20], 99, "settled"),
    ],
)
def test_the_stop_rule(samples: list[list[float]], elapsed_s: float, reason: str | None) -> None:
    """It stops when all medians have settled, and at the latest at a number or at a time."""
    assert why_stop(samples, elapsed_s, PLAN) == reason


def test_steady_calls_settle_with_the_least_samples() -> None:
    """Where nothing varies, twenty samples each are enough."""
    timed = session(World(), steady(1, 0.0001), steady(2, 0.0001))
    assert timed.stopped == "settled"
    assert [len(samples) for samples in timed.samples] == [20, 20]


def test_noisy_calls_take_more_samples() -> None:
    """The noisiest of the calls decides, and all get as many samples as it needs."""
    timed = session(World(), steady(1, 0.02), steady(2, 0.0001))
    assert timed.stopped == "settled"
    assert 20 < len(timed.samples[0]) == len(timed.samples[1]) < 1000
    assert noise(timed.samples[0]) <= PLAN.settled


def test_what_never_settles_ends_at_its_limit() -> None:
    """A time that doubles by chance is measured until the wall cap, and says so."""
    wild = steady(1, 0.5)
    timed = session(World(), wild, plan=replace(PLAN, limit_s=0.5, most=10_000))
    assert timed.stopped == "time limit"


def test_a_call_longer_than_the_limit_ends_too() -> None:
    """Warm-up and the first batch stop at the limit, with too few samples for a result."""
    timed = session(World(), steady(4000, 0.001))
    assert timed.stopped == "time limit"
    assert len(timed.samples[0]) < 20


# ── order, warm-up, brakes ───────────────────────────────────────────────────────────────────


def test_calls_are_interleaved_in_random_order() -> None:
    """Drift hits all calls alike: in a batch they take turns, in an order that is not regular."""
    world = World()
    session(world, steady(1, 0.0001), steady(1.1, 0.0001))
    measured = world.called[-20:]
    assert sorted(measured) == [0] * 10 + [1] * 10
    assert measured not in ([0, 1] * 10, [0] * 10 + [1] * 10)


def test_drift_hits_all_calls_alike() -> None:
    """Two equal calls on a clock that slows down by half come out equal."""
    drift = (1 + n / 400 for n in count())
    shared = Session(
        calls=[lambda: next(drift), lambda: next(drift)],
        stopwatch=lambda call: float(call()),
        look=dict,
        clock=lambda: 0.0,
        plan=replace(PLAN, warm_up_s=0, most=100),
        order=seeded(3),
    ).run()
    first, second = (sorted(samples)[50] for samples in shared.samples)
    assert abs(first - second) / first < 0.02


def test_the_warm_up_is_not_kept() -> None:
    """The first calls, which load and clock up, are no samples."""
    slow_start = iter([9.0] * 3 + [1.0] * 1000)
    timed = session(World(), slow_start)
    assert set(timed.samples[0]) == {1.0}


def test_samples_under_a_brake_are_discarded_and_counted() -> None:
    """A batch before or after which the GPU was held back is noted and does not count."""
    timed = session(World(braked_at=frozenset({1, 4})), steady(1, 0.0001))
    assert [batch.kept for batch in timed.batches] == [False, True, False, True]
    assert (timed.discarded, timed.brakes) == (20, ("SwPowerCap",))
    assert len(timed.samples[0]) == 20
    assert timed.batches[0].sm_clock_mhz == (1980, 1980)


def test_an_idle_gpu_is_not_a_braked_one() -> None:
    """NVML names idleness and set clocks as reasons too: they discard nothing."""
    state = {"throttle_reasons": ["GpuIdle", "ApplicationsClocksSetting"]}
    assert noted(10, state, {}) == Batch(samples=10, kept=True)


def test_where_nothing_is_told_nothing_is_discarded() -> None:
    """Without NVML there are no clocks and no brakes to note."""
    assert noted(10, {}, {}) == Batch(samples=10, kept=True)
