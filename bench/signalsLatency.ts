/** From a venue's frame to an opportunity on a reader's socket, with its row written, at 2,500 frames per second. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { Bus } from '../src/bus/bus.ts';
import { publishingSink } from '../src/bus/publishingSink.ts';
import { openSqlite } from '../src/control/databaseSqlite.ts';
import { startWalThread } from '../src/control/walThread.ts';
import { MIGRATIONS } from '../src/controlDatabase.ts';
import { Recorder } from '../src/recorder/recorder.ts';
import { every, systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { startSignals } from '../src/signals/signals.ts';
import { recordedBooks, StreamHub } from '../src/stream/streamHub.ts';
import { FOLLOWED } from '../test/support/followed.ts';
import { bookFrame, marketOf } from './audit.ts';
import type { Figure } from './figure.ts';
import { serve } from './stream.ts';

const FRAMES_A_SECOND = 2_500;
const SECONDS = 15;
const WARM_UP_SECONDS = 2;
/** One in this many frames completes a book with an opportunity; the others change books without one. */
const FRAMES_PER_OPPORTUNITY = 50;
const OTHER_MARKETS = 100;
const STRIKE = 97_000;
const PRICE = 97_500;
const SETTLE_MS = 1_000;

type Kind = 'endgame' | 'pair';
interface PublishedSignal {
  readonly kind: Kind;
  readonly begunMs: number;
  receivedMs: number | null;
}

const nothing = () => {};
const NO_STORE = {
  ...{ book: nothing, quote: nothing, trade: nothing, underlying: nothing, perpDepth: nothing },
  ...{ market: nothing, gap: nothing },
};

export async function run(): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'underround-latency-'));
  const path = join(directory, 'control.sqlite');
  const database = await openSqlite(path, MIGRATIONS);
  const parts = { clock: systemClock, log: silentLogger, metrics: new Metrics() };
  const walThread = await startWalThread(database, { path, ...parts });
  const bus = new Bus(parts);
  const recorder = new Recorder({ ...parts, sink: publishingSink(NO_STORE, bus), timeBy: 'clock' });
  const store = { rows: async () => [], stream: () => Promise.reject(new Error('unused')) };
  const none = { markets: () => [], bookOf: () => null };
  const signals = await startSignals({ ...parts, ...none, bus, database, store });
  const liveKeys = { watch: () => () => undefined };
  const streams = new StreamHub({
    ...{ ...parts, ...FOLLOWED, run: '0123456789ab', bus, books: recordedBooks(recorder), liveKeys },
  });
  const { server, port } = await serve((socket, transport) => {
    const identity = { keyId: 'k', userId: 'u', email: 'e', tier: 'premium' } as const;
    const add = (connection: Parameters<typeof streams.opportunities.add>[0]) =>
      streams.opportunities.add(connection, ['BTC']);
    streams.connections.open({ socket, transport }, { stream: 'opportunity', identity, serve: add });
  });
  const published = new Map<string, PublishedSignal>();
  const reader = new WebSocket(`ws://127.0.0.1:${port}`);
  reader.on('message', (text) => {
    const one = published.get(JSON.parse(String(text)).market_id);
    if (one !== undefined) one.receivedMs ??= performance.now();
  });
  await once(reader, 'open');
  await drive({ recorder, bus, published });
  reader.terminate();
  await streams.close();
  server.close();
  await signals.close();
  recorder.close();
  await walThread.close();
  await database.destroy();
  rmSync(directory, { recursive: true, force: true });
  return [...figures(published, 'endgame'), ...figures(published, 'pair')];
}

/** Sends frames at their rate in real time, then waits for the last publication. */
async function drive({
  recorder,
  bus,
  published,
}: {
  recorder: Recorder;
  bus: Bus;
  published: Map<string, PublishedSignal>;
}) {
  const startMs = systemClock.now();
  showPrices(bus, startMs);
  const frames = otherFrames(recorder, startMs);
  const total = frames.length;
  const opportunities = Array.from({ length: Math.ceil(total / FRAMES_PER_OPPORTUNITY) }, (_, index) =>
    listOpportunity(recorder, { index, nowMs: startMs }),
  );
  const begun = performance.now();
  let sent = 0;
  const prices = every(systemClock, 1_000, () => showPrice(bus, systemClock.now()));
  await new Promise<void>((resolve) => {
    const timer = every(systemClock, 2, () => {
      const due = Math.min(total, Math.floor(((performance.now() - begun) * FRAMES_A_SECOND) / 1_000));
      for (; sent < due; sent++) {
        recorder.clobFrame(frames[sent] as string, systemClock.now());
        if (sent % FRAMES_PER_OPPORTUNITY === 0)
          show(opportunities[sent / FRAMES_PER_OPPORTUNITY] as OpportunityMarket, recorder, published);
      }
      if (sent < total) return;
      timer.cancel();
      resolve();
    });
  });
  await new Promise<void>((resolve) => void systemClock.after(SETTLE_MS, resolve));
  prices.cancel();
}

/** Two minutes of prices, so that a volatility exists. */
function showPrices(bus: Bus, nowMs: number): void {
  for (let back = 120; back >= 0; back--) showPrice(bus, nowMs - back * 1_000);
}

function showPrice(bus: Bus, timeMs: number): void {
  for (const source of ['chainlink', 'binance_spot'] as const) {
    const price = PRICE + (Math.floor(timeMs / 1_000) % 7);
    const point = { source, price, eventTimeMs: timeMs, receivedTimeMs: timeMs };
    bus.publish('underlying', { kind: 'underlying', seq: 0, ticker: 'BTC', ...point });
  }
}

/** Frames of complete, mirrored books near one half, in pairs. */
function otherFrames(recorder: Recorder, startMs: number): string[] {
  const markets = Array.from({ length: OTHER_MARKETS }, (_, i) => idsOf(1_000_000 + i));
  for (const { marketId, yes, no } of markets)
    recorder.track(marketOf(marketId, { yes, no, nowMs: startMs }));
  const frames: string[] = [];
  const total = FRAMES_A_SECOND * (WARM_UP_SECONDS + SECONDS);
  for (let i = 0; frames.length < total; i++) {
    const { marketId, yes, no } = markets[i % OTHER_MARKETS] as Ids;
    const nowMs = startMs + Math.floor((frames.length * 1_000) / FRAMES_A_SECOND);
    const isUp = Math.floor(i / OTHER_MARKETS) % 2 === 0;
    frames.push(...mirrored({ marketId, yes, no }, { bid: '0.48', ask: isUp ? '0.51' : '0.52', nowMs }));
  }
  return frames;
}

interface OpportunityMarket {
  readonly ids: Ids;
  readonly kind: Kind;
  readonly isMeasured: boolean;
}

/** A market that is followed from the start; real ones are followed minutes before they begin. */
function listOpportunity(
  recorder: Recorder,
  { index, nowMs }: { index: number; nowMs: number },
): OpportunityMarket {
  const ids = idsOf(index);
  const kind = index % 2 === 0 ? 'endgame' : 'pair';
  const times = { startTimeMs: nowMs - 200_000, endTimeMs: nowMs + 100_000 };
  const strike = { strikePrice: STRIKE, strikeSource: 'official', strikeBasis: 'listing' } as const;
  const market = marketOf(ids.marketId, { ...ids, nowMs });
  recorder.track(kind === 'endgame' ? { ...market, ...times, ...strike } : market);
  return { ids, kind, isMeasured: index >= (WARM_UP_SECONDS * FRAMES_A_SECOND) / FRAMES_PER_OPPORTUNITY };
}

/** The market's second frame shows the opportunity. */
function show(
  { ids, kind, isMeasured }: OpportunityMarket,
  recorder: Recorder,
  published: Map<string, PublishedSignal>,
): void {
  const nowMs = systemClock.now();
  const [first, last] =
    kind === 'endgame'
      ? mirrored(ids, { bid: '0.9', ask: '0.93', nowMs })
      : [
          bookFrame({ marketId: ids.marketId, token: ids.yes, ask: '0.46', nowMs }),
          bookFrame({ marketId: ids.marketId, token: ids.no, ask: '0.47', nowMs }),
        ];
  recorder.clobFrame(first, nowMs);
  if (isMeasured) published.set(ids.marketId, { kind, begunMs: performance.now(), receivedMs: null });
  recorder.clobFrame(last, nowMs);
}

interface Ids {
  readonly marketId: string;
  readonly yes: string;
  readonly no: string;
}

function idsOf(index: number): Ids {
  const marketId = `0x${index.toString(16).padStart(64, '0')}`;
  return { marketId, yes: String(2 * index + 1), no: String(2 * index + 2) };
}

function mirrored(
  { marketId, yes, no }: Ids,
  { bid, ask, nowMs }: { bid: string; ask: string; nowMs: number },
): [string, string] {
  const of = (price: string) => ({ price, size: '80' });
  const other = (price: string) => String(Math.round(100 * (1 - Number(price))) / 100);
  return [
    bookFrame({ marketId, token: yes, bid: of(bid), ask, nowMs }),
    bookFrame({ marketId, token: no, bid: of(other(ask)), ask: other(bid), nowMs }),
  ];
}

function figures(published: ReadonlyMap<string, PublishedSignal>, kind: Kind): Figure[] {
  const all = [...published.values()].filter((one) => one.kind === kind);
  const received = all.flatMap(({ receivedMs, begunMs }) =>
    receivedMs === null ? [] : [receivedMs - begunMs],
  );
  if (received.length < all.length)
    throw new Error(`${all.length - received.length} of ${all.length} not published`);
  received.sort((a, b) => a - b);
  const at = (part: number) => received[Math.floor(part * received.length)] as number;
  return [
    { name: `${kind}: last frame to the socket, p50`, value: at(0.5), unit: 'ms' },
    { name: '  p99', value: at(0.99), unit: 'ms', goal: '<= 4' },
  ];
}
