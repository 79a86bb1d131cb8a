"""Memory coalescing: how long the same number of words takes at growing distances."""

from functools import partial

from measured_glossary.lab.experiment import Experiment, bytes_, exact, time

WORDS, WORD_BYTES, SECTOR_BYTES = 1 << 25, 4, 32
THREADS, READS = 256, 8  # READS as in coalescing.cu
STRIDES = (1, 2, 4, 8, 16, 32, 33)
SECTOR = SECTOR_BYTES // WORD_BYTES
LINE = 128 // WORD_BYTES

experiment = Experiment(
    title="Reading 33,554,432 words from memory by stride",
    sources=["coalescing.cu"],
)


@experiment.timed(
    key={"stride": exact("Stride in words")},
    columns={
        "used": bytes_("Bytes used"),
        "sectors": bytes_("Bytes of the 32-byte sectors they lie in"),
        "took": time("Time", "us"),
    },
    cache="cold",
)
def reads(gpu):
    """One stride between the words of neighbouring threads; each word is read once."""
    cells = gpu.cupy.zeros(WORDS * max(STRIDES), gpu.cupy.uint32)
    found = gpu.cupy.zeros(1, gpu.cupy.uint32)
    grid = (WORDS // (THREADS * READS),)
    for stride in STRIDES:
        arguments = (cells, gpu.cupy.uint32(stride), found)
        yield {
            "stride": stride,
            "used": WORDS * WORD_BYTES,
            "sectors": WORDS * WORD_BYTES * min(stride, SECTOR),
            "took": partial(gpu.kernel("read_strided"), grid, (THREADS,), arguments),
        }


@experiment.static(
    key={"architecture": exact("Architecture")},
    columns={"loads": exact("Loads of one word"), "wide": exact("Wider loads")},
)
def instructions(sass):
    """The kernel's machine code for one architecture."""
    for architecture in sass.architectures:
        opcodes = sass.kernel(architecture, "read_strided").opcodes
        loads = [name.split(".") for name in opcodes.elements() if name.startswith("LDG")]
        wide = sum("64" in parts or "128" in parts for parts in loads)
        yield {"architecture": architecture, "loads": len(loads) - wide, "wide": wide}


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def unused_words_cost_time(reads):
    """From stride 1 to a word a sector, each doubling of the stride took longer."""
    for stride in (2, 4, SECTOR):
        assert reads(stride=stride).took > reads(stride=stride // 2).took


@experiment.claim
def a_word_a_sector_costs_most_of_eight(reads):
    """With one word used of each sector the same words took more than four times as long."""
    assert reads(stride=SECTOR).took / reads(stride=1).took > SECTOR / 2


@experiment.claim
def an_eighth_is_no_floor(reads):
    """At strides of a whole line and more the useful rate fell below an eighth of the best."""
    for row in reads.where(lambda row: row.stride >= LINE):
        assert row.took / reads(stride=1).took > SECTOR


@experiment.claim
def a_word_does_not_cost_a_line(reads):
    """A word in each line took less than 24 times as long as all; whole lines would take 32."""
    for row in reads.where(lambda row: row.stride >= LINE):
        assert row.took / reads(stride=1).took < 3 * LINE / 4


@experiment.claim
def every_word_is_loaded_alone(instructions):
    """On every architecture the kernel has its eight loads, each of one word."""
    for row in instructions.where():
        assert row.loads == READS
        assert row.wide == 0
