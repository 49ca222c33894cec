import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { recordingReader } from '../../test/support/exportReader.ts';
import { openTestStore } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { readConfig } from '../config.ts';
import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { writeEngineFolder } from '../store/export/engines/engineFolder.ts';
import { exportedFilesBelow } from '../store/export/verify.ts';
import { RunClaim } from '../store/journal/runClaim.ts';
import type { StoreReader } from '../store/reader.ts';
import { exportFolder } from './exportFolder.ts';
import { importExports } from './importExports.ts';

const FIRST_START_MS = Date.UTC(2026, 10, 20, 12);
const WINDOW_MS = 300_000;
const { signal } = new AbortController();
const range = { startMs: null, endMs: null };
const onFile = () => {};
const LISTS = {
  datasets: ['markets', 'gaps'],
  filter: { ticker: null, eventType: null, source: null, venue: null },
  format: 'jsonl',
  clock: systemClock,
  range,
  signal,
  onFile,
} as const;

test('a folder that was exported again after a further market was recorded can be imported', async () => {
  const { store, dispose } = await openTestStore();
  onTestFinished(dispose);
  const out = temporaryDirectory();
  for (const seq of [1, 2]) {
    const startTimeMs = FIRST_START_MS + seq * WINDOW_MS;
    const facts = { marketId: `0x${seq}`, startTimeMs, endTimeMs: startTimeMs + WINDOW_MS };
    store.writer.market({ ...marketRecord(facts), seq });
    await store.writer.flush();
    await exportFolder(recordingReader(store), { ...LISTS, out });
  }
  const paths = await exportedFilesBelow(out);
  const read = readConfig({ UNDERROUND_DATA_DIR: temporaryDirectory(), UNDERROUND_DISK_RESERVE: '1MiB' });
  if (!('config' in read)) throw new Error(read.problems.join());
  expect((await importExports(read.config, paths, signal)).rows).toEqual({ gaps: 0, markets: 2 });
  const names = ['gaps-BTC-5m-none-none.jsonl', 'markets-BTC-5m-none-none.jsonl'];
  expect(paths).toEqual(names.map((name) => join(out, 'series=BTC-5m', name)));
});

const ENGINE = { engine: 'hftbacktest', markets: 'all', upToSeq: 9, range, signal, onFile } as const;

test.each([
  [
    'of the recording',
    (store: StoreReader, out: string) => exportFolder(recordingReader(store), { ...LISTS, out }),
  ],
  ['of an engine', (store: StoreReader, out: string) => writeEngineFolder(store, { ...ENGINE, out })],
])('an export into a folder %s is refused until another one has ended', async (_, exportInto) => {
  const { store, dispose } = await openTestStore();
  onTestFinished(dispose);
  const out = join(temporaryDirectory(), 'nightly');
  const claims = join(out, '.exporting');
  await mkdir(claims, { recursive: true });
  const other = (await RunClaim.of(claims)) as RunClaim;
  await expect(exportInto(store, out)).rejects.toThrow(
    new InvalidInputError(
      `process ${process.pid} exports into ${out}; wait for its end, or continue it if it is suspended ` +
        `(kill -CONT ${process.pid})`,
    ),
  );
  await other.release();
  expect(await exportInto(store, out)).toMatchObject({ files: 0, kept: 0 });
  expect(await readdir(out)).toEqual([]);
});
