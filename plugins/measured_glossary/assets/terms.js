// A link with a title becomes a link with a tooltip: on hover, on focus and on the first tap.
// Without this program it is a link with a title, as every browser shows it.
(() => {
  "use strict";
  const LINKS = "article a[href][title]:not(.headerlink):not(.mg-permalink):not(.md-button)";
  const PATIENCE_MS = 150;
  const GAP = 7; // pixels between a link, with its focus ring, and its tooltip
  let open = null;
  let timer = 0;

  const isShown = (tip) => tip !== null && !tip.hidden;

  function hide() {
    clearTimeout(timer);
    if (open) open.hidden = true;
    open = null;
  }

  // The pointer may travel from the link to the tooltip, to read or to select what it says.
  function hideSoon() {
    clearTimeout(timer);
    timer = setTimeout(hide, PATIENCE_MS);
  }

  function show(link, tip) {
    clearTimeout(timer);
    if (open !== tip) hide();
    open = tip;
    tip.hidden = false;
    const line = link.getClientRects()[0];
    const left = Math.min(line.left, document.documentElement.clientWidth - tip.offsetWidth - 8);
    const fits = line.bottom + tip.offsetHeight + 2 * GAP < window.innerHeight;
    const top = fits ? line.bottom + GAP : line.top - tip.offsetHeight - GAP;
    const origin = tip.offsetParent.getBoundingClientRect();
    tip.style.left = `${Math.max(8, left) - origin.left}px`;
    tip.style.top = `${top - origin.top}px`;
  }

  function equip(link, index) {
    const tip = document.createElement("div");
    tip.id = `mg-tip-${index}`;
    tip.className = "mg-tip";
    tip.setAttribute("role", "tooltip");
    tip.hidden = true;
    tip.textContent = link.title;
    link.removeAttribute("title");
    link.setAttribute("aria-describedby", tip.id);
    (link.closest("main") ?? link.closest("article")).append(tip);
    let wasShown = false;
    link.addEventListener("pointerdown", () => { wasShown = isShown(tip); });
    link.addEventListener("pointerenter", (event) => {
      if (event.pointerType !== "touch") show(link, tip);
    });
    link.addEventListener("focus", () => show(link, tip));
    link.addEventListener("blur", hide);
    for (const part of [link, tip]) part.addEventListener("pointerleave", hideSoon);
    tip.addEventListener("pointerenter", () => clearTimeout(timer));
    // A finger has no hover: the first tap tells, the second one follows the link.
    link.addEventListener("click", (event) => {
      if (event.pointerType !== "touch" || wasShown) return;
      event.preventDefault();
      show(link, tip);
    });
  }

  function start() {
    document.querySelectorAll(LINKS).forEach(equip);
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
    document.addEventListener("pointerdown", (event) => {
      if (open && !event.target.closest(".mg-tip, a[aria-describedby]")) hide();
    });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
