// A reader's paths beside each other, and a step put at a place.
// Comes in: what is kept. Goes out: what is to be kept instead.
// Must not know the browser, nor the page.

import { FIRST_NAME, currentPath, withSteps } from "./store.js";

/** Add a step to the current path before another one; it is there once. */
export function add(kept, id, at) {
  const { steps } = currentPath(kept);
  if (steps.some((step) => step.id === id)) return kept;
  return withSteps(kept, [...steps.slice(0, at), { id, done: false }, ...steps.slice(at)]);
}

/** Add a path beside those that are there, and show it; no other loses its name. */
export function addPath(kept, path) {
  const paths = [...kept.paths, { ...path, name: freeName(kept.paths, path.name) }];
  return { ...kept, current: paths.length - 1, paths };
}

/** A name that no path has yet: this one, or this one with a number. */
export function freeName(paths, name = FIRST_NAME) {
  const taken = new Set(paths.map((path) => path.name));
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name} (${number})`;
  return free;
}
