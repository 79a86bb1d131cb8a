// The page on which a reader composes study paths.
// Comes in: what may be a step, as `steps.js` says; what the browser keeps; the link's own path.
// Goes out: the page's middle. Must not know how a list of steps looks.

import { button, choice, el, field } from "./element.js";
import { adding, list, named, progress, suggested } from "./list.js";
import { fromFile, fromHash, toFile, toHash } from "./share.js";
import { addPath, freeName } from "./several.js";
import { NOTHING, currentPath, keyOf, read, withCurrent, write } from "./store.js";

/** Put the desk where the script stands, with its style sheet, while the page is read. */
export function open(css) {
  const [status, body] = [el("p", { className: "mg-said" }), el("div")];
  status.setAttribute("role", "status");
  const style = el("style", {}, css);
  document.querySelector(".mg-unscripted").remove(); // nothing stands below it yet
  document.currentScript.after(style, el("div", { className: "mg-paths" }, status, body));
  const known = new Map(window.measuredGlossarySteps.map((stop) => [stop.id, stop]));
  const desk = { status, body, known, key: keyOf(location.href), offered: fromHash(location.hash) };
  desk.change = (kept, said, how) => change(desk, kept, said, how);
  reload(desk);
  window.addEventListener("hashchange", () => {
    desk.offered = fromHash(location.hash);
    paint(desk);
  });
  // Another tab changed what is kept, or the reader came back to a page that was put aside.
  window.addEventListener("storage", () => reload(desk));
  window.addEventListener("pageshow", (event) => event.persisted && reload(desk));
}

function reload(desk) {
  if (desk.fault === "unavailable") return;
  Object.assign(desk, read(desk.key));
  paint(desk);
}

/** Keep something else and show it; `undo` offers the way back, `focus` names the next controls. */
function change(desk, kept, said, { focus = [], undo = false } = {}) {
  const before = desk.kept;
  desk.kept = kept;
  if (!write(desk.key, kept)) desk.fault = "unavailable";
  paint(desk, focus);
  say(desk, said);
  if (!undo) return;
  const back = () => change(desk, before, "It is as it was.", { focus: ["add"] });
  desk.status.append(" ", button("Undo", back));
}

function say({ status }, said) {
  status.replaceChildren(said);
}

function paint(desk, focus = []) {
  const held = document.activeElement;
  const keys = focus.length > 0 ? focus : desk.body.contains(held) ? [held.dataset.key] : [];
  const parts = desk.fault === "unreadable" ? unreadable(desk) : composing(desk);
  desk.body.replaceChildren(...offer(desk), ...parts);
  const nodes = [...desk.body.querySelectorAll("[data-key]:not(:disabled)")];
  keys.map((key) => nodes.find((node) => node.dataset.key === key)).find(Boolean)?.focus();
}

// ── what the browser kept ──

const NOT_KEPT =
  "This browser keeps nothing for this site, so your path lasts until you leave this page. " +
  "Export it as a file, or keep its link.";
const NOT_READ =
  "What this browser kept of your paths cannot be read. It stays as it is until you decide.";

function unreadable(desk) {
  const anew = () => change(desk, NOTHING, "You have no path now.", { focus: ["add"] });
  const start = () => {
    desk.fault = "";
    anew();
  };
  const save = () => download("study-paths.txt", desk.text);
  const buttons = [button("Save it as a file", save), " ", button("Start anew", start)];
  return [el("p", { className: "mg-warning" }, NOT_READ), el("p", {}, ...buttons)];
}

function composing(desk) {
  const { steps } = currentPath(desk.kept);
  const note = desk.fault ? [el("p", { className: "mg-warning" }, NOT_KEPT)] : [];
  const hint = steps.length > 1 ? [el("p", { className: "mg-hint" }, HINT)] : [];
  const shown = steps.length ? [progress(desk), list(desk), ...hint] : [el("p", {}, EMPTY)];
  const shared = steps.length ? sharing(desk) : [];
  return [
    ...note,
    ...bar(desk),
    ...shown,
    adding(desk),
    ...suggested(desk),
    ...shared,
    ...importing(desk),
  ];
}

const EMPTY = "No step so far: add one here or from any entry, or take a path that somebody made.";
const HINT = "With the focus in a step, Alt and the arrow keys up and down move it.";

// ── several paths ──

function bar(desk) {
  const { paths } = desk.kept;
  if (paths.length === 0) return [];
  const chosen = paths.length > 1 ? [choosing(desk)] : [];
  const buttons = [
    button("New path", () => start(desk)),
    button("Delete this path", () => drop(desk)),
  ];
  return [el("p", { className: "mg-bar" }, ...chosen, renaming(desk), ...buttons)];
}

function choosing(desk) {
  const { paths, current } = desk.kept;
  const select = choice([["", paths.map(({ name }, at) => [String(at), name])]], { key: "path" });
  select.value = String(paths[current] ? current : 0);
  select.addEventListener("change", () => {
    change(desk, { ...desk.kept, current: Number(select.value) }, "");
  });
  return field("Path", select);
}

function renaming(desk) {
  const path = currentPath(desk.kept);
  const input = el("input", { type: "text", value: path.name, maxLength: 100, key: "name" });
  input.addEventListener("change", () => {
    const others = desk.kept.paths.filter((other) => other !== path);
    const name = freeName(others, input.value.trim() || path.name);
    change(desk, withCurrent(desk.kept, { ...path, name }), `The path is called “${name}”.`);
  });
  return field("Name", input);
}

function start(desk) {
  const kept = addPath(desk.kept, { name: freeName(desk.kept.paths), steps: [] });
  change(desk, kept, `“${currentPath(kept).name}” is new and empty.`, { focus: ["name"] });
}

function drop(desk) {
  const path = currentPath(desk.kept);
  const paths = desk.kept.paths.filter((other) => other !== path);
  const how = { focus: ["name", "add"], undo: true };
  change(desk, { ...desk.kept, current: 0, paths }, `“${path.name}” is deleted.`, how);
}

// ── a path that somebody shares ──

function offer(desk) {
  const { path, fault } = desk.offered ?? {};
  if (fault) return [el("p", { className: "mg-warning" }, fault)];
  if (!path) return [];
  const steps = path.steps.map(({ id }) => el("li", {}, ...named(desk, id)));
  const disabled = desk.fault === "unreadable";
  const take = button("Take it over", () => takeOver(desk, path), { disabled });
  const leave = button("Not now", () => forget(desk));
  const section = el(
    "section",
    { className: "mg-offer", ariaLabel: "A path shared with you" },
    el("h3", {}, `Shared with you: ${path.name}`),
    el("ol", {}, ...steps),
    el("p", {}, "Taken over it stands beside your own paths, which stay as they are."),
    el("p", {}, take, leave),
  );
  return [section];
}

function takeOver(desk, path) {
  const kept = addPath(desk.kept, path);
  forget(desk);
  const said = `“${currentPath(kept).name}” is one of your paths now.`;
  change(desk, kept, said, { focus: ["name"] });
}

function forget(desk) {
  desk.offered = null;
  history.replaceState(null, "", location.pathname + location.search);
  paint(desk, ["name", "add"]);
}

function sharing(desk) {
  const path = currentPath(desk.kept);
  const save = () => download(`${fileName(path.name)}.json`, toFile(path));
  return [
    el("h3", {}, "Keep and share"),
    el("p", {}, ...linking(desk, new URL(toHash(path), location.href).href)),
    el("p", {}, button("Export as a file", save), "with your ticks, to import it elsewhere."),
  ];
}

function linking(desk, link) {
  const input = el("input", { type: "text", readOnly: true, value: link, key: "link" });
  input.addEventListener("focus", () => input.select());
  const copied = () => say(desk, "The link is copied.");
  const copy = () => navigator.clipboard.writeText(link).then(copied, () => input.focus());
  const where = location.protocol === "file:" ? "on this machine" : "without your ticks";
  const copying = navigator.clipboard ? [button("Copy the link", copy)] : [];
  return [field(`Link to this path, ${where}`, input), ...copying];
}

function fileName(name) {
  const plain = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
  return plain.replace(/^-|-$/g, "") || "study-path";
}

function download(name, text) {
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  el("a", { href, download: name }).click();
  URL.revokeObjectURL(href);
}

function importing(desk) {
  const input = el("input", { type: "file", accept: ".json,application/json", key: "import" });
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (file) take(desk, fromFile(file.name, await file.text()));
  });
  return [el("p", {}, field("Import a file", input))];
}

function take(desk, { path, fault }) {
  if (fault) {
    paint(desk);
    say(desk, `${fault} Your paths are as they were.`);
    return;
  }
  const kept = addPath(desk.kept, path);
  change(desk, kept, `“${currentPath(kept).name}” is imported.`, { focus: ["name"] });
}
