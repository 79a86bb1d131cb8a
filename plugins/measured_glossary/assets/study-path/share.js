// A path as a link and as a file, and back.
// Comes in: a path, or what somebody gave the reader. Goes out: text; a path, or what is wrong.
// Must not know what the reader keeps, nor the page.

import { SCHEMA, isPath, isStep, parsed } from "./store.js";

const TYPE = "study-path";
const MAX_NAME = 100;
const MAX_STEPS = 500;

/** The part of a link behind #, which names a path and its steps; ticks stay with the reader. */
export function toHash({ name, steps }) {
  const ids = steps.map((step) => step.id).join(",");
  return `#${TYPE}=${SCHEMA}&name=${encodeURIComponent(name)}&steps=${ids}`;
}

/** The path of a link, or a fault; null where the link has none. */
export function fromHash(hash) {
  if (!hash.startsWith(`#${TYPE}=`)) return null;
  const given = new URLSearchParams(hash.slice(1));
  if (given.get(TYPE) !== String(SCHEMA)) return { fault: other(given.get(TYPE)) };
  const ids = (given.get("steps") ?? "").split(",");
  const path = { name: given.get("name") ?? "", steps: ids.map((id) => ({ id, done: false })) };
  if (!isGood(path)) return { fault: "This link holds no study path that can be read." };
  return { path: tidy(path) };
}

/** A path as a file. */
export function toFile({ name, steps }) {
  return `${JSON.stringify({ type: TYPE, schema: SCHEMA, name, steps }, null, 2)}\n`;
}

/** The path of a file, or a fault; `file` is its name. */
export function fromFile(file, text) {
  const data = parsed(text);
  if (data === null) return { fault: `“${file}” is not JSON, so no path was imported.` };
  if (data.type !== TYPE) return { fault: `“${file}” is not a study path exported here.` };
  if (data.schema !== SCHEMA) return { fault: `“${file}”: ${other(data.schema)}` };
  if (!isGood(data)) return { fault: `“${file}” is damaged: ${damage(data)}` };
  return { path: tidy(data) };
}

function other(schema) {
  return `its form has the number ${schema}, and this page reads ${SCHEMA}.`;
}

function isGood(path) {
  return isPath(path) && path.name.trim() !== "" && path.steps.length <= MAX_STEPS;
}

/** What of a path cannot be used, in words. */
function damage({ name, steps }) {
  if (typeof name !== "string" || name.trim() === "") return "it has no name.";
  if (!Array.isArray(steps)) return "it has no steps.";
  if (steps.length > MAX_STEPS) return `it has more than ${MAX_STEPS} steps.`;
  const bad = steps.findIndex((step) => !isStep(step));
  return `its step ${bad + 1} has no "id" of an entry or page, or no "done".`;
}

/** The path with each step once and a name of reasonable length. */
function tidy({ name, steps }) {
  const once = new Map(steps.map(({ id, done }) => [id, { id, done }]));
  return { name: name.trim().slice(0, MAX_NAME), steps: [...once.values()] };
}
