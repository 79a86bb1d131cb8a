// The steps of a path as a list: to follow, tick off, move and remove; and what could be added.
// Comes in: the desk, whose path they show and change. Goes out: nodes.
// Must not know how paths are kept or shared.

import { button, choice, el, field } from "./element.js";
import { add } from "./several.js";
import { currentPath, tick, withSteps } from "./store.js";
import { reason, suggestions } from "./suggest.js";

const UNKNOWN = "not on this site: withdrawn, not published yet, or from elsewhere";

/** The title of a step, or its id where this site has no such page. */
export function titleOf({ known }, id) {
  return known.get(id)?.title ?? id;
}

/** A step as a link, with what is to be said of it. */
export function named({ known }, id) {
  const stop = known.get(id);
  if (!stop) return [el("span", {}, id), el("small", {}, ` (${UNKNOWN})`)];
  const link = el("a", { href: addressOf(stop) }, stop.title);
  return stop.state ? [link, el("small", {}, ` (${stop.state})`)] : [link];
}

function addressOf({ folder }) {
  const page = location.pathname.endsWith("/") ? "" : "index.html";
  return new URL(`../${folder}${page}`, location.href).href;
}

/** How far the reader is. */
export function progress({ kept }) {
  const { steps } = currentPath(kept);
  const done = steps.filter((step) => step.done).length;
  const bar = el("progress", { max: steps.length || 1, value: done });
  return el("p", { className: "mg-progress" }, field(`${done} of ${steps.length} ticked off`, bar));
}

/** The steps in their order. */
export function list(desk) {
  const { steps } = currentPath(desk.kept);
  return el("ol", { className: "mg-steps" }, ...steps.map((_, at) => item(desk, steps, at)));
}

function item(desk, steps, at) {
  const { id, done } = steps[at];
  const title = titleOf(desk, id);
  const box = el("input", { type: "checkbox", checked: done, ariaLabel: `Ticked off: ${title}`, key: `tick ${id}` });
  box.addEventListener("change", () => desk.change(tick(desk.kept, id, box.checked), ""));
  const controls = [
    button("↑", () => move(desk, at, -1), { label: `Move up: ${title}`, disabled: at === 0 }),
    button("↓", () => move(desk, at, 1), { label: `Move down: ${title}`, disabled: at === steps.length - 1 }),
    button("×", () => remove(desk, at), { label: `Remove: ${title}` }),
  ];
  const node = el("li", { className: done ? "mg-done" : "" }, box, el("div", {}, ...named(desk, id)), ...controls);
  node.addEventListener("keydown", (event) => byKey(event, desk, at));
  return node;
}

const KEYS = { ArrowUp: -1, ArrowDown: 1 };

function byKey(event, desk, at) {
  if (!event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  move(desk, at, KEYS[event.key]);
}

function move(desk, at, by) {
  const { steps } = currentPath(desk.kept);
  const to = at + by;
  if (!steps[to]) return;
  const title = titleOf(desk, steps[at].id);
  const moved = [...steps];
  [moved[at], moved[to]] = [steps[to], steps[at]];
  // At an end of the list one of the two buttons can no longer be pressed.
  const focus = [`Move up: ${title}`, `Move down: ${title}`];
  desk.change(withSteps(desk.kept, moved), `“${title}” is step ${to + 1} of ${steps.length}.`, { focus });
}

function remove(desk, at) {
  const { steps } = currentPath(desk.kept);
  const next = steps[at + 1] ?? steps[at - 1];
  const focus = [next ? `Remove: ${titleOf(desk, next.id)}` : "add"];
  const said = `“${titleOf(desk, steps[at].id)}” is removed.`;
  const left = steps.filter((_, index) => index !== at);
  desk.change(withSteps(desk.kept, left), said, { focus, undo: true });
}

/** Everything that is not in the path yet, to be added. */
export function adding(desk) {
  const there = new Set(currentPath(desk.kept).steps.map((step) => step.id));
  const left = [...desk.known.values()].filter((stop) => !there.has(stop.id));
  const groups = new Map(left.map((stop) => [stop.group, []]));
  for (const { group, id, title } of left) groups.get(group).push([id, title]);
  const select = choice(groups, { key: "add", disabled: left.length === 0 });
  const press = () => put(desk, select.value, Infinity);
  return el("p", {}, field("Add a step", select), button("Add", press, { disabled: select.disabled }));
}

function put(desk, id, at) {
  const kept = add(desk.kept, id, at);
  const { steps } = currentPath(kept);
  const number = steps.findIndex((step) => step.id === id) + 1;
  desk.change(kept, `“${titleOf(desk, id)}” is step ${number} of ${steps.length}.`, { focus: ["add"] });
}

/** What could be read before, and why. */
export function suggested(desk) {
  const found = suggestions(currentPath(desk.kept).steps, desk.known);
  const lines = found.map((each) => {
    const title = titleOf(desk, each.id);
    const press = () => put(desk, each.id, each.at);
    const why = `${reason(each, desk.known)} It would come before that step. `;
    return el("li", {}, ...named(desk, each.id), ". ", why, button("Add", press, { label: `Add: ${title}` }));
  });
  if (lines.length === 0) return [];
  return [el("h3", {}, "Perhaps first"), el("ul", { className: "mg-suggested" }, ...lines)];
}
