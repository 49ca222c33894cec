import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { LocalVenue } from '../../../test/support/localVenue.ts';
import { MALFORMED_DECIMALS } from '../../../test/support/malformedDecimals.ts';
import { candleOfEdge } from '../../core/settlement.ts';
import { venueRulesAt } from '../../core/venueRules.ts';
import { VenueMessageError, VenueRefusedError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { HttpClient } from '../http.ts';
import { windowAt } from '../polymarket/lifecycle/windows.ts';
import { KlinesClient } from './klines.ts';

const T = Date.UTC(2026, 10, 20, 17);
const row = (startMs: number, open: string, close: string, volume = '12.5') => [
  ...[startMs, open, '97100.00000000', '96900.00000000', close, volume, startMs + 3_599_999],
  ...['1212500.1', 1840, '6.1', '591000.2', '0'],
];

let venue: LocalVenue;
let http: HttpClient;
let klines: KlinesClient;
beforeEach(async () => {
  venue = await LocalVenue.start();
  const common = { clock: new FakeClock(), random: () => 0, log: silentLogger, metrics: new Metrics() };
  http = new HttpClient({ ...common, feed: 'binance.rest' });
  const urls = { spot: `${venue.httpUrl}/spot`, futures: `${venue.httpUrl}/futures` };
  klines = new KlinesClient({ urls, http });
});
afterEach(async () => {
  await http.close();
  await venue.stop();
});

const answer = (body: unknown, status = 200) => {
  venue.answer = (_, response) => {
    response.statusCode = status;
    response.end(JSON.stringify(body));
  };
};
const query = { exchange: 'spot', ticker: 'BTC', interval: '1h', startTimeMs: T } as const;

describe('KlinesClient', () => {
  test('requests the candle and the next one', async () => {
    answer([row(T, '97000.10000000', '97001.55000000'), row(T + 3_600_000, '97001.55000000', '97002')]);
    expect(await klines.candle(query)).toEqual({ open: 97_000.1, close: 97_001.55, closed: true });
    expect(venue.requests[0]!.url).toBe(
      `/spot/api/v3/klines?symbol=BTCUSDT&interval=1h&startTime=${T}&limit=2`,
    );
  });

  test('requests the futures market’s candle from its own address', async () => {
    answer([row(T, '34.125', '34.25')]);
    expect(await klines.candle({ ...query, exchange: 'futures', ticker: 'HYPE' })).toEqual({
      ...{ open: 34.125, close: 34.25, closed: false },
    });
    expect(venue.requests[0]!.url).toBe(
      `/futures/fapi/v1/klines?symbol=HYPEUSDT&interval=1h&startTime=${T}&limit=2`,
    );
  });

  test('asks no exchange that is turned off', async () => {
    const off = new KlinesClient({ urls: { spot: venue.httpUrl, futures: null }, http });
    expect(await off.candle({ ...query, exchange: 'futures' })).toBeNull();
    expect(venue.requests).toEqual([]);
  });

  test('takes no open from a candle without trades: it repeats the last close', async () => {
    answer([row(T, '34.1', '34.1', '0.00000000')]);
    expect(await klines.candle(query)).toBeNull();
    // An hour that ended without a trade has both prices.
    answer([row(T, '34.1', '34.1', '0.00000000'), row(T + 3_600_000, '34.1', '34.2')]);
    expect(await klines.candle(query)).toEqual({ open: 34.1, close: 34.1, closed: true });
  });

  test('trap 3: treats a candle as closed only when the next one exists', async () => {
    answer([row(T, '97000.1', '97001.55')]);
    expect(await klines.candle(query)).toEqual({ open: 97_000.1, close: 97_001.55, closed: false });
  });

  test.each([
    ['nothing has traded yet', [], 200],
    ['the exchange skips to a later one', [row(T + 3_600_000, '1', '2')], 200],
    ['the exchange answers 404', { code: 0 }, 404],
  ])('returns null when %s', async (_, body, status) => {
    answer(body, status);
    expect(await klines.candle(query)).toBeNull();
  });

  test('rejects malformed candles and passes on refusals of the venue', async () => {
    answer([[T, 97_000.1, '1', '1', '1']]);
    await expect(klines.candle(query)).rejects.toThrow(VenueMessageError);
    for (const price of MALFORMED_DECIMALS) {
      answer([row(T, price, '1')]);
      await expect(klines.candle(query)).rejects.toThrow(/^binance klines: 0\.1 /);
    }
    answer({ code: -1121, msg: 'Invalid symbol.' }, 400);
    await expect(klines.candle(query)).rejects.toThrow(VenueRefusedError);
  });
});

describe('the candles of a day', () => {
  test.each([
    ['23 hours in spring', '2026-03-08T05:00:00Z', '2026-03-07T17:00:00.000Z', '2026-03-08T16:00:00.000Z'],
    ['25 hours in autumn', '2026-11-01T05:00:00Z', '2026-10-31T16:00:00.000Z', '2026-11-01T17:00:00.000Z'],
    ['24 hours', '2026-11-20T05:00:00Z', '2026-11-19T17:00:00.000Z', '2026-11-20T17:00:00.000Z'],
  ])('trap 3: begin at noon in New York, also on a day of %s', (_, time, first, last) => {
    const window = windowAt('daily_up_down', Date.parse(time));
    const { settlement } = venueRulesAt('daily_up_down', 'BTC', window.startTimeMs);
    const starts = (['strike', 'close'] as const).map((edge) => {
      const candle = candleOfEdge(settlement, edge, window)!;
      expect(candle).toMatchObject({ interval: '1m', price: 'close' });
      return new Date(candle.startTimeMs).toISOString();
    });
    expect(starts).toEqual([first, last]);
  });
});
