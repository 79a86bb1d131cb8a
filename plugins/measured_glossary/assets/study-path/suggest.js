// What could be read before the steps of a path.
// Comes in: the path's steps and all that may be a step, by id. Goes out: suggestions with reasons.
// Must not know the page.

const MOST = 5;

/** Suggestions, lessons first, then what most steps name; `at` is the step each goes before. */
export function suggestions(steps, known) {
  const found = new Map();
  const there = new Set(steps.map((step) => step.id));
  steps.forEach((step, at) => {
    for (const { id, kind } of step.done ? [] : wanted(known.get(step.id))) {
      if (there.has(id) || !known.has(id)) continue;
      const one = found.get(id) ?? { id, at, kind, by: [] };
      found.set(id, { ...one, by: [...one.by, step.id] });
    }
  });
  return [...found.values()].sort(byWeight).slice(0, MOST);
}

function wanted(stop) {
  if (!stop) return [];
  const related = (stop.related ?? []).map((id) => ({ id, kind: "related" }));
  return stop.before ? [{ id: stop.before, kind: "lesson" }, ...related] : related;
}

function byWeight(a, b) {
  return (b.kind === "lesson") - (a.kind === "lesson") || b.by.length - a.by.length || a.at - b.at;
}

/** Why it is suggested, in a sentence. */
export function reason({ kind, by }, known) {
  const first = `“${known.get(by[0]).title}”`;
  if (kind === "lesson") return `It is the lesson before ${first}.`;
  const more = by.length - 1;
  const others = more ? ` and ${more} other step${more > 1 ? "s" : ""}` : "";
  return `It is a related term of ${first}${others}.`;
}
