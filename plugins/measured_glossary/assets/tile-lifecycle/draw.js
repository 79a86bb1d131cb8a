// The picture: the kernel's lines, the warps on their tracks, the tile, the results.
// Comes in: a configuration once, then one state after the other. Goes out: nodes kept up to date.
// Must not know the controls, addresses or time.

import { LANES, SCALE, mirror, warpOf } from "./simulator.js";
import { cellText, laneName, whereabouts } from "./words.js";

/** A new element: properties, classes and attributes by name, then its children. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Text for screen readers only. */
export function unseen(text = "") {
  return el("span", { className: "unseen" }, text);
}

/** The kernel's lines; `onBarrier` is called with which barrier, and whether it is to stand. */
export function listing(config, onBarrier) {
  const items = config.lines.map((line, at) => listingLine(config, line, at, onBarrier));
  const node = el("ol", { className: "code", ariaLabel: "The kernel, line by line" }, ...items);
  const repeat =
    config.tiles > 1 ? [el("p", { className: "repeat" }, "for each of two tiles:")] : [];
  return {
    node: el("div", { className: "kernel" }, ...repeat, node),
    paint: ({ event }) =>
      items.forEach((item, at) => item.classList.toggle("now", event?.line === at)),
  };
}

function listingLine(config, line, at, onBarrier) {
  const code = el("code", {}, line.code);
  const isFirst = config.lines.findIndex((l) => l.which === line.which) === at;
  if (line.op !== "barrier" || !isFirst) {
    return el("li", { className: line.off ? "off" : "" }, el("span", {}, code));
  }
  const box = el("input", { type: "checkbox", checked: !line.off });
  box.dataset.keep = `barrier-${line.which}`;
  box.addEventListener("change", () => onBarrier(line.which, box.checked));
  const label = el("label", { title: "Take this barrier out, or put it back" }, code, box);
  return el("li", { className: line.off ? "off" : "" }, label);
}

/** Tracks, tile and results side by side; `onWarp` is called with the warp that is pressed. */
export function stage(config, onWarp) {
  const parts = [tracks(config, onWarp), flow(config), tile(config), results(config)];
  return {
    node: el("div", { className: "stage" }, ...parts.map((part) => part.node)),
    paint: (state, movable) => parts.forEach((part) => part.paint(state, movable)),
  };
}

function panel(className, title, ...children) {
  return el("div", { className }, el("p", { className: "title" }, title), ...children);
}

function tracks(config, onWarp) {
  const warps = Array.from({ length: config.size / LANES }, (_, warp) =>
    warpRow(config, warp, onWarp),
  );
  const names = [...config.lines, { name: "end", op: "end" }];
  const heads = names.map((line, at) => head(line, at, config));
  const header = el("div", { className: "heads", ariaHidden: "true" }, ...heads);
  const rows = el("ol", { className: "rows", ariaLabel: "Where each warp is" });
  rows.append(...warps.map((warp) => warp.node));
  const title = `${config.size * SCALE} threads: what each lane executes next`;
  const node = panel("tracks", title, header, rows);
  node.style.setProperty("--columns", names.length);
  return { node, paint: (state, movable) => warps.forEach((warp) => warp.paint(state, movable)) };
}

function head(line, at, config) {
  const number = at < config.lines.length ? `${at + 1}` : "\u00a0";
  const className = `${line.op} ${line.off ? "off" : ""}`;
  return el("span", { className }, el("b", {}, number), el("small", {}, line.name));
}

function warpRow(config, warp, onWarp) {
  const button = el("button", { type: "button", className: "warp" }, `warp ${warp}`);
  button.addEventListener("click", () => onWarp(warp));
  const dots = Array.from({ length: LANES }, () => el("i", { className: "lane" }));
  const columns = [...config.lines, { op: "end" }];
  const bands = columns.map((l) => el("s", { className: `${l.op} ${l.off ? "off" : ""}` }));
  const text = unseen();
  const track = el("span", { className: "track", ariaHidden: "true" }, ...bands, ...dots);
  const paint = (state, movable) => {
    const can = movable.includes(warp);
    button.ariaDisabled = String(!can);
    button.ariaLabel = `Move warp ${warp}${can ? "" : " (it cannot move now)"}`;
    text.textContent = whereabouts(state, warp);
    const moved = state.event?.lanes.some((id) => warpOf(id) === warp);
    bands.forEach((band, at) => band.classList.toggle("ran", moved && state.event.line === at));
    dots.forEach((dot, lane) => paintLane(dot, state, state.threads[warp * LANES + lane]));
  };
  return { node: el("li", {}, button, track, text), paint };
}

function paintLane(dot, { config, event }, thread) {
  const lane = (thread.id % LANES) + 0.5;
  const column = thread.gone ? config.lines.length : thread.at;
  dot.style.left = `${((column + 0.1 + (0.8 * lane) / LANES) * 100) / (config.lines.length + 1)}%`;
  const is = {
    lane: true,
    moved: event?.lanes.includes(thread.id),
    waiting: thread.waiting,
    returned: thread.gone === "returned",
    second: thread.trip > 0,
  };
  dot.className = names(is);
}

function names(is) {
  return Object.keys(is)
    .filter((name) => is[name])
    .join(" ");
}

/** The way of the data in this step: from a warp into the tile, or out of it. */
function flow(config) {
  const height = (config.size / LANES) * ROW;
  const svg = shape("svg", { viewBox: `0 0 ${FLOW} ${height}`, "aria-hidden": "true" });
  const paint = ({ event }) => {
    const [first] = event?.accesses ?? [];
    const arrow = first ? arrowBetween(warpOf(first.thread), warpOf(first.cell), first) : [];
    svg.replaceChildren(...arrow);
  };
  return { node: el("div", { className: "flow" }, svg), paint };
}

const [ROW, FLOW, TIP] = [38, 30, 6];

function arrowBetween(warp, cellRow, { got, hazard }) {
  const [from, to] = [(warp + 0.5) * ROW, (cellRow + 0.5) * ROW];
  const [left, right] = got ? [TIP, FLOW] : [0, FLOW - TIP];
  const line = `M${left} ${from}C${FLOW} ${from} 0 ${to} ${right} ${to}`;
  const tip = got ? `M0 ${from}l${TIP + 1} -5v10z` : `M${FLOW} ${to}l${-TIP - 1} -5v10z`;
  const className = names({ arrow: true, bad: hazard });
  return [
    shape("path", { d: line, class: className }),
    shape("path", { d: tip, class: `${className} tip` }),
  ];
}

/** A new SVG element with its attributes. */
export function shape(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function tile(config) {
  const cells = Array.from({ length: config.size }, (_, index) => cell(index));
  const list = el("ol", { className: "cells", ariaLabel: "The tile in shared memory" });
  list.append(...cells.map((c) => c.node));
  const node = panel("tile", "tile: writer, age", list);
  return { node, paint: (state) => cells.forEach((c) => c.paint(state)) };
}

function cell(index) {
  const [who, age, text] = [el("b"), el("small"), unseen()];
  const seen = el("span", { ariaHidden: "true" }, who, age);
  const node = el("li", {}, seen, text);
  const paint = (state) => {
    const { writer, since } = state.cells[index];
    const marks = marksOf(state, index);
    who.textContent = writer === null ? "\u2013" : laneName(writer);
    age.textContent = marks.read ?? (writer === null ? "" : `+${state.step - since}`);
    node.className = names({ cell: true, empty: writer === null, ...marks });
    text.textContent = cellText(state, index, marks);
  };
  return { node, paint };
}

/** What happened to a cell: in this step (written, read and by whom), and since the start. */
export function marksOf(state, index) {
  const reader = state.threads[mirror(state.config, index)];
  const touched = state.event?.accesses.find((access) => access.cell === index);
  return {
    written: touched && !touched.got,
    read: touched?.got && `\u2192${laneName(touched.thread)}`,
    hazard: state.hazards.some((h) => h.reader === reader.id),
    wrong: (reader.got ?? "right") !== "right",
  };
}

function results(config) {
  const items = Array.from({ length: config.size }, () => ({ seen: el("span"), text: unseen() }));
  const nodes = items.map(({ seen, text }) => el("li", {}, seen, text));
  const list = el("ol", { className: "outs", ariaLabel: "Results stored" }, ...nodes);
  for (const { seen } of items) seen.ariaHidden = "true";
  const paint = (state) => {
    for (const [id, { seen, text }] of items.entries()) paintResult(state, id, seen, text);
  };
  return { node: panel("results", "out", list), paint };
}

const SIGNS = { right: "\u2713", wrong: "\u2717", pending: "\u00b7", never: "\u2205" };

function paintResult(state, id, seen, text) {
  const kinds = Array.from({ length: state.config.tiles }, (_, trip) => {
    const got = state.outs[id][trip];
    if (got === undefined) return state.threads[id].gone === "returned" ? "never" : "pending";
    return got === "right" ? "right" : "wrong";
  });
  seen.textContent = kinds.map((kind) => SIGNS[kind]).join("");
  seen.className = kinds.includes("wrong") ? "wrong" : kinds[0];
  text.textContent = `lane ${laneName(id)}: ${kinds.join(", ")}`;
}
