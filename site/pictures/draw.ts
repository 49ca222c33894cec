/** Draws the pictures of docs/CONCEPTS.md into docs/images. Usage: node site/pictures/draw.ts */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LOST_MS, type Recording, record, START_MS, WINDOW_MS } from './recording.ts';
import { bar, label, line, type Point, picture, scale, steps, WIDTH } from './svg.ts';

const TICKS_PER_USDC = 10_000;
const UNITS_PER_SHARE = 1_000_000;
const LEVELS = 7;
const LEFT = 70;
const RIGHT = WIDTH - 20;
const MINUTES = [0, 1, 2, 3, 4, 5];
const across = scale([0, WINDOW_MS], [LEFT, RIGHT]);

/** The pictures by their file names: the same bytes whenever they are drawn. */
export function drawPictures(): Map<string, string> {
  const whole = record({ isCut: false });
  const cut = record({ isCut: true });
  return new Map([
    ['concept-book.svg', drawBook(whole)],
    ['concept-window.svg', drawWindow(whole)],
    ['concept-gap.svg', drawGap(cut)],
    ['concept-underround.svg', drawUnderround(whole)],
  ]);
}

/** The levels of one book, and how the NO book follows from it. */
function drawBook({ books, slug }: Recording): string {
  const at = START_MS + 2.5 * 60_000;
  const book = books.findLast(({ timeMs }) => timeMs <= at);
  if (!book) throw new Error('the recording has no book');
  const [bids, asks] = [book.bids.slice(0, LEVELS), book.asks.slice(0, LEVELS).reverse()];
  const largest = Math.max(...[...bids, ...asks].map(([, size]) => size));
  const length = scale([0, largest], [0, 330]);
  const rows = [
    ...asks.map((level) => ({ level, name: 'ask' })),
    ...bids.map((level) => ({ level, name: 'bid' })),
  ];
  const parts = rows.flatMap(({ level: [price, size], name }, row) => {
    const y = 52 + row * 24;
    const shares = (size / UNITS_PER_SHARE).toFixed(0);
    return [
      label([110, y + 13], usdc(price), { place: 'end' }),
      bar(name, [120, y], [length(size), 18]),
      label([126 + length(size), y + 13], `${shares} shares`, { quiet: true }),
      label([WIDTH - 40, y + 13], usdc(TICKS_PER_USDC - price), { place: 'end', quiet: true }),
    ];
  });
  const heads = [
    label([110, 36], 'YES price', { place: 'end', quiet: true }),
    label([120, 36], `${slug}: asks above, bids below`),
    label([WIDTH - 40, 36], 'the same level in the NO book', { place: 'end', quiet: true }),
  ];
  return picture('The levels of an order book', 70 + rows.length * 24, [...heads, ...parts]);
}

/** The price that decides the window above, the YES mid below. */
function drawWindow({ prices, quotes }: Recording): string {
  const inWindow = prices.filter(
    ({ eventTimeMs }) => eventTimeMs >= START_MS && eventTimeMs <= START_MS + WINDOW_MS,
  );
  const strike = inWindow[0]?.price ?? 0;
  const values = inWindow.map(({ price }) => price);
  const up = scale([Math.min(...values), Math.max(...values)], [150, 40]);
  const chance = scale([0, 1], [310, 190]);
  const mids = quotes.flatMap(({ eventTimeMs, yesBid, yesAsk }) =>
    yesBid === null || yesAsk === null
      ? []
      : [[eventTimeMs, (yesBid + yesAsk) / 2 / TICKS_PER_USDC] as const],
  );
  const parts = [
    label([LEFT, 26], 'BTC in USD, and the strike (dashed)'),
    line(
      [
        [LEFT, up(strike)],
        [RIGHT, up(strike)],
      ],
      'mark',
    ),
    line(
      inWindow.map(({ eventTimeMs, price }): Point => [across(eventTimeMs - START_MS), up(price)]),
      'line second',
    ),
    label([LEFT - 8, up(strike) + 4], strike.toFixed(0), { place: 'end', quiet: true }),
    label([LEFT, 178], 'YES mid: the probability of Up'),
    ...[0, 0.5, 1].flatMap((value) => [
      line(
        [
          [LEFT, chance(value)],
          [RIGHT, chance(value)],
        ],
        'grid',
      ),
      label([LEFT - 8, chance(value) + 4], String(value), { place: 'end', quiet: true }),
    ]),
    line(steps(inSpan(mids).map(([ms, mid]): Point => [across(ms - START_MS), chance(mid)]))),
    ...clock(334),
  ];
  return picture('A window: price and probability', 345, parts);
}

/** Trust over time, with the messages of some seconds lost. */
function drawGap({ quotes, gaps }: Recording): string {
  const chance = scale([0, 1], [170, 50]);
  const mids = quotes.flatMap(({ eventTimeMs, yesBid, yesAsk }) =>
    yesBid === null || yesAsk === null
      ? []
      : [[eventTimeMs, (yesBid + yesAsk) / 2 / TICKS_PER_USDC] as const],
  );
  const bands = gaps.map(({ startTimeMs, endTimeMs }) => {
    const [from, to] = [startTimeMs, endTimeMs ?? START_MS + WINDOW_MS].map((ms) =>
      across(Math.min(WINDOW_MS, Math.max(0, ms - START_MS))),
    ) as [number, number];
    return bar('band', [from, 40], [to - from, 140]);
  });
  const [first] = gaps;
  const lost = `messages of ${(LOST_MS.to - LOST_MS.from) / 1000} s lost`;
  const parts = [
    label([LEFT, 26], `YES mid; ${lost}; the red band is the recorded gap (${first?.cause ?? 'none'})`),
    ...[0, 0.5, 1].flatMap((value) => [
      line(
        [
          [LEFT, chance(value)],
          [RIGHT, chance(value)],
        ],
        'grid',
      ),
      label([LEFT - 8, chance(value) + 4], String(value), { place: 'end', quiet: true }),
    ]),
    ...bands,
    line(steps(inSpan(mids).map(([ms, mid]): Point => [across(ms - START_MS), chance(mid)]))),
    ...clock(198),
  ];
  return picture('A gap in a recording', 210, parts);
}

/** What both best asks cost together. */
function drawUnderround({ quotes }: Recording): string {
  const sums = quotes.flatMap(({ eventTimeMs, yesAsk, noAsk }) =>
    yesAsk === null || noAsk === null ? [] : [[eventTimeMs, (yesAsk + noAsk) / TICKS_PER_USDC] as const],
  );
  const values = inSpan(sums).map(([, sum]) => sum);
  const cost = scale([Math.min(0.99, ...values), Math.max(1.03, ...values)], [170, 50]);
  const parts = [
    label([LEFT, 26], 'Best YES ask + best NO ask, in USDC. Below 1: an underround'),
    line(
      [
        [LEFT, cost(1)],
        [RIGHT, cost(1)],
      ],
      'mark',
    ),
    label([LEFT - 8, cost(1) + 4], '1.00', { place: 'end', quiet: true }),
    line(steps(inSpan(sums).map(([ms, sum]): Point => [across(ms - START_MS), cost(sum)]))),
    ...clock(198),
  ];
  return picture('The cost of both outcomes', 210, parts);
}

function inSpan<T extends Point>(points: readonly T[]): T[] {
  return points.filter(([ms]) => ms >= START_MS && ms <= START_MS + WINDOW_MS);
}

function clock(y: number): string[] {
  return MINUTES.map((minute) => {
    const place = minute === 0 ? 'start' : minute === MINUTES.length - 1 ? 'end' : 'middle';
    return label([across(minute * 60_000), y], `15:0${minute}`, { place, quiet: true });
  });
}

function usdc(ticks: number): string {
  return (ticks / TICKS_PER_USDC).toFixed(2);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of drawPictures())
    writeFileSync(new URL(`../../docs/images/${name}`, import.meta.url), text);
}
