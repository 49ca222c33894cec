import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { EventType } from '../../src/schema/market.ts';
import type { SimulatedMarket } from '../../src/simulator/markets.ts';
import type { VenueServer } from '../../src/simulator/server.ts';
import { nextWindow, windowAt } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { commandAbsent } from '../support/builtCommand.ts';
import { kindsInPlay } from '../support/inPlay.ts';
import { eventually, type RunningService, startService, startVenues } from '../support/runningService.ts';
import { StreamClient } from '../support/streams.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

/** Best asks in thousandths. At fee rate 0.07 the first pair gains 3.5 cents; the second loses half a cent. */
const CHEAP = { upAsk: 460, downAsk: 470 };
const DEAR = { upAsk: 480, downAsk: 490 };
const TICKERS = ['BTC', 'ETH', 'SOL'] as const;

/** Fee of a pair at 0.46 and 0.47, the cheapest of the cheap pairs. */
const PAIR_FEE = 0.07 * (0.46 * 0.54 + 0.47 * 0.53);

interface Row {
  market_id: string;
  tier: string;
}

describe.skipIf(commandAbsent)('signals of a running service (skipped without a build)', () => {
  let venues: VenueServer;
  let service: RunningService | null = null;
  let pushed: StreamClient;
  beforeEach(async () => {
    venues = await startVenues();
    service = await startService(temporaryDirectory(), venues);
    pushed = new StreamClient(
      new WebSocket(`${service.url.replace('http', 'ws')}/v1/arb/ws`, {
        headers: { authorization: `Bearer ${service.key}` },
      }),
    );
    await pushed.next('ready');
  });
  afterEach(async () => {
    pushed.socket.terminate();
    await service?.stop();
    await venues.stop();
  });

  /** Windows that begin later, so that none ends during the test and no model prices them. */
  const following = (eventType: EventType) =>
    TICKERS.map((ticker) => {
      const window = nextWindow(eventType, windowAt(eventType, venues.model.nowMs));
      return venues.model.registry.ofWindow(ticker, eventType, window);
    });
  const idOf = ({ facts }: SimulatedMarket) => facts.conditionId;
  const quote = (markets: readonly SimulatedMarket[], asks: typeof CHEAP) => {
    for (const market of markets) venues.fault({ fault: 'quote_apart', marketId: idOf(market), ...asks });
  };
  /** Whether the service shows the venue's two best asks in a trusted book. */
  const isShown =
    (running: RunningService, { upAsk, downAsk }: typeof CHEAP) =>
    async (market: string) => {
      const { snapshots } = await running.get<{
        snapshots: { trusted: boolean; yes_asks: { price: number }[]; no_asks: { price: number }[] }[];
      }>(`/v1/snapshots?market_id=${market}&order=desc&limit=1`);
      const last = snapshots[0];
      return (
        last?.trusted === true &&
        last.yes_asks[0]?.price === upAsk / 1000 &&
        last.no_asks[0]?.price === downAsk / 1000
      );
    };

  it('makes one row and one push per market for asks 0.46 and 0.47, none for 0.48 and 0.49', async () => {
    const running = service as RunningService;
    const [first = '1h', second = '4h'] = await kindsInPlay(2, ['1h', '4h', '15m', 'daily_up_down']);
    const [cheap, dear] = [following(first), following(second)];
    const all = [...cheap, ...dear].map(idOf);
    await eventually('every book trusted', async () => {
      const books = await Promise.all(
        all.map((id) =>
          running.get<{ snapshots: { trusted: boolean }[] }>(
            `/v1/snapshots?market_id=${id}&order=desc&limit=1`,
          ),
        ),
      );
      return books.every(({ snapshots }) => snapshots[0]?.trusted === true);
    });
    const shownAs = (markets: readonly SimulatedMarket[], asks: typeof CHEAP) =>
      eventually(`books at ${asks.upAsk}`, async () => {
        const shown = await Promise.all(markets.map(idOf).map(isShown(running, asks)));
        return shown.every(Boolean);
      });
    quote(dear, DEAR);
    await shownAs(dear, DEAR);
    quote(cheap, CHEAP);
    await shownAs(cheap, CHEAP);
    // The opportunity disappears and returns: it was published already.
    quote(cheap, DEAR);
    await shownAs(cheap, DEAR);
    quote(cheap, CHEAP);
    await shownAs(cheap, CHEAP);
    // The last signal published is pushed last: after it, no earlier push is in flight.
    const last = dear.slice(0, 1);
    quote(last, CHEAP);
    const lastIds: unknown[] = last.map(idOf);
    await eventually('the push of the last', async () =>
      pushed.messages.some((message) => lastIds.includes(message.market_id)),
    );

    const expected = [...cheap, ...last].map(idOf).sort();
    const logical = pushed.messages.filter(({ tier }) => tier === 'logical');
    expect(logical.map(({ market_id }) => market_id).sort()).toEqual(expected);
    const { rows } = await running.get<{ rows: Row[] }>('/v1/arb/audit?tier=logical&limit=1000');
    expect(rows.map(({ market_id }) => market_id).sort()).toEqual(expected);
    for (const { direction, fill_price, expected_pnl_per_share } of logical) {
      expect(direction).toBe('BUY_BOTH');
      // Levels behind 0.46 are bought too while they still pay.
      expect(fill_price).toBeGreaterThanOrEqual(0.93);
      expect(fill_price).toBeLessThan(0.95);
      expect(expected_pnl_per_share).toBeGreaterThan(0);
      expect(expected_pnl_per_share).toBeLessThanOrEqual(1 - 0.93 - PAIR_FEE + 1e-9);
    }
    const everything = await running.get<{ rows: Row[] }>('/v1/arb/audit?limit=1000');
    const keys = everything.rows.map(({ market_id, tier }) => `${market_id} ${tier}`);
    expect(new Set(keys).size).toBe(keys.length);
    const quiet = new Set(dear.slice(1).map(idOf));
    expect(everything.rows.filter(({ market_id }) => quiet.has(market_id))).toEqual([]);
  });
});
