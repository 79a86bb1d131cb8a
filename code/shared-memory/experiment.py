"""Shared memory: what is in it before anybody has written, and how much a block may have."""

from measured_glossary.lab.experiment import Experiment, bytes_, exact, racy

THREADS, CELL_BYTES = 256, 4
CELLS = 1 << 20  # read in each launch, however many of them a block has
KIB = (4, 16, 32)  # that a block reads; more than any card gives without being asked is left out
MARK, MARKS = 0xC0DE0000, 1 << 16  # as in shared_memory.cu; the low half names the launch
CONTENTS = ("the mark", "zero", "anything else")  # in the order of its counts

experiment = Experiment(
    title="Shared memory that nobody has written, and how much of it there is",
    sources=["shared_memory.cu"],
)


class Bench:
    """Kernels that fill shared memory and count what is in it."""

    def __init__(self, gpu):
        self.gpu, self.launch = gpu, 0
        self.uint32 = gpu.cupy.uint32
        self.all_bytes = gpu.attribute("MaxSharedMemoryPerBlockOptin")
        self.filler = gpu.kernel("fill")
        self.filler.max_dynamic_shared_size_bytes = self.all_bytes
        self.blocks = 2 * gpu.attribute("MultiProcessorCount")  # twice over, to reach all

    def fill(self):
        """Fill all shared memory with a mark that no other launch has, and give the mark."""
        self.launch = self.launch % (MARKS - 1) + 1
        mark = self.uint32(MARK | self.launch)
        arguments = (self.uint32(self.all_bytes // CELL_BYTES), mark)
        self.filler((self.blocks,), (THREADS,), arguments, shared_mem=self.all_bytes)
        return mark

    def count(self, name, kib, mark, found, *more):
        """Run a kernel whose blocks have `kib` KiB each, and add what it counts to `found`."""
        cells = (kib << 10) // CELL_BYTES
        arguments = (self.uint32(cells), mark, *map(self.uint32, more), found)
        kernel = self.gpu.kernel(name)
        kernel((CELLS // cells,), (THREADS,), arguments, shared_mem=kib << 10)


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.runtime(
    key={"kib": exact("KiB a block reads")},
    columns={
        "marked": racy("Cells that held the earlier kernel's mark", of=CELLS),
        "zero": racy("Cells that held zero", of=CELLS),
        "other": racy("Cells that held anything else", of=CELLS),
        "after_clearing": racy("Cells not zero after the block had cleared them", of=CELLS),
    },
    launches=100,
)
def leftovers(gpu):
    """One amount of shared memory; each launch reads 1,048,576 cells that another kernel filled."""
    bench = Bench(gpu)
    for kib in KIB:
        read = gpu.cupy.zeros((gpu.launches, len(CONTENTS)), bench.uint32)
        cleared = gpu.cupy.zeros((gpu.launches, len(CONTENTS)), bench.uint32)
        for launch in range(gpu.launches):
            bench.count("read_unwritten", kib, bench.fill(), read[launch])
            bench.count("clear_first", kib, bench.fill(), cleared[launch])
        marked, zero, other = read.get().T
        still_marked, _, still_other = cleared.get().T
        yield {
            "kib": kib,
            "marked": marked,
            "zero": zero,
            "other": other,
            "after_clearing": still_marked + still_other,
        }


@experiment.runtime(
    key={"content": exact("Content")},
    columns={"planted": exact("Planted"), "counted": exact("Counted")},
)
def checker(gpu):
    """One kind of content, planted in shared memory for the counting to find."""
    bench, kib, marks, zeros = Bench(gpu), 4, 100, 20
    each, blocks = (kib << 10) // CELL_BYTES, CELLS // ((kib << 10) // CELL_BYTES)
    counted = gpu.cupy.zeros(len(CONTENTS), bench.uint32)
    bench.count("plant", kib, bench.fill(), counted, marks, zeros)
    planted = (blocks * marks, blocks * zeros, blocks * (each - marks - zeros))
    for content, put, found in zip(CONTENTS, planted, counted.get().tolist(), strict=True):
        yield {"content": content, "planted": put, "counted": found}


LIMITS = {
    "a block, unasked": "MaxSharedMemoryPerBlock",
    "a block, on request": "MaxSharedMemoryPerBlockOptin",
    "a multiprocessor": "MaxSharedMemoryPerMultiprocessor",
    "the system, of each block's": "ReservedSharedMemoryPerBlock",
}


@experiment.runtime(key={"who": exact("Who has it")}, columns={"size": bytes_("Shared memory")})
def limits(gpu):
    """One limit, as the device itself states it."""
    for who, attribute in LIMITS.items():
        yield {"who": who, "size": gpu.attribute(attribute)}


# What a launch asks for: the limit, how many bytes more than it, and whether it opted in before.
ASKED = {
    "the limit, unasked": ("MaxSharedMemoryPerBlock", 0, False),
    "a byte more, unasked": ("MaxSharedMemoryPerBlock", 1, False),
    "a byte more, on request": ("MaxSharedMemoryPerBlock", 1, True),
    "the limit on request": ("MaxSharedMemoryPerBlockOptin", 0, True),
    "a byte more than on request": ("MaxSharedMemoryPerBlockOptin", 1, True),
}


@experiment.outcomes(
    cases=[{"asked": asked} for asked in ASKED],
    key={"asked": exact("What the launch asks for")},
    columns={"size": bytes_("Shared memory it had")},
)
def requests(gpu, asked):
    """One amount of dynamic shared memory asked for, with or without opting in to more."""
    attribute, more, opts_in = ASKED[asked]
    size = gpu.attribute(attribute) + more
    kernel = gpu.kernel("fill")
    if opts_in:
        kernel.max_dynamic_shared_size_bytes = size
    arguments = (gpu.cupy.uint32(size // CELL_BYTES), gpu.cupy.uint32(MARK))
    kernel((1,), (THREADS,), arguments, shared_mem=size)
    gpu.check()
    return {"size": size}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def it_does_not_start_at_zero(leftovers):
    """In every launch more than half of the unwritten cells held what another kernel had left."""
    for row in leftovers.where():
        assert row.marked > CELLS // 2


@experiment.claim
def clearing_it_is_enough(leftovers):
    """Where the block wrote zeros and met at the barrier, every cell was zero in every launch."""
    for row in leftovers.where():
        assert row.after_clearing == 0


@experiment.claim
def the_counting_finds_what_is_planted(checker):
    """Of each content planted in shared memory, the counting found as many cells as had it."""
    for row in checker.where():
        assert row.counted == row.planted > 0


@experiment.claim
def a_block_can_have_it_all(limits):
    """On request a block gets all that a multiprocessor has, but for what the system keeps."""
    kept = limits(who="the system, of each block's").size
    asked = limits(who="a block, on request").size
    assert asked + kept == limits(who="a multiprocessor").size


@experiment.claim
def more_is_there_on_request(limits):
    """A block that asks gets more than one that does not."""
    assert limits(who="a block, on request").size > limits(who="a block, unasked").size


@experiment.claim
def who_does_not_ask_is_refused(requests):
    """One byte above the first limit is refused, and granted to a kernel that has opted in."""
    assert requests(asked="the limit, unasked").outcome == "returned"
    assert requests(asked="a byte more, unasked").outcome.startswith("cuda error")
    assert requests(asked="a byte more, on request").outcome == "returned"


@experiment.claim
def nobody_gets_more_than_the_second_limit(requests):
    """One byte above the limit on request is refused whatever is asked."""
    assert requests(asked="the limit on request").outcome == "returned"
    assert requests(asked="a byte more than on request").outcome.startswith("cuda error")
