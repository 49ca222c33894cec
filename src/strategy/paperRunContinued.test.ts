import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { tapeMarketOf } from '../core/session/tapeMarket.ts';
import { SEQS_PER_MILLISECOND } from '../schema/records.ts';
import type { PaperLine } from './paperLines.ts';
import { PaperRun } from './paperRun.ts';

const START = Date.UTC(2026, 10, 20, 12);
const [LISTED_MS, BEGUN_MS, STRIKE_MS, LATER_MS] = [
  START - 30_000,
  START - 10_000,
  START + 1_500,
  START + 60_000,
];

const record = marketRecord({ marketId: '0xa', startTimeMs: START, endTimeMs: START + 300_000 });
const MARKET = { ...record, seq: 1, strikePrice: 97_000, strikeKnownTimeMs: START + 1_000 };

const marketLine = (timeMs: number, strikeKnownTimeMs: number | null): PaperLine => {
  const strikePrice = strikeKnownTimeMs === null ? null : 97_000;
  const market = { ...tapeMarketOf(MARKET), strikePrice, strikeKnownTimeMs };
  return { kind: 'market', seq: timeMs * SEQS_PER_MILLISECOND, time_ms: timeMs, market };
};
/** The market was listed before the run began, and its strike became known during it. */
const LINES = [
  marketLine(LISTED_MS, null),
  marketLine(STRIKE_MS, STRIKE_MS),
  { kind: 'resolved', seq: 9, time_ms: LATER_MS, market_id: '0xb', resolution: {} } as unknown as PaperLine,
];

test('a run that goes on knows the strike of a market from when the first run printed it', async () => {
  const strikes: (number | null | undefined)[] = [];
  const repeated = [[LINES[0]], LINES.slice(1)];
  const process = async ({ markets }: { markets: readonly { tape: { market: typeof MARKET } }[] }) => {
    strikes.push(markets[0]?.tape.market.strikeKnownTimeMs);
    return { lines: repeated[strikes.length - 1] ?? [] };
  };
  const run = new PaperRun({
    source: {
      gaps: async () => new Map(),
      rows: { stream: async () => Readable.from([]) },
      readMarkets: async () => ({ markets: [MARKET], storedSeq: LATER_MS * SEQS_PER_MILLISECOND }),
    },
    threads: { process } as never,
    inputs: { tickers: ['BTC'], eventTypes: ['5m'] },
    tickers: ['BTC'],
    eventTypes: ['5m'],
    startMs: BEGUN_MS,
    printed: LINES.map((line) => JSON.stringify(line)),
    signal: new AbortController().signal,
  });
  const lines = (await Array.fromAsync(run.advance())).flat();
  expect(strikes).toEqual([STRIKE_MS, STRIKE_MS]);
  expect(lines).toEqual([]);
});
