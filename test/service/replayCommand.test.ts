import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bookRecord, marketRecord } from '../support/api.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { oneClock } from '../support/gaps.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { openTestStore, type TestStore } from '../support/store.ts';
import { StreamRig } from '../support/streams.ts';

const T0 = Date.UTC(2026, 10, 20, 11);
const [A, B] = [`0x${'aa'.repeat(32)}`, `0x${'bb'.repeat(32)}`];
const COUNT = 250;
const RANGE = ['--start', '2026-11-20T11:00Z', '--end', '2026-11-20T12:00Z', '--speed', 'max'];

let opened: TestStore;

beforeAll(async () => {
  opened = await openTestStore();
  const { writer } = opened.store;
  const window = { startTimeMs: T0, endTimeMs: T0 + 300_000 };
  const resolved = { status: 'resolved', outcome: 'Up', payoutYes: 1, resolvedTimeMs: T0 + 30_000 } as const;
  let seq = 1;
  writer.market({ ...marketRecord({ marketId: A, ...window, ...resolved }), seq: seq++ });
  writer.market({ ...marketRecord({ marketId: B, ...window, ticker: 'ETH' }), seq: seq++ });
  for (let i = 0; i < COUNT; i++) {
    const yesBids: [number, number][] = Array.from({ length: 30 }, (_, level) => [
      4900 - level,
      (i + 1) * 1e6,
    ]);
    writer.book(bookRecord({ seq: seq++, marketId: A, timeMs: T0 + i, yesBids, yesAsks: [[5300, 8e6]] }));
  }
  writer.gap(
    oneClock({
      ...{ gapId: 'gap_1', marketId: A, seq: seq++, cause: 'silent_feed', feed: 'polymarket.clob' },
      ...{ startTimeMs: T0 + 2_000, endTimeMs: T0 + 15_000, knownTimeMs: T0 + 8_000, knownSeq: null },
      repairedBy: 'snapshot',
    }),
  );
  await writer.flush();
});
afterAll(() => opened?.dispose());

const local = (...words: string[]) => underround(['replay', ...words, '--data-dir', opened.dataDir], {});
const refusalOf = async (running: Promise<string>) => {
  const refused = await running.catch((error) => error);
  return [refused.code, refused.stdout, String(refused.stderr).split('\n').at(-2)];
};

describe.skipIf(commandAbsent)(`underround replay ${commandAbsent ? '(skipped: not built)' : ''}`, () => {
  test('prints each message of a recording, one a line, until its end', async () => {
    const lines = (await local('--market', A, ...RANGE)).split('\n').slice(0, -1);
    const messages = lines.map((line) => JSON.parse(line));
    expect(messages.map(({ type }) => type)).toEqual([
      ...Array<string>(COUNT).fill('snapshot'),
      ...['gap', 'gap', 'market', 'end'],
    ]);
    expect(messages[7]).toMatchObject({
      market_id: A,
      event_type: '5m',
      ts: '2026-11-20T11:00:00.007+00:00',
    });
    expect(messages[7].yes_bids[0]).toEqual({ price: 0.49, size: 8 });
  });

  test('prints the same bytes from a service', async () => {
    const rig = await new StreamRig().start({ store: opened.store });
    const settings = { UNDERROUND_URL: `http://${rig.url}/`, UNDERROUND_API_KEY: 'plus' };
    const words = ['--ticker', 'BTC,ETH', '--event-type', '5m', ...RANGE];
    const remote = await underround(['replay', ...words], settings);
    expect(remote.length).toBeGreaterThan(500_000);
    expect(remote).toBe(await local(...words));
    const { UNDERROUND_URL: url, ...key } = settings;
    expect(await underround(['replay', ...words, '--url', url], key)).toBe(remote);
  });

  test('ends without an error when its reader has enough', async () => {
    const words = ['replay', '--market', A, ...RANGE, '--data-dir', opened.dataDir];
    const child = spawn(process.execPath, [join(PROJECT_ROOT, 'bin/underround.mjs'), ...words]);
    let log = '';
    child.stderr.on('data', (chunk) => {
      log += chunk;
    });
    const closed = once(child, 'close');
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect([await closed, log]).toEqual([[0, null], `underround: data directory ${opened.dataDir}\n`]);
  });

  test.each([
    [[], 'name --market, --ticker or --event-type'],
    [
      ['--ticker', 'DOGE', '--start', 'noon'],
      "--ticker: Input should be 'BTC', 'ETH' or 'SOL'; --start: Input should be a valid datetime or date, input is too short",
    ],
    [
      ['--ticker', 'BTC', '--speed', 'fast'],
      '--speed: Input should be a valid number, unable to parse string as a number',
    ],
    [['--ticker', 'BTC', '--start', '2026-02-01', '--end', '2026-01-01'], '--start must not be after --end'],
    [['--market', '0xdead'], 'unknown market_id 0xdead'],
    [['--market', B, ...RANGE], 'nothing was recorded of these markets in this range'],
    [['--market', B, '--url', 'http://127.0.0.1:1'], 'name either --url or --data-dir'],
  ])('prints one line and exits with 1 for %j', async (words, line) => {
    expect(await refusalOf(local(...words))).toEqual([1, '', `underround: ${line}`]);
  });

  test('reports refusals of a service in one line', async () => {
    const rig = await new StreamRig().start({ store: opened.store });
    const remote = (key: string, ...words: string[]) =>
      refusalOf(underround(['replay', '--url', `http://${rig.url}`, ...words], { UNDERROUND_API_KEY: key }));
    const refused = [
      await remote('nobody', '--market', A),
      await remote('free', '--market', A),
      await remote('plus', '--market', '0xdead', ...RANGE),
      await remote('', '--market', A),
    ].map(([, , line]) => line);
    expect(refused).toEqual([
      `underround: http://${rig.url}: Unknown API key (401); set UNDERROUND_API_KEY to a key of this service`,
      `underround: http://${rig.url}: Tier free does not include this endpoint; plus and premium do (403)`,
      'underround: unknown market_id 0xdead',
      'underround: UNDERROUND_API_KEY is missing: set it to a key of the service (its page /keys creates one)',
    ]);
    const url = 'http://127.0.0.1:1';
    const settings = { UNDERROUND_URL: url, UNDERROUND_API_KEY: 'plus' };
    expect((await refusalOf(underround(['replay', '--market', A], settings)))[2]).toBe(
      `underround: ${url} does not answer: connect ECONNREFUSED 127.0.0.1:1; start the service, or name another with --url or UNDERROUND_URL`,
    );
  });
});
