/**
 * How far the queue models are from the truth: figures of docs/BACKTEST.md. A scripted venue knows every queue, and others
 * cancel anywhere in it. Seeded, so every run prints the same; `BENCH_ORDERS` sets the orders (2,000 by default).
 */
import { QUEUE_MODELS } from '../src/schema/strategy.ts';
import { filledUntil, OUR_SIZE, scripted } from '../test/support/queueTruth.ts';
import type { VenueFill } from '../test/support/scriptedVenue.ts';
import { START_MS } from '../test/support/tapes.ts';
import type { Figure } from './figure.ts';
import { queueRecordingFigures } from './queueRecording.ts';

const ORDERS = Number(process.env.BENCH_ORDERS ?? 2_000);
const MINUTE_MS = START_MS + 60_000;

type Who = 'truth' | (typeof QUEUE_MODELS)[number];

export async function run(): Promise<Figure[]> {
  const kinds: readonly Who[] = ['truth', ...QUEUE_MODELS];
  const sums = new Map(kinds.map((who) => [who, { minute: 0, end: 0, lateMs: 0, both: 0 }]));
  for (let seed = 0; seed < ORDERS; seed++) {
    const { truth, modelled } = scripted(`bias ${seed}`, QUEUE_MODELS, 'any');
    const trueMs = completedMs(truth);
    for (const [who, sum] of sums) {
      const fills = who === 'truth' ? truth : (modelled.get(who) ?? []);
      sum.minute += filledUntil(fills, MINUTE_MS);
      sum.end += filledUntil(fills, Number.POSITIVE_INFINITY);
      const ms = completedMs(fills);
      if (ms === null || trueMs === null) continue;
      sum.lateMs += ms - trueMs;
      sum.both++;
    }
  }
  const size = ORDERS * OUR_SIZE;
  const scriptedFigures = [...sums].flatMap(([who, { minute, end, lateMs, both }]): Figure[] => [
    { name: `${who}: size filled after a minute`, value: (100 * minute) / size, unit: '%' },
    { name: `${who}: size filled at the end`, value: (100 * end) / size, unit: '%' },
    ...(who === 'truth'
      ? []
      : [{ name: `${who}: filled later than in truth, mean`, value: lateMs / both / 1_000, unit: 's' }]),
  ]);
  return [...scriptedFigures, ...queueRecordingFigures()];
}

/** When the whole order was filled; null: it never was. */
function completedMs(fills: readonly VenueFill[]): number | null {
  const last = fills.at(-1);
  return last === undefined || filledUntil(fills, last.timeMs) < OUR_SIZE - 1e-9 ? null : last.timeMs;
}
