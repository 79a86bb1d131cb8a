// What Material puts around code and tables, for who does not use a mouse.
//
// It wraps the copy button of each block of code in a landmark of its own: ten landmarks without a
// name tell a screen reader's user nothing, so they stop being landmarks. And it lets a wide table
// scroll in a box that no key reaches: the box takes the focus, so that the arrow keys scroll it, and
// says what it is.
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

// Material lets wide code take the focus too, but not where there is no mouse; a touch screen has a
// keyboard as well.
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
