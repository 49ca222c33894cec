/** The page's own script: sorts the list of trades, and reads values off the curves. It sends and loads nothing. */
export const SCRIPT = `
'use strict';
for (const table of document.querySelectorAll('table.trades')) {
  const headings = [...table.querySelectorAll('thead th')];
  const body = table.tBodies[0];
  headings.forEach((heading, column) => heading.firstElementChild.addEventListener('click', () => {
    const down = heading.getAttribute('aria-sort') === 'ascending';
    const isText = heading.classList.contains('text') && column > 0;
    const value = (row) => row.cells[column].dataset.v;
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === '' || y === '') return (x === '') - (y === '');
      const order = isText ? x.localeCompare(y) : x - y;
      return down ? -order : order;
    });
    body.append(...rows);
    for (const other of headings) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  }));
}
const SVG = 'http://www.w3.org/2000/svg';
const charts = [...document.querySelectorAll('svg.chart')].map((svg) => {
  const points = JSON.parse(svg.dataset.points);
  const mark = svg.appendChild(document.createElementNS(SVG, 'g'));
  mark.setAttribute('class', 'mark');
  mark.setAttribute('visibility', 'hidden');
  const line = mark.appendChild(document.createElementNS(SVG, 'path'));
  const dot = mark.appendChild(document.createElementNS(SVG, 'circle'));
  dot.setAttribute('r', '3.5');
  const text = mark.appendChild(document.createElementNS(SVG, 'text'));
  return { svg, points, mark, line, dot, text, height: svg.viewBox.baseVal.height };
});
function show(x) {
  for (const { points, mark, line, dot, text, height } of charts) {
    if (points.length === 0) continue;
    let low = 0, high = points.length - 1;
    while (low < high) { const mid = (low + high + 1) >> 1; if (points[mid][0] <= x) low = mid; else high = mid - 1; }
    const [px, py, timeMs, value] = points[low];
    const time = new Date(timeMs).toISOString();
    line.setAttribute('d', 'M' + px + ',10V' + (height - 26));
    dot.setAttribute('cx', px);
    dot.setAttribute('cy', py);
    text.textContent = value + '  ' + time.slice(0, 10) + ' ' + time.slice(11, 19);
    text.setAttribute('x', px > 800 ? px - 8 : px + 8);
    text.setAttribute('y', 22);
    text.setAttribute('text-anchor', px > 800 ? 'end' : 'start');
    mark.setAttribute('visibility', 'visible');
  }
}
for (const { svg } of charts) {
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    show(((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width);
  });
  svg.addEventListener('pointerleave', () => {
    for (const { mark } of charts) mark.setAttribute('visibility', 'hidden');
  });
}
`;
