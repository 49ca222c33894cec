import type { Page } from 'playwright-core';

/** Pixels by which two boxes may overlap: fonts round. */
const TOUCH_PX = 2;

/**
 * Finds visible texts whose boxes overlap in the page, also the texts of drawings (SVG). Runs in the page: each line of a
 * text is a box, cut to the containers that hide the rest, and a text behind an overlay is left out.
 */
const FIND = `(touch) => {
  const clipped = (box, parent) => {
    let { left, top, right, bottom } = box;
    for (let outer = parent; outer !== null; outer = outer.parentElement) {
      if (getComputedStyle(outer).overflow === 'visible') continue;
      const frame = outer.getBoundingClientRect();
      [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
      [top, bottom] = [Math.max(top, frame.top), Math.min(bottom, frame.bottom)];
    }
    return { left, top, right, bottom };
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent.trim();
    const parent = node.parentElement;
    if (text === '' || parent === null || !parent.checkVisibility({ opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const { left, top, right, bottom } = clipped(box, parent);
      if (right - left < 2 || bottom - top < 2) continue;
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      const shown = document.elementFromPoint(x, y);
      // Scrolled out of its frame, or covered by a dialogue.
      if (shown === null || !(shown.contains(parent) || parent.contains(shown))) continue;
      texts.push({ node, text, left, top, right, bottom });
    }
  }
  const found = [];
  for (const [at, a] of texts.entries()) {
    for (const b of texts.slice(at + 1)) {
      // A shortened text has a box with and one without its rest.
      if (a.node === b.node) continue;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > touch && down > touch + 2) found.push(a.text.slice(0, 40) + ' | ' + b.text.slice(0, 40));
    }
  }
  return found;
}`;

/** Pairs of visible texts that overlap. */
export function overlappingLabels(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(${FIND})(${TOUCH_PX})`);
}
