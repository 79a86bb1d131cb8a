// The controls around the picture, and what is told beside and below it.
// Comes in: the element whose view they change and show. Goes out: nodes, each with its `paint`.
// Must not know how a step is computed or drawn, nor the address.

import { el, shape } from "./draw.js";
import { POLICIES, tellingStep } from "./policy.js";
import { LANES, PRESETS, ending } from "./simulator.js";
import { LABELS, SCALE_NOTE, outcome, sentence } from "./words.js";

const STEP_MS = 1000;
const SPEEDS = [0.5, 1, 2, 4];
const ICONS = {
  first: "M20 5v14l-7-7zM13 5v14l-7-7zM4 5h2v14H4z",
  back: "M18 5v14L9 12zM6 5h2v14H6z",
  play: "M7 5v14l11-7z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  step: "M6 5v14l9-7zM16 5h2v14h-2z",
  last: "M4 5v14l7-7zM11 5v14l7-7zM18 5h2v14h-2z",
};
const LEGEND = [
  ["\u25cf", "a lane, drawn at the line it executes next; raised if it has just moved"],
  ["\u25a1", "a lane that waits at a barrier"],
  ["\u25c6", "a lane at work on the second tile"],
  ["\u00d7", "a lane that has returned early"],
  ["7.3", "the cell was last written by warp 7, lane 3"],
  ["+5", "five steps ago"],
  ["\u21920.1", "warp 0, lane 1 reads it in this step"],
  ["\u2190", "the way of the data in this step; dashed where nothing orders it"],
  ["\u2013", "nobody here has written the cell: an earlier block's value"],
  ["!", "hazard: no order exists between a write and a read of the cell"],
  ["\u2717", "a wrong value was read, or stored"],
  ["\u2713", "the right value was stored"],
  ["\u2205", "never stored"],
];
const KEYS =
  "Keys, with the focus in the diagram: right and left arrow step and go back, Home and End go " +
  "to the first and last step. Pressing a warp moves it at once, by hand from there on.";

function options(select, names) {
  select.replaceChildren(
    ...names.map((name) => el("option", { value: name }, LABELS[name] ?? name)),
  );
}

function field(label, control) {
  return el("label", { className: "field" }, el("span", {}, label), control);
}

/** The choices above the picture, and how they show a view. */
export function choices(widget) {
  const inputs = choiceInputs();
  const fields = choiceFields(inputs);
  for (const [name, given] of Object.entries(CHOICES)) {
    const change = () => widget.show({ ...widget.view, step: 0, ...given(inputs[name], widget) });
    inputs[name].addEventListener("change", change);
  }
  return {
    node: el("div", { className: "choices" }, ...Object.values(fields)),
    paint: (shown) => paintChoices(inputs, fields, shown),
    lane: () => (fields.lane.hidden ? "" : inputs.lane.value),
  };
}

/** What each choice changes in the view; a new preset starts from its own settings. */
const CHOICES = {
  preset: ({ value }, { view }) => ({ ...FROM_PRESET, preset: value, ...handless(view) }),
  variant: ({ value }) => ({ variant: value }),
  policy: ({ value }, widget) => takeOver(widget, value),
  seed: ({ value }) => ({ seed: Math.max(1, Number.parseInt(value, 10) || 1) }),
  independent: ({ checked }) => ({ independent: checked }),
};
const FROM_PRESET = { variant: undefined, barriers: undefined, independent: undefined, picks: [] };

function choiceInputs() {
  const select = (name) => el("select", { name });
  const lane = select("lane");
  lane.append(el("option", { value: "" }, "the whole warp"));
  for (let i = 0; i < LANES; i++) lane.append(el("option", { value: `${i}` }, `lane ${i} only`));
  return {
    preset: select("preset"),
    variant: select("variant"),
    policy: select("policy"),
    seed: el("input", { type: "number", min: "1", max: "9999", name: "seed" }),
    lane,
    independent: el("input", { type: "checkbox", name: "independent" }),
  };
}

function choiceFields({ preset, variant, policy, seed, lane, independent }) {
  return {
    preset: field("Preset", preset),
    variant: field("Variant", variant),
    policy: field("Who moves next", policy),
    seed: field("Seed", seed),
    lane: field("A press moves", lane),
    independent: el("label", { className: "check" }, independent, INDEPENDENT),
  };
}

const INDEPENDENT = "Independent thread scheduling: a program counter for each lane";

function paintChoices(inputs, fields, { view, config, presets }) {
  options(inputs.preset, presets);
  options(inputs.variant, PRESETS[config.preset].variants);
  options(inputs.policy, POLICIES);
  inputs.preset.value = config.preset;
  inputs.variant.value = config.variant;
  inputs.policy.value = view.policy;
  inputs.seed.value = view.seed;
  inputs.independent.checked = config.independent;
  fields.seed.hidden = view.policy !== "random";
  fields.lane.hidden = view.policy !== "by-hand" || !config.independent;
}

function handless({ policy }) {
  return { policy: policy === "by-hand" ? "in-order" : policy };
}

/** Going on by hand keeps the steps made so far; any other policy starts again. */
function takeOver(widget, policy) {
  if (policy !== "by-hand") return { policy };
  return { policy, picks: widget.picksSoFar(), step: widget.view.step };
}

/** The buttons that move through the steps, the slider and the speed. */
export function transport(widget) {
  // To pause paints the slider too: what a reader chose on it is read before that.
  const press = (action) => () => {
    action();
    widget.pause();
  };
  const buttons = stepButtons(widget, press);
  const slider = el("input", { type: "range", min: "0", step: "1", ariaLabel: "Step" });
  slider.addEventListener(
    "input",
    press(() => widget.goTo(slider.valueAsNumber)),
  );
  const speed = el("select", { ariaLabel: "Speed" });
  speed.append(...SPEEDS.map((times) => el("option", { value: `${times}` }, `${times}\u00d7`)));
  speed.value = "1";
  const telling = el("button", { type: "button", className: "telling" }, "Telling moment");
  telling.addEventListener(
    "click",
    press(() => widget.goTo(tellingStep(widget.states))),
  );
  const row = el("div", { className: "buttons" }, ...Object.values(buttons), telling, speed);
  return {
    node: el("div", { className: "transport" }, row, slider),
    paint: (shown) => paintTransport(buttons, slider, shown),
    stepMs: () => STEP_MS / Number(speed.value),
  };
}

function stepButtons(widget, press) {
  return {
    first: button(
      "first",
      "Start",
      press(() => widget.goTo(0)),
    ),
    back: button(
      "back",
      "Back",
      press(() => widget.goTo(widget.view.step - 1)),
    ),
    play: button("play", "Play", () => (widget.timer ? widget.pause() : widget.play())),
    step: button(
      "step",
      "Step",
      press(() => widget.forward()),
    ),
    last: button(
      "last",
      "End",
      press(() => widget.goTo(widget.states.length - 1)),
    ),
  };
}

function paintTransport(buttons, slider, { view, states, timer, atEnd }) {
  slider.max = states.length - 1;
  slider.value = view.step;
  slider.ariaValueText = `step ${view.step} of ${states.length - 1}`;
  paintButton(buttons.play, timer ? "pause" : "play", timer ? "Pause" : "Play");
  for (const name of ["first", "back"]) buttons[name].ariaDisabled = String(view.step === 0);
  for (const name of ["step", "last"]) buttons[name].ariaDisabled = String(atEnd);
}

function button(icon, label, onClick) {
  const node = el("button", { type: "button", className: icon });
  node.addEventListener("click", onClick);
  paintButton(node, icon, label);
  return node;
}

function paintButton(node, icon, label) {
  if (node.dataset.icon === icon) return;
  node.dataset.icon = icon;
  const svg = shape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  svg.append(shape("path", { d: ICONS[icon] }));
  node.ariaLabel = label;
  node.replaceChildren(svg, el("span", {}, label));
}

/** What has just happened; the longest sentence keeps the room, so that nothing below moves. */
export function story() {
  const [where, said, ghost] = [el("p", { className: "where" }), el("p"), el("p")];
  Object.assign(ghost, { className: "ghost", ariaHidden: "true" });
  const tally = el("p", { className: "tally" });
  const text = el("div", { className: "stack" }, said, ghost);
  const paint = ({ state, view, states }) => {
    const by = view.policy === "by-hand" ? "" : ` of ${states.length - 1}`;
    where.textContent = `Step ${view.step}${by}`;
    said.textContent = sentence(state);
    tally.replaceChildren(...badges(state));
  };
  const reserve = (states) => {
    const longest = states.map(sentence).reduce((a, b) => (b.length > a.length ? b : a));
    ghost.textContent = longest;
  };
  return { node: el("div", { className: "story" }, where, text, tally), paint, reserve };
}

function badges({ threads, hazards }) {
  const wrong = threads.filter((t) => (t.got ?? "right") !== "right").length;
  return [badge("!", hazards.length, "hazard"), badge("\u2717", wrong, "wrong value")];
}

function badge(sign, count, noun) {
  const text = `${count} ${noun}${count === 1 ? "" : "s"}`;
  const mark = el("b", { ariaHidden: "true" }, sign);
  return el("span", { className: count ? "badge" : "badge none" }, mark, text);
}

/** How it ended; its room is kept from the first step on. */
export function conclusion() {
  const wait = el("p", { className: "wait" }, "How it ends is told here, at the last step.");
  const told = el("div", { className: "told" });
  const fill = (state) => {
    const { title, sentences } = outcome(state);
    told.replaceChildren(el("p", { className: "title" }, title), el("p", {}, sentences.join(" ")));
  };
  const paint = (state) => {
    const over = ending(state) !== "running";
    if (over) fill(state);
    told.classList.toggle("hidden", !over);
    wait.classList.toggle("hidden", over);
    node.classList.toggle("over", over);
  };
  const node = el("div", { className: "ending stack" }, wait, told);
  return { node, paint, reserve: (states) => fill(states.at(-1)) };
}

/** The note on scale, the legend, the keys, and the link to the step shown. */
export function foot(link) {
  const entry = ([sign, means]) => el("div", {}, el("dt", {}, sign), el("dd", {}, means));
  const legend = el("dl", {}, ...LEGEND.map(entry));
  const how = el("details", {}, el("summary", {}, "How to read it"), legend, el("p", {}, KEYS));
  return el("div", { className: "foot" }, el("p", {}, SCALE_NOTE), how, el("p", {}, link));
}
