// What is said about a state: labels, a sentence for each step, the outcome at the end.
// Comes in: states of the simulator. Goes out: plain text, the same for eyes and screen readers.
// Must not know the page, nor carry a measured number: those stand in the entry's own table.

import { LANES, SCALE, ending, verdict, warpOf } from "./simulator.js";

/** What the choices are called. */
export const LABELS = {
  "no-barrier": "No barrier, 256 threads",
  "block-32-hides-it": "No barrier, 32 threads",
  "early-return": "Early return",
  "divergent-arms": "A barrier in each arm",
  "one-tile": "one tile",
  "two-tiles": "two tiles in turn",
  "before-the-write": "return before the write",
  "after-the-write": "return after the write",
  "warp-boundary": "split between warps",
  "inside-a-warp": "split inside a warp",
  "in-order": "warps in order",
  reversed: "warps reversed",
  "round-robin": "round robin",
  random: "random",
  adversarial: "adversarial",
  "by-hand": "by hand",
};

/** How the drawing differs from a real block. */
export const SCALE_NOTE =
  `Drawn with ${LANES} lanes a warp. A real warp has 32, ` +
  `so each lane and each cell here stands for ${SCALE}.`;

/** A thread's short name: its warp and its lane. */
export function laneName(id) {
  return `${warpOf(id)}.${id % LANES}`;
}

/** The step that led to this state, in words. */
export function sentence(state) {
  const { event } = state;
  if (!event) return "Nobody has moved. The tile holds whatever an earlier block left in it.";
  const parts = [`${subject(event.lanes)} ${VERBS[event.op](state, event)}`];
  parts.push(...readings(state, event), ...overwritten(event), ...passed(state, event));
  if (ending(state) === "hung") parts.push("Nobody can move any more.");
  return parts.join(" ");
}

const VERBS = {
  load: (state, { lanes }) => `${s(lanes, "load")} from global memory${again(state)}.`,
  write: (_, { lanes }) => `${s(lanes, "write")} ${cells(lanes)}.`,
  read: (_, { lanes, accesses }) => `${s(lanes, "read")} ${cells(accesses.map((a) => a.cell))}.`,
  barrier: (state, { lanes }) => `${s(lanes, "reach", "reaches")} ${site(state)} and must wait.`,
  store: (_, { lanes }) => `${s(lanes, "store")} what was computed, right or wrong.`,
  return: (state, { lanes }) => returning(state, lanes),
};

function again(state) {
  return state.event.trip > 0 ? ", for the second tile" : "";
}

function site(state) {
  const line = state.config.lines[state.event.line];
  return line.arm ? `the barrier in the ${line.arm}` : "the barrier";
}

function returning(state, lanes) {
  const left = lanes.filter((id) => state.threads[id].gone);
  if (left.length === 0) return `${s(lanes, "stay")}.`;
  return `${s(lanes, "return")} and will reach no barrier.`;
}

function subject(lanes) {
  if (lanes.length === LANES) return `Warp ${warpOf(lanes[0])}`;
  const [last, ...others] = lanes.map((id) => id % LANES).reverse();
  const numbers = others.length > 0 ? `s ${others.reverse().join(", ")} and ${last}` : ` ${last}`;
  return `Lane${numbers} of warp ${warpOf(lanes[0])}`;
}

/** The verb for these lanes; a whole warp or a single lane takes an s. */
function s(lanes, plural, singular = `${plural}s`) {
  return lanes.length === LANES || lanes.length === 1 ? singular : plural;
}

function cells(ids) {
  const sorted = [...ids].sort((a, b) => a - b);
  if (sorted.length === 1) return `cell ${sorted[0]}`;
  return `cells ${sorted[0]} to ${sorted.at(-1)}`;
}

function readings(state, event) {
  const reads = event.accesses.filter((access) => access.got);
  const said = reads.map((access) => reading(state, access));
  const kinds = [...new Set(said)];
  if (kinds.length === 1) return kinds;
  const of = (kind) => reads.filter((_, i) => said[i] === kind).map((access) => access.cell);
  return kinds.map((kind) => `${capital(cells(of(kind)))}: ${kind}`);
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function reading(state, { thread, cell, got, hazard }) {
  const writer = state.threads[cell];
  const who = writerName(state, thread, cell);
  if (got === "right" && hazard) return rightByLuck(writer, who);
  if (got === "right") return `Right: the barrier put the writes of ${who} first.`;
  if (got === "next tile") {
    return `Too late: ${who} already put the next tile there. Wrong, and a hazard.`;
  }
  const holds = got === "leftover" ? "what an earlier block left there" : "the previous tile";
  if (!hazard) {
    return `${capital(who)} never writes, so it gets ${holds}. Wrong, with no race at all.`;
  }
  return `Nothing made it wait for ${who} to write, so it gets ${holds}. Wrong, and a hazard.`;
}

function writerName({ event }, thread, cell) {
  if (warpOf(cell) !== warpOf(thread)) return `warp ${warpOf(cell)}`;
  return event.lanes.length === 1 ? `lane ${cell % LANES}` : "the other lanes";
}

function rightByLuck(writer, who) {
  if (writer.gone === "returned") {
    return `Right, but ${who} returned before the barrier, which promises nothing for its writes.`;
  }
  return `Right, but nothing put the write of ${who} before this read: a hazard all the same.`;
}

function overwritten({ op, found }) {
  if (op !== "write" || !found.some((h) => h.kind === "overwrite")) return [];
  return ["Nothing made it wait until the old values were read: a hazard."];
}

function passed(state, { released }) {
  if (!released) return [];
  const all = `Nobody is missing, so ${released.threads.length * SCALE} threads pass.`;
  if (released.sites.length === 1) return [all];
  const names = released.sites.map((at) => state.config.lines[at].name).join(" and ");
  return [all, `The hardware counts warps, not lines: ${names} were taken for one barrier.`];
}

/** How it ended, in words: a title and one sentence for each thing that is known. */
export function outcome(state) {
  const known = verdict(state);
  const title = known.outcome === "hung" ? "The launch never returns." : "The launch returns.";
  const said = [values(known), order(known), lesson(state, known), model(state, known)];
  return { title, sentences: said.filter(Boolean) };
}

function values({ outcome: how, results, expected, wrong }) {
  if (how === "hung") return "No result was stored.";
  const missing = expected - results;
  const never = missing ? ` The other ${missing} were never stored.` : "";
  const few = wrong === 0 ? `All ${results} results` : `${wrong} of the ${results} results`;
  return `${few} ${missing ? "stored" : "drawn"} are ${wrong === 0 ? "right" : "wrong"}.${never}`;
}

function order({ outcome: how, hazards, racecheck, wrong }) {
  if (how === "hung") return "";
  if (racecheck === "clean") {
    return wrong === 0 ? "Each read comes after the write it needs, whoever moves first." : "";
  }
  const reads = `${hazards} ${hazards === 1 ? "read has" : "reads have"} no order with a write`;
  return `${reads}${GRADES[racecheck]}`;
}

const GRADES = {
  warning: ". Both sides are in one warp, which racecheck reports as a warning.",
  error: ", whatever the values. Between warps racecheck reports that as an error.",
  unknown: " that anybody promises: the guide counts only threads that have not exited.",
};

const LESSONS = {
  reverse: ({ config }, { wrong, racecheck }) => {
    if (racecheck === "clean") return secondBarrier(config);
    if (racecheck === "warning") return wrong ? LANES_APART : HIDDEN;
    return wrong ? halfAtMost(config) : "The order was kind this time. Choose another policy.";
  },
  return: ({ config }, { arrived }) => {
    if (!config.barriers[0])
      return "Threads that have returned reach no barrier, here or anywhere.";
    const came = `${arrived} of ${config.size * SCALE} threads arrived, and passed`;
    return `${came}: a barrier does not wait for threads that have returned.`;
  },
  arms: ({ config, mismatch }, { outcome: how }) => {
    if (!config.barriers[0]) return "Without the barriers in the arms nothing is left to pair.";
    if (how === "hung") return SPLIT_WARP;
    return mismatch ? "Returning is luck, not a promise: synccheck reports this as an error." : "";
  },
};

const HIDDEN =
  "The block is one warp and its lanes moved together, which is all that kept the values right. " +
  "A test at 32 threads proves nothing about order.";
const LANES_APART =
  "Since compute capability 7.0 each lane has its own program counter, so this order is allowed " +
  "even if a card that keeps a warp together never shows it.";
const SPLIT_WARP =
  "A warp counts as arrived only when all its live lanes wait at the same instruction, " +
  "and warp 0 waits at two.";

function halfAtMost({ tiles }) {
  if (tiles > 1) return "";
  return (
    "Of two cells that swap, only one side can be read too early, " +
    "so half is the most that goes wrong."
  );
}

function secondBarrier({ barriers, tiles }) {
  if (barriers[1] || tiles > 1) return "";
  return "The second barrier is not missed: with one tile no two accesses stand on its two sides.";
}

function lesson(state, known) {
  return LESSONS[state.config.kernel](state, known);
}

function model({ config }) {
  if (config.independent) return "";
  return "Drawn with one program counter a warp, a model of cards before compute capability 7.0.";
}

/** Where the lanes of a warp are, for those who do not see the tracks. */
export function whereabouts(state, warp) {
  const lanes = state.threads.filter((t) => t.warp === warp);
  const places = new Map();
  for (const thread of lanes) {
    const place = placeOf(state, thread);
    places.set(place, [...(places.get(place) ?? []), thread.id % LANES]);
  }
  if (places.size === 1) return `all lanes ${[...places.keys()][0]}`;
  return [...places].map(([place, at]) => `lane ${at.join(" and ")} ${place}`).join(", ");
}

function placeOf({ config }, thread) {
  if (thread.gone) return thread.gone === "done" ? "finished" : "returned early";
  const { name } = config.lines[thread.at];
  return thread.waiting ? `waiting at ${name}` : `before ${name}`;
}

/** What a cell holds and what happened to it, in words. */
export function cellText(state, index, marks) {
  const { writer, since } = state.cells[index];
  const age = state.step - since;
  const holds =
    writer === null
      ? "holds what an earlier block left"
      : `written by lane ${laneName(writer)}, ${age === 1 ? "one step" : `${age} steps`} ago`;
  return [`cell ${index} ${holds}`, marks.hazard && "hazard", marks.wrong && "wrong value read"]
    .filter(Boolean)
    .join(", ");
}
