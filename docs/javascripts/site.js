// Material wraps the copy button of each block of code in a landmark of its own. Ten landmarks
// without a name tell a screen reader's user nothing, so they stop being landmarks.
new MutationObserver(() => {
  for (const wrapper of document.querySelectorAll("nav.md-code__nav:not([role])")) {
    wrapper.setAttribute("role", "none");
  }
}).observe(document.documentElement, { childList: true, subtree: true });
