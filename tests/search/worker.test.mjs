// What the search box's worker answers: run by `node --test`, and by pytest in test_worker.py. It is
// talked to as the theme's program does it, by messages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const PROGRAM = new URL("../../plugins/measured_glossary/assets/search.js", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const DOCS = read("documents.json");
const table = read("anchors.json"); // test_worker.py compares it with Python-Markdown
const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3;

/** Start a worker; give what sends a message and waits for its answer. */
function started() {
  let hear, said;
  const world = { addEventListener: (_, listener) => (hear = listener), postMessage: (m) => (said = m) };
  vm.runInNewContext(readFileSync(PROGRAM, "utf8"), world);
  return (type, data) => {
    said = undefined;
    hear({ data: { type, data } });
    return said && JSON.parse(JSON.stringify(said));
  };
}

/** Set a worker up with documents; give what asks it. */
function searching(docs = DOCS) {
  const tell = started();
  const data = { config: { separator: "[\\s\\-]+" }, docs, options: { suggest: true } };
  assert.deepEqual(tell(SETUP, data), { type: READY });
  return (query) => {
    const { type, data } = tell(QUERY, query);
    assert.equal(type, RESULT);
    return data;
  };
}

const ask = searching();
const pages = (query) => ask(query).items.map((group) => group.at(0).location.split("#")[0]);
const first = (query) => ask(query).items[0];

const SYNC = "glossary/syncthreads/";
const ATOMICS = "glossary/atomics/";

for (const query of [
  "__syncthreads", "__syncthreads()", "syncthreads()", "syncthreads", "sync threads", "Sync-Threads",
  "block barrier", "blockbarrier", "block barriers", "syncthr", "sync thr", "what is block barrier",
]) {
  test(`"${query}" finds the entry first`, () => assert.equal(pages(query)[0], SYNC));
}

for (const query of ["atomicAdd", "atomicadd", "atomic add", "atomic_add", "ATOMICADD", "add"]) {
  test(`"${query}" finds a name in camel case`, () => assert.equal(pages(query)[0], ATOMICS));
}

test("an entry stands above the lesson that is named after it, and the lesson is found", () => {
  assert.deepEqual(pages("syncthreads").slice(0, 2), [SYNC, "lesson/"]);
});

test("a page whose whole title was typed stands above entries that say the words", () => {
  assert.equal(pages("how we sign")[0], "how-we-sign/");
});

test("title counts for more than alias, alias than answer, answer than heading, heading than text", () => {
  assert.deepEqual(pages("canary"), [
    "rank/title/", "rank/alias/", "rank/answer/", "rank/heading/", "rank/text/",
  ]);
});

test("a page that is called exactly so stands first, by another name too", () => {
  const question = "Q?";
  const docs = [
    { boost: 10, location: "a/", title: "fence", text: "A.", question },
    { boost: 10, location: "b/", title: "fence of memory", text: "B.", question, tags: ["memory"] },
    { boost: 10, location: "c/", title: "memory map", text: "C.", question },
  ];
  const [first] = searching(docs)("memory").items;
  assert.equal(first[0].location, "b/");
});

test("of equal names the shorter stands first", () => {
  assert.deepEqual(pages("warp").slice(0, 2), ["glossary/warp/", "glossary/warp-divergence/"]);
});

test("only pages that have all words are given, wherever on the page each stands", () => {
  assert.deepEqual(pages("divergence branch"), ["glossary/warp-divergence/"]);
  assert.deepEqual(pages("warp reverses"), ["lesson/"]);
});

test("where no page has all words, those with most are given, and the missing one is said", () => {
  const [item] = first("warp divergence zebra");
  assert.equal(item.location, "glossary/warp-divergence/");
  assert.deepEqual(item.terms, { warp: true, divergence: true, zebra: false });
});

test("little words do not narrow, and are looked for where there are no others", () => {
  assert.equal(pages("what is a warp")[0], "glossary/warp/");
  assert.ok(pages("how").length > 0);
});

for (const [query, page] of [
  ["latency", "glossary/launch-latency/"],
  ["latencies", "glossary/launch-latency/"],
  ["warps", "glossary/warp/"],
  ["branches", "glossary/warp-divergence/"],
]) {
  test(`"${query}" is found in the other number too`, () => assert.equal(pages(query)[0], page));
}

for (const query of ["synctreads", "syncthraeds", "synchthreads", "snycthreads", "divergance"]) {
  test(`"${query}" is taken for a slip`, () => {
    const page = query.startsWith("d") ? "glossary/warp-divergence/" : SYNC;
    assert.equal(pages(query)[0], page);
  });
}

test("a slip is guessed only where nothing has the word, and never in a short word", () => {
  assert.ok(!pages("warp").includes("rank/wrap/"));
  assert.deepEqual(pages("wrq"), []);
});

test("letters with and without marks are the same", () => {
  assert.deepEqual(pages("poincare"), ["glossary/poincare/"]);
  assert.deepEqual(pages("POINCARÉ"), ["glossary/poincare/"]);
});

test("a script without blanks is found by a part of it", () => {
  assert.deepEqual(pages("メモリ"), ["glossary/shared-memory/"]);
});

test("a name of signs alone is found by them", () => {
  assert.deepEqual(pages("<<<"), ["glossary/launch/"]);
});

test("nothing typed finds nothing, and neither does a word that nobody has", () => {
  for (const query of ["", "   ", "zebra", "[]", "constructor", "__proto__"]) {
    assert.deepEqual(ask(query).items, [], query);
  }
});

test("what was found is marked in names and answers, and markup stays whole", () => {
  const [item] = first("block barrier");
  assert.match(item.text, /<p>Also called <mark>block barrier<\/mark>\.<\/p>$/);
  assert.match(item.text, /a <mark>barrier<\/mark> for one thread <mark>block<\/mark>/);
  assert.equal(first("launch")[0].title, "&lt;&lt;&lt;…&gt;&gt;&gt; <mark>launch</mark>");
  const marked = JSON.stringify(["lt", "gt", "code", "p", "mark"].map((query) => ask(query).items));
  assert.ok(!/<[^>]*<mark>|&<mark>/.test(marked));
});

test("an entry's question is shown where it has what was looked for", () => {
  assert.match(first("hold")[0].text, /^<p>What does .* <mark>hold<\/mark>/);
  assert.match(first("block barrier")[0].text, /^<p>It is a/);
});

test("tags of a page written by hand are shown as the theme shows them", () => {
  const docs = [{ location: "x/", title: "X", text: "<p>Text.</p>", tags: ["a &amp; b", "c"] }];
  const [item] = searching(docs)("c").items[0];
  assert.deepEqual(item.tags, ["a &amp; b", "<mark>c</mark>"]);
});

test("of a long text only the blocks that have the word are shown, two at most", () => {
  const section = first("reverses").find((item) => item.location === "lesson/#a-kernel");
  assert.equal(section.text, "<p>It <mark>reverses</mark> a tile.</p>");
});

test("of a listing only the lines that have the word are shown, and none scrolls", () => {
  const text = "<p>None.</p> <pre><code>one;\ntwo(x &lt; y);\nthree;\ntwo;\ntwo;\n</code></pre>";
  const find = searching([{ location: "x/", title: "X", text }]);
  const lines = "<mark>two</mark>(x &lt; y);<br><mark>two</mark>;";
  assert.equal(find("two").items[0][0].text, `<p><code>${lines}</code></p>`);
});

test("the words of a result's address are such as its page has", () => {
  assert.deepEqual(first("synctreads")[0].terms, { syncthreads: true });
  assert.equal(first("synctrheads")[0].title, "<mark>__syncthreads</mark>()");
  assert.deepEqual(first("latencies")[0].terms, { latency: true });
});

test("a heading is a section below its page, at the anchor that the page has", () => {
  const group = first("does it take a lock");
  assert.deepEqual(group.map((item) => item.location), [`${ATOMICS}#does-it-take-a-lock`, ATOMICS]);
  assert.equal(group[0].title, "Does it <mark>take</mark> a <mark>lock</mark>?");
});

test("anchors are those of Python-Markdown", () => {
  const { question, sections, anchors } = table;
  const doc = { location: "glossary/x/", title: "x", text: "", question, sections };
  const found = searching([doc])("chapter").items[0].map((item) => item.location);
  const expected = ["glossary/x/", ...anchors.map((id) => `glossary/x/#${id}`)];
  assert.deepEqual(new Set(found), new Set(expected));
});

test("each group holds its page, best first, and the first group is the best", () => {
  for (const query of ["warp", "barrier", "kernel", "sync threads", "a"]) {
    const { items } = ask(query);
    const scores = items.map((group) => group[0].score);
    for (const group of items) {
      assert.ok(group.some((item) => !item.location.includes("#")));
      const own = group.map((item) => item.score);
      assert.deepEqual(own, [...own].sort((a, b) => b - a));
    }
    assert.equal(scores[0], Math.max(...scores), query);
  }
});

test("the last word is completed from the best page's name", () => {
  assert.deepEqual(ask("__sync").suggest, ["__syncthreads"]);
  assert.deepEqual(ask("block bar").suggest, ["barrier"]);
  assert.deepEqual(ask("zebra").suggest, []);
});

test("a long list of pages keeps its order and its length, and marks the first ones", () => {
  const many = Array.from({ length: 300 }, (_, i) => ({
    boost: 10, location: `glossary/e${i}/`, title: `kernel ${i}`, text: "An answer.", question: "Q?",
  }));
  const { items } = searching(many)("kernel");
  assert.equal(items.length, 300);
  assert.match(items[0][0].title, /<mark>/);
  assert.equal(items[299].length, 1);
});

test("a site without entries is searched as well, and an empty one answers", () => {
  const only = searching([{ location: "", title: "Home", text: "<p>Words of a page.</p>" }]);
  assert.equal(only("words").items[0][0].text, "<p><mark>Words</mark> of a page.</p>");
  assert.deepEqual(searching([])("words"), { items: [], suggest: [] });
});

test("a question before the documents came has no answer", () => {
  assert.equal(started()(QUERY, "warp"), undefined);
});
