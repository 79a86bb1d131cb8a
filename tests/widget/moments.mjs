// Writes the telling moment of each preset as JSON, for the still picture that Python draws.
// `node tests/widget/moments.mjs --write` renews moments.json; without it the text is printed.

import { writeFileSync } from "node:fs";

const ASSETS = new URL("../../plugins/measured_glossary/assets/tile-lifecycle/", import.meta.url);
const { PRESETS, configure } = await import(new URL("simulator.js", ASSETS));
const { tellingStep, trace } = await import(new URL("policy.js", ASSETS));
const { LABELS, laneName, outcome, sentence } = await import(new URL("words.js", ASSETS));
const { marksOf } = await import(new URL("draw.js", ASSETS));

function moment(preset) {
  const states = trace(configure({ preset }));
  const state = states[tellingStep(states)];
  const { title, sentences } = outcome(states.at(-1));
  return {
    title: LABELS[preset],
    step: state.step,
    steps: states.length - 1,
    lines: state.config.lines.map(({ op, name, off = false }) => ({ op, name, off })),
    lanes: state.threads.map((thread) => lane(state, thread)),
    cells: state.cells.map((_, index) => cell(state, index)),
    sentence: sentence(state),
    outcome: [title, ...sentences].join(" "),
  };
}

function lane({ config, event }, thread) {
  return {
    column: thread.gone ? config.lines.length : thread.at,
    moved: event.lanes.includes(thread.id),
    waiting: thread.waiting,
    returned: thread.gone === "returned",
  };
}

function cell(state, index) {
  const { writer, since } = state.cells[index];
  const { read = null, hazard, wrong } = marksOf(state, index);
  const held = writer === null ? {} : { writer: laneName(writer), age: state.step - since };
  return { ...held, ...(read ? { read } : {}), hazard, wrong };
}

const moments = Object.fromEntries(Object.keys(PRESETS).map((name) => [name, moment(name)]));
const rows = Object.entries(moments).map(
  ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
);
const text = `{\n${rows.join(",\n")}\n}\n`;

if (process.argv.includes("--write")) writeFileSync(new URL("moments.json", ASSETS), text);
else process.stdout.write(text);
