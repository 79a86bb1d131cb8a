"""Register caps: what a kernel cannot keep in registers it keeps in local memory, at a price."""

from functools import partial
from itertools import pairwise

from measured_glossary.lab.experiment import Experiment, bytes_, exact, time

CAPS = (128, 64, 48, 32)  # as in register_spilling.cu
UNCAPPED, TIGHTEST = CAPS[0], CAPS[-1]
LIVE, SCRATCH_BYTES = 64, 1 << 14  # as in register_spilling.cu
THREADS, ALONE_ROUNDS = 256, 2048
CROWD, CROWD_ROUNDS = 120, 64  # whole waves, whether 3, 4, 5, 6 or 8 blocks fit at once

experiment = Experiment(
    title="A kernel with 64 values to keep, under ever tighter register caps",
    sources=["register_spilling.cu"],
    architectures=["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"],
)


def inputs(gpu):
    """Give what each value starts from: numbers that no compiler knows."""
    return gpu.cupy.arange(LIVE, dtype=gpu.cupy.uint32)


# ── what is measured ─────────────────────────────────────────────────────────────────────────


@experiment.static(
    key={"architecture": exact("Architecture"), "cap": exact("Register cap")},
    columns={
        "registers": exact("Registers a thread"),
        "local_bytes": bytes_("Local memory a thread"),
        "stores": exact("STL instructions"),
        "loads": exact("LDL instructions"),
        "multiplications": exact("IMAD instructions in 32 bits"),
    },
)
def instructions(sass):
    """One cap's machine code for one architecture: STL stores to local memory, LDL loads."""
    for architecture in sass.architectures:
        for cap in CAPS:
            kernel = sass.kernel(architecture, f"mix<{cap}>")
            yield {
                "architecture": architecture,
                "cap": cap,
                "registers": kernel.registers,
                "local_bytes": kernel.local_bytes,
                "stores": sass.count(architecture, kernel.name, "STL"),
                "loads": sass.count(architecture, kernel.name, "LDL"),
                "multiplications": kernel.opcodes["IMAD"],
            }


@experiment.runtime(
    key={"cap": exact("Register cap")},
    columns={
        "registers": exact("Registers a thread, by CUDA"),
        "local_bytes": bytes_("Local memory a thread, by CUDA"),
        "blocks": exact("Blocks that fit at once, by CUDA"),
        "differing": exact("Results unlike those of the loosest cap"),
    },
)
def loaded(gpu):
    """One cap's kernel as it was loaded and run: 256 threads a block."""
    cupy, blocks = gpu.cupy, gpu.attribute("MultiProcessorCount")
    ask = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
    given, right = inputs(gpu), None
    for cap in CAPS:
        kernel = gpu.kernel(f"mix<{cap}>")
        out = cupy.zeros(blocks * THREADS, cupy.uint32)
        kernel((blocks,), (THREADS,), (given, out, cupy.uint32(CROWD_ROUNDS)))
        right = out if right is None else right
        yield {
            "cap": cap,
            "registers": kernel.num_regs,
            "local_bytes": kernel.local_size_bytes,
            "blocks": ask(kernel.kernel.ptr, THREADS, 0),
            "differing": int((out != right).sum()),
        }


@experiment.timed(
    key={"cap": exact("Register cap")},
    columns={
        "alone": time("Time, one block a multiprocessor", "us"),
        "crowd": time("Time, as many blocks at once as fit", "us"),
    },
    cache="hot",
    limit_s=10,
)
def times(gpu):
    """One cap; within a column every launch does the same work."""
    cupy, multiprocessors = gpu.cupy, gpu.attribute("MultiProcessorCount")
    given = inputs(gpu)
    out = cupy.empty(CROWD * multiprocessors * THREADS, cupy.uint32)
    alone, crowd = ((given, out, cupy.uint32(rounds)) for rounds in (ALONE_ROUNDS, CROWD_ROUNDS))
    for cap in CAPS:
        kernel = gpu.kernel(f"mix<{cap}>")
        yield {
            "cap": cap,
            "alone": partial(kernel, (multiprocessors,), (THREADS,), alone),
            "crowd": partial(kernel, (CROWD * multiprocessors,), (THREADS,), crowd),
        }


@experiment.runtime(
    key={"local_bytes": bytes_("Local memory a thread")},
    columns={
        "ready": bytes_("Set aside from the start, a thread"),
        "threads": exact("Threads the GPU can hold at once"),
        "needed": bytes_("What is missing, for all of them"),
        "taken": bytes_("Device memory taken by the launch"),
    },
)
def backing(gpu):
    """One launch of a single warp: how much less device memory was free after it."""
    runtime = gpu.cupy.cuda.runtime
    kernel, out = gpu.kernel("scratch"), gpu.cupy.empty(32, gpu.cupy.uint32)
    gpu.check()
    ready = runtime.deviceGetLimit(runtime.cudaLimitStackSize)
    before, _ = runtime.memGetInfo()
    kernel((1,), (32,), (out, gpu.cupy.uint32(1)))
    gpu.check()
    after, _ = runtime.memGetInfo()
    held = gpu.attribute("MaxThreadsPerMultiProcessor") * gpu.attribute("MultiProcessorCount")
    yield {
        "local_bytes": kernel.local_size_bytes,
        "ready": ready,
        "threads": held,
        "needed": max(0, kernel.local_size_bytes - ready) * held,
        "taken": max(0, before - after),
    }


# ── what is claimed ──────────────────────────────────────────────────────────────────────────


@experiment.claim
def the_cap_is_kept(instructions):
    """On every architecture no kernel uses more registers than its cap allows."""
    for row in instructions.where():
        assert row.registers <= row.cap


@experiment.claim
def what_fits_is_not_spilled(instructions):
    """With the loosest cap nothing is in local memory, and no instruction goes there."""
    for row in instructions.where(cap=UNCAPPED):
        assert (row.local_bytes, row.stores, row.loads) == (0, 0, 0)


@experiment.claim
def a_tighter_cap_spills_more(instructions):
    """Each tighter cap needs more local memory, and more instructions that go there."""
    for architecture in {row.architecture for row in instructions.where()}:
        rows = [instructions(architecture=architecture, cap=cap) for cap in CAPS]
        for looser, tighter in pairwise(rows):
            assert tighter.local_bytes > looser.local_bytes
            assert tighter.stores > looser.stores
            assert tighter.loads > looser.loads


@experiment.claim
def only_the_place_differs(instructions, loaded):
    """Whatever the cap, the results are the same, and so is the arithmetic but for an address."""
    for row in loaded.where():
        assert row.differing == 0
    for row in instructions.where():
        whole = instructions(architecture=row.architecture, cap=UNCAPPED)
        assert abs(row.multiplications - whole.multiplications) <= 1


@experiment.claim
def more_blocks_fit(loaded):
    """The tightest cap lets more blocks of the kernel run at once than the loosest."""
    assert loaded(cap=TIGHTEST).blocks > loaded(cap=UNCAPPED).blocks


@experiment.claim
def a_spill_costs_time(times):
    """With one block a multiprocessor each tighter cap took longer than the one before."""
    for looser, tighter in pairwise(CAPS):
        assert times(cap=tighter).alone > times(cap=looser).alone


@experiment.claim
def the_company_did_not_pay_for_it(times):
    """With as many blocks at once as fit, the tightest cap took longer than the loosest."""
    assert times(cap=TIGHTEST).crowd > times(cap=UNCAPPED).crowd


@experiment.claim
def local_memory_is_device_memory(backing):
    """A launch of one warp took device memory for what all threads that fit lacked."""
    for row in backing.where():
        assert row.local_bytes >= SCRATCH_BYTES
        assert row.taken >= row.needed > 0
