import { CandleCache, type Candles } from '../../src/lifecycle/candleCache.ts';
import type { Listings } from '../../src/lifecycle/discovery.ts';
import { Lifecycle } from '../../src/lifecycle/lifecycle.ts';
import { type OpenPriceSource, OpenPrices } from '../../src/lifecycle/openPrices.ts';
import type { Payouts } from '../../src/lifecycle/payoutReader.ts';
import { StrikeFinder } from '../../src/lifecycle/strikeFinder.ts';
import { Recorder } from '../../src/recorder/recorder.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { UnderlyingEvent } from '../../src/schema/events.ts';
import { DEFAULT_TICKERS, type Ticker } from '../../src/schema/market.ts';
import type { ClobMarketRules } from '../../src/venues/polymarket/clob/rest.ts';
import type { ListedEvents } from '../../src/venues/polymarket/gamma/client.ts';
import { parseSlug } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { FakeClock } from './fakeClock.ts';
import { MemorySink } from './memorySink.ts';

export const START = Date.UTC(2026, 10, 20, 12, 1);

/** A venue that lists every window of every series, like Gamma. */
class FakeListings implements Listings {
  readonly asked: string[][] = [];
  readonly winners = new Map<string, 'Up' | 'Down' | 'tie'>();
  readonly hidden = new Set<string>();
  /** `eventMetadata` by slug. */
  readonly metadata = new Map<string, Record<string, unknown>>();
  /** The answer to a listing request of any series. */
  series: string[] = [];
  readonly seriesAsked: string[] = [];
  /** How long a cache has kept the answers, and may keep them. */
  ageMs = 0;
  maxAgeMs = 0;
  fail: (() => Error) | null = null;
  tamper: (event: Record<string, unknown>) => unknown = (event) => event;

  async eventsBySlug(slugs: readonly string[]): Promise<ListedEvents[]> {
    this.asked.push([...slugs]);
    if (this.fail) throw this.fail();
    return this.#answer(slugs.filter((slug) => !this.hidden.has(slug)));
  }

  async eventsOfSeries({ seriesSlug }: { seriesSlug: string }): Promise<ListedEvents[]> {
    this.seriesAsked.push(seriesSlug);
    if (this.fail) throw this.fail();
    return this.#answer(this.series);
  }

  #answer(slugs: readonly string[]): ListedEvents[] {
    const events = slugs.map((slug) => this.tamper(this.#event(slug)));
    return [{ events, ageMs: this.ageMs, maxAgeMs: this.maxAgeMs }];
  }

  #event(slug: string): Record<string, unknown> {
    const window = parseSlug(slug, START)!.windows[0]!;
    const id = [...slug].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) >>> 0, 7);
    const winner = this.winners.get(slug);
    const market = {
      id: String(id),
      conditionId: `0x${id.toString(16).padStart(64, '0')}`,
      slug,
      question: slug,
      outcomes: '["Up", "Down"]',
      outcomePrices: winner === 'Up' ? '["1", "0"]' : winner === 'Down' ? '["0", "1"]' : '["0.5", "0.5"]',
      clobTokenIds: `["${id}1", "${id}2"]`,
      eventStartTime: new Date(window.startTimeMs).toISOString(),
      endDate: new Date(window.endTimeMs).toISOString(),
      active: true,
      closed: winner !== undefined,
      acceptingOrders: winner === undefined,
      orderPriceMinTickSize: 0.01,
      ...(winner === undefined
        ? {}
        : { umaResolutionStatus: 'resolved', closedTime: '2026-11-20 12:05:20+00' }),
    };
    const eventMetadata = this.metadata.get(slug) ?? null;
    const closed = winner !== undefined;
    return { id: `e${id}`, slug, title: slug, closed, eventMetadata, markets: [market] };
  }
}

/** A lifecycle with its own venue and clock. */
export function setUpLifecycle({
  candles = null,
  website = null,
  startMs = START,
  tickers = DEFAULT_TICKERS,
  payouts = null,
}: {
  candles?: Candles | null;
  website?: OpenPriceSource | null;
  startMs?: number;
  tickers?: readonly Ticker[];
  payouts?: Payouts | null;
} = {}) {
  const clock = new FakeClock(startMs);
  const sink = new MemorySink();
  const metrics = new Metrics();
  const listings = new FakeListings();
  const subscribed = new Map<string, string>();
  const clob = {
    subscribe: (group: string, tokenIds: readonly string[]) =>
      tokenIds.forEach((id) => void subscribed.set(id, group)),
    unsubscribe: (_: string, tokenIds: readonly string[]) =>
      tokenIds.forEach((id) => void subscribed.delete(id)),
  };
  const common = { clock, log: silentLogger, metrics };
  const recorder = new Recorder({ ...common, sink, timeBy: 'clock' });
  const random = () => 0.99;
  const desk = candles && new CandleCache({ ...common, random, candles });
  const openPrices = website && new OpenPrices({ ...common, random, source: website });
  const strikes = new StrikeFinder({ ...common, candles: desk, openPrices });
  recorder.onUnderlying = (event) => strikes.price(event);
  recorder.onLatePoint = (event) => strikes.latePoint(event);
  const winners = new Map<string, string>();
  const rules = new Map<string, ClobMarketRules>();
  /** Taker delays in the exchange's records, by market. */
  const delays = new Map<string, number>();
  const hooks = { onExchangeAsked: (_marketId: string): void => {} };
  const exchange = {
    market: async (marketId: string) => {
      hooks.onExchangeAsked(marketId);
      const tokenId = winners.get(marketId);
      const winner = tokenId === undefined ? null : { tokenId, outcome: 'Up' };
      return { marketId, closed: winner !== null, winner, takerDelayMs: delays.get(marketId) ?? null };
    },
    rules: async (marketId: string) => rules.get(marketId) ?? null,
  };
  const lifecycle = new Lifecycle({
    ...common,
    tickers,
    random,
    listings,
    clob,
    recorder,
    strikes,
    exchange,
    payouts,
  });
  recorder.onResolved = (market) => lifecycle.resolved(market);
  const isSubscribed = (slug: string) => {
    const market = sink.markets.findLast((record) => record.slug === slug);
    return market !== undefined && subscribed.has(market.yesTokenId) && subscribed.has(market.noTokenId);
  };
  const latest = (slug: string) => sink.markets.findLast((record) => record.slug === slug);
  return Object.assign(hooks, {
    clock,
    sink,
    metrics,
    listings,
    winners,
    rules,
    delays,
    subscribed,
    recorder,
    lifecycle,
    isSubscribed,
    latest,
  });
}

export type LifecycleSetUp = ReturnType<typeof setUpLifecycle>;

/** Gives the recorder a price of BTC, as the relay sends old points after a subscription. */
export function price(
  at: LifecycleSetUp,
  source: UnderlyingEvent['source'],
  eventTimeMs: number,
  value: number,
): void {
  const times = { eventTimeMs, receivedTimeMs: at.clock.now(), isHistory: true } as const;
  at.recorder.underlying({ kind: 'underlying', ticker: 'BTC', source, price: value, ...times });
}

/** Advances the clock to a time. */
export function until(at: LifecycleSetUp, timeMs: number): Promise<void> {
  return at.clock.advance(timeMs - at.clock.now());
}

/** The lines of a metric whose names begin so. */
export async function metric(at: LifecycleSetUp, name: string): Promise<string[]> {
  return (await at.metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(name));
}
