// The web component <tile-lifecycle>: choices, transport, keyboard, address, live region.
// Comes in: attributes, the address, what a reader presses. Goes out: the picture, in words too.
// Must not know how a step is computed or drawn; makes no request and needs no framework.

import { el, listing, shape, stage } from "./draw.js";
import { fromHash, toHash } from "./link.js";
import { POLICIES, tellingStep, trace } from "./policy.js";
import { LANES, PRESETS, configure, ending, movable } from "./simulator.js";
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
  "Keys, with the focus in the diagram: right and left arrow step and go back, Home and End go to " +
  "the first and last step. Pressing a warp moves it at once, by hand from there on.";

/** Define the element, with its style sheet; a second definition changes nothing. */
export function define(css) {
  if (customElements.get("tile-lifecycle")) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  TileLifecycle.sheet = sheet;
  customElements.define("tile-lifecycle", TileLifecycle);
}

// Node has no HTMLElement, and the bundle is checked there.
class TileLifecycle extends (globalThis.HTMLElement ?? Object) {
  connectedCallback() {
    if (!this.shadowRoot) this.build();
    this.listen = () => this.readAddress();
    addEventListener("hashchange", this.listen);
    if (!this.readAddress()) this.show(this.attributesAsView());
  }

  disconnectedCallback() {
    removeEventListener("hashchange", this.listen);
    this.pause();
  }

  /** The presets offered: all, or those that the attribute `presets` names. */
  get presets() {
    const named = (this.getAttribute("presets") ?? "").split(/[\s,]+/);
    const known = named.filter((name) => Object.hasOwn(PRESETS, name));
    return known.length > 0 ? known : Object.keys(PRESETS);
  }

  attributesAsView() {
    const given = (name) => this.getAttribute(name) ?? undefined;
    const step = Number.parseInt(given("step"), 10) || 0;
    return { preset: given("preset"), variant: given("variant"), policy: given("policy"), step };
  }

  /** Show what the address names, if it names a preset of this element and no earlier one has it. */
  readAddress() {
    const view = fromHash(location.hash);
    const offers = (element) => element.presets?.includes(view.preset);
    if (!view || [...document.querySelectorAll("tile-lifecycle")].find(offers) !== this) return false;
    this.show(view);
    this.scrollIntoView({ block: "nearest" });
    return true;
  }

  build() {
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [TileLifecycle.sheet];
    this.choices = choices(this);
    this.transport = transport(this);
    this.story = story();
    this.ending = conclusion();
    this.kernel = el("div", { className: "slot" });
    this.picture = el("div", { className: "slot" });
    this.live = el("p", { className: "unseen", role: "status" });
    const top = el("div", { className: "top" }, this.kernel, this.story.node);
    const parts = [this.choices.node, top, this.transport.node, this.picture, this.ending.node];
    const label = "Interactive diagram: one block steps through a tile";
    const frame = el("section", { className: "frame", ariaLabel: label }, ...parts, foot(this), this.live);
    frame.addEventListener("keydown", (event) => this.onKey(event));
    root.append(el("div", { className: "box" }, frame), el("slot"));
  }

  /** Show a view: complete it, run it to its end, draw it anew. */
  show(view) {
    this.pause();
    const preset = this.presets.includes(view.preset) ? view.preset : this.presets[0];
    const policy = POLICIES.includes(view.policy) ? view.policy : "in-order";
    this.view = { seed: 1, picks: [], step: 0, ...view, preset, policy };
    this.config = configure(this.view);
    const picks = policy === "by-hand" ? this.view.picks : [];
    this.states = trace(this.config, { ...this.view, picks });
    this.redraw();
    this.goTo(this.view.step, { quiet: true });
  }

  redraw() {
    const focused = this.shadowRoot.activeElement?.dataset.keep;
    this.lines = listing(this.config, (which, on) => this.onBarrier(which, on));
    this.stage = stage(this.config, (warp) => this.onWarp(warp));
    this.kernel.replaceChildren(this.lines.node);
    this.picture.replaceChildren(this.stage.node);
    this.choices.paint(this);
    this.story.reserve(this.states);
    this.ending.reserve(this.states);
    this.shadowRoot.querySelector(`[data-keep="${focused}"]`)?.focus();
  }

  /** The state shown now. */
  get state() {
    return this.states[this.view.step];
  }

  get atEnd() {
    return this.view.step === this.states.length - 1;
  }

  /** Show a step; said aloud unless `quiet`. */
  goTo(step, { quiet = false } = {}) {
    this.view.step = Math.min(Math.max(step, 0), this.states.length - 1);
    const ready = movable(this.state);
    this.lines.paint(this.state);
    this.stage.paint(this.state, ready);
    this.story.paint(this);
    this.ending.paint(this.state);
    this.transport.paint(this);
    this.link.href = toHash(this.view);
    if (!quiet) this.say();
  }

  say() {
    const { title, sentences } = outcome(this.state);
    const end = ending(this.state) === "running" ? [] : [title, ...sentences];
    this.live.textContent = [`Step ${this.view.step}.`, sentence(this.state), ...end].join(" ");
  }

  /** One step on; by hand a reader chooses it. */
  forward() {
    if (!this.atEnd) this.goTo(this.view.step + 1);
    else if (ending(this.state) === "running") this.live.textContent = "Choose the warp that moves next.";
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input")) return;
    const go = {
      ArrowRight: () => this.forward(),
      ArrowLeft: () => this.goTo(this.view.step - 1),
      Home: () => this.goTo(0),
      End: () => this.goTo(this.states.length - 1),
    }[event.key];
    if (!go) return;
    event.preventDefault();
    event.stopPropagation();
    this.pause();
    go();
  }

  onBarrier(which, on) {
    const barriers = this.config.barriers.map((now, i) => (i === which ? on : now));
    this.show({ ...this.view, barriers, step: 0 });
  }

  /** Move a warp, or the one lane the reader set, by hand from the step shown. */
  onWarp(warp) {
    if (!movable(this.state).includes(warp)) {
      this.live.textContent = `Warp ${warp} cannot move: it waits, or it is done.`;
      return;
    }
    const lane = this.view.policy === "by-hand" ? this.choices.lane() : "";
    const picks = [...this.picksSoFar(), lane === "" ? `${warp}` : `${warp}.${lane}`];
    const states = trace(this.config, { policy: "by-hand", picks });
    this.pause();
    Object.assign(this, { states, view: { ...this.view, policy: "by-hand", picks } });
    this.choices.paint(this);
    this.story.reserve(states);
    this.ending.reserve(states);
    this.goTo(picks.length);
  }

  picksSoFar() {
    return this.states.slice(1, this.view.step + 1).map((state) => state.event.unit);
  }

  play() {
    if (this.atEnd) this.goTo(0, { quiet: true });
    this.timer = setTimeout(() => this.tick(), this.transport.stepMs());
    this.transport.paint(this);
  }

  tick() {
    // Every step aloud would talk over itself: while playing, only what matters is said.
    this.goTo(this.view.step + 1, { quiet: true });
    const { event } = this.state;
    if (event?.found.length || event?.released || this.atEnd) this.say();
    this.timer = undefined;
    if (this.atEnd) this.transport.paint(this);
    else this.play();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.states) this.transport.paint(this);
  }
}

function options(select, names) {
  select.replaceChildren(...names.map((name) => el("option", { value: name }, LABELS[name] ?? name)));
}

function field(label, control) {
  return el("label", { className: "field" }, el("span", {}, label), control);
}

/** The choices above the picture, and how they show a view. */
function choices(widget) {
  const [preset, variant, policy, lane] = ["preset", "variant", "policy", "lane"].map((name) => el("select", { name }));
  const seed = el("input", { type: "number", min: "1", max: "9999", name: "seed" });
  const independent = el("input", { type: "checkbox", name: "independent" });
  const fields = {
    preset: field("Preset", preset),
    variant: field("Variant", variant),
    policy: field("Who moves next", policy),
    seed: field("Seed", seed),
    lane: field("A press moves", lane),
    independent: el("label", { className: "check" }, independent, "Independent thread scheduling: a program counter for each lane"),
  };
  lane.append(el("option", { value: "" }, "the whole warp"));
  for (let i = 0; i < LANES; i++) lane.append(el("option", { value: `${i}` }, `lane ${i} only`));
  options(policy, POLICIES);
  const change = (given) => widget.show({ ...widget.view, step: 0, ...given });
  preset.addEventListener("change", () => widget.show({ preset: preset.value, policy: handless(widget.view.policy) }));
  variant.addEventListener("change", () => change({ variant: variant.value }));
  policy.addEventListener("change", () => change(takeOver(widget, policy.value)));
  seed.addEventListener("change", () => change({ seed: Math.max(1, Number.parseInt(seed.value, 10) || 1) }));
  independent.addEventListener("change", () => change({ independent: independent.checked }));
  const paint = ({ view, config, presets }) => {
    options(preset, presets);
    options(variant, PRESETS[config.preset].variants);
    Object.assign(preset, { value: config.preset });
    Object.assign(variant, { value: config.variant });
    Object.assign(policy, { value: view.policy });
    Object.assign(seed, { value: view.seed });
    Object.assign(independent, { checked: config.independent });
    fields.seed.hidden = view.policy !== "random";
    fields.lane.hidden = view.policy !== "by-hand" || !config.independent;
  };
  const node = el("div", { className: "choices" }, ...Object.values(fields));
  return { node, paint, lane: () => (fields.lane.hidden ? "" : lane.value) };
}

function handless(policy) {
  return policy === "by-hand" ? "in-order" : policy;
}

/** Going on by hand keeps the steps made so far; any other policy starts again. */
function takeOver(widget, policy) {
  if (policy !== "by-hand") return { policy };
  return { policy, picks: widget.picksSoFar(), step: widget.view.step };
}

/** The buttons that move through the steps, the slider and the speed. */
function transport(widget) {
  const press = (action) => () => {
    widget.pause();
    action();
  };
  const buttons = {
    first: button("first", "Start", press(() => widget.goTo(0))),
    back: button("back", "Back", press(() => widget.goTo(widget.view.step - 1))),
    play: button("play", "Play", () => (widget.timer ? widget.pause() : widget.play())),
    step: button("step", "Step", press(() => widget.forward())),
    last: button("last", "End", press(() => widget.goTo(widget.states.length - 1))),
  };
  const slider = el("input", { type: "range", min: "0", step: "1", ariaLabel: "Step" });
  slider.addEventListener("input", press(() => widget.goTo(slider.valueAsNumber)));
  const speed = el("select", { ariaLabel: "Speed" });
  speed.append(...SPEEDS.map((times) => el("option", { value: `${times}` }, `${times}\u00d7`)));
  speed.value = "1";
  const telling = el("button", { type: "button", className: "telling" }, "Telling moment");
  telling.addEventListener("click", press(() => widget.goTo(tellingStep(widget.states))));
  const row = el("div", { className: "buttons" }, ...Object.values(buttons), telling, speed);
  const paint = ({ view, states, timer, atEnd }) => {
    slider.max = states.length - 1;
    slider.value = view.step;
    slider.ariaValueText = `step ${view.step} of ${states.length - 1}`;
    paintButton(buttons.play, timer ? "pause" : "play", timer ? "Pause" : "Play");
    for (const name of ["first", "back"]) buttons[name].ariaDisabled = String(view.step === 0);
    for (const name of ["step", "last"]) buttons[name].ariaDisabled = String(atEnd);
  };
  const node = el("div", { className: "transport" }, row, slider);
  return { node, paint, stepMs: () => STEP_MS / Number(speed.value) };
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
function story() {
  const [where, said, ghost] = [el("p", { className: "where" }), el("p"), el("p")];
  ghost.className = "ghost";
  ghost.ariaHidden = "true";
  const tally = el("p", { className: "tally" });
  const paint = ({ state, view, states }) => {
    const by = view.policy === "by-hand" ? "" : ` of ${states.length - 1}`;
    where.textContent = `Step ${view.step}${by}`;
    said.textContent = sentence(state);
    const wrong = state.threads.filter((t) => (t.got ?? "right") !== "right").length;
    tally.replaceChildren(badge("!", state.hazards.length, "hazard"), badge("\u2717", wrong, "wrong value"));
  };
  const reserve = (states) => {
    const longest = states.map(sentence).reduce((a, b) => (b.length > a.length ? b : a));
    ghost.textContent = longest;
  };
  const text = el("div", { className: "stack" }, said, ghost);
  return { node: el("div", { className: "story" }, where, text, tally), paint, reserve };
}

function badge(sign, count, noun) {
  const text = `${count} ${noun}${count === 1 ? "" : "s"}`;
  const mark = el("b", { ariaHidden: "true" }, sign);
  return el("span", { className: count ? "badge" : "badge none" }, mark, text);
}

/** How it ended; its room is kept from the first step on. */
function conclusion() {
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

function foot(widget) {
  const list = el("dl", {}, ...LEGEND.map(([sign, means]) => el("div", {}, el("dt", {}, sign), el("dd", {}, means))));
  const how = el("details", {}, el("summary", {}, "How to read it"), list, el("p", {}, KEYS));
  widget.link = el("a", { className: "link" }, "Link to this step");
  return el("div", { className: "foot" }, el("p", {}, SCALE_NOTE), how, el("p", {}, widget.link));
}
