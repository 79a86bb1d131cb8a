// One thread block stepping through a tile, as values.
// Comes in: a configuration and which warp or lane moves next. Goes out: the next state.
// Must not know the page, the policies, or any sentence shown to a reader.

/** Lanes drawn for each warp; a real warp has 32. */
export const LANES = 4;
/** Threads that each drawn lane stands for. */
export const SCALE = 32 / LANES;

/** What each preset fixes; the first of its variants is the one it opens with. */
export const PRESETS = {
  "no-barrier": {
    kernel: "reverse",
    threads: 256,
    barriers: [false, true],
    variants: ["one-tile", "two-tiles"],
  },
  "block-32-hides-it": {
    kernel: "reverse",
    threads: 32,
    barriers: [false, true],
    variants: ["one-tile", "two-tiles"],
  },
  "early-return": {
    kernel: "return",
    threads: 256,
    barriers: [true, true],
    variants: ["before-the-write", "after-the-write"],
  },
  "divergent-arms": {
    kernel: "arms",
    threads: 256,
    barriers: [true, true],
    variants: ["warp-boundary", "inside-a-warp"],
  },
};

/** From this thread on, the early return leaves the block. */
const RETURN_FROM = 96;
/** The first thread of the second arm, by variant. */
const ARM_SPLIT = { "warp-boundary": 64, "inside-a-warp": 16 };

/** Complete a reader's choices with the preset's own; an unknown name becomes the first one. */
export function configure(choices = {}) {
  const name = Object.hasOwn(PRESETS, choices.preset) ? choices.preset : "no-barrier";
  const preset = PRESETS[name];
  const variant = preset.variants.includes(choices.variant) ? choices.variant : preset.variants[0];
  const config = {
    preset: name,
    kernel: preset.kernel,
    variant,
    barriers: preset.barriers.map((given, i) => choices.barriers?.[i] ?? given),
    independent: choices.independent ?? true,
    size: preset.threads / SCALE,
    tiles: variant === "two-tiles" ? 2 : 1,
    split: ARM_SPLIT[variant] ?? 0,
  };
  return { ...config, lines: lines(config) };
}

/** The kernel's lines in order: what each does, how it reads, whether the reader took it out. */
function lines(config) {
  const load = { op: "load", name: "load", code: "x = in[t];" };
  const write = { op: "write", name: "write", code: "tile[t] = x;" };
  const leave = { op: "return", name: "return", code: `if (t >= ${RETURN_FROM}) return;` };
  const read = { op: "read", name: "compute", code: "y = tile[last - t];" };
  const store = { op: "store", name: "store", code: "out[t] = y;" };
  const fill = {
    "before-the-write": [leave, load, write],
    "after-the-write": [load, write, leave],
  }[config.variant] ?? [load, write];
  return [...fill, ...firstBarrier(config), read, barrier(config, 1), store];
}

function firstBarrier(config) {
  if (config.kernel !== "arms") return [barrier(config, 0)];
  const arm = (name, code) => ({ ...barrier(config, 0), arm: name, name, code });
  return [
    arm("if", `if (t < ${config.split}) __syncthreads();`),
    arm("else", "else __syncthreads();"),
  ];
}

function barrier(config, which) {
  const off = !config.barriers[which];
  return { op: "barrier", name: "barrier", code: "__syncthreads();", which, off };
}

/** The block before its first step: nobody has moved, the tile holds an earlier block's values. */
export function start(config) {
  const ids = Array.from({ length: config.size }, (_, id) => id);
  return {
    config,
    step: 0,
    threads: ids.map((id) => newThread(config, id)),
    cells: ids.map(() => ({ writer: null, trip: -1, since: 0, epoch: 0, readers: [] })),
    outs: ids.map(() => []),
    hazards: [],
    mismatch: null,
    arrived: 0,
    event: null,
  };
}

function newThread(config, id) {
  const clock = Array.from({ length: config.size }, (_, other) => Number(other === id));
  const at = nextLine(config, id, -1);
  return { id, warp: warpOf(id), at, trip: 0, waiting: false, gone: null, got: null, clock };
}

/** The warp a thread is drawn in. */
export function warpOf(id) {
  return Math.floor(id / LANES);
}

/** The cell a thread reads, and the thread that reads a cell: the mirror image. */
export function mirror(config, id) {
  return config.size - 1 - id;
}

function nextLine(config, id, at) {
  const arm = id * SCALE < config.split ? "if" : "else";
  let next = at + 1;
  for (; next < config.lines.length; next++) {
    const line = config.lines[next];
    if (!line.off && (line.arm ?? arm) === arm) break;
  }
  return next;
}

/** The threads that move when `unit` does: "3" is warp 3's rearmost group, "3.1" its lane 1. */
export function group(state, unit) {
  const [warp, lane] = String(unit).split(".").map(Number);
  const ready = state.threads.filter((t) => t.warp === warp && canMove(state, t));
  if (lane !== undefined) return ready.filter((t) => t.id % LANES === lane);
  const rear = ready.reduce((a, b) => (progress(b) < progress(a) ? b : a), ready[0]);
  return ready.filter((t) => progress(t) === progress(rear));
}

function canMove(state, thread) {
  if (thread.waiting || thread.gone) return false;
  // One program counter for the warp: nobody moves while a part of it waits.
  const stuck = (t) => t.warp === thread.warp && t.waiting;
  return state.config.independent || !state.threads.some(stuck);
}

function progress(thread) {
  return thread.trip * 100 + thread.at;
}

/** The warps that can move now. */
export function movable(state) {
  const warps = Array.from({ length: state.config.size / LANES }, (_, warp) => warp);
  return warps.filter((warp) => group(state, warp).length > 0);
}

/** "running", "returned", or "hung": nobody can move and somebody still waits. */
export function ending(state) {
  if (movable(state).length > 0) return "running";
  return state.threads.every((t) => t.gone) ? "returned" : "hung";
}

/** The state after `unit` took one step; the given state is left as it is. */
export function advance(state, unit) {
  const next = copy(state);
  const movers = group(next, unit);
  const line = next.config.lines[movers[0].at];
  next.step += 1;
  next.event = { unit: String(unit), op: line.op, line: movers[0].at, trip: movers[0].trip };
  next.event.lanes = movers.map((t) => t.id);
  next.event.accesses = movers.map((t) => ACT[line.op](next, t, line)).filter(Boolean);
  next.event.released = release(next);
  next.event.found = next.hazards.slice(state.hazards.length);
  return next;
}

/** A copy to step in; clocks and readers are shared, because a step replaces them whole. */
function copy(state) {
  return {
    ...state,
    threads: state.threads.map((t) => ({ ...t })),
    cells: state.cells.map((c) => ({ ...c })),
    outs: state.outs.map((o) => [...o]),
    hazards: [...state.hazards],
  };
}

/** What one thread does at a line of each kind; an access to the tile is given back. */
const ACT = {
  load: (state, thread) => moveOn(state, thread),
  write: (state, thread) => write(state, thread),
  read: (state, thread) => read(state, thread),
  barrier: (state, thread, line) => arrive(state, thread, line),
  store: (state, thread) => store(state, thread),
  return: (state, thread) => leave(state, thread),
};

function moveOn(state, thread) {
  const { config } = state;
  thread.at = nextLine(config, thread.id, thread.at);
  if (thread.at < config.lines.length) return;
  if (thread.trip + 1 === config.tiles) {
    thread.gone = "done";
  } else {
    thread.trip += 1;
    thread.at = nextLine(config, thread.id, -1);
  }
}

function leave(state, thread) {
  if (thread.id * SCALE >= RETURN_FROM) thread.gone = "returned";
  else moveOn(state, thread);
}

function arrive(state, thread, line) {
  thread.waiting = true;
  if (line.which === 0 && thread.trip === 0) state.arrived += 1;
}

function store(state, thread) {
  state.outs[thread.id][thread.trip] = thread.got;
  moveOn(state, thread);
}

function write(state, thread) {
  const cell = state.cells[thread.id];
  for (const past of cell.readers) {
    if (thread.clock[past.reader] >= past.epoch) continue;
    const kind = past.trip < thread.trip ? "overwrite" : "early";
    addHazard(state, { kind, writer: thread.id, reader: past.reader, trip: past.trip });
  }
  const epoch = thread.clock[thread.id];
  const written = { writer: thread.id, trip: thread.trip, since: state.step, epoch, readers: [] };
  state.cells[thread.id] = written;
  moveOn(state, thread);
  return { thread: thread.id, cell: thread.id };
}

function read(state, thread) {
  const index = mirror(state.config, thread.id);
  const cell = state.cells[index];
  thread.got = judge(cell, thread.trip);
  const kind = unordered(state, thread, index);
  if (kind) addHazard(state, { kind, writer: index, reader: thread.id, trip: thread.trip });
  const reading = { reader: thread.id, epoch: thread.clock[thread.id], trip: thread.trip };
  cell.readers = [...cell.readers, reading];
  moveOn(state, thread);
  return { thread: thread.id, cell: index, got: thread.got, hazard: kind };
}

/** What a read got: the value it wants, or which other one. */
function judge(cell, trip) {
  if (cell.writer === null) return "leftover";
  if (cell.trip === trip) return "right";
  return cell.trip < trip ? "previous tile" : "next tile";
}

/** How a read and its cell's write lack an order, or null where one exists or none is needed. */
function unordered(state, thread, index) {
  const cell = state.cells[index];
  if (cell.trip < thread.trip) {
    // Where the wanted write is still to come, no order can have put it first.
    return willWrite(state, index, thread.trip) ? "early" : null;
  }
  if (thread.clock[index] >= cell.epoch) return null;
  return cell.trip > thread.trip ? "overwrite" : "unordered";
}

/** Whether a thread has yet to write its cell for a trip. */
export function willWrite(state, id, trip) {
  const { lines } = state.config;
  const [leaves, writes] = ["return", "write"].map((op) => lines.findIndex((l) => l.op === op));
  const thread = state.threads[id];
  if (thread.gone || (id * SCALE >= RETURN_FROM && leaves >= 0 && leaves < writes)) return false;
  return thread.trip < trip || (thread.trip === trip && thread.at <= writes);
}

function addHazard(state, hazard) {
  const overwrites = hazard.kind === "overwrite";
  const same = (h) =>
    h.reader === hazard.reader && h.trip === hazard.trip && (h.kind === "overwrite") === overwrites;
  if (state.hazards.some(same)) return;
  state.hazards.push({ ...hazard, severity: severity(state, hazard), step: state.step });
}

/** How racecheck grades a hazard; unknown where only the guide's wording denies an order. */
function severity(state, { writer, reader }) {
  if (state.threads[writer].gone === "returned") return "unknown";
  return warpOf(writer) === warpOf(reader) ? "warning" : "error";
}

/** Let everybody pass if every warp that still lives has arrived; gives who passed, and where. */
function release(state) {
  const live = state.threads.filter((t) => !t.gone);
  const warps = [...new Set(live.map((t) => t.warp))];
  const everyone = warps.every((w) =>
    hasArrived(
      state,
      live.filter((t) => t.warp === w),
    ),
  );
  const passing = live.filter((t) => t.waiting);
  if (!everyone || passing.length === 0) return null;
  const sites = [...new Set(passing.map((t) => t.at))].sort((a, b) => a - b);
  if (sites.length > 1) state.mismatch ??= { step: state.step, sites };
  joinClocks(passing);
  for (const thread of passing) pass(state, thread);
  return { threads: passing.map((t) => t.id), sites };
}

/**
 * Whether the hardware counts a warp as arrived. Since compute capability 7.0 all of its live lanes
 * must wait at one and the same instruction; before, one lane counted for its whole warp.
 */
function hasArrived(state, lanes) {
  if (!state.config.independent) return lanes.some((t) => t.waiting);
  return lanes.every((t) => t.waiting && t.at === lanes[0].at);
}

function pass(state, thread) {
  thread.waiting = false;
  moveOn(state, thread);
}

/** The barrier's ordering half: whoever passes knows all that those who pass did before it. */
function joinClocks(passing) {
  const joined = passing[0].clock.map((_, i) => Math.max(...passing.map((t) => t.clock[i])));
  for (const thread of passing) {
    thread.clock = joined.with(thread.id, joined[thread.id] + 1);
  }
}

/** What is known at a state, in the words of the experiments' tables. */
export function verdict(state) {
  const outs = state.outs.flat();
  const severities = new Set(state.hazards.map((h) => h.severity));
  return {
    outcome: ending(state),
    results: outs.length,
    expected: state.config.size * state.config.tiles,
    wrong: outs.filter((got) => got !== "right").length,
    hazards: state.hazards.length,
    racecheck: ["error", "warning", "unknown"].find((s) => severities.has(s)) ?? "clean",
    synccheck: state.mismatch || ending(state) === "hung" ? "error" : "clean",
    arrived: state.arrived * SCALE,
  };
}
