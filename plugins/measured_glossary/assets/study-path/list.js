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
  const label = `Ticked off: ${title}`;
  const box = el("input", { type: "checkbox", checked: done, ariaLabel: label, key: label });
  box.addEventListener("change", () => desk.change(tick(desk.kept, id, box.checked), ""));
  const words = el("div", {}, ...named(desk, id));
  const className = done ? "mg-done" : "";
  const node = el("li", { className }, box, words, ...controls(desk, steps, at));
  node.addEventListener("keydown", (event) => byKey(event, desk, at));
  return node;
}

function controls(desk, steps, at) {
  const title = titleOf(desk, steps[at].id);
  const [isFirst, isLast] = [at === 0, at === steps.length - 1];
  return [
    button("↑", () => move(desk, at, -1), { label: `Move up: ${title}`, disabled: isFirst }),
    button("↓", () => move(desk, at, 1), { label: `Move down: ${title}`, disabled: isLast }),
    button("×", () => remove(desk, at), { label: `Remove: ${title}` }),
  ];
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
  const ways = by < 0 ? ["up", "down"] : ["down", "up"];
  const focus = ways.map((way) => `Move ${way}: ${title}`);
  const said = `“${title}” is step ${to + 1} of ${steps.length}.`;
  desk.change(withSteps(desk.kept, moved), said, { focus });
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
  const adds = button("Add", press, { disabled: select.disabled });
  return el("p", {}, field("Add a step", select), adds);
}

function put(desk, id, at) {
  const kept = add(desk.kept, id, at);
  const { steps } = currentPath(kept);
  const number = steps.findIndex((step) => step.id === id) + 1;
  const said = `“${titleOf(desk, id)}” is step ${number} of ${steps.length}.`;
  desk.change(kept, said, { focus: ["add"] });
}

/** What could be read before, and why. */
export function suggested(desk) {
  const found = suggestions(currentPath(desk.kept).steps, desk.known);
  const lines = found.map((each) => {
    const title = titleOf(desk, each.id);
    const press = () => put(desk, each.id, each.at);
    const words = `Add before step ${each.at + 1}`;
    const adds = button(words, press, { label: `${words}: ${title}` });
    return el("li", {}, ...named(desk, each.id), el("p", {}, reason(each, desk.known)), adds);
  });
  if (lines.length === 0) return [];
  const heading = el("h3", {}, "What could be read first");
  return [heading, el("ul", { className: "mg-suggested" }, ...lines)];
}
