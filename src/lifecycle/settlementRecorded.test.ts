import { beforeAll, describe, expect, test } from 'vitest';
import { recordingLines, recordingsAbsent } from '../../test/support/fixtures.ts';
import { mergeListing } from '../recorder/marketMerge.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import { mapGammaMarket } from '../venues/polymarket/gamma/mapper.ts';
import { mapRtdsFrame } from '../venues/polymarket/rtds/mapper.ts';
import { StrikeFinder } from './strikeFinder.ts';

const DAY = 'polymarket/ligengxin96-2026-07-24';
/** How long after its end the listing is read again, with the outcome. */
const LISTED_AFTER_END_MS = 400_000;

interface RecordedMarket {
  slug: string;
  start_sec: number;
  end_sec: number;
  /** An integer times 1e18, as Chainlink prints it; stated by the venue itself. */
  strike_value: string | null;
  raw: Record<string, unknown>;
}

interface Tick {
  readonly feedMs: number;
  readonly receivedMs: number;
  readonly exact: string;
  readonly frame: string;
}

/** Replays the recorded day: each price at its receive time, each market reviewed as time passes. */
class ReplayedDay {
  readonly recorded = recordingLines(`${DAY}/BTC-5m-markets-2026-07-24.jsonl.gz`).map(
    (line) => JSON.parse(line) as RecordedMarket,
  );
  readonly ticks = recordingLines(`${DAY}/BTCUSD-prices-2026-07-24.csv.gz`).slice(1).map(tickOf);
  /** Markets before the listing stated a strike, and after. */
  readonly own = new Map<string, Market>();
  readonly final = new Map<string, Market>();
  readonly metrics = new Metrics();

  constructor() {
    const strikes = new StrikeFinder({ candles: null, log: silentLogger, metrics: this.metrics });
    const waiting = [...this.recorded];
    const open = new Map<string, { market: Market; from: RecordedMarket }>();
    for (const tick of this.ticks) {
      const [event] = mapRtdsFrame(tick.frame, tick.receivedMs);
      strikes.price(event!);
      while (waiting[0] !== undefined && waiting[0].start_sec * 1000 <= tick.receivedMs) {
        const from = waiting.shift()!;
        open.set(from.slug, { market: listed(from, tick.receivedMs, false), from });
      }
      for (const [slug, { market, from }] of open) {
        const reviewed = strikes.review(market, tick.receivedMs);
        strikes.note(market, reviewed);
        open.set(slug, { market: reviewed, from });
        if (tick.receivedMs < from.end_sec * 1000 + LISTED_AFTER_END_MS) continue;
        this.#finish(strikes, reviewed, from, tick.receivedMs);
        open.delete(slug);
      }
    }
    // The prices end before these markets do.
    for (const from of waiting)
      open.set(from.slug, { market: listed(from, from.start_sec * 1000, false), from });
    for (const { market, from } of open.values())
      this.#finish(strikes, market, from, from.end_sec * 1000 + LISTED_AFTER_END_MS);
  }

  #finish(strikes: StrikeFinder, market: Market, from: RecordedMarket, nowMs: number): void {
    this.own.set(from.slug, market);
    const final = mergeListing(market, listed(from, nowMs, true));
    strikes.note(market, final);
    this.final.set(from.slug, final);
  }
}

function tickOf(line: string): Tick {
  const [feed, value, exact, server, received] = line.split(',') as [string, string, string, string, string];
  const payload = `{"symbol":"btc/usd","timestamp":${feed},"value":${value},"full_accuracy_value":"${exact}"}`;
  const frame = `{"topic":"crypto_prices_chainlink","type":"update","timestamp":${server},"payload":${payload}}`;
  return { feedMs: Number(feed), receivedMs: Number(received), exact, frame };
}

/** The real object; while the window is open, in its state before the end. */
function listed({ raw, strike_value }: RecordedMarket, nowMs: number, isFinal: boolean): Market {
  const priceToBeat = strike_value === null ? null : decimal(strike_value);
  const eventMetadata = isFinal ? { priceToBeat } : null;
  const unresolved = { closed: false, umaResolutionStatus: null, closedTime: null };
  const result = mapGammaMarket(
    { ...raw, ...(isFinal ? {} : unresolved), events: [{ id: '1', eventMetadata }] },
    nowMs,
  );
  if (!result.ok) throw new Error(`${result.slug}: ${result.detail}`);
  return result.market;
}

function decimal(integer: string): string {
  return `${integer.slice(0, -18)}.${integer.slice(-18)}`;
}

describe.skipIf(recordingsAbsent)('the recorded day of 292 markets (skipped: recordings are absent)', () => {
  let day: ReplayedDay;
  let received: ReadonlyMap<number, Tick>;
  beforeAll(() => {
    day = new ReplayedDay();
    received = new Map(day.ticks.map((tick) => [tick.feedMs, tick]));
  });

  test('finds 271 of 271 strikes equal to the venue’s, from the relayed prices alone', () => {
    const both = day.recorded.filter(
      ({ start_sec, strike_value }) => strike_value !== null && received.has(start_sec * 1000),
    );
    const right = both.filter(({ slug, strike_value }) => {
      const { strikePrice, strikeBasis, strikeSource } = day.own.get(slug)!;
      const isRelayed = strikeBasis === 'chainlink_relay' && strikeSource === 'relayed';
      return isRelayed && strikePrice === Number(decimal(strike_value!));
    });
    expect([right.length, both.length]).toEqual([271, 271]);
  });

  test('computes 257 of 257 outcomes equal to the venue’s, from the strike and the closing second', () => {
    const computed = [...day.final.values()].filter((market) => market.computedPayoutYes !== null);
    const right = computed.filter((market) => market.computedPayoutYes === market.payoutYes);
    expect([right.length, computed.length, day.recorded.length]).toEqual([257, 257, 292]);
    expect(computed.map(({ winnerDisagrees }) => winnerDisagrees)).toEqual(computed.map(() => false));
  });

  test('gives no price for an end whose second was not received, and none before that end', () => {
    const wrong = day.recorded.filter(({ slug, start_sec, end_sec }) => {
      const { strikePrice, strikeKnownTimeMs, closePrice, closeKnownTimeMs } = day.own.get(slug)!;
      const early =
        (strikeKnownTimeMs ?? start_sec * 1000) < start_sec * 1000 ||
        (closeKnownTimeMs ?? end_sec * 1000) < end_sec * 1000;
      const invented =
        (strikePrice !== null && !received.has(start_sec * 1000)) ||
        (closePrice !== null && !received.has(end_sec * 1000));
      return early || invented;
    });
    expect(wrong).toEqual([]);
  });

  test('trap 4: dates a strike by the receive time of its second, not by the second itself', () => {
    const { start_sec, slug } = day.recorded.find((market) => received.has(market.start_sec * 1000))!;
    const { strikeKnownTimeMs } = day.own.get(slug)!;
    expect(strikeKnownTimeMs).toBe(received.get(start_sec * 1000)!.receivedMs);
  });

  test('replaces the relayed strike by the official one without a difference', () => {
    const markets = [...day.final.values()].filter((market) => market.strikeDifference !== null);
    expect(markets.map(({ strikeBasis, strikeDifference }) => [strikeBasis, strikeDifference])).toEqual(
      markets.map(() => ['listing', 0]),
    );
    expect(markets).toHaveLength(271);
  });

  test('trap 6: uses the resolution as outcome, which the last price contradicts in some markets', () => {
    const lastPrices = day.recorded.map(({ slug, raw }) => {
      const last = raw.lastTradePrice as number | undefined;
      return { guess: last === undefined ? null : last >= 0.5 ? 1 : 0, market: day.final.get(slug)! };
    });
    for (const { market } of lastPrices) expect(market.resolvedBy).toBe('listing');
    const wrong = lastPrices.filter(({ guess, market }) => guess !== market.payoutYes);
    expect(wrong.length).toBeGreaterThan(0);
  });
});
