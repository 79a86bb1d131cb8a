// The control on the page of an entry or a lesson: add it to the path, then tick it off.
// Comes in: the paragraph that leads to the page of paths. Goes out: a button behind its link.
// Must not know the steps' titles, nor how paths are shown.

import { currentPath, keyOf, read, tick, write } from "./store.js";

const FAULTS = {
  unavailable: "This browser keeps no path here",
  unreadable: "Your paths cannot be read",
};

/** Put the button into the page, if the page may be a step. */
export function equip() {
  const slot = document.querySelector(".mg-add");
  if (!slot) return;
  const [button, status] = ["button", "span"].map((tag) => document.createElement(tag));
  button.type = "button";
  status.setAttribute("role", "status");
  slot.append(button, status);
  const control = { button, status, id: slot.dataset.step, key: keyOf(slot.querySelector("a").href) };
  button.addEventListener("click", () => press(control));
  for (const event of ["storage", "pageshow"]) addEventListener(event, () => label(control));
  label(control);
}

function press(control) {
  const { kept, step } = look(control);
  const next = tick(kept, control.id, step?.done === false);
  const isKept = write(control.key, next);
  label(control);
  const { steps } = currentPath(next);
  const at = steps.findIndex(({ id }) => id === control.id) + 1;
  control.status.textContent = isKept ? `Step ${at} of ${steps.length}` : FAULTS.unavailable;
}

function look({ id, key }) {
  const found = read(key);
  const { name, steps } = currentPath(found.kept);
  return { ...found, name, step: steps.find((each) => each.id === id) };
}

function label(control) {
  const { fault, name, step } = look(control);
  const verb = step ? (step.done ? "Untick in" : "Tick off in") : "Add to";
  control.button.textContent = `${verb} “${name}”`;
  control.button.hidden = fault !== "";
  control.status.textContent = FAULTS[fault] ?? "";
}
