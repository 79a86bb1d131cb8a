// A box that filters the lists of the page it stands on. It is put in while the page is read, so
// nothing moves; without this program there is no box, and the lists are whole.
(() => {
  "use strict";
  const box = document.createElement("p");
  box.className = "mg-filter";
  box.innerHTML =
    '<label for="mg-filter">Filter the terms</label> ' +
    '<input id="mg-filter" type="search" autocomplete="off"> <span role="status"></span>';
  document.currentScript.after(box);
  const input = box.querySelector("input");
  const status = box.querySelector("[role=status]");

  const folded = (text) => text.toLowerCase().replace(/[\s_()-]+/g, " ").trim();

  // What follows a heading up to the next one of its rank or higher.
  function section(heading) {
    const found = [];
    for (let next = heading.nextElementSibling; next; next = next.nextElementSibling) {
      if (/^H[1-6]$/.test(next.tagName) && next.tagName <= heading.tagName) break;
      found.push(next);
    }
    return found;
  }

  // A term stands in several lists, and only one of them tells its answer and its other names.
  function apply(article) {
    const words = folded(input.value).split(" ").filter(Boolean);
    const items = [...article.querySelectorAll(":scope > ul > li")];
    const target = (item) => item.querySelector("a").href;
    const fits = (item) => words.every((word) => folded(item.textContent).includes(word));
    const found = new Set(items.filter(fits).map(target));
    for (const item of items) item.hidden = !found.has(target(item));
    for (const heading of article.querySelectorAll(":scope > h2, :scope > h3")) {
      const lists = section(heading).filter((part) => part.tagName === "UL");
      const isEmpty = (list) => !list.querySelector(":scope > li:not([hidden])");
      heading.hidden = lists.length > 0 && lists.every(isEmpty);
    }
    status.textContent = words.length ? `${found.size} found` : "";
  }

  input.addEventListener("input", () => apply(box.parentElement));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    input.value = "";
    apply(box.parentElement);
  });
})();
