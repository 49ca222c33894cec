import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { recordingReader } from '../../test/support/exportReader.ts';
import { openTestStore } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { readConfig } from '../config.ts';
import { systemClock } from '../runtime/clock.ts';
import { exportedFilesBelow } from '../store/export/verify.ts';
import { exportFolder } from './exportFolder.ts';
import { importExports } from './importExports.ts';

const FIRST_START_MS = Date.UTC(2026, 10, 20, 12);
const WINDOW_MS = 300_000;
const { signal } = new AbortController();

test('a folder that was exported again after a further market was recorded can be imported', async () => {
  const { store, dispose } = await openTestStore();
  onTestFinished(dispose);
  const out = temporaryDirectory();
  for (const seq of [1, 2]) {
    const startTimeMs = FIRST_START_MS + seq * WINDOW_MS;
    const facts = { marketId: `0x${seq}`, startTimeMs, endTimeMs: startTimeMs + WINDOW_MS };
    store.writer.market({ ...marketRecord(facts), seq });
    await store.writer.flush();
    await exportFolder(recordingReader(store), {
      ...{
        datasets: ['markets', 'gaps'],
        range: { startMs: null, endMs: null },
        format: 'jsonl',
        out,
        clock: systemClock,
        signal,
      },
      ...{ filter: { ticker: null, eventType: null, source: null, venue: null }, onFile: () => {} },
    });
  }
  const paths = await exportedFilesBelow(out);
  const read = readConfig({ UNDERROUND_DATA_DIR: temporaryDirectory(), UNDERROUND_DISK_RESERVE: '1MiB' });
  if (!('config' in read)) throw new Error(read.problems.join());
  expect((await importExports(read.config, paths, signal)).rows).toEqual({ gaps: 0, markets: 2 });
  const names = ['gaps-BTC-5m-none-none.jsonl', 'markets-BTC-5m-none-none.jsonl'];
  expect(paths).toEqual(names.map((name) => join(out, 'series=BTC-5m', name)));
});
