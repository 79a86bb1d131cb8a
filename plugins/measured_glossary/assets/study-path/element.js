// Small pieces of a page.
// Comes in: what an element is and holds. Goes out: nodes.
// Must not know paths.

/** An element with its properties and children; `key` finds it again after a change. */
export function el(tag, { key, ...properties } = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  if (key) node.dataset.key = key;
  node.append(...children);
  return node;
}

/** A button; one that shows a sign has its words in `label`. */
export function button(words, press, { label, ...more } = {}) {
  const named = label ? { ariaLabel: label, title: label } : {};
  const node = el("button", { type: "button", key: label ?? words, ...named, ...more }, words);
  node.addEventListener("click", press);
  return node;
}

/** A control behind its label. */
export function field(label, control) {
  return el("label", {}, el("span", {}, label), control);
}

/** A list of choices: pairs of value and words, in groups that may have a name. */
export function choice(groups, properties) {
  const options = (pairs) => pairs.map(([value, words]) => el("option", { value }, words));
  const parts = [...groups].flatMap(([name, pairs]) =>
    name ? [el("optgroup", { label: name }, ...options(pairs))] : options(pairs),
  );
  return el("select", properties, ...parts);
}
