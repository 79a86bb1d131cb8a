// The simulator's behaviour: run by `node --test`, and by pytest in test_simulator.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const ASSETS = new URL("../../plugins/measured_glossary/assets/tile-lifecycle/", import.meta.url);
const { LANES, PRESETS, advance, configure, ending, group, mirror, movable, start, verdict } =
  await import(new URL("simulator.js", ASSETS));
const { POLICIES, tellingStep, trace } = await import(new URL("policy.js", ASSETS));
const { fromHash, toHash } = await import(new URL("link.js", ASSETS));
const { outcome, sentence } = await import(new URL("words.js", ASSETS));

const table = JSON.parse(readFileSync(new URL("expectations.json", import.meta.url), "utf8"));
const AUTOMATIC = POLICIES.filter((policy) => policy !== "by-hand");

/** Every combination of preset, variant, barriers, scheduling and automatic policy. */
function* everything() {
  const bits = [false, true];
  for (const [preset, { variants }] of Object.entries(PRESETS)) {
    for (const variant of variants) {
      for (const first of bits)
        for (const second of bits)
          for (const independent of bits) {
            const config = configure({ preset, variant, barriers: [first, second], independent });
            for (const policy of AUTOMATIC)
              yield { config, policy, states: trace(config, { policy }) };
          }
    }
  }
}
const ALL = [...everything()];

function share({ wrong, results }) {
  if (wrong === 0) return "none";
  return wrong === results ? "all" : "some";
}

for (const { name, choices, policies, expect } of table.cases) {
  for (const policy of policies) {
    test(`${name} (${policy})`, () => {
      const known = verdict(trace(configure(choices), { policy }).at(-1));
      const said = { ...known, wrong: share(known) };
      assert.deepEqual(Object.fromEntries(Object.keys(expect).map((k) => [k, said[k]])), expect);
    });
  }
}

test("every measured field of the table is a field that is expected", () => {
  for (const { expect, measured } of table.cases) {
    for (const field of measured) assert.ok(field in expect, field);
  }
});

test("every run ends, returned or hung, and only arms inside a warp hang", () => {
  for (const { config, policy, states } of ALL) {
    const how = ending(states.at(-1));
    const mayHang = config.variant === "inside-a-warp" && config.barriers[0] && config.independent;
    assert.equal(how, mayHang ? "hung" : "returned", `${config.variant} ${policy}`);
  }
});

test("a read marked too early is confirmed by the clocks when its write comes", () => {
  for (const { config, policy, states } of ALL) {
    for (const hazard of states.at(-1).hazards.filter((h) => h.kind === "early")) {
      const read = states[hazard.step];
      const clock = read.threads[hazard.reader].clock[hazard.reader];
      const writes = (s) => s.event?.op === "write" && s.event.lanes.includes(hazard.writer);
      const write = states.find((s) => writes(s) && s.event.trip === hazard.trip);
      assert.ok(write.step > read.step);
      assert.ok(write.threads[hazard.writer].clock[hazard.reader] < clock);
    }
  }
});

test("a wrong value comes with a hazard unless nobody ever writes its cell", () => {
  for (const { config, policy, states } of ALL) {
    for (const state of states) {
      for (const access of state.event?.accesses ?? []) {
        if ((access.got ?? "right") === "right" || access.hazard) continue;
        assert.ok(
          !states.some(({ event }) => event?.op === "write" && event.lanes.includes(access.cell)),
        );
      }
    }
  }
});

test("with both barriers and nobody absent no policy finds a hazard", () => {
  for (const { config, policy, states } of ALL) {
    if (config.kernel !== "reverse" || !config.barriers.every(Boolean)) continue;
    const { hazards, wrong } = verdict(states.at(-1));
    assert.deepEqual([hazards, wrong], [0, 0], policy);
  }
});

test("without the barrier at most half of the results go wrong, in 300 random orders", () => {
  const config = configure({ preset: "no-barrier" });
  let most = 0;
  for (let seed = 1; seed <= 300; seed++) {
    most = Math.max(most, verdict(trace(config, { policy: "random", seed }).at(-1)).wrong);
  }
  assert.ok(most > 0 && most <= config.size / 2, `${most}`);
});

test("a step leaves the state it started from as it was", () => {
  const states = trace(configure({ preset: "no-barrier", variant: "two-tiles" }));
  const before = states.map((state) => JSON.stringify(state));
  for (const state of states.slice(0, -1)) advance(state, movable(state)[0]);
  assert.deepEqual(
    states.map((state) => JSON.stringify(state)),
    before,
  );
});

test("a seed gives the same order each time, and another seed another order", () => {
  const order = (seed) =>
    trace(configure(), { policy: "random", seed })
      .map((s) => s.event?.unit)
      .join();
  assert.equal(order(7), order(7));
  assert.notEqual(order(7), order(8));
});

test("by hand only the picks move, and replaying a policy's picks gives its states", () => {
  const config = configure({ preset: "block-32-hides-it" });
  const states = trace(config, { policy: "adversarial" });
  const picks = states.slice(1).map((state) => state.event.unit);
  assert.deepEqual(trace(config, { policy: "by-hand", picks }), states);
  assert.equal(trace(config, { policy: "by-hand", picks: picks.slice(0, 3) }).length, 4);
});

test("a pick that cannot move ends the picks", () => {
  const states = trace(configure(), { policy: "by-hand", picks: ["0", "99", "0"] });
  assert.equal(states.length, 2);
});

test("one lane moves alone, and the warp's rearmost group catches up first", () => {
  const apart = advance(start(configure({ preset: "block-32-hides-it" })), "0.2");
  assert.deepEqual(
    apart.threads.map((t) => t.at),
    [0, 0, 1, 0],
  );
  assert.deepEqual(
    group(apart, "0").map((t) => t.id),
    [0, 1, 3],
  );
});

test("each thread reads the cell of its mirror image, never its own", () => {
  const config = configure();
  for (let id = 0; id < config.size; id++) {
    assert.notEqual(mirror(config, id), id);
    assert.equal(mirror(config, mirror(config, id)), id);
  }
});

test("unknown names fall back to the first preset and its first variant", () => {
  const config = configure({ preset: "constructor", variant: "sideways" });
  assert.deepEqual([config.preset, config.variant], ["no-barrier", "one-tile"]);
});

test("the telling step of the missing barrier is warp 0's read of cells nobody has written", () => {
  const states = trace(configure());
  const state = states[tellingStep(states)];
  assert.equal(state.event.op, "read");
  assert.deepEqual(
    state.event.accesses.map((a) => a.got),
    Array(LANES).fill("leftover"),
  );
});

test("a step whose states differ is told in a sentence, and every sentence is finished", () => {
  for (const { config, policy, states } of ALL) {
    for (const state of states) {
      assert.match(sentence(state), /^[A-Z][^{}]*[.]$/);
      assert.doesNotMatch(sentence(state), /undefined|NaN|null/);
    }
  }
});

test("the outcome names the ending, and carries no unfinished word", () => {
  for (const { config, policy, states } of ALL) {
    const last = states.at(-1);
    const { title, sentences } = outcome(last);
    const hung = ending(last) === "hung";
    assert.equal(title, hung ? "The launch never returns." : "The launch returns.");
    for (const said of sentences) assert.match(said, /^[A-Z0-9](?!.*(undefined|NaN)).*[.]$/);
  }
});

test("a view survives the way into an address and back", () => {
  const views = [
    { preset: "no-barrier", policy: "in-order", step: 3 },
    { preset: "no-barrier", policy: "random", step: 9, seed: 42, variant: "two-tiles" },
    { preset: "early-return", policy: "reversed", step: 0, barriers: [true, false] },
    { preset: "block-32-hides-it", policy: "by-hand", step: 4, picks: ["0", "0", "0.1", "0.3"] },
    { preset: "divergent-arms", policy: "in-order", step: 25, independent: false },
  ];
  for (const view of views) assert.deepEqual(fromHash(toHash(view)), view);
});

test("an address of something else, or a damaged one, gives no view or a plain one", () => {
  assert.equal(fromHash("#sources"), null);
  assert.deepEqual(fromHash("#tile=no-barrier,in-order,x,barriers=7,constructor=1"), {
    preset: "no-barrier",
    policy: "in-order",
    step: 0,
  });
});
