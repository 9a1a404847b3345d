"""What a test asks of a page in the browser: contrast of every text, and where the focus is."""

CONTRAST = """
(() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const linear = c => c / 255 <= .04045 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const paper = node => {
    for (; node; node = node.parentElement) {
      const found = parts(getComputedStyle(node).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return parts(getComputedStyle(document.documentElement).backgroundColor);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), weak = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), holder = walker.currentNode.parentElement;
    if (!text || holder.closest('svg')) continue;
    const colors = [parts(getComputedStyle(holder).color), paper(holder)].map(light);
    const [a, b] = colors.sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) weak.push(text.slice(0, 40));
  }
  return weak;
})()
"""
"""Texts with a contrast below 4.5 to 1."""

FOCUS = """
(() => {
  const here = document.activeElement, style = getComputedStyle(here);
  const shown = here.getBoundingClientRect().right > 0;
  const text = here.innerText.slice(0, 30);
  return [here.tagName, text, style.outlineStyle, parseFloat(style.outlineWidth), shown];
})()
"""
"""Where the focus is: element, text, style and width of its outline, whether it is on the page."""
