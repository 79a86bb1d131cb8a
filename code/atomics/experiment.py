"""Atomic additions: to one word, to many, summed before, and the instructions they become."""

from functools import partial

from measured_glossary.lab.experiment import Experiment, exact, time

LANES, ROUNDS = 32, 64  # as in atomics.cu
THREADS, BLOCKS = 256, 1024
WARPS = THREADS * BLOCKS // LANES
ONE_WORD, LANE_WORDS, THREAD_WORDS = 0, LANES - 1, THREADS * BLOCKS - 1  # masks
KERNELS = (
    "add_each",
    "add_to_one",
    "add_in_block",
    "add_each_shared",
    "add_and_keep",
    "add_shared_float",
)

experiment = Experiment(
    title="Atomic additions to one word and to many",
    sources=["atomics.cu"],
)


def total(lanes):
    """Give what `lanes` of each warp add up to: each adds its lane and the round, each round."""
    return WARPS * sum(lane + turn for turn in range(ROUNDS) for lane in range(lanes))


@experiment.timed(
    key={"to": exact("Added to")},
    columns={
        "took": time("Time", "us"),
        "sum": exact("Sum found"),
        "expected": exact("Sum expected"),
    },
    cache="hot",
    limit_s=7,
)
def ways(gpu):
    """One way to add up the same 16,777,216 numbers with 262,144 threads."""
    uint32, each = gpu.cupy.uint32, gpu.kernel("add_each")
    calls = {
        "one word": (each, (uint32(ONE_WORD), uint32(LANES))),
        "a word for each lane number": (each, (uint32(LANE_WORDS), uint32(LANES))),
        "a word for each thread": (each, (uint32(THREAD_WORDS), uint32(LANES))),
        "one word, as the compiler can see": (gpu.kernel("add_to_one"), ()),
        "one word, after a sum in each block": (gpu.kernel("add_in_block"), ()),
    }
    for name, (kernel, arguments) in calls.items():
        sums = gpu.cupy.zeros(THREADS * BLOCKS, uint32)
        call = partial(kernel, (BLOCKS,), (THREADS,), (sums, *arguments))
        call()
        found = int(sums.get().sum(dtype="uint64"))
        yield {"to": name, "took": call, "sum": found, "expected": total(LANES)}


@experiment.timed(
    key={"lanes": exact("Lanes of each warp that add")},
    columns={
        "in_global": time("Time, one word in global memory", "us"),
        "in_shared": time("Time, one word of each block in shared memory", "us"),
    },
    cache="hot",
    limit_s=7,
)
def lanes(gpu):
    """One number of lanes that add to the same word; the number of warps is the same."""
    uint32 = gpu.cupy.uint32
    sums = gpu.cupy.zeros(LANES, uint32)
    for count in (1, 2, 4, 8, 16, 32):
        arguments = (sums, uint32(ONE_WORD), uint32(count))
        yield {
            "lanes": count,
            "in_global": partial(gpu.kernel("add_each"), (BLOCKS,), (THREADS,), arguments),
            "in_shared": partial(gpu.kernel("add_each_shared"), (BLOCKS,), (THREADS,), arguments),
        }


@experiment.static(
    key={"architecture": exact("Architecture"), "kernel": exact("Kernel")},
    columns={
        "red": exact("RED, REDG"),
        "atomg": exact("ATOMG"),
        "atoms": exact("ATOMS"),
        "retried": exact("… of them compare and swap"),
        "warp_sums": exact("REDUX, SHFL"),
    },
)
def instructions(sass):
    """One kernel's machine code for one architecture: its atomic instructions."""
    counted = {
        "red": ("RED", "REDG"),
        "atomg": ("ATOMG",),
        "atoms": ("ATOMS",),
        "retried": ("ATOMS.CAST", "ATOMS.CAS", "ATOMG.E.CAS"),
        "warp_sums": ("REDUX", "SHFL"),
    }
    for architecture in sass.architectures:
        for kernel in KERNELS:
            counts = {
                column: sum(sass.count(architecture, kernel, opcode) for opcode in opcodes)
                for column, opcodes in counted.items()
            }
            yield {"architecture": architecture, "kernel": kernel, **counts}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def no_addition_is_lost(ways):
    """Every way of adding gave exactly the sum expected."""
    for row in ways.where():
        assert row.sum == row.expected > 0


@experiment.claim
def one_word_is_a_queue(ways):
    """Adding to one word took longer than adding to a word for each thread."""
    assert ways(to="one word").took > ways(to="a word for each thread").took


@experiment.claim
def a_sum_in_each_block_shortens_it(ways):
    """A sum in each block first took less than half the time of adding each number to the word."""
    early = ways(to="one word, after a sum in each block").took
    assert ways(to="one word").took / early > 2


@experiment.claim
def a_sum_in_each_warp_shortens_it(ways):
    """Where the compiler sees one word for all lanes it took less than a sixteenth of the time."""
    assert ways(to="one word").took / ways(to="one word, as the compiler can see").took > LANES / 2


@experiment.claim
def lanes_take_turns_in_global_memory(lanes):
    """In global memory 32 lanes adding to one word took more than 16 times as long as one lane."""
    assert lanes(lanes=32).in_global / lanes(lanes=1).in_global > LANES / 2


@experiment.claim
def in_shared_memory_they_cost_far_less(lanes):
    """In shared memory 32 lanes adding to one word took longer than one lane, but not 16 times."""
    one, all_of_them = lanes(lanes=1).in_shared, lanes(lanes=32).in_shared
    assert all_of_them > one
    assert all_of_them < LANES / 2 * one.q1


@experiment.claim
def an_integer_addition_is_one_instruction(instructions):
    """On every architecture an integer addition is one instruction, with nothing to retry."""
    for kernel, column in {
        "add_each": "red",
        "add_and_keep": "atomg",
        "add_each_shared": "atoms",
    }.items():
        for row in instructions.where(kernel=kernel):
            assert row[column] == 1
            assert row.retried == 0


@experiment.claim
def whether_the_old_value_is_used_decides(instructions):
    """On every architecture the addition whose old value nobody uses is RED, the other ATOMG."""
    for row in instructions.where(kernel="add_each"):
        assert (row.red, row.atomg) == (1, 0)
    for row in instructions.where(kernel="add_and_keep"):
        assert (row.red, row.atomg) == (0, 1)


@experiment.claim
def the_compiler_sums_a_warp_first(instructions):
    """On every architecture the compiler sums a warp first where it sees one word for all lanes."""
    for row in instructions.where(kernel="add_to_one"):
        assert row.warp_sums > 0
    for row in instructions.where(kernel="add_each"):
        assert row.warp_sums == 0


@experiment.claim
def a_float_in_shared_memory_is_retried(instructions):
    """On every architecture a float addition in shared memory compares, swaps and may repeat."""
    for row in instructions.where(kernel="add_shared_float"):
        assert row.retried > 0
