// What Material puts around code and tables, for who does not use a mouse.
//
// A landmark without a name is none. A wide table takes the focus, so that the arrow keys scroll it,
// and wide code too, which Material allows only with a mouse.
new MutationObserver(() => {
  for (const wrapper of document.querySelectorAll("nav.md-code__nav:not([role])")) {
    wrapper.setAttribute("role", "none");
  }
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Table");
  }
}).observe(document.documentElement, { childList: true, subtree: true });

document.addEventListener("DOMContentLoaded", () => {
  const reach = (code) => {
    if (!code.hasAttribute("tabindex") && code.scrollWidth > code.clientWidth) code.tabIndex = 0;
  };
  const taken = new MutationObserver((changes) => changes.forEach(({ target }) => reach(target)));
  for (const code of document.querySelectorAll("pre > code")) {
    reach(code);
    taken.observe(code, { attributeFilter: ["tabindex"] });
  }
});
