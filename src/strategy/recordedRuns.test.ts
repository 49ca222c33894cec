import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { runOnRecording } from './recordedRuns.ts';
import type { RunSegment } from './runTape.ts';
import type { StrategyThreads } from './strategyThreads.ts';
import type { TapeSource } from './tapeSource.ts';

const at = (hour: number, minute: number) => Date.UTC(2026, 10, 20, hour, minute);

test('progress counts the markets whose window was processed, not those that were read ahead', async () => {
  const windows = [12, 13].map((hour) => [at(hour, 25), at(hour, 30)] as const);
  const markets = windows.map(([startTimeMs, endTimeMs], n) =>
    marketRecord({ marketId: `0x${n}`, startTimeMs, endTimeMs }),
  );
  const source = {
    ...{ markets: async () => markets, gaps: async () => new Map() },
    rows: { stream: async () => Readable.from([]) },
  } as TapeSource;
  // 100 records a half hour from the start of the first window.
  const process = async ({ beforeMs }: RunSegment) => ({ items: beforeMs < at(12, 0) ? 0 : 100, lines: [] });
  const threads = { begin: async () => undefined, process, finish: async () => ({}) };
  const inputs = { tickers: ['BTC'], eventTypes: ['5m'] } as const;
  const universe = { ...inputs, startMs: null, endMs: at(14, 0), marketLimit: 50 };
  const shown: unknown[] = [];
  await runOnRecording(
    { source, threads: threads as unknown as StrategyThreads },
    { settings: [], inputs, universe },
    {
      signal: new AbortController().signal,
      onProgress: ({ share, marketsDone, items }) => shown.push([share, marketsDone, items]),
    },
  );
  // The first tape begins at 11:25, in the span from 11:00; a span is processed except for its last 10 s.
  expect(shown).toEqual([
    [1 / 6, 0, 0],
    [2 / 6, 0, 0],
    [3 / 6, 0, 100],
    [4 / 6, 1, 200],
    [5 / 6, 1, 300],
    [1, 2, 400],
  ]);
});
