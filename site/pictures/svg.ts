/** Charts as SVG texts. Their colours follow the reader's light or dark theme, also inside an `img`. */

export const WIDTH = 720;
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1c2530}.quiet{fill:#55606d}.line{fill:none;stroke:#0b6b7d;stroke-width:1.6}.second{stroke:#a33f00}
.grid{stroke:#dde2e8}.bid{fill:#2f9e6e}.ask{fill:#d9534f}.band{fill:#d9534f;opacity:.16}.mark{stroke:#55606d;stroke-dasharray:4 4}
@media (prefers-color-scheme:dark){text{fill:#dfe5ec}.quiet{fill:#9aa6b4}.line{stroke:#5fd0e0}.second{stroke:#ffab70}.grid{stroke:#2a323b}.mark{stroke:#9aa6b4}.band{opacity:.3}}`;

export type Point = readonly [x: number, y: number];

/** Maps a range of values to a range of pixels. */
export function scale([from, to]: Point, [start, end]: Point): (value: number) => number {
  return (value) => round(start + ((value - from) / (to - from || 1)) * (end - start));
}

export function picture(title: string, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img"><title>${title}</title><style>${STYLE}</style>\n${parts.join('\n')}\n</svg>\n`;
}

/** @param place `start`, `middle` or `end`: the part of the text that is at the point. */
export function label([x, y]: Point, text: string, { place = 'start', quiet = false } = {}): string {
  return `<text x="${x}" y="${y}" text-anchor="${place}"${quiet ? ' class="quiet"' : ''}>${text}</text>`;
}

export function line(points: readonly Point[], name = 'line'): string {
  return `<polyline class="${name}" points="${points.map(([x, y]) => `${x},${y}`).join(' ')}"/>`;
}

export function bar(name: string, [x, y]: Point, [width, height]: Point): string {
  return `<rect class="${name}" x="${x}" y="${y}" width="${Math.max(1, round(width))}" height="${round(height)}"/>`;
}

/** Steps of a value that holds until the next one. */
export function steps(points: readonly Point[]): Point[] {
  return points.flatMap(([x, y], at) => {
    const last = points[at - 1];
    return last === undefined ? [[x, y] as const] : [[x, last[1]] as const, [x, y] as const];
  });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
