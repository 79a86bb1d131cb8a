"""Words for made-up entries: terms that do not collide, and sentences that say nothing.

Comes in: a number or a random generator. Goes out: a term of three words, a sentence, a kernel.
Must not know front matter, people or generators.
"""

from __future__ import annotations

from random import Random

# The words of terms stand in no sentence below, so that only meant mentions are found.
_FIRST = (
    "aligned", "banked", "blocked", "buffered", "chained", "clustered", "coalesced", "deferred",
    "divided", "eager", "elected", "fused", "gated", "hinted", "interleaved", "joined", "keyed",
    "lazy", "masked", "nested", "padded", "queued", "ranked", "staggered",
)  # fmt: skip
_SECOND = (
    "accumulator", "atom", "barrier", "carveout", "cluster", "constant", "counter", "descriptor",
    "fence", "fragment", "graph", "histogram", "lane", "mailbox", "mantissa", "occupancy", "page",
    "predicate", "quadrant", "register", "scoreboard", "stencil", "texture", "tile",
)  # fmt: skip
_THIRD = (
    "arbitration", "ballot", "broadcast", "compaction", "exchange", "eviction", "folding",
    "handover", "hoisting", "inversion", "layout", "migration", "packing", "partition", "pinning",
    "prefetch", "reduction", "replay", "rotation", "sampling", "shuffle", "spill", "swizzle",
    "unrolling",
)  # fmt: skip
MOST_TERMS = len(_FIRST) * len(_SECOND) * len(_THIRD)
_STRIDE = 7919  # has no factor in common with their number: neighbours share no word

AREAS = (
    "Execution model", "Memory", "Synchronization", "Atomics", "Caches", "Compilation",
    "Numerics", "Profiling", "Scheduling", "Streams", "Host and device", "Libraries",
    "Multi-GPU", "Debugging", "Instruction set", "Machine learning",
)  # fmt: skip

_NOUNS = (
    "instruction", "launch", "value", "address", "thread", "block", "result", "pointer", "copy",
    "program", "compiler", "driver", "budget", "latency", "pipeline", "warp", "request", "sector",
    "line", "order", "element", "loop", "branch", "index", "operand", "limit", "version", "array",
    "kernel", "stream", "device", "host", "bound", "unit", "cycle", "queue", "path", "case",
)  # fmt: skip
_VERBS = (
    "reads", "waits for", "replaces", "precedes", "hides", "limits", "follows", "needs", "shares",
    "keeps", "drops", "moves", "counts", "feeds", "blocks", "holds", "names", "repeats", "frees",
)  # fmt: skip
_QUALITIES = (
    "small", "late", "wide", "ready", "cheap", "idle", "local", "stable", "visible", "exact",
    "short", "full", "empty", "fast", "known", "equal", "narrow", "dense", "sparse", "early",
)  # fmt: skip
_FORMS = (
    "The {n} {v} the {m} as long as the {k} is {q}.",
    "Where the {n} {v} one {q} {m}, the {k} {w} the rest.",
    "One {q} {n} {v} the {m}, and no other {k} {w} it.",
    "Before the {n} {v} one {m}, every {k} must be {q} again.",
    "It is the {q} {n} that {v} the {m}; the {k} only {w} its turn.",
    "If the {n} is {q}, the {m} {v} it twice, and the {k} {w} nothing.",
    "No {n} of this kind {v} one {m} unless the {k} is {q}, which a program can test.",
    "On paper the {m} {w} the {n}; in practice the {q} {k} {v} both.",
)


def term(number: int) -> str:
    """Give the term of an entry's number, below `MOST_TERMS`; no two are alike."""
    rest, third = divmod(number * _STRIDE % MOST_TERMS, len(_THIRD))
    first, second = divmod(rest, len(_SECOND))
    return f"{_FIRST[first]} {_SECOND[second]} {_THIRD[third]}"


def sentence(random: Random) -> str:
    """Give a sentence of about fifteen words that lead nowhere."""
    n, m, k = random.sample(_NOUNS, 3)
    v, w = random.sample(_VERBS, 2)
    form = random.choice(_FORMS)
    return form.format(n=n, m=m, k=k, v=v, w=w, q=random.choice(_QUALITIES))


def paragraph(random: Random, words: int) -> str:
    """Give sentences until there are so many words."""
    parts: list[str] = []
    while sum(len(part.split()) for part in parts) < words:
        parts.append(sentence(random))
    return " ".join(parts)


def table(random: Random, rows: int = 6) -> str:
    """Give a table of four columns."""
    head = ["| Case | Before | After | Remark |", "|---|---:|---:|---|"]
    for row in range(rows):
        before, after = random.randrange(100, 900), random.randrange(10, 90)
        head.append(f"| {random.choice(_NOUNS)} {row} | {before} | {after} | {_remark(random)} |")
    return "\n".join(head)


def _remark(random: Random) -> str:
    return f"{random.choice(_QUALITIES)} {random.choice(_NOUNS)}"


def kernel(random: Random, name: str) -> str:
    """Give a kernel of 25 lines that would compile."""
    tile, offset = random.choice((64, 128, 256, 512)), random.randrange(1, 32)
    return _KERNEL.replace("NAME", name).replace("TILE", str(tile)).replace("OFFSET", str(offset))


_KERNEL = """\
#include <cuda_runtime.h>

template <typename T>
__global__ void NAME(const T* __restrict__ source, T* target, int n)
{
    __shared__ T tile[TILE];
    const int lane = threadIdx.x & 31;
    const int index = blockIdx.x * blockDim.x + threadIdx.x;

    T sum = T(0);
    for (int i = index; i < n; i += gridDim.x * blockDim.x) {
        tile[threadIdx.x % TILE] = source[i];
        __syncthreads();
        sum += tile[(threadIdx.x + OFFSET) % TILE];
        __syncthreads();
    }

    for (int step = 16; step > 0; step >>= 1) {
        sum += __shfl_down_sync(0xffffffff, sum, step);
    }

    if (lane == 0 && index < n) {
        atomicAdd(&target[blockIdx.x], sum);  // one for each warp
    }
}"""
