import { describe, expect, it } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { stubStore } from '../../test/support/stubStore.ts';
import { describeApi } from '../http/description/openapi.ts';
import { DEFAULT_TICKERS, TICKERS, type Ticker } from '../schema/market.ts';
import { allRoutes } from './routes.ts';

const PAIR: readonly Ticker[] = ['ETH', 'HYPE'];
const STRATEGY = { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' };

function open(tickers: readonly Ticker[]) {
  const app = testApi({ store: stubStore({ asked: [] }), tickers });
  const get = async (url: string) => {
    const { statusCode, body } = await app.inject({ url, headers: KEY });
    return { status: statusCode, json: JSON.parse(body) };
  };
  const post = async (url: string, payload: object) => {
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers: KEY, payload });
    return { status: statusCode, json: JSON.parse(body) };
  };
  return { get, post };
}

const refusal = (expected: string, loc: readonly string[], input: string) => ({
  detail: [{ type: 'literal_error', loc, msg: `Input should be ${expected}`, input, ctx: { expected } }],
});

describe('two services in one process with different assets', () => {
  const [all, pair] = [open(TICKERS), open(PAIR)];
  const ALL = "'BTC', 'ETH', 'SOL', 'XRP', 'DOGE', 'BNB', 'HYPE' or 'ZEC'";
  const TWO = "'ETH' or 'HYPE'";

  it.each([
    '/v1/perp/depth?limit=1&ticker=',
    '/v1/underlying?source=chainlink&limit=1&ticker=',
    '/v1/markets?limit=0&ticker=',
    '/v1/markets/resolved?limit=0&ticker=',
    '/v1/stats/calibration?ticker=',
    '/v1/arb/audit?ticker=',
  ])('each accepts its own in %s, and names them in its refusal', async (url) => {
    for (const ticker of TICKERS) expect((await all.get(`${url}${ticker}`)).status, ticker).toBe(200);
    for (const ticker of PAIR) expect((await pair.get(`${url}${ticker}`)).status, ticker).toBe(200);
    expect(await pair.get(`${url}BTC`)).toEqual({
      status: 422,
      json: refusal(TWO, ['query', 'ticker'], 'BTC'),
    });
    expect(await all.get(`${url}ADA`)).toEqual({
      status: 422,
      json: refusal(ALL, ['query', 'ticker'], 'ADA'),
    });
  });

  it('each lists its own where a request names none', async () => {
    expect((await all.get('/v1/arb/live')).json.tickers).toEqual(TICKERS);
    expect((await pair.get('/v1/arb/live')).json.tickers).toEqual(PAIR);
    expect((await all.get('/v1/arb/live?tickers=ZEC,BTC')).json.tickers).toEqual(['BTC', 'ZEC']);
    const buckets = async ({ get }: typeof all) =>
      (await get('/v1/arb/audit/aggregate')).json.by_ticker.map(({ bucket }: { bucket: string }) => bucket);
    expect(await buckets(all)).toEqual(TICKERS);
    expect(await buckets(pair)).toEqual(PAIR);
  });

  it.each([
    ['/v1/backtest', {}],
    ['/v1/paper/strategies', { name: 'one' }],
  ])('each refuses the others in the body of %s', async (url, named) => {
    const asked = (ticker: string) => ({
      ...{ ...named, strategy: STRATEGY, universe: { ticker, event_type: '5m' } },
    });
    expect((await all.post(url, asked('ZEC'))).status).toBe(201);
    expect((await pair.post(url, asked('HYPE'))).status).toBe(201);
    expect(await pair.post(url, asked('ZEC'))).toEqual({
      status: 422,
      json: refusal(TWO, ['body', 'universe', 'ticker'], 'ZEC'),
    });
  });

  it('each describes its own', async () => {
    const names = async ({ get }: typeof all) => {
      // Examples are answers of the demo, whichever assets this service follows.
      const leaveOut = (key: string, value: unknown) => (/^examples?$/.test(key) ? undefined : value);
      const text = JSON.stringify((await get('/openapi.json')).json, leaveOut);
      return TICKERS.filter((ticker) => text.includes(`"${ticker}"`));
    };
    expect(await names(all)).toEqual(TICKERS);
    expect(await names(pair)).toEqual(PAIR);
  });
});

describe('the description', () => {
  const enumsOf = (tickers: readonly Ticker[]) => {
    const document = describeApi(allRoutes({ tickers } as never), { tickers });
    const found = new Set<string>();
    JSON.stringify(document, (key, value) => {
      if (key === 'enum' && value.includes('ETH')) found.add(value.join());
      return value;
    });
    return [...found].sort();
  };

  it('has the same three assets everywhere by default, and `unknown` for imported markets', () => {
    expect(enumsOf(DEFAULT_TICKERS)).toEqual(['BTC,ETH,SOL', 'BTC,ETH,SOL,unknown']);
  });

  it('has the followed assets everywhere', () => {
    expect(enumsOf(PAIR)).toEqual(['ETH,HYPE', 'ETH,HYPE,unknown']);
    expect(enumsOf(TICKERS)).toEqual([TICKERS.join(), `${TICKERS.join()},unknown`]);
  });
});
