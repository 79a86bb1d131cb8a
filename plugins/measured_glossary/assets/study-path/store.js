// A reader's study paths as values, and where the browser keeps them.
// Comes in: the address of the page of paths. Goes out: what is kept, or why it cannot be known.
// Must not know what an id leads to, nor the page. Every page loads it: keep it small.

export const SCHEMA = 1;
export const NOTHING = { schema: SCHEMA, current: 0, paths: [] };
export const FIRST_NAME = "My path";

/** The key under which a site keeps its paths: sites that share a host keep theirs apart. */
export function keyOf(address) {
  return `study-paths ${new URL(address).pathname.replace(/index\.html$/, "")}`;
}

/** What is kept, and what keeps it from being read: "", "unavailable" or "unreadable". */
export function read(key) {
  let text;
  try {
    text = localStorage.getItem(key);
  } catch {
    return { kept: NOTHING, fault: "unavailable" };
  }
  const kept = text === null ? NOTHING : parsed(text);
  return isKept(kept) ? { kept, fault: "" } : { kept: NOTHING, fault: "unreadable", text };
}

/** Keep it; says whether the browser did. */
export function write(key, kept) {
  try {
    localStorage.setItem(key, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}

/** The value of a text of JSON, or null where it is none. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whether a value is a step: the id of an entry or of a page, ticked off or not. */
export function isStep(step) {
  const { id, done } = step ?? {};
  return typeof id === "string" && /^\w[\w./-]{0,199}$/.test(id) && typeof done === "boolean";
}

/** Whether a value is a path: a name and steps. */
export function isPath(path) {
  return typeof path?.name === "string" && Array.isArray(path.steps) && path.steps.every(isStep);
}

function isKept(kept) {
  return kept?.schema === SCHEMA && Array.isArray(kept.paths) && kept.paths.every(isPath);
}

/** The path that is shown and added to; a reader without any has an empty one. */
export function currentPath({ paths, current }) {
  return paths[current] ?? paths[0] ?? { name: FIRST_NAME, steps: [] };
}

/** Put something else in the place of the current path. */
export function withCurrent(kept, path) {
  const paths = [...kept.paths];
  const current = paths[kept.current] ? kept.current : 0;
  paths[current] = path;
  return { ...kept, current, paths };
}

/** Put other steps into the current path. */
export function withSteps(kept, steps) {
  return withCurrent(kept, { ...currentPath(kept), steps });
}

/** Tick a step off or take the tick away; a step that is not there yet is added at the end. */
export function tick(kept, id, done) {
  const { steps } = currentPath(kept);
  const isThere = steps.some((step) => step.id === id);
  if (!isThere) return withSteps(kept, [...steps, { id, done }]);
  return withSteps(kept, steps.map((step) => (step.id === id ? { id, done } : step)));
}
