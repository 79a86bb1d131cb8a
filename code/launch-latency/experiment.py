"""Launching a kernel that does nothing: three times that are all called launch latency."""

from time import perf_counter_ns

from measured_glossary.lab.experiment import Experiment, exact, time

SAMPLES, WARM_UP, MORE = 1000, 20, 200
THREADS = 32
ACCESSES = ("LD", "LDG", "LDL", "LDS", "ST", "STG", "STL", "STS", "ATOM", "ATOMG", "ATOMS", "RED")

experiment = Experiment(
    title="The cost of a launch to the host, to one who waits, and to the queue",
    sources=["launch_latency.cu"],
)


class Bench:
    """A kernel that does nothing, launched through the driver with as little Python as possible."""

    def __init__(self, gpu):
        gpu.check()  # makes the context that the driver launches in
        self.stopwatch = gpu.stopwatch(cold=False)
        self.driver, self.kernel = gpu.cupy.cuda.driver, gpu.kernel("empty").kernel.ptr
        self.synchronise = gpu.cupy.cuda.runtime.deviceSynchronize

    def launch(self):
        """Launch one warp."""
        self.driver.launchKernel(self.kernel, 1, 1, 1, THREADS, 1, 1, 0, 0, 0, 0)

    def on_the_host(self):
        """Give what the host's clock says after the launch, and after waiting for its end."""
        start = perf_counter_ns()
        self.launch()
        enqueued = perf_counter_ns()
        self.synchronise()
        finished = perf_counter_ns()
        return (enqueued - start) / 1000, (finished - start) / 1000

    def in_the_queue(self):
        """Give what the GPU's clock says of one kernel more, when all were enqueued beforehand."""
        one_ms, all_ms = self.stopwatch(self.launch), self.stopwatch(self.launch_many)
        return 1000 * (all_ms - one_ms) / MORE

    def launch_many(self):
        """Launch `MORE` times more than once."""
        for _ in range(1 + MORE):
            self.launch()

    def nothing(self):
        """Give what the host's clock says of nothing."""
        start = perf_counter_ns()
        return (perf_counter_ns() - start) / 1000


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.runtime(
    key={"kernel": exact("Kernel")},
    columns={
        "nothing": time("The host's clock itself", "us"),
        "enqueue": time("The launch returns", "us"),
        "round_trip": time("Launch and synchronise", "us"),
        "another": time("One kernel more in a full queue", "us"),
    },
)
def launches(gpu):
    """A kernel of one warp that does nothing; the ways of timing it take turns."""
    bench = Bench(gpu)
    samples = [sample(bench) for _ in range(WARM_UP + SAMPLES)][WARM_UP:]
    nothing, enqueue, round_trip, another = zip(*samples, strict=True)
    yield {
        "kernel": "empty",
        "nothing": nothing,
        "enqueue": enqueue,
        "round_trip": round_trip,
        "another": another,
    }


def sample(bench):
    """Take each time once, in microseconds."""
    return (bench.nothing(), *bench.on_the_host(), bench.in_the_queue())


@experiment.static(
    key={"architecture": exact("Architecture")},
    columns={"accesses": exact("Loads, stores and atomics")},
)
def instructions(sass):
    """The kernel's machine code for one architecture."""
    for architecture in sass.architectures:
        counts = (sass.count(architecture, "empty", opcode) for opcode in ACCESSES)
        yield {"architecture": architecture, "accesses": sum(counts)}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def three_numbers(launches):
    """No two of the three times are the same: their intervals lie apart."""
    for row in launches.where():
        assert row.enqueue < row.round_trip
        assert row.another < row.round_trip
        assert row.another < row.enqueue or row.another > row.enqueue


@experiment.claim
def waiting_costs_more_than_launching(launches):
    """Launching and waiting for the end took more than one and a half times the launch itself."""
    for row in launches.where():
        assert row.round_trip / row.enqueue > 1.5


@experiment.claim
def a_full_queue_hides_the_way(launches):
    """In a full queue one kernel more took less than half of a launch that is waited for."""
    for row in launches.where():
        assert row.round_trip / row.another > 2


@experiment.claim
def the_clock_is_fine_enough(launches):
    """Reading the host's clock took less than a quarter of what it timed."""
    for row in launches.where():
        assert row.enqueue / row.nothing > 4


@experiment.claim
def the_kernel_is_empty(instructions):
    """On every architecture the kernel has no instruction that loads, stores or counts."""
    for row in instructions.where():
        assert row.accesses == 0
