// A view of the diagram as the part of an address behind #, and back.
// Comes in: the reader's choices and step. Goes out: text such as tile=no-barrier,in-order,3.
// Must not know the simulator's state or the page.

/** The address of a view; what the preset gives anyway is left out. */
export function toHash({ preset, policy, step, variant, barriers, independent, seed, picks }) {
  const parts = [preset, policy, step];
  if (variant) parts.push(`variant=${variant}`);
  if (barriers) parts.push(`barriers=${barriers.map(Number).join("")}`);
  if (independent === false) parts.push("lockstep");
  if (policy === "random") parts.push(`seed=${seed}`);
  if (policy === "by-hand" && picks.length > 0) parts.push(`picks=${packed(picks)}`);
  return `#tile=${parts.join(",")}`;
}

/** The view that an address names, or null where it names none. */
export function fromHash(hash) {
  if (!hash.startsWith("#tile=")) return null;
  const [preset, policy, step, ...options] = hash.slice("#tile=".length).split(",");
  const view = { preset, policy, step: Number.parseInt(step, 10) || 0 };
  for (const option of options) {
    const [key, value = ""] = option.split("=");
    Object.assign(view, Object.hasOwn(READ, key) ? READ[key](value) : {});
  }
  return view;
}

const READ = {
  variant: (value) => ({ variant: value }),
  barriers: (value) =>
    /^[01]{2}$/.test(value) ? { barriers: [...value].map((b) => b === "1") } : {},
  lockstep: () => ({ independent: false }),
  seed: (value) => ({ seed: Number.parseInt(value, 10) || 1 }),
  picks: (value) => ({ picks: unpacked(value) }),
};

/** Picks in short: the run 0, 0, 0, 7.3 becomes 0x3-7.3. */
function packed(picks) {
  const runs = [];
  for (const unit of picks) {
    if (runs.at(-1)?.unit === unit) runs.at(-1).count += 1;
    else runs.push({ unit, count: 1 });
  }
  return runs.map(({ unit, count }) => (count > 1 ? `${unit}x${count}` : unit)).join("-");
}

const MOST_PICKS = 1000;

function unpacked(text) {
  const runs = text.split("-").map((run) => /^(\d+(?:\.\d+)?)(?:x(\d{1,3}))?$/.exec(run));
  const picks = runs.flatMap((run) => (run ? Array(Number(run[2] ?? 1)).fill(run[1]) : []));
  return picks.slice(0, MOST_PICKS);
}
