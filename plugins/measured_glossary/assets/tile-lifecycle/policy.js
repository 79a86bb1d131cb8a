// Which warp or lane moves next.
// Comes in: a state and the reader's policy. Goes out: a unit for `advance`, or a whole trace.
// Must not know how a step changes the state, nor how it is drawn.

import { LANES, advance, group, mirror, movable, start, willWrite } from "./simulator.js";

/** The policies by name; each gives the unit that moves next, given that somebody can. */
const CHOOSE = {
  "in-order": (state) => movable(state)[0],
  reversed: (state) => movable(state).at(-1),
  "round-robin": (state) => following(movable(state), lastWarp(state)),
  random: (state, seed) => pick(movable(state), noise(seed, state.step)),
  adversarial: (state) => mostHarmful(state),
};

/** Policy names in the order they are offered; by hand, the reader chooses. */
export const POLICIES = [...Object.keys(CHOOSE), "by-hand"];

const MAX_STEPS = 1000;

/** All states from the start on: first the given picks, then the policy's until nobody can move. */
export function trace(config, { policy = "in-order", seed = 1, picks = [] } = {}) {
  const states = [start(config)];
  for (const unit of picks) {
    if (group(states.at(-1), unit).length === 0) break;
    states.push(advance(states.at(-1), unit));
  }
  const choose = CHOOSE[policy];
  while (choose && states.length < MAX_STEPS && movable(states.at(-1)).length > 0) {
    states.push(advance(states.at(-1), choose(states.at(-1), seed)));
  }
  return states;
}

/** The step a still picture shows: the first wrong value, hazard, mispaired barrier, or the end. */
export function tellingStep(states) {
  const telling = (state) =>
    state.event?.found.length > 0 ||
    state.event?.released?.sites.length > 1 ||
    state.event?.accesses.some((access) => (access.got ?? "right") !== "right");
  const found = states.findIndex(telling);
  return found < 0 ? states.length - 1 : found;
}

function lastWarp(state) {
  return state.event ? Number.parseInt(state.event.unit, 10) : -1;
}

function following(warps, last) {
  return warps.find((warp) => warp > last) ?? warps[0];
}

function pick(items, share) {
  return items[Math.floor(share * items.length)];
}

/** A number in [0, 1) that depends on the seed and the step alone (mulberry32's mixing). */
function noise(seed, step) {
  let a = (seed * 0x9e3779b1 + step * 0x6d2b79f5) | 0;
  a = Math.imul(a ^ (a >>> 15), a | 1);
  a ^= a + Math.imul(a ^ (a >>> 7), a | 61);
  return ((a ^ (a >>> 14)) >>> 0) / 2 ** 32;
}

/** The unit that does most harm before it must wait; lanes apart only where whole warps do none. */
function mostHarmful(state) {
  const warps = movable(state);
  const worst = (units) => {
    const harms = units.map((unit) => harm(state, group(state, unit)));
    const most = Math.max(0, ...harms);
    return most > 0 ? units[harms.indexOf(most)] : undefined;
  };
  return worst(warps) ?? (state.config.independent ? worst(lanes(warps)) : undefined) ?? warps[0];
}

function lanes(warps) {
  return warps.flatMap((warp) => Array.from({ length: LANES }, (_, lane) => `${warp}.${lane}`));
}

/** How many reads go wrong if these threads now run until they wait. */
function harm(state, threads) {
  const count = (thread) => ahead(state, thread).filter((s) => hurts(state, threads, thread, s));
  return threads.reduce((sum, thread) => sum + count(thread).length, 0);
}

/** What a thread does from here to its next wait or its end: pairs of operation and trip. */
function ahead(state, thread) {
  const { lines, tiles } = state.config;
  const steps = [];
  let { at, trip } = thread;
  for (; trip < tiles; trip++, at = 0) {
    for (const line of lines.slice(at)) {
      if (line.op === "barrier" && !line.off) return steps;
      steps.push({ op: line.op, trip });
    }
  }
  return steps;
}

function hurts(state, movers, thread, { op, trip }) {
  const other = state.threads[mirror(state.config, thread.id)];
  if (op === "read") return !movers.includes(other) && willWrite(state, other.id, trip);
  if (op === "write")
    return trip > 0 && !movers.includes(other) && !hasRead(state, other, trip - 1);
  return false;
}

function hasRead(state, thread, trip) {
  const read = state.config.lines.findIndex((line) => line.op === "read");
  return thread.gone !== null || thread.trip > trip || (thread.trip === trip && thread.at > read);
}
