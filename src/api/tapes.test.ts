import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { marketIdOf, WINDOW_MS, writeSeries } from '../../test/support/backtestData.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { Inputs } from '../core/run/definition.ts';
import { type RecordSink, SEQS_PER_MILLISECOND } from '../schema/records.ts';
import { RecordingFeed } from '../strategy/recordingFeed.ts';
import { type Ask, RemoteTapes } from '../strategy/remoteTapes.ts';
import type { RunSegment } from '../strategy/runTape.ts';
import { TapeCache } from '../strategy/tapeCache.ts';
import { storedTapes, type TapeSource } from '../strategy/tapeSource.ts';

const START = Date.UTC(2026, 10, 20);
const MARKETS = 3;
const END = START + MARKETS * WINDOW_MS;
const UNIVERSE = { ticker: 'BTC', event_type: '5m' } as const;
const RANGE = { startMs: null, endMs: END + 1, limit: 10 };
const INPUTS: Inputs = {
  tickers: ['BTC'],
  eventTypes: ['5m'],
  priceSources: ['binance_spot'],
  perpDepth: ['bybit'],
};

/** Prices of both feeds and a perpetual book, received at a time. @returns The last seq. */
function writeFeeds(
  writer: RecordSink,
  { lastSeq, timeMs, n }: { lastSeq: number; timeMs: number; n: number },
) {
  let seq = lastSeq;
  const times = { eventTimeMs: timeMs - 30, receivedTimeMs: timeMs };
  for (const source of ['chainlink', 'binance_spot'] as const) {
    const price = 97_000.5 + n;
    writer.underlying({ kind: 'underlying', seq: ++seq, ticker: 'BTC', source, price, ...times });
  }
  writer.perpDepth({
    ...{ kind: 'perp_depth', seq: ++seq, venue: 'bybit', ticker: 'BTC', updateId: n, ...times },
    ...{ engineTimeMs: timeMs - 40, roundTripMs: null },
    ...{ bids: [['97000.1', '0.5']], asks: [['97000.2', '1.25']] },
  });
  return seq;
}

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
  const { writer } = opened.store;
  let seq = writeSeries(writer, { markets: MARKETS, quotes: 50, startMs: START });
  for (let n = 0; n < 100; n++) {
    const timeMs = START + n * 5_000;
    const times = { eventTimeMs: timeMs - 30, receivedTimeMs: timeMs };
    writer.trade({
      ...{
        seq: ++seq,
        marketId: marketIdOf(n % MARKETS),
        ...times,
        side: n % 2 === 0 ? 'BUY_YES' : 'SELL_NO',
      },
      ...{ price: 4_000 + n, size: 1_500_000 * (n + 1), tradeId: `t${n}` },
    });
    seq = writeFeeds(writer, { lastSeq: seq, timeMs, n });
  }
  writer.gap({
    ...{
      gapId: 'g1',
      marketId: marketIdOf(1),
      cause: 'silent_feed',
      feed: 'polymarket.clob',
      repairedBy: null,
    },
    ...{ startTimeMs: START + 400_000, endTimeMs: START + 410_000, knownTimeMs: START + 405_000 },
    ...{ startReceivedMs: START + 400_040, endReceivedMs: START + 410_040, knownSeq: 210, seq: 215 },
  });
  await writer.flush();
});
afterAll(() => opened.dispose());

const clock = () => new FakeClock(END + 86_400_000);

function api(store = opened.store) {
  const app = testApi({ store, clock: clock() });
  onTestFinished(() => app.close());
  return app;
}

/** Requests to the API without a network. */
function askOf(app: ReturnType<typeof api>, change: (bytes: Buffer) => Buffer = (bytes) => bytes) {
  const paths: string[] = [];
  const ask: Ask = async (path) => {
    paths.push(path);
    const { statusCode, rawPayload, headers } = await app.inject({ url: path, headers: KEY });
    const retryAfter = headers['retry-after'];
    async function* body() {
      yield change(rawPayload);
    }
    return {
      status: statusCode,
      retryAfterS: retryAfter === undefined ? null : Number(retryAfter),
      body: body(),
    };
  };
  return { ask, paths };
}

function remote(ask: Ask, cache: TapeCache | null = null, ownClock = clock()) {
  const { signal } = new AbortController();
  return new RemoteTapes({ url: 'http://service', ask, clock: ownClock, cache, signal });
}

/** A folder in which nothing fails. */
const onFailure = (cause: unknown) => {
  throw cause;
};

async function readAll(source: TapeSource) {
  const markets = await source.markets(UNIVERSE, RANGE);
  const gaps = await source.gaps(markets.map(({ marketId }) => marketId));
  const feed = new RecordingFeed(source, { markets, gaps, inputs: INPUTS }, new AbortController().signal);
  const segments: RunSegment[] = [];
  for await (const segment of feed.segments()) segments.push(segment);
  return { segments, hash: feed.dataHash() };
}

describe('tapes of a service', () => {
  test('equal those of its data directory: records, trust, gaps, prices, trades and perpetual books', async () => {
    const local = await readAll(storedTapes(opened.store));
    const { segments } = local;
    const markets = segments.flatMap((segment) => segment.markets);
    expect(markets.map(({ tape }) => tape.market.marketId)).toEqual([0, 1, 2].map(marketIdOf));
    expect(markets.map(({ tape }) => tape.trades?.seq.length)).toEqual([24, 33, 33]);
    expect(markets[1]?.tape.gaps).toEqual([
      ...[
        {
          startMs: START + 400_040,
          knownMs: START + 405_000,
          endMs: START + 410_040,
          knownSeq: 210,
          endSeq: 215,
        },
      ],
    ]);
    expect(segments.flatMap(({ tickers }) => tickers.flatMap(({ perpDepth }) => perpDepth))).toHaveLength(
      100,
    );
    expect(segments.flatMap(({ tickers }) => tickers.flatMap(({ perpDepth }) => perpDepth))[3]).toMatchObject(
      {
        ...{ kind: 'perp_depth', venue: 'bybit', ticker: 'BTC', updateId: 3, roundTripMs: null },
        ...{ bids: [['97000.1', '0.5']], asks: [['97000.2', '1.25']] },
      },
    );
    const { ask } = askOf(api());
    expect(await readAll(remote(ask))).toEqual(local);
  });

  test('of finished windows stay the same while the recording goes on, to the last price that can decide them', async () => {
    const growing = await openTestStore();
    onTestFinished(() => growing.dispose());
    const { store } = growing;
    let seq = writeSeries(store.writer, { markets: MARKETS, quotes: 50, startMs: START });
    const record = async (timeMs: number, n: number) => {
      seq = writeFeeds(store.writer, { lastSeq: seq, timeMs, n });
      await store.writer.flush();
    };
    await record(END + 59_999, 0);
    const first = await readAll(storedTapes(store));
    expect(first.segments.at(-1)?.tickers).toMatchObject([
      {
        prices: ['binance_spot', 'chainlink'].map((source) => ({
          source,
          rows: { price: Float64Array.of(97_000.5) },
        })),
        perpDepth: [{ updateId: 0 }],
      },
    ]);
    // From the next moment on until the end of the half hour.
    for (const [n, timeMs] of [END + 60_000, END + 120_000, END + 899_000].entries())
      await record(timeMs, n + 1);
    expect(await readAll(storedTapes(store))).toEqual(first);
    expect(await readAll(remote(askOf(api(store)).ask))).toEqual(first);
  });

  test('are read once: past ones come from the cache, and a damaged file is read again', async () => {
    const folder = temporaryDirectory();
    const { ask, paths } = askOf(api());
    const first = await readAll(remote(ask, new TapeCache(folder, onFailure)));
    const asked = paths.length;
    expect(await readAll(remote(ask, new TapeCache(folder, onFailure)))).toEqual(first);
    // Only the list of markets, which has the newest gaps.
    expect(paths.slice(asked)).toEqual([paths[0]]);
    const { readdirSync, readFileSync, writeFileSync } = await import('node:fs');
    const [name = ''] = readdirSync(folder);
    const file = readFileSync(`${folder}/${name}`);
    file[0] = (file[0] as number) ^ 1;
    writeFileSync(`${folder}/${name}`, file);
    expect(await readAll(remote(ask, new TapeCache(folder, onFailure)))).toEqual(first);
    expect(paths).toHaveLength(asked + 3);
  });

  test('are read also where they cannot be cached, which is reported once', async () => {
    // A folder that cannot be made, as on a read-only or full disk: a part of its path is a file.
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const failures: unknown[] = [];
    const cache = new TapeCache(join(file, 'tapes'), (cause) => failures.push(cause));
    const local = await readAll(storedTapes(opened.store));
    expect(await readAll(remote(askOf(api()).ask, cache))).toEqual(local);
    expect(failures).toMatchObject([{ code: 'ENOTDIR' }]);
  });

  test('are not cached while their last records are new', async () => {
    const folder = temporaryDirectory();
    const { ask, paths } = askOf(api());
    const now = new FakeClock(END + 60_000);
    await readAll(remote(ask, new TapeCache(folder, onFailure), now));
    const asked = paths.length;
    await readAll(remote(ask, new TapeCache(folder, onFailure), now));
    expect(paths).toHaveLength(2 * asked);
  });

  test('survive cut answers and refusals for now, a bounded number of times', async () => {
    const own = clock();
    const { ask } = askOf(api());
    const local = await readAll(storedTapes(opened.store));
    const calls = new Map<string, number>();
    const flaky: Ask = async (path, signal) => {
      const call = calls.get(path) ?? 0;
      calls.set(path, call + 1);
      if (call === 0) throw new TypeError('fetch failed');
      const answer = await ask(path, signal);
      if (call > 1 || !path.startsWith('/v1/tapes?')) return answer;
      async function* cut() {
        for await (const bytes of answer.body) yield bytes.subarray(0, bytes.length - 10);
      }
      return { ...answer, body: cut() };
    };
    expect(await own.advanceUntil(readAll(remote(flaky, null, own)), 100)).toEqual(local);
    const cause = new Error('connect ECONNREFUSED 127.0.0.1:1');
    const never = readAll(remote(() => Promise.reject(new TypeError('fetch failed', { cause })), null, own));
    await expect(own.advanceUntil(never, 100)).rejects.toThrow(
      'http://service did not answer completely, 6 times: connect ECONNREFUSED 127.0.0.1:1; check that the service runs and that this is its address, then repeat the command',
    );
  });

  test.each([
    [200, 'its answer is not JSON; '],
    [502, 'its answer has status 502 and is not JSON; '],
  ])('a page of another server with status %d is refused, and each try is reported', async (status, said) => {
    const own = clock();
    const reported: string[] = [];
    const page: Ask = async () => ({
      ...{ status, retryAfterS: null },
      body: Readable.from([Buffer.from('<html>')]),
    });
    const { signal } = new AbortController();
    const options = { url: 'http://service', ask: page, clock: own, cache: null, signal };
    const tapes = new RemoteTapes({ ...options, onRetry: (sentence) => reported.push(sentence) });
    const reason = `${said}is this the address of an Underround service, or does a proxy answer?`;
    await expect(own.advanceUntil(tapes.markets(UNIVERSE, RANGE), 100)).rejects.toThrow(
      `http://service did not answer completely, 6 times: ${reason}; check`,
    );
    expect(reported).toEqual(
      [0.5, 1, 2, 4, 8].map(
        (seconds, at) => `http://service: ${reason}; try ${at + 2} of 6 follows in ${seconds} s`,
      ),
    );
  });

  test('while rows wait for the store, the list of markets is refused after 10 s', async () => {
    const time = clock();
    let stored: () => Promise<void> = async () => undefined;
    const waits = new Promise<void>((resolve) => {
      stored = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const app = testApi({ store: opened.store, clock: time, stored: () => stored() });
    onTestFinished(() => app.close());
    const answer = app.inject({ url: '/v1/tapes/markets?ticker=BTC&event_type=5m', headers: KEY });
    await waits;
    await time.advance(10_000);
    const { statusCode, headers } = await answer;
    expect([statusCode, headers['retry-after']]).toEqual([502, '5']);
  });

  test('names as stored only what can get no number any more: the records of a second ago', async () => {
    const answer = await api().inject({ url: '/v1/tapes/markets?ticker=BTC&event_type=5m', headers: KEY });
    const [head = ''] = answer.body.split('\n');
    expect(JSON.parse(head).stored_seq).toBe((clock().now() - 1_000) * SEQS_PER_MILLISECOND);
  });

  test('a refusal of the key or of the tier is one clear error', async () => {
    const refused: Ask = async () => ({
      ...{ status: 403, retryAfterS: null },
      body: (async function* () {
        yield Buffer.from('{"detail":"export requires the Pro tier"}');
      })(),
    });
    await expect(readAll(remote(refused))).rejects.toThrow(
      'http://service: 403 export requires the Pro tier',
    );
  });

  test.each([
    ['dataset=trades', { loc: ['query', 'market_id'] }],
    ['dataset=prices', { loc: ['query', 'ticker'] }],
  ])('%s without its subject is a 422', async (words, problem) => {
    const url = `/v1/tapes?${words}&start=2026-11-20&end=2026-11-21`;
    const answer = await api().inject({ url, headers: KEY });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().detail).toEqual([expect.objectContaining(problem)]);
  });
});
