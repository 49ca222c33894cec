import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { MARKET, WireMarket } from '../../../test/support/wire.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { Recorder } from '../recorder.ts';
import { openArchive } from './archives/importArchive.ts';
import { LINE_CHARS_MAX, textLines } from './archives/textLines.ts';
import { FrameRouter } from './frameRouter.ts';
import { importRecording } from './importRecording.ts';
import { readRecording } from './recordedFiles.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

/** Compressed; parts of one file may be compressed apart. */
let tooLong: Buffer;
beforeAll(() => {
  tooLong = gzipSync(Buffer.alloc(LINE_CHARS_MAX + 1, 'x'), { level: 1 });
});

function write(name: string, parts: readonly (string | Buffer)[]): string {
  const file = path.join(temporaryDirectory(), name);
  const packed = parts.map((part) => (typeof part === 'string' ? gzipSync(part) : part));
  writeFileSync(file, Buffer.concat(packed));
  return file;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('the lines of a text file', () => {
  it('end with a line feed or the file, and are numbered from 1', async () => {
    const file = write('a.txt.gz', ['ä\r\n\n€ \u2028 b\rc\n', 'last']);
    expect(await all(textLines(file))).toEqual(
      ['ä', '', '€ \u2028 b\rc', 'last'].map((text, at) => ({ number: at + 1, text, wasCut: false })),
    );
    expect(await all(textLines(write('empty.txt.gz', [''])))).toEqual([]);
  });

  it('are cut when they are too long, also without an end', async () => {
    const lines = await all(textLines(write('a.txt.gz', ['before\n', tooLong, '\nafter\n', tooLong])));
    const cut = 'x'.repeat(128 * 1024);
    expect(lines.map(({ number, wasCut }) => [number, wasCut])).toEqual([
      [1, false],
      [2, true],
      [3, false],
      [4, true],
    ]);
    expect(lines.map(({ text }) => text === cut || text)).toEqual(['before', true, 'after', true]);
  });

  it('are whole at the limit', async () => {
    const atLimit = gzipSync(Buffer.alloc(LINE_CHARS_MAX, 'x'), { level: 1 });
    const [first, second] = await all(textLines(write('a.txt.gz', [atLimit, '\nafter'])));
    expect([first?.text.length, first?.wasCut]).toEqual([LINE_CHARS_MAX, false]);
    expect(second).toEqual({ number: 2, text: 'after', wasCut: false });
  });
});

it('of a file that cannot be read, the lines name it and the reason', async () => {
  const folder = temporaryDirectory();
  await expect(all(textLines(folder))).rejects.toThrow(
    `cannot read ${folder}: it is a directory, not a file`,
  );
});

it('a line that is too long is logged with file and line; its market gets a gap, and all other lines are recorded', async () => {
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4900, size: 5 * SHARE });
  wire.set({ side: 'SELL', price: 5000, size: 7 * SHARE });
  const before = wire.snapshot(T0);
  const [lost = ''] = wire.action(T0 + 1, [{ side: 'BUY', price: 4800, size: SHARE }]);
  const after = wire.snapshot(T0 + 2);
  const file = write('a.jsonl.gz', [`${before}\n${lost.slice(0, -1)},"x":"`, tooLong, `"}\n${after}\n`]);

  const sink = new MemorySink();
  const common = { clock: new FakeClock(T0), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink, timeBy: 'receipt' });
  const router = new FrameRouter({ recorder, log: silentLogger });
  const logged: unknown[] = [];
  const options = { level: 'error', base: null, timestamp: false };
  const log = pino(options, { write: (line) => void logged.push(JSON.parse(line)) });
  expect(await importRecording(file, { router, log, fallbackTimeMs: T0 })).toBe(3);
  router.finish();
  recorder.close();
  expect(logged).toEqual([
    { level: 50, file, line: 2, charactersMax: LINE_CHARS_MAX, msg: 'import.line_too_long' },
  ]);
  expect(router.rejected).toBe(1);
  expect(sink.books.map(({ eventTimeMs, trusted }) => [eventTimeMs, trusted])).toEqual([
    [T0, true],
    [T0 + 2, true],
  ]);
  expect(sink.gaps.at(-1)).toMatchObject({
    ...{ marketId: MARKET.marketId, cause: 'frame_rejected', startTimeMs: T0, endTimeMs: T0 + 2 },
  });
});

it('a damaged first line collects no more than the longest document', async () => {
  const damaged = '{"received_ms": 1795';
  const padded = JSON.stringify({ received_ms: T0, frame: '' }).padEnd(LINE_CHARS_MAX / 4);
  const line = gzipSync(`${padded}\n`, { level: 1 });
  const parts = [`${damaged}\n`, ...Array(5).fill(line)];
  expect(await all(readRecording(write('a.jsonl.gz', parts)))).toEqual([
    { receivedTimeMs: null, frame: damaged },
    ...Array(5).fill({ receivedTimeMs: T0, frame: '' }),
  ]);
  // Reading to the end would fail here.
  const frames = readRecording(write('cut.jsonl.gz', [...parts, Buffer.of(0x1f, 0x8b, 0)]));
  expect((await frames.next()).value).toEqual({ receivedTimeMs: null, frame: damaged });
  await frames.return(undefined);
});

it('a line of a Tardis file that is too long is a bad row, and all other rows are read', async () => {
  const head = 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount\n';
  const row = 'coinbase,BTC-USD,1795176010000000,1795176010000000,1,buy,97000,1\n';
  const reader = await openArchive(write('trades.csv.gz', [head + row, tooLong, `\n${row}`]), {
    markets: null,
  });
  if (reader === null) throw new Error('no archive');
  const items = await all(reader.items);
  expect(items.map((item) => (item.kind === 'bad' ? item : item.kind))).toEqual([
    'underlying',
    { kind: 'bad', row: 3, reason: `longer than ${LINE_CHARS_MAX} characters` },
    'underlying',
  ]);
  expect(await openArchive(write('one.csv.gz', [tooLong]), { markets: null })).toBeNull();
});
