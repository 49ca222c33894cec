import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_TICKERS, type EventType, TICKERS, type Ticker } from '../../src/schema/market.ts';
import { seriesOf } from '../../src/venues/polymarket/lifecycle/series.ts';
import { eventually, type RunningService, startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

interface Market {
  readonly market_id: string;
  readonly ticker: Ticker;
  readonly market_type: EventType;
  readonly status: string;
}
interface Listed {
  readonly markets: readonly Market[];
}

async function startWith(tickers: readonly Ticker[], variables: Readonly<Record<string, string>>) {
  const venues = await startVenues({ tickers });
  onTestFinished(() => venues.stop());
  return await startService(temporaryDirectory(), venues, variables);
}

/** The series of which a market with a trusted book is recorded. */
async function recordedSeries({ get }: RunningService): Promise<Set<string>> {
  const { markets } = await get<Listed>('/v1/markets?status=open&limit=1000');
  const found = new Set<string>();
  for (const { market_id, ticker, market_type } of markets) {
    const series = `${ticker} ${market_type}`;
    if (found.has(series)) continue;
    const path = `/v1/snapshots?market_id=${market_id}&limit=1&order=desc`;
    const { snapshots } = await get<{ snapshots: { trusted: boolean }[] }>(path);
    if (snapshots[0]?.trusted) found.add(series);
  }
  return found;
}

describe('a service with a list of assets', () => {
  it('discovers and records all 38 series of eight assets, with prices and perpetual depth', async () => {
    const service = await startWith(TICKERS, { UNDERROUND_TICKERS: TICKERS.join() });
    const wanted = seriesOf(TICKERS).map(({ ticker, eventType }) => `${ticker} ${eventType}`);
    expect(wanted).toHaveLength(38);
    await eventually('a book of every series', async () => {
      const found = await recordedSeries(service);
      return wanted.every((series) => found.has(series));
    });
    for (const ticker of TICKERS) {
      for (const path of [
        `/v1/underlying?ticker=${ticker}&source=binance_spot&limit=1`,
        `/v1/underlying?ticker=${ticker}&source=twap60&limit=1`,
        `/v1/perp/depth?ticker=${ticker}&limit=1`,
      ]) {
        await eventually(path, async () => {
          const { points, snapshots } = await service.get<Record<string, unknown[]>>(path);
          return (points ?? snapshots ?? []).length > 0;
        });
      }
    }
  });

  it('records only its own', async () => {
    const service = await startWith(TICKERS, {});
    await eventually('a market', async () => (await service.get<Listed>('/v1/markets')).markets.length >= 30);
    const { markets } = await service.get<Listed>('/v1/markets?limit=1000');
    expect([...new Set(markets.map(({ ticker }) => ticker))].sort()).toEqual([...DEFAULT_TICKERS].sort());
    const answer = await fetch(`${service.url}/v1/perp/depth?ticker=XRP`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    expect(answer.status).toBe(422);
  });
});
