// The web component <tile-lifecycle>: what is shown, and what a reader's presses change in it.
// Comes in: attributes, the address, keys and presses. Goes out: the picture, in words too.
// Must not know how a step is computed or drawn; makes no request and needs no framework.

import { choices, conclusion, foot, story, transport } from "./controls.js";
import { el, listing, stage } from "./draw.js";
import { fromHash, toHash } from "./link.js";
import { POLICIES, trace } from "./policy.js";
import { PRESETS, configure, ending, movable } from "./simulator.js";
import { outcome, sentence } from "./words.js";

const TAG = "tile-lifecycle";

/** Define the element, with its style sheet; a second definition changes nothing. */
export function define(css) {
  if (customElements.get(TAG)) return;
  TileLifecycle.sheet.replaceSync(css);
  customElements.define(TAG, TileLifecycle);
}

class TileLifecycle extends HTMLElement {
  static sheet = new CSSStyleSheet();

  connectedCallback() {
    if (!this.shadowRoot) this.build();
    this.listen = () => this.showAddress();
    addEventListener("hashchange", this.listen);
    if (!this.showAddress()) this.show(viewFromAttributes(this));
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

  /** The state shown now. */
  get state() {
    return this.states[this.view.step];
  }

  get atEnd() {
    return this.view.step === this.states.length - 1;
  }

  build() {
    this.choices = choices(this);
    this.transport = transport(this);
    this.story = story();
    this.conclusion = conclusion();
    this.kernel = el("div", { className: "slot" });
    this.picture = el("div", { className: "slot" });
    this.live = el("p", { className: "unseen", role: "status" });
    this.link = el("a", { className: "link" }, "Link to this step");
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [TileLifecycle.sheet];
    root.append(el("div", { className: "box" }, frame(this)), el("slot"));
  }

  /** Show a view: complete it, run it to its end, draw it anew. */
  show(view) {
    this.pause();
    this.view = complete(this, view);
    this.config = configure(this.view);
    const picks = this.view.policy === "by-hand" ? this.view.picks : [];
    this.states = trace(this.config, { ...this.view, picks });
    this.redraw();
    this.goTo(this.view.step, { quiet: true });
  }

  /** Show what the address names, if this is the element that answers it. */
  showAddress() {
    const view = fromHash(location.hash);
    if (!view || !answers(this, view)) return false;
    this.show(view);
    this.scrollIntoView({ block: "nearest" });
    return true;
  }

  redraw() {
    const focused = this.shadowRoot.activeElement?.dataset.keep;
    this.lines = listing(this.config, (which, on) => this.setBarrier(which, on));
    this.stage = stage(this.config, (warp) => this.move(warp));
    this.kernel.replaceChildren(this.lines.node);
    this.picture.replaceChildren(this.stage.node);
    this.paintRun();
    this.shadowRoot.querySelector(`[data-keep="${focused}"]`)?.focus();
  }

  /** Paint what belongs to the run as a whole rather than to a step. */
  paintRun() {
    this.choices.paint(this);
    this.story.reserve(this.states);
    this.conclusion.reserve(this.states);
  }

  /** Show a step; said aloud unless `quiet`. */
  goTo(step, { quiet = false } = {}) {
    this.view.step = Math.min(Math.max(step, 0), this.states.length - 1);
    this.lines.paint(this.state);
    this.stage.paint(this.state, movable(this.state));
    this.story.paint(this);
    this.conclusion.paint(this.state);
    this.transport.paint(this);
    this.link.href = toHash(this.view);
    if (!quiet) this.say(spoken(this.state));
  }

  /** Say something in the live region. */
  say(text) {
    this.live.textContent = text;
  }

  /** One step on; by hand it is the reader who chooses it. */
  forward() {
    if (!this.atEnd) this.goTo(this.view.step + 1);
    else if (ending(this.state) === "running") this.say("Choose the warp that moves next.");
  }

  setBarrier(which, on) {
    const barriers = this.config.barriers.map((now, i) => (i === which ? on : now));
    this.show({ ...this.view, barriers, step: 0 });
  }

  /** Move a warp, or its one lane that the reader chose, by hand from the step shown. */
  move(warp) {
    if (!movable(this.state).includes(warp)) {
      this.say(`Warp ${warp} cannot move: it waits, or it is done.`);
      return;
    }
    this.pause();
    const lane = this.choices.lane();
    const picks = [...this.picksSoFar(), lane === "" ? `${warp}` : `${warp}.${lane}`];
    this.states = trace(this.config, { policy: "by-hand", picks });
    this.view = { ...this.view, policy: "by-hand", picks };
    this.paintRun();
    this.goTo(this.states.length - 1);
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
    if (event?.found.length || event?.released || this.atEnd) this.say(spoken(this.state));
    if (this.atEnd) this.pause();
    else this.play();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.states) this.transport.paint(this);
  }
}

/** All parts in the order in which they are read and reached. */
function frame(widget) {
  const top = el("div", { className: "top" }, widget.kernel, widget.story.node);
  const end = [widget.conclusion.node, foot(widget.link), widget.live];
  const parts = [widget.choices.node, top, widget.transport.node, widget.picture, ...end];
  const ariaLabel = "Interactive diagram: one block steps through a tile";
  const node = el("section", { className: "frame", ariaLabel }, ...parts);
  node.addEventListener("keydown", (event) => onKey(widget, event));
  return node;
}

/** A view with everything in it; names that are not offered become the first that is. */
function complete({ presets }, view) {
  const preset = presets.includes(view.preset) ? view.preset : presets[0];
  const policy = POLICIES.includes(view.policy) ? view.policy : POLICIES[0];
  return { seed: 1, picks: [], step: 0, ...view, preset, policy };
}

/** Whether an element answers for a view: the first on the page that offers its preset. */
function answers(element, view) {
  const offering = (other) => other.presets?.includes(view.preset);
  return [...document.querySelectorAll(TAG)].find(offering) === element;
}

function viewFromAttributes(element) {
  const [preset, variant, policy, step] = ["preset", "variant", "policy", "step"].map(
    (name) => element.getAttribute(name) ?? undefined,
  );
  return { preset, variant, policy, step: Number.parseInt(step, 10) || 0 };
}

/** What is said of a state: its step, and at the end the outcome. */
function spoken(state) {
  const { title, sentences } = outcome(state);
  const end = ending(state) === "running" ? [] : [title, ...sentences];
  return [`Step ${state.step}.`, sentence(state), ...end].join(" ");
}

/** Arrows step, wherever no choice or slider needs them itself. */
function onKey(widget, event) {
  const go = {
    ArrowRight: () => widget.forward(),
    ArrowLeft: () => widget.goTo(widget.view.step - 1),
    Home: () => widget.goTo(0),
    End: () => widget.goTo(widget.states.length - 1),
  }[event.key];
  const isTheirs = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
  if (!go || isTheirs || event.target.matches("select, input")) return;
  event.preventDefault();
  event.stopPropagation();
  widget.pause();
  go();
}
