import { beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { FrameRouter, type RoutedFeed } from '../recorder/import/frameRouter.ts';
import { Recorder } from '../recorder/recorder.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { EventType, Market } from '../schema/market.ts';
import { generateHistory } from '../simulator/history.ts';
import { VenueModel } from '../simulator/model.ts';
import { StrikeFinder } from './strikeFinder.ts';

const START = Date.UTC(2026, 10, 20, 12);
const ROUTES: Record<string, RoutedFeed> = { 'binance.spot': 'binance' };

/** Hours of the simulated venues through the recorder: late prices, lost seconds, incomplete listings. */
function recorded(options: { seed: string; minutes: number; eventTypes: EventType[] }) {
  const { seed, minutes, eventTypes } = options;
  const model = new VenueModel({ seed, startTimeMs: START, density: 0.01, tickers: ['BTC'], eventTypes });
  const sink = new MemorySink();
  const metrics = new Metrics();
  const common = { clock: new FakeClock(START), log: silentLogger, metrics };
  const recorder = new Recorder({ ...common, sink, timeBy: 'receipt' });
  const router = new FrameRouter({
    recorder,
    log: silentLogger,
    strikes: new StrikeFinder({ candles: null, log: silentLogger, metrics }),
  });
  const history = generateHistory(model, { endTimeMs: START + minutes * 60_000, tickers: [] });
  for (const { feed, frame, receivedTimeMs } of history) {
    router.route(ROUTES[feed] ?? (feed as RoutedFeed), frame, receivedTimeMs);
  }
  const fates = new Map(
    [...recorder.markets()].map((market) => [market.marketId, model.registry.byId(market.marketId)!.fate]),
  );
  return { versions: sink.markets, markets: [...recorder.markets()], fates, metrics };
}

describe('strikes and closes of the simulated venues', () => {
  let versions: Market[];
  let markets: Market[];
  let fates: ReturnType<typeof recorded>['fates'];
  let metrics: Metrics;
  beforeAll(() => {
    const options = { seed: 'settlement', minutes: 75, eventTypes: ['5m', '15m'] as EventType[] };
    ({ versions, markets, fates, metrics } = recorded(options));
  });
  const bases = (name: 'strikeBasis' | 'closeBasis') => new Set(versions.map((version) => version[name]));

  it('end with the venue’s own numbers, whichever source was first', () => {
    const over = markets.filter(({ endTimeMs }) => endTimeMs < START + 60 * 60_000);
    expect(over.length).toBeGreaterThan(10);
    for (const { marketId, strikePrice, strikeBasis, closePrice, closeBasis } of over.slice(2)) {
      const { strike, finalPrice } = fates.get(marketId)!;
      for (const [price, basis, truth] of [
        [strikePrice, strikeBasis, strike],
        [closePrice, closeBasis, finalPrice],
      ] as const) {
        const error = Math.abs(price! / truth! - 1);
        expect(error, `${basis} ${price} for ${truth}`).toBeLessThan(
          basis === 'binance_trades' ? 3e-4 : 1e-12,
        );
      }
    }
    expect([...bases('strikeBasis')]).toEqual(expect.arrayContaining(['twap_relay', 'listing']));
    expect([...bases('closeBasis')]).toEqual(expect.arrayContaining(['twap_relay', 'listing']));
  });

  it('trap 2: are never known before their end of the window, in any version of a record', async () => {
    for (const version of versions) {
      const { strikeKnownTimeMs, startTimeMs, closeKnownTimeMs, endTimeMs } = version;
      expect(strikeKnownTimeMs ?? startTimeMs).toBeGreaterThanOrEqual(startTimeMs);
      expect(closeKnownTimeMs ?? endTimeMs).toBeGreaterThanOrEqual(endTimeMs);
    }
  });

  it('imply the venue’s outcome in every market with both prices', async () => {
    const compared = markets.filter(({ winnerDisagrees }) => winnerDisagrees !== null);
    expect(compared.length).toBeGreaterThan(10);
    expect(compared.filter(({ winnerDisagrees }) => winnerDisagrees)).toEqual([]);
    expect(await metrics.registry.metrics()).not.toMatch(/underround_settlement_disagreements_total\{/);
  });

  it('never get worse: the source of a price only improves', () => {
    const ranks = ['binance_trades', 'chainlink_ticks', 'twap_relay', 'listing'];
    const last = new Map<string, Market>();
    for (const version of versions) {
      const before = last.get(version.marketId);
      last.set(version.marketId, version);
      for (const name of ['strikeBasis', 'closeBasis'] as const) {
        const [was, is] = [before?.[name] ?? null, version[name]];
        if (was !== null) expect(ranks.indexOf(is!)).toBeGreaterThanOrEqual(ranks.indexOf(was));
      }
    }
  });
});
