import { beforeAll, describe, expect, it } from 'vitest';
import { recordingsAbsent } from '../../test/support/fixtures.ts';
import {
  changesOf,
  fairCentsOfRealWindows,
  quantileOf,
  recordedChanges,
} from '../../test/support/midChanges.ts';
import { bookHash } from '../venues/polymarket/book/bookHash.ts';
import { gammaMarket } from './gammaObjects.ts';
import type { SimulatedMarket } from './markets.ts';
import { VenueModel, type VenueSink } from './model.ts';

const SEED = 'statistics-1';
const START = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;
const SECONDS = 45;

interface Level {
  price: string;
  size: string;
}
interface Change {
  asset_id: string;
  price: string;
  size: string;
  side: 'BUY' | 'SELL';
  hash: string;
  best_bid: string;
  best_ask: string;
}

function silentSink(): VenueSink {
  return {
    clob: () => {},
    relay: () => {},
    spot: () => {},
    entered: () => {},
    final: () => {},
    stated: () => {},
  };
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] as number;
}

/** One token's book from a reader of the wire that does not know the simulator's own book. */
class ReadBook {
  readonly bids = new Map<number, string>();
  readonly asks = new Map<number, string>();

  apply({ side, price, size }: Change): void {
    const levels = side === 'BUY' ? this.bids : this.asks;
    if (size === '0') levels.delete(Number(price));
    else levels.set(Number(price), size);
  }

  json(): { bids: string; asks: string } {
    const text = (levels: Map<number, string>, order: number) =>
      JSON.stringify(
        [...levels]
          .sort(([a], [b]) => order * (a - b))
          .map(([price, size]) => ({ price: String(price), size })),
      );
    return { bids: text(this.bids, 1), asks: text(this.asks, -1) };
  }

  best(): [string, string] {
    const bid = Math.max(0, ...this.bids.keys());
    const ask = Math.min(1, ...this.asks.keys());
    return [String(bid), String(ask)];
  }
}

describe('one open BTC 5m window at full rate', () => {
  const seen = {
    frames: 0,
    actions: 0,
    bids: 0,
    atTouch: 0,
    levels: 0,
    hashes: 0,
    wrong: [] as string[],
    transient: 0,
  };

  beforeAll(() => {
    const model = new VenueModel({ seed: SEED, startTimeMs: START, tickers: ['BTC'], eventTypes: ['5m'] });
    const reader = new WireReader(model);
    model.advance(START + SECONDS * 1000, { ...silentSink(), clob: reader.clob, entered: reader.entered });
    reader.finish();
    Object.assign(seen, reader.seen);
  });

  it('sends 350-956 price_change frames a second, about 1.5 per action', () => {
    expect(seen.frames / SECONDS).toBeGreaterThan(350);
    expect(seen.frames / SECONDS).toBeLessThan(956);
    expect(seen.frames / seen.actions).toBeGreaterThan(1.1);
    expect(seen.frames / seen.actions).toBeLessThan(2);
  });

  it('always announces the hash and best prices of the state after the whole action, for both tokens', () => {
    expect(seen.wrong).toEqual([]);
    expect(seen.hashes).toBeGreaterThan(2 * 10_000);
  });

  it('shows intermediate states within an action that differ from the announced one', () => {
    expect(seen.transient).toBeGreaterThan(10);
  });

  it('changes levels away from the best nine times in ten', () => {
    expect(1 - seen.atTouch / seen.levels).toBeGreaterThan(0.85);
    expect(1 - seen.atTouch / seen.levels).toBeLessThan(0.99);
  });
});

/** Groups frames into actions and checks each action's end state with the venue's recipe. */
class WireReader {
  readonly seen = {
    frames: 0,
    actions: 0,
    atTouch: 0,
    levels: 0,
    hashes: 0,
    wrong: [] as string[],
    transient: 0,
  };
  readonly #books = new Map<string, ReadBook>();
  readonly #last = new Map<string, string>();
  readonly #ticks = new Map<string, string>();
  readonly #model: VenueModel;
  #open: { key: string; market: SimulatedMarket; timestamp: number; changes: Change[] } | null = null;

  constructor(model: VenueModel) {
    this.#model = model;
  }

  readonly entered = (_atMs: number, market: SimulatedMarket): void => {
    const book = this.#model.bookOf(market)!.book;
    for (const isUp of [true, false]) this.#snapshot(JSON.parse(book.bookFrame(isUp, true)));
    this.#last.set(market.facts.conditionId, book.lastTradePrice);
    this.#ticks.set(market.facts.conditionId, book.tickText);
  };

  readonly clob = (_atMs: number, market: SimulatedMarket | null, text: string): void => {
    if (!market) return;
    const frame = JSON.parse(text) as { event_type: string; timestamp: string; price_changes: Change[] };
    if (frame.event_type === 'tick_size_change') {
      this.finish();
      this.#ticks.set(market.facts.conditionId, '0.001');
    }
    if (frame.event_type !== 'price_change') return;
    const isInPlay = market.facts.window.startTimeMs === START;
    if (isInPlay) this.seen.frames++;
    const hashes = frame.price_changes.map(({ asset_id, hash }) => `${asset_id}${hash}`);
    const key = `${frame.timestamp} ${[...new Set(hashes)].sort().join(' ')}`;
    if (this.#open?.key !== key) {
      this.finish();
      if (isInPlay) this.seen.actions++;
      this.#open = { key, market, timestamp: Number(frame.timestamp), changes: [] };
    } else if (!this.#agrees()) this.seen.transient++;
    for (const change of frame.price_changes) {
      this.#books.get(change.asset_id)!.apply(change);
      this.#open.changes.push(change);
      if (!isInPlay || change.asset_id !== market.facts.upToken) continue;
      this.seen.levels++;
      const isAtTouch =
        change.side === 'BUY' ? +change.price >= +change.best_bid : +change.price <= +change.best_ask;
      if (isAtTouch) this.seen.atTouch++;
    }
  };

  /** Closes the open action after its last frame. Trades enter the hash before they are announced. */
  finish(): void {
    const open = this.#open;
    this.#open = null;
    if (!open) return;
    const { facts, fate } = open.market;
    const id = facts.conditionId;
    for (const change of open.changes.slice(-2)) {
      const { bids, asks } = this.#books.get(change.asset_id)!.json();
      const known = this.#last.get(id)!;
      const candidates = [
        known,
        fate.lastTradePrice,
        ...open.changes.map(({ price }) => (+price).toFixed(3)),
      ];
      const verified = candidates.find((lastTradePrice) => {
        const shared = {
          marketId: id,
          tokenId: change.asset_id,
          timestampMs: open.timestamp,
          minOrderSize: '5',
        };
        const tickSize = this.#ticks.get(id)!;
        const recipe = {
          ...shared,
          bidsJson: bids,
          asksJson: asks,
          tickSize,
          negRisk: false,
          lastTradePrice,
          version: 'v1' as const,
        };
        return bookHash(recipe) === change.hash;
      });
      this.seen.hashes++;
      if (verified === undefined) this.seen.wrong.push(`hash ${open.key}`);
      else this.#last.set(id, verified);
      const [bid, ask] = this.#books.get(change.asset_id)!.best();
      if (bid !== change.best_bid || ask !== change.best_ask) this.seen.wrong.push(`best ${open.key}`);
    }
  }

  #agrees(): boolean {
    const last = this.#open!.changes.at(-1)!;
    const [bid, ask] = this.#books.get(last.asset_id)!.best();
    return bid === last.best_bid && ask === last.best_ask;
  }

  #snapshot(frame: { asset_id: string; bids: Level[]; asks: Level[] }): void {
    const book = new ReadBook();
    for (const { price, size } of frame.bids) book.bids.set(Number(price), size);
    for (const { price, size } of frame.asks) book.asks.set(Number(price), size);
    this.#books.set(frame.asset_id, book);
  }
}

describe('a day of BTC 5m windows', () => {
  const day = {
    sizes: [] as number[],
    buys: 0,
    ends: [] as SimulatedMarket[],
    finals: [] as number[],
    resolved: [] as number[],
    spreads: [] as number[],
    levels: [] as number[],
    mids: new Map<SimulatedMarket, number>(),
    twoSided: new Map<number, number[]>(),
    mirrorErrors: 0,
  };

  beforeAll(() => {
    const model = new VenueModel({
      seed: SEED,
      startTimeMs: START,
      density: 0.004,
      tickers: ['BTC'],
      eventTypes: ['5m'],
    });
    const playing = new Set<SimulatedMarket>();
    const sink: VenueSink = {
      ...silentSink(),
      entered: (_atMs, market) => playing.add(market),
      final: (atMs, market) => {
        day.ends.push(market);
        day.finals.push((atMs - market.facts.window.endTimeMs) / 1000);
        playing.delete(market);
      },
      clob: (atMs, market, frame) => {
        if (market && frame.includes('"market_resolved"'))
          day.resolved.push((atMs - market.facts.window.endTimeMs) / 1000);
        if (!frame.includes('"last_trade_price","') && !frame.endsWith('"event_type":"last_trade_price"}'))
          return;
        const trade = JSON.parse(frame) as { side: string; size: string };
        if (trade.side === 'BUY') day.buys++;
        day.sizes.push(Number(trade.size));
      },
    };
    for (let atMs = START; atMs < START + 24 * HOUR_MS; atMs += 5000) {
      model.advance(atMs, sink);
      for (const market of playing) look(model, market, atMs);
    }
  });

  function look(model: VenueModel, market: SimulatedMarket, atMs: number): void {
    const left = (market.facts.window.endTimeMs - atMs) / 1000;
    const live = model.bookOf(market);
    if (!live || left <= 0 || left > 300) return;
    const { ladder } = live.book;
    const samples = day.twoSided.get(left) ?? [];
    samples.push(ladder.isTwoSided ? 1 : 0);
    day.twoSided.set(left, samples);
    if (live.mid === null) return;
    if (left >= 55) day.mids.set(market, live.mid / 1000);
    if (left % 60 !== 0 || live.mid < 100 || live.mid > 900) return;
    day.spreads.push(ladder.bestAsk - ladder.bestBid);
    day.levels.push(ladder.prices('bid').length + ladder.prices('ask').length);
    const up = JSON.parse(`[${live.book.bookFrame(true, false)}]`)[0] as { bids: Level[] };
    const down = JSON.parse(live.book.bookFrame(false, false)) as { asks: Level[] };
    const mirrored = up.bids.map(({ price, size }) => ({
      price: String(Math.round(1000 - +price * 1000) / 1000),
      size,
    }));
    if (JSON.stringify(mirrored) !== JSON.stringify(down.asks)) day.mirrorErrors++;
  }

  it('fills every cent of a book and mirrors the other token exactly', () => {
    expect(quantile(day.levels, 0.5)).toBeGreaterThanOrEqual(96);
    expect(day.levels.length).toBeGreaterThan(200);
    expect(day.mirrorErrors).toBe(0);
  });

  it('quotes a spread of one tick 60-83 % of the time', () => {
    const share = day.spreads.filter((spread) => spread <= 10).length / day.spreads.length;
    expect(share).toBeGreaterThan(0.6);
    expect(share).toBeLessThan(0.83);
  });

  it('trades 10-70 times a minute, nine in ten buys, median 8 shares, 99th percentile in the hundreds', () => {
    const perMinute = day.sizes.length / (24 * 60);
    expect(perMinute).toBeGreaterThan(10);
    expect(perMinute).toBeLessThan(70);
    expect(day.buys / day.sizes.length).toBeGreaterThan(0.85);
    expect(day.buys / day.sizes.length).toBeLessThan(0.93);
    expect(quantile(day.sizes, 0.5)).toBeGreaterThan(6);
    expect(quantile(day.sizes, 0.5)).toBeLessThan(11);
    expect(quantile(day.sizes, 0.99)).toBeGreaterThan(120);
    expect(quantile(day.sizes, 0.99)).toBeLessThan(400);
  });

  it.each([
    [120, 0.955],
    [90, 0.877],
    [60, 0.729],
    [45, 0.631],
    [30, 0.468],
    [20, 0.079],
  ])('quotes both sides with %i seconds left in a share of %f', (left, share) => {
    const samples = day.twoSided.get(left)!;
    const seen = samples.reduce((sum, value) => sum + value, 0) / samples.length;
    expect(Math.abs(seen - share)).toBeLessThan(0.1);
  });

  it('resolves after 115-155 s, not at all in one of five, and is final at Gamma within 5 minutes', () => {
    expect(Math.min(...day.resolved)).toBeGreaterThanOrEqual(115);
    expect(Math.max(...day.resolved)).toBeLessThanOrEqual(155);
    const share = day.resolved.length / day.ends.length;
    expect(share).toBeGreaterThan(0.7);
    expect(share).toBeLessThan(0.9);
    expect(Math.min(...day.finals)).toBeGreaterThanOrEqual(15);
    expect(Math.max(...day.finals)).toBeLessThanOrEqual(300);
  });

  it('ends Up in about half of the windows, with each close as the next strike', () => {
    const up = day.ends.filter(({ fate }) => fate.outcome === 'Up').length / day.ends.length;
    expect(Math.abs(up - 0.5)).toBeLessThan(0.1);
    const byStart = new Map(day.ends.map((market) => [market.facts.window.startTimeMs, market]));
    const pairs = day.ends.flatMap(({ facts, fate }) => {
      const next = byStart.get(facts.window.endTimeMs);
      return next ? [[fate.finalPrice, next.fate.strike]] : [];
    });
    expect(pairs.length).toBeGreaterThan(200);
    for (const [close, strike] of pairs) expect(strike).toBe(close);
  });

  it('moves as much in five minutes as real windows', () => {
    const moves = day.ends.map(({ fate }) => 1e4 * Math.abs(fate.finalPrice! / fate.strike! - 1));
    expect(quantile(moves, 0.5)).toBeGreaterThan(3);
    expect(quantile(moves, 0.5)).toBeLessThan(13);
    expect(quantile(moves, 0.99)).toBeLessThan(120);
  });

  it('is calibrated: windows end Up as often as their mid 55 s before implied', () => {
    const known = day.ends.filter((market) => day.mids.has(market));
    const bias = known.reduce((sum, m) => sum + day.mids.get(m)! - (m.fate.payoutUp ?? 0), 0) / known.length;
    const brier =
      known.reduce((sum, m) => sum + (day.mids.get(m)! - (m.fate.payoutUp ?? 0)) ** 2, 0) / known.length;
    expect(known.length).toBeGreaterThan(250);
    expect(Math.abs(bias)).toBeLessThan(0.05);
    expect(brier).toBeLessThan(0.15);
    for (const [low, high] of [
      [0, 0.25],
      [0.25, 0.75],
      [0.75, 1.01],
    ] as const) {
      const inside = known.filter((m) => day.mids.get(m)! >= low && day.mids.get(m)! < high);
      const said = inside.reduce((sum, m) => sum + day.mids.get(m)!, 0) / inside.length;
      const happened = inside.reduce((sum, m) => sum + (m.fate.payoutUp ?? 0), 0) / inside.length;
      expect(Math.abs(said - happened)).toBeLessThan(0.12);
    }
  });

  it('omits numbers from Gamma objects at about the measured shares', () => {
    const objects = day.ends.map((market) => gammaMarket(market, START + 25 * HOUR_MS));
    const missing = (name: string) => objects.filter((object) => !(name in object)).length / objects.length;
    expect(missing('volume')).toBeGreaterThan(0.08);
    expect(missing('volume')).toBeLessThan(0.24);
    expect(missing('bestBid')).toBeGreaterThan(0.24);
    expect(missing('bestBid')).toBeLessThan(0.45);
  });
});

/** In cents, of the mid, or of the best price of a lone side. `docs/DEMO.md` lists recorded and simulated quantiles. */
describe('the size of moves of Up’s price in BTC 5m windows', () => {
  const STEP_MS = 100;
  const LENGTHS = [300, 1_000, 5_000] as const;
  const simulated = new Map<string, number[]>();
  const note = (phase: string, lengthMs: number, change: number) => {
    const changes = simulated.get(`${phase} ${lengthMs}`) ?? [];
    simulated.set(`${phase} ${lengthMs}`, changes);
    changes.push(change);
  };
  const changesIn = (phase: string, lengthMs: number) =>
    Float64Array.from(simulated.get(`${phase} ${lengthMs}`) ?? []);

  beforeAll(() => {
    const model = new VenueModel({
      ...{ seed: SEED, startTimeMs: START, density: 0.004 },
      ...{ tickers: ['BTC'], eventTypes: ['5m'] },
    });
    const playing = new Map<SimulatedMarket, number[]>();
    const sink: VenueSink = {
      ...silentSink(),
      entered: (_atMs, market) => playing.set(market, []),
      final: (_atMs, market) => playing.delete(market),
    };
    for (let atMs = START; atMs < START + 4 * HOUR_MS; atMs += STEP_MS) {
      model.advance(atMs, sink);
      for (const [market, cents] of playing) look(model, { market, cents }, atMs);
    }
  });

  function look(
    model: VenueModel,
    { market, cents }: { market: SimulatedMarket; cents: number[] },
    atMs: number,
  ): void {
    const { startTimeMs, endTimeMs } = market.facts.window;
    const ladder = model.bookOf(market)?.book.ladder;
    if (atMs < startTimeMs || atMs >= endTimeMs || !ladder) return;
    const { bestBid, bestAsk, isTwoSided } = ladder;
    cents.push((isTwoSided ? (bestBid + bestAsk) / 2 : bestBid || bestAsk) / 10);
    const [elapsed, left] = [(atMs - startTimeMs) / 1000, (endTimeMs - atMs) / 1000];
    for (const lengthMs of LENGTHS) {
      const before = cents.at(-1 - lengthMs / STEP_MS);
      if (before === undefined) continue;
      const change = Math.abs((cents.at(-1) as number) - before);
      if (elapsed < 70) note('begins', lengthMs, change);
      if (left > 120) note('over 120', lengthMs, change);
      else note(left > 60 ? 'over 60' : left > 20 ? 'over 20' : 'last', lengthMs, change);
    }
  }

  it.skipIf(recordingsAbsent).each(LENGTHS)('over %i ms matches recorded trades', (lengthMs) => {
    const [recorded, made] = [recordedChanges(lengthMs), changesIn('begins', lengthMs)];
    expect(recorded.length).toBeGreaterThan(1_000);
    expect(made.length).toBeGreaterThan(10_000);
    expect(Math.abs(quantileOf(made, 0.5) - quantileOf(recorded, 0.5))).toBeLessThanOrEqual(1);
    expect(Math.abs(quantileOf(made, 0.9) - quantileOf(recorded, 0.9))).toBeLessThanOrEqual(2.5);
    expect(quantileOf(made, 0.99)).toBeLessThan(2 * quantileOf(recorded, 0.99));
    expect(quantileOf(made, 0.99)).toBeGreaterThan(quantileOf(recorded, 0.99) / 2);
    expect(quantileOf(made, 1)).toBeLessThan(2.5 * quantileOf(recorded, 1));
  });

  it.skipIf(recordingsAbsent)('matches the windows of a real day of prices, including near their end', () => {
    const windows = fairCentsOfRealWindows();
    for (const lengthMs of [1_000, 5_000]) {
      for (const [phase, over, upTo] of [
        ['over 120', 120, 300],
        ['over 60', 60, 120],
        ['over 20', 20, 60],
      ] as const) {
        const real = changesOf(windows, { seconds: lengthMs / 1000, over, upTo });
        const made = changesIn(phase, lengthMs);
        const label = `${phase} s left, ${lengthMs} ms`;
        expect(real.length, label).toBeGreaterThan(9_000);
        for (const share of [0.99, 0.999]) {
          expect(quantileOf(made, share), label).toBeLessThan(2 * quantileOf(real, share));
          expect(quantileOf(made, share), label).toBeGreaterThan(quantileOf(real, share) / 3);
        }
      }
    }
  });

  it('never spans the whole range at once while the outcome is open', () => {
    expect(quantileOf(changesIn('over 120', 300), 1)).toBeLessThan(20);
    expect(quantileOf(changesIn('over 60', 300), 1)).toBeLessThan(30);
    expect(quantileOf(changesIn('over 20', 300), 1)).toBeLessThan(40);
    expect(quantileOf(changesIn('last', 300), 0.999)).toBeLessThan(40);
  });
});
