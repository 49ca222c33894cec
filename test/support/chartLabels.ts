import type { Page } from 'playwright-core';

/** A text that a chart displays, with its box in pixels of the page. */
interface LabelBox {
  readonly chart: number;
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Runs in the page before its scripts: notes the box of every text that a canvas draws, until the canvas is cleared. */
const RECORD_TEXTS = `{
  const texts = new WeakMap();
  globalThis.textsOf = (canvas) => texts.get(canvas) ?? [];
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    texts.set(this.canvas, []);
    return clearRect.apply(this, box);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const size = this.measureText(text);
    const { e, f } = this.getTransform();
    const isTurned = this.getTransform().b !== 0;
    if (String(text).trim() !== '' && !isTurned) {
      texts.set(this.canvas, [...(texts.get(this.canvas) ?? []), {
        text,
        left: x + e - size.actualBoundingBoxLeft,
        right: x + e + size.actualBoundingBoxRight,
        top: y + f - size.actualBoundingBoxAscent,
        bottom: y + f + size.actualBoundingBoxDescent,
      }]);
    }
    return fillText.call(this, text, x, y, ...rest);
  };
}`;

/** Every displayed text of the page's charts: drawn on canvases, and in SVG images. */
const BOXES = `{
  const found = [];
  document.querySelectorAll('.uplot canvas').forEach((canvas, chart) => {
    const place = canvas.getBoundingClientRect();
    const ratio = canvas.width / place.width;
    for (const { text, left, right, top, bottom } of textsOf(canvas)) {
      found.push({
        chart, text,
        left: left / ratio, right: right / ratio, top: top / ratio, bottom: bottom / ratio,
        width: place.width, height: place.height,
      });
    }
  });
  document.querySelectorAll('svg[role="img"]').forEach((svg, index) => {
    const place = svg.getBoundingClientRect();
    svg.querySelectorAll('text').forEach((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      found.push({
        chart: 1000 + index, text: element.textContent,
        left: left - place.left, right: right - place.left, top: top - place.top, bottom: bottom - place.top,
        width: place.width, height: place.height,
      });
    });
  });
  found;
}`;

export async function recordChartTexts(page: Page): Promise<void> {
  await page.addInitScript(RECORD_TEXTS);
}

export function chartTexts(page: Page): Promise<(LabelBox & { width: number; height: number })[]> {
  return page.evaluate(BOXES);
}

/** Pairs of texts of one chart that intersect, and texts that leave their chart. */
export function overlaps(boxes: Awaited<ReturnType<typeof chartTexts>>): string[] {
  const found: string[] = [];
  boxes.forEach((one, index) => {
    if (one.left < -1 || one.right > one.width + 1 || one.top < -1 || one.bottom > one.height + 1) {
      found.push(`${one.text} leaves chart ${one.chart}`);
    }
    for (const other of boxes.slice(index + 1)) {
      const isApart =
        one.chart !== other.chart ||
        one.right <= other.left ||
        other.right <= one.left ||
        one.bottom <= other.top ||
        other.bottom <= one.top;
      if (!isApart) found.push(`${one.text} and ${other.text} in chart ${one.chart}`);
    }
  });
  return found;
}
