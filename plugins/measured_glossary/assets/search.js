// What answers the theme's search box, in place of the theme's own worker and with its messages.
//
// Comes in: the documents of search_index.json, then what a reader types. Goes out: the pages that
// have those words, best first, each with its sections, as HTML with marks. It runs in a worker; on
// a page that is opened from a disk, in a frame. Words are kept as they are written: of a language
// it knows English plurals and little words, and does no worse in another.
(() => {
  "use strict";
  const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3;

  // Where a word stands, best first, and what it is worth there.
  const TITLE = 0, ALIAS = 1, ANSWER = 2, HEADING = 3, TEXT = 4;
  const WORTH = [64, 32, 8, 4, 1];
  const WHOLE = 8; // is added to the place of a word that is the whole name
  const NAMED = 16; // so much better is a page that is called exactly what was typed

  // How well a word of the index is what was typed.
  const SAME = 1, INFLECTED = 0.95, BEGUN = 0.9, MISTYPED = 0.3;

  const MOST_WORDS = 30; // of a query
  const MOST_JOINED = 4; // neighbours that may be one word
  const MOST_SHOWN = 2; // blocks of a long text, lines of a listing
  const MOST_WHOLE = 50; // pages shown with sections and marks
  const LITTLE = new Set(
    "a an and are as at be by do does for from how in is it of on or the to what when why with"
      .split(" "),
  );

  // ── words ────────────────────────────────────────────────────────────────────────────────────

  const CHUNK = /[\p{L}\p{N}_]+/gu, ASCII_CHUNK = /[a-z0-9_]+/g;
  const MARKABLE = /<[^>]*>|&#?\w+;|[\p{L}\p{M}\p{N}_]+/gu;
  const NOT_TEXT = /<[^>]*>|&#?\w+;/g;
  const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/gu;
  const ASCII_HAS_PARTS = /_|[a-z][A-Z]/;
  const HUMP = /(\p{Ll})(\p{Lu})/gu;
  const FOREIGN = /[^\x00-\x7f]/;

  // é is e, and scripts that write no blanks are read sign by sign.
  function spaced(text) {
    if (!FOREIGN.test(text)) return text;
    return text.normalize("NFD").replace(/\p{M}/gu, "").replace(UNSPACED, " $& ");
  }

  const bare = (html) => spaced(/[<&]/.test(html) ? html.replace(NOT_TEXT, " ") : html);

  const unescaped = (html) =>
    html.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

  // The parts of each word: atomicAdd is atomic and add, __syncthreads is syncthreads.
  function cut(text) {
    const chunks = text.replace(HUMP, "$1_$2").toLowerCase().match(CHUNK) ?? [];
    return chunks.map((each) => each.split("_").filter(Boolean));
  }

  // A text's parts, and the words under which it is found: what has parts in one piece too. Most
  // texts have no word with parts, and are read quickly.
  function read(text) {
    if (FOREIGN.test(text) || ASCII_HAS_PARTS.test(text)) {
      const chunks = cut(text);
      const whole = chunks.filter(({ length }) => length > 1).map((each) => each.join(""));
      return { parts: chunks.flat(), words: [...chunks.flat(), ...whole] };
    }
    const plain = text.toLowerCase().match(ASCII_CHUNK) ?? [];
    return { parts: plain, words: plain };
  }

  const parts = (text) => read(text).parts;
  const words = (text) => read(text).words;

  // What may be the same word in the singular or the plural, as far as English tells by its end.
  function inflected(word) {
    if (word.length < 4 || /(ss|us|is)$/.test(word)) return [];
    const ends = [[/s$/, ""], [/es$/, ""], [/ies$/, "y"], [/y$/, "ies"]];
    return ends.map(([end, other]) => word.replace(end, other)).filter((other) => other !== word);
  }

  // ── documents ────────────────────────────────────────────────────────────────────────────────

  // Python-Markdown's `toc` makes an anchor from a heading in this way.
  function anchor(heading, used) {
    const ascii = unescaped(heading).normalize("NFKD").replace(/[^\x00-\x7f]/g, "");
    let made = ascii.replace(/[^\w\s-]/g, "").trim().toLowerCase().replace(/[-\s]+/g, "-");
    while (!made || used.has(made)) {
      const numbered = /^(.*)_(\d+)$/.exec(made);
      made = numbered ? `${numbered[1]}_${Number(numbered[2]) + 1}` : `${made}_1`;
    }
    used.add(made);
    return made;
  }

  // A page, or the section of one: `page` is the page's number. An entry's sections are headings.
  const item = (doc, page, section = -1) => ({ doc, page, section });

  const titleOf = ({ doc, section }) => (section < 0 ? doc.title : doc.sections[section]);

  // An entry's section stands below a heading, of which only the text is known.
  function locationOf({ doc: { location, question, sections }, section }) {
    if (section < 0) return location;
    const used = new Set();
    const ids = [question, ...sections].map((heading) => anchor(heading, used));
    return `${location}#${ids[section + 1]}`;
  }

  // Every page and section, each page before its sections.
  function itemsOf(docs) {
    const items = [], pages = new Map();
    for (const doc of docs) {
      const path = doc.location.split("#", 1)[0];
      const page = pages.get(path) ?? items.length;
      if (page === items.length) pages.set(path, page);
      items.push(item(doc, page));
      for (let i = 0; i < (doc.sections?.length ?? 0); i++) items.push(item(doc, page, i));
    }
    return items;
  }

  // ── the index ────────────────────────────────────────────────────────────────────────────────

  // For each word the items that have it, as numbers: that of the item, and in the last four bits
  // the best place that the word has there.
  class Index {
    constructor(docs) {
      this.items = itemsOf(docs);
      this.found = new Map();
      this.heads = new Map();
      this.items.forEach((each, number) => this.add(each, number));
      this.words = [...this.found.keys()];
    }

    add(each, number) {
      if (each.section >= 0) {
        this.head(titleOf(each), number);
        return;
      }
      const { title, tags, question, text } = each.doc;
      if (each.page === number) this.name(title, number, TITLE);
      else this.head(title, number);
      if (tags) for (const tag of tags) this.name(tag, number, ALIAS);
      if (question) this.take(words(bare(`${question} ${text}`)), number, ANSWER);
      else if (text) this.take(words(bare(text)), number, TEXT);
    }

    // A name is found in one piece too: "sync threads" as syncthreads.
    name(html, number, place) {
      const { parts, words } = read(bare(html));
      this.put(this.postings(parts.join("")), number, place | WHOLE);
      this.take(words, number, place);
    }

    // Many entries have the same headings.
    head(html, number) {
      let lists = this.heads.get(html);
      if (!lists) {
        lists = words(bare(html)).map((word) => this.postings(word));
        this.heads.set(html, lists);
      }
      for (const list of lists) this.put(list, number, HEADING);
    }

    take(list, number, place) {
      for (const word of list) this.put(this.postings(word), number, place);
    }

    postings(word) {
      let list = this.found.get(word);
      if (!list) this.found.set(word, (list = []));
      return list;
    }

    // Places come best first, so that the first one of an item is the one that stays.
    put(list, number, place) {
      const last = list.length - 1;
      if (last < 0 || list[last] >> 4 !== number) list.push((number << 4) | place);
      else list[last] |= place & WHOLE;
    }

    beginning(word) {
      return this.words.filter((other) => other.startsWith(word));
    }

    // What was typed, as the index has it: the word, its other number, words that begin so.
    like(word, isOpen) {
      const others = inflected(word).map((other) => [other, INFLECTED]);
      const known = [[word, SAME], ...others].filter(([each]) => this.found.has(each));
      const longer = isOpen ? this.beginning(word).filter((each) => each !== word) : [];
      return [...known, ...longer.map((each) => [each, (BEGUN * word.length) / each.length])];
    }

    // Words that differ by a slip or two, nearest first; the first letter is taken to be right.
    near(word, isLast) {
      const allowed = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
      const isNear = (other) =>
        Math.abs(other.length - word.length) <= allowed && slips(word, other) <= allowed;
      return this.beginning(allowed ? word[0] : word)
        .filter((other) => isNear(other) || (isLast && isNear(other.slice(0, word.length))))
        .sort((a, b) => slips(word, a) - slips(word, b))
        .map((other) => [other, MISTYPED]);
    }
  }

  // How many letters were left out, put in, changed or swapped with their neighbour.
  function slips(one, other) {
    let before = [], last = [], row = [...Array(other.length + 1).keys()];
    for (let i = 1; i <= one.length; i++) {
      [before, last, row] = [last, row, [i]];
      for (let j = 1; j <= other.length; j++) {
        const differs = one[i - 1] === other[j - 1] ? 0 : 1;
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + differs);
        const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
        if (isSwapped) row[j] = Math.min(row[j], before[j - 2] + 1);
      }
    }
    return row[other.length];
  }

  // ── a query ──────────────────────────────────────────────────────────────────────────────────

  // The words that count: little words do where there are no others.
  function asked(all) {
    const telling = all.filter((word) => !LITTLE.has(word));
    return (telling.length ? telling : all).slice(0, MOST_WORDS);
  }

  // What a query wants: each word as the index has it, and neighbours written as one.
  // A wish says which words it satisfies, from `first` to `last`, and what was `found` for it.
  function wishes(index, typed) {
    const wishes = [];
    for (let first = 0; first < typed.length; first++) {
      for (let last = first; last < Math.min(typed.length, first + MOST_JOINED); last++) {
        const word = typed.slice(first, last + 1).join("");
        const isOpen = word.length > 2 || last === typed.length - 1;
        wishes.push({ first, last, isOpen, found: index.like(word, isOpen) });
      }
    }
    return [...wishes, ...mistyped(index, typed, wishes)];
  }

  // A word that nothing was found for may be a slip.
  function mistyped(index, typed, wishes) {
    const isMet = (i) => wishes.some((w) => w.first <= i && i <= w.last && w.found.length);
    return typed.flatMap((word, i) => {
      if (isMet(i)) return [];
      const found = index.near(word, i === typed.length - 1);
      return [{ first: i, last: i, isOpen: true, found }];
    });
  }

  const boost = ({ items }, number) => items[items[number].page].doc.boost ?? 1;

  // Pages that are called exactly so.
  function named({ found }, key) {
    const postings = [key, ...inflected(key)].flatMap((each) => found.get(each) ?? []);
    return postings.filter((posting) => posting & WHOLE);
  }

  // For each item that has one of the words, what each word is worth in it.
  function worths(index, { typed, key, wishes }) {
    const worths = new Map();
    const raise = (number, first, last, worth) => {
      const boosted = worth * boost(index, number);
      let row = worths.get(number);
      if (!row) worths.set(number, (row = Array(typed.length).fill(0)));
      for (let i = first; i <= last; i++) row[i] = Math.max(row[i], boosted);
    };
    for (const { first, last, found } of wishes) {
      for (const [word, quality] of found) {
        for (const posting of index.found.get(word)) {
          raise(posting >> 4, first, last, quality * WORTH[posting & 7]);
        }
      }
    }
    for (const posting of named(index, key)) {
      raise(posting >> 4, 0, typed.length - 1, NAMED * WORTH[posting & 7]);
    }
    return worths;
  }

  const total = (row) => row.reduce((sum, worth) => sum + worth, 0);

  // Items by page, with the best that each word is worth in any of them.
  function byPage({ items }, worths) {
    const pages = new Map();
    for (const [number, row] of worths) {
      const { page } = items[number];
      const known = pages.get(page) ?? { page, row, numbers: [] };
      known.numbers.push(number);
      pages.set(page, { ...known, row: known.row.map((worth, i) => Math.max(worth, row[i])) });
    }
    return [...pages.values()];
  }

  // Those pages that have all words, or else most of them, best first.
  function best({ items }, pages) {
    const count = ({ row }) => row.filter(Boolean).length;
    const most = pages.reduce((so, page) => Math.max(so, count(page)), 0);
    const length = ({ page }) => titleOf(items[page]).length;
    return pages
      .filter((page) => count(page) === most)
      .map((page) => ({ ...page, score: total(page.row) }))
      .sort((a, b) => b.score - a.score || length(a) - length(b) || a.page - b.page);
  }

  // ── results as the theme shows them ──────────────────────────────────────────────────────────

  // What is marked: what was typed where words begin so, its other number, or what was meant.
  function marksOf({ typed, wishes }) {
    return wishes.flatMap(({ first, last, isOpen, found }) => {
      const word = typed.slice(first, last + 1).join("");
      const known = found.map(([each]) => each);
      const others = inflected(word).filter((other) => known.includes(other));
      const begun = known.some((each) => each.startsWith(word)) ? [word] : [];
      const shortest = [...others, ...begun].sort((a, b) => a.length - b.length).slice(0, 1);
      const meant = shortest.length ? shortest : known;
      return meant.map((each) => ({ first, last, isOpen, word: each }));
    });
  }

  function marker(marks) {
    const isMeant = (word) =>
      marks.some((mark) => (mark.isOpen ? word.startsWith(mark.word) : word === mark.word));
    const marked = (part) =>
      /^[<&]/.test(part) || !words(spaced(part)).some(isMeant) ? part : `<mark>${part}</mark>`;
    // Neighbours share a mark.
    return (html) => html.replace(MARKABLE, marked).replace(/<\/mark>(\s+)<mark>/g, "$1");
  }

  // Those texts that have what was looked for, with their marks.
  const found = (texts, mark) => texts.map(mark).filter((marked, i) => marked !== texts[i]);

  // A block with its marks, or nothing where there are none; of a listing, lines.
  function excerpt(block, mark) {
    if (!block.startsWith("<pre>")) return found([block], mark).join("");
    const lines = found(block.replace(/<\/?(pre|code)>/g, "").split("\n"), mark);
    return lines.length ? `<p><code>${lines.slice(0, MOST_SHOWN).join("<br>")}</code></p>` : "";
  }

  // Of a long text, the blocks that have what was looked for, or else its first words.
  function teaser(text, mark) {
    const blocks = text.match(/<(p|pre|ul|ol)>[^]*?<\/\1>/g) ?? [text];
    const marked = blocks.map((block) => excerpt(block, mark)).filter(Boolean);
    const first = blocks.find((block) => !block.startsWith("<pre>")) ?? "";
    return marked.slice(0, MOST_SHOWN).join("") || first;
  }

  // Of an entry the answer, and what else has what was looked for: its question, other names.
  function textOf({ question, text, tags = [] }, mark) {
    if (!question) return teaser(text, mark);
    const also = found(tags, mark).join(", ");
    const said = [...found([question], mark), mark(text), also && `Also called ${also}.`];
    return said.filter(Boolean).map((part) => `<p>${part}</p>`).join("");
  }

  function shown(item, row, terms, mark) {
    const { doc, section } = item, isHeading = section >= 0;
    return {
      location: locationOf(item),
      title: mark(titleOf(item)),
      text: isHeading ? "" : textOf(doc, mark),
      ...(doc.tags && !doc.question && { tags: doc.tags.map(mark) }),
      score: row ? total(row) : 0,
      terms,
    };
  }

  // A page with its sections, best first. The page itself is always among them.
  function group({ items }, { page, numbers }, worths, terms, mark) {
    return [...new Set([page, ...numbers])]
      .map((number) => shown(items[number], worths.get(number), terms, mark))
      .sort((a, b) => b.score - a.score);
  }

  // Which words a page has. Those it has stand in its address, and the page marks them too.
  function termsOf({ row }, typed, marks) {
    const own = (i) => marks.find(({ first, last }) => first === i && last === i)?.word;
    return Object.fromEntries(typed.map((word, i) => [own(i) ?? word, row[i] > 0]));
  }

  // How the last word may go on, from the best page's name.
  function suggestions({ items }, query, pages) {
    const raw = query.split(/[\s-]+/).at(-1), last = parts(spaced(raw)).at(-1);
    if (!last || !pages.length) return [];
    const { title, tags = [] } = items[pages[0].page].doc;
    const longer = words(bare([title, ...tags].join(" "))).find((word) => word.startsWith(last));
    return longer ? [raw + longer.slice(last.length)] : [];
  }

  // Pages whose name has these signs, where there is no word among them, as <<< has none.
  function withSigns({ items }, query) {
    const compact = (text) => text.replace(/\s+/g, ""), signs = compact(query);
    const hasThem = ({ title, tags = [] }) =>
      [title, ...tags].some((name) => compact(unescaped(name)).includes(signs));
    const found = items.filter(({ doc, page }, i) => page === i && hasThem(doc));
    return signs ? found.map((item) => [shown(item, null, {}, String)]) : [];
  }

  function search(index, query) {
    const all = parts(spaced(query)), typed = asked(all);
    if (!typed.length) return { items: withSigns(index, query), suggest: [] };
    const wanted = { typed, key: all.join(""), wishes: wishes(index, typed) };
    const found = worths(index, wanted);
    const pages = best(index, byPage(index, found));
    const marks = marksOf(wanted), marked = marker(marks);
    const items = pages.map((page, i) => {
      const terms = termsOf(page, typed, marks);
      if (i < MOST_WHOLE) return group(index, page, found, terms, marked);
      return [shown(index.items[page.page], page.row, terms, String)];
    });
    return { items, suggest: suggestions(index, query, pages) };
  }

  // ── messages ─────────────────────────────────────────────────────────────────────────────────

  let index = null;

  addEventListener("message", ({ data: { type, data } }) => {
    if (type === SETUP) {
      index = new Index(data.docs);
      postMessage({ type: READY });
    } else if (type === QUERY && index) {
      postMessage({ type: RESULT, data: search(index, data) });
    }
  });
})();
