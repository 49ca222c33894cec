import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { Peer } from '../../test/support/peer.ts';
import { silentLogger } from '../runtime/log.ts';
import { seriesSlug, slugOf, windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import type { Fault } from './faultState.ts';
import { VenueModel } from './model.ts';
import { VenueServer } from './server.ts';

const START = Date.UTC(2026, 10, 20, 15, 1);
const ZOMBIE_END = '2026-03-20T16:40:00Z';

let clock: FakeClock;
let server: VenueServer;
let sockets: Peer[];

beforeEach(async () => {
  clock = new FakeClock(START);
  const model = new VenueModel({ seed: 'wire', startTimeMs: START, density: 0.05 });
  server = new VenueServer({ model, clock, logger: silentLogger });
  await server.start();
  sockets = [];
});

afterEach(async () => {
  for (const { socket } of sockets) socket.terminate();
  await server.stop();
});

async function connect(name: string, path = ''): Promise<Peer> {
  const peer = new Peer(`${server.urls()[name]}${path}`);
  sockets.push(peer);
  await peer.until(() => peer.socket.readyState === WebSocket.OPEN);
  return peer;
}

async function get(
  name: string,
  path: string,
  init?: RequestInit,
): Promise<{ status: number; body: unknown; text: string }> {
  const answer = await fetch(`${server.urls()[name]}${path}`, init);
  const text = await answer.text();
  let body: unknown = null;
  if (answer.headers.get('content-type') === 'application/json') body = JSON.parse(text);
  return { status: answer.status, body, text };
}

function current(eventType: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' = '5m') {
  return server.model.registry.ofWindow('BTC', eventType, windowAt(eventType, clock.now()));
}

async function follow(custom = true): Promise<{ peer: Peer; market: ReturnType<typeof current> }> {
  const market = current();
  const peer = await connect('UNDERROUND_CLOB_WS_URL');
  const assets_ids = [market.facts.upToken, market.facts.downToken];
  await peer.say({ assets_ids, type: 'market', custom_feature_enabled: custom });
  await clock.advance(250);
  await peer.until(() => peer.heard.length > 0);
  return { peer, market };
}

async function control(fault: Fault): Promise<number> {
  const url = server.urls().UNDERROUND_GAMMA_URL!.replace('/gamma', '/control');
  return (await fetch(url, { method: 'POST', body: JSON.stringify(fault) })).status;
}

describe('gamma', () => {
  const events = async (query: string) =>
    (await get('UNDERROUND_GAMMA_URL', `/events?${query}`)).body as Record<string, unknown>[];

  it('answers repeated slugs of every kind of window, with JSON inside strings', async () => {
    const slugs = (['5m', '15m', '1h', '4h', 'daily_up_down'] as const).map((kind) =>
      slugOf('BTC', kind, windowAt(kind, START)),
    );
    const answer = await events(slugs.map((slug) => `slug=${slug}`).join('&'));
    expect(answer.map(({ slug }) => slug).sort()).toEqual([...slugs].sort());
    const [market] = answer[0]!.markets as Record<string, string>[];
    expect(JSON.parse(market!.outcomes!)).toEqual(['Up', 'Down']);
    expect(JSON.parse(market!.clobTokenIds!)).toHaveLength(2);
    expect(market!.eventStartTime).toMatch(/^2026-11-2\dT\d\d:\d\d:00Z$/);
  });

  it('lists a series within bounds of its end, in pages and in reverse', async () => {
    const series = `series_slug=${seriesSlug('ETH', '15m')}&closed=false`;
    const range = `${series}&end_date_min=2026-11-20T15:00:00Z&end_date_max=2026-11-20T17:00:00Z`;
    const all = await events(range);
    expect(all.map(({ endDate }) => endDate)).toEqual(
      Array.from({ length: 8 }, (_, i) =>
        new Date(Date.UTC(2026, 10, 20, 15, 15 * (i + 1))).toISOString().replace('.000', ''),
      ),
    );
    expect(await events(`${range}&limit=2&offset=3`)).toEqual(all.slice(3, 5));
    expect((await events(`${range}&ascending=false`))[0]!.slug).toBe(all[7]!.slug);
    expect(
      await events(`${series}&end_date_max=2026-11-20T17:00:00Z`.replace('closed=false', 'closed=true')),
    ).toEqual([]);
  });

  it('answers one slug, a market by condition id, and 404 for unknown ones', async () => {
    const { facts } = current();
    expect((await get('UNDERROUND_GAMMA_URL', `/events/slug/${facts.slug}`)).body).toMatchObject({
      slug: facts.slug,
    });
    const markets = (await get('UNDERROUND_GAMMA_URL', `/markets?condition_ids=${facts.conditionId}`)).body;
    expect(markets).toMatchObject([{ conditionId: facts.conditionId, events: [{ slug: facts.slug }] }]);
    expect((await get('UNDERROUND_GAMMA_URL', '/events/slug/btc-updown-5m-1')).status).toBe(404);
  });

  it('shows a market as final with its outcome after the end', async () => {
    const market = current();
    await clock.advance(4 * 60_000 + 400_000);
    const [event] = await events(`slug=${market.facts.slug}&closed=true`);
    const [inner] = event!.markets as Record<string, unknown>[];
    expect(inner).toMatchObject({ closed: true, umaResolutionStatus: 'resolved' });
    expect(inner!.outcomePrices).toBe(market.fate.outcome === 'Up' ? '["1", "0"]' : '["0", "1"]');
    expect(inner!.closedTime).toMatch(/^2026-11-20 15:0\d:\d\d\+00$/);
  });

  it('refuses, challenges and misleads on request', async () => {
    const { slug } = current().facts;
    expect(await control({ fault: 'gamma_answer', answer: 'forbidden', count: 1 })).toBe(200);
    expect(await get('UNDERROUND_GAMMA_URL', '/events')).toMatchObject({
      status: 403,
      text: 'error code: 1010',
    });
    await control({ fault: 'gamma_answer', answer: 'too_many', count: 1 });
    expect((await get('UNDERROUND_GAMMA_URL', '/events')).status).toBe(429);
    await control({ fault: 'gamma_answer', answer: 'html', count: 1 });
    expect((await get('UNDERROUND_GAMMA_URL', '/events')).text).toContain('<!DOCTYPE html>');
    await control({ fault: 'zombie_market', on: true });
    const [zombie] = await events(`series_slug=${seriesSlug('BTC', '5m')}&closed=false`);
    expect(zombie).toMatchObject({ closed: false, endDate: ZOMBIE_END });
    await control({ fault: 'last_year_slug', on: true });
    const old = 'bitcoin-up-or-down-november-20-11am-et';
    expect(await events(`slug=${old}`)).toMatchObject([{ slug: old, endDate: '2025-11-20T17:00:00Z' }]);
    const tokens = async () => ((await events(`slug=${slug}`))[0]!.markets as Record<string, string>[])[0]!;
    const before = await tokens();
    await control({ fault: 'reversed_outcomes', on: true });
    const after = await tokens();
    expect(JSON.parse(after.outcomes!)).toEqual(['Down', 'Up']);
    expect(JSON.parse(after.clobTokenIds!)).toEqual(JSON.parse(before.clobTokenIds!).reverse());
    await control({ fault: 'missing_fields', on: true });
    expect(Object.keys(await tokens()).filter((name) => /volume|liquidity|bestBid/.test(name))).toEqual([]);
    const url = server.urls().UNDERROUND_GAMMA_URL!.replace('/gamma', '/control');
    expect((await fetch(url, { method: 'POST', body: '{"fault":"no_such"}' })).status).toBe(400);
  });
});

describe('order book', () => {
  it('sends the snapshot as an array after 0.2 s, worst levels first, then changes to it', async () => {
    const { peer, market } = await follow();
    const books = JSON.parse(peer.heard[0]!) as Record<string, unknown>[];
    expect(books).toMatchObject([
      { event_type: 'book', asset_id: market.facts.upToken, tick_size: '0.01' },
      { event_type: 'book', asset_id: market.facts.downToken },
    ]);
    const prices = (side: string) =>
      (books[0]![side] as { price: string }[]).map(({ price }) => Number(price));
    expect(prices('bids')).toEqual(prices('bids').toSorted((a, b) => a - b));
    expect(prices('asks')).toEqual(prices('asks').toSorted((a, b) => b - a));
    await clock.advance(3000);
    await peer.until(() => peer.parsed('price_change').length > 20);
    expect(peer.parsed('price_change')[0]!.market).toBe(market.facts.conditionId);
    await peer.until(() => peer.parsed('best_bid_ask').length > 0);
  });

  it('answers text frames as the venue does', async () => {
    const { peer, market } = await follow(false);
    const assets_ids = [market.facts.upToken];
    await peer.say('PING');
    await peer.say('nonsense');
    await peer.say({ assets_ids, type: 'market' });
    await peer.say({ assets_ids, operation: 'subscribe' });
    await peer.say({ assets_ids: ['123'], operation: 'subscribe' });
    await clock.advance(250);
    await peer.until(() => peer.heard.includes('[]'));
    const texts = peer.heard.filter((text) => !text.startsWith('{') && !text.startsWith('[{'));
    expect(texts).toEqual(['PONG', 'INVALID MESSAGE', 'INVALID OPERATION', 'NO NEW ASSETS', '[]']);
    expect(peer.parsed('best_bid_ask')).toEqual([]);
  });

  it('stops after unsubscribing', async () => {
    const { peer, market } = await follow(false);
    const { upToken, downToken } = market.facts;
    await peer.say({ assets_ids: [upToken, downToken], operation: 'unsubscribe' });
    const heard = peer.heard.length;
    await clock.advance(2000);
    await peer.say('PING');
    expect(peer.heard.length).toBe(heard + 1);
  });

  it('answers REST books equal to the stream, and 404 once settled', async () => {
    const { facts } = current();
    const post = (ids: string[]) => ({
      method: 'POST',
      body: JSON.stringify(ids.map((token_id) => ({ token_id }))),
    });
    const one = (await get('UNDERROUND_CLOB_URL', `/book?token_id=${facts.upToken}`)).body;
    const both = (await get('UNDERROUND_CLOB_URL', '/books', post([facts.upToken, facts.downToken]))).body;
    expect((both as unknown[])[0]).toEqual(one);
    expect(one).toMatchObject({ min_order_size: '5', neg_risk: false, tick_size: '0.01' });
    await clock.advance(4 * 60_000 + 160_000);
    expect(await get('UNDERROUND_CLOB_URL', `/book?token_id=${facts.upToken}`)).toMatchObject({
      status: 404,
      body: { error: 'No orderbook exists for the requested token id' },
    });
    const { tokens } = (await get('UNDERROUND_CLOB_URL', `/markets/${facts.conditionId}`)).body as {
      tokens: { winner: boolean }[];
    };
    expect(tokens.map(({ winner }) => winner).sort()).toEqual([false, true]);
    expect((await get('UNDERROUND_CLOB_URL', '/time')).body).toBe(Math.floor(clock.now() / 1000));
    expect((await get('UNDERROUND_CLOB_URL', '/books', { method: 'POST', body: '{' })).status).toBe(400);
  });

  it('closes with 1000 when every subscribed token is settled', async () => {
    const { peer } = await follow();
    for (let i = 0; i < 9; i++) {
      await clock.advance(50_000);
      if (peer.closed) break;
      await peer.say('PING').catch(() => {});
      if (peer.socket.readyState !== WebSocket.OPEN) break;
    }
    await peer.until(() => peer.closed !== null);
    expect(peer.closed).toEqual({ code: 1000, reason: 'all subscribed assets resolved' });
  });
});

describe('faults of the order book', () => {
  it('duplicates, loses, freezes and stalls frames, and closes, on request', async () => {
    const { peer, market } = await follow();
    const flow = async () => {
      const from = peer.heard.length;
      await clock.advance(1500);
      await peer.say('PING');
      return peer.heard.slice(from).filter((text) => text !== 'PONG' && !text.includes('new_market'));
    };
    server.fault({ fault: 'duplicate_frames', count: 3 });
    const doubled = await flow();
    expect(doubled[0]).toBe(doubled[1]);
    server.fault({ fault: 'silent_stall', on: true });
    expect(await flow()).toEqual([]);
    server.fault({ fault: 'silent_stall', on: false });
    server.fault({ fault: 'freeze_token', tokenId: market.facts.downToken, on: true });
    const frozen = await flow();
    expect(frozen.length).toBeGreaterThan(0);
    expect(frozen.filter((text) => text.includes(market.facts.downToken))).toEqual([]);
    server.fault({ fault: 'freeze_token', tokenId: market.facts.downToken, on: false });
    server.fault({ fault: 'lose_frames', count: 100_000 });
    expect(await flow()).toEqual([]);
    server.fault({ fault: 'lose_frames', count: 1 });
    server.fault({ fault: 'close', code: 1013 });
    await peer.until(() => peer.closed !== null);
    expect(peer.closed).toEqual({ code: 1013, reason: 'slow consumer: send buffer full' });
  });

  it('answers PING late, or not at all when half open', async () => {
    const { peer } = await follow();
    server.fault({ fault: 'pong_delay', delayMs: 11_000 });
    await peer.say('PING');
    await clock.advance(10_900);
    expect(peer.heard).not.toContain('PONG');
    await clock.advance(200);
    await peer.until(() => peer.heard.includes('PONG'));
    server.fault({ fault: 'half_open', on: true });
    const { length } = peer.heard;
    peer.socket.send('PING');
    await clock.advance(2000);
    expect(peer.heard.length).toBeLessThanOrEqual(length + 60);
    expect(peer.heard.filter((text) => text === 'PONG')).toHaveLength(1);
    expect(peer.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('skews its clock and changes the tick size within a window', async () => {
    const { peer, market } = await follow();
    server.fault({ fault: 'clock_skew', offsetMs: 1500 });
    server.fault({ fault: 'tick_change', marketId: market.facts.conditionId });
    await clock.advance(1500);
    await peer.until(
      () => peer.parsed('tick_size_change').length === 2 && peer.parsed('price_change').length > 0,
    );
    const last = peer.parsed('price_change').at(-1)!;
    expect(Number(last.timestamp) - clock.now()).toBeGreaterThan(-1000);
    expect(peer.parsed('tick_size_change')[0]).toMatchObject({
      old_tick_size: '0.01',
      new_tick_size: '0.001',
    });
  });

  it('hides a settled token and refuses perpetual depth', async () => {
    const { facts } = current();
    await control({ fault: 'settled_token', tokenId: facts.upToken, on: true });
    expect((await get('UNDERROUND_CLOB_URL', `/book?token_id=${facts.upToken}`)).status).toBe(404);
    const depth = () =>
      get('UNDERROUND_PERP_URL', '/v5/market/orderbook?category=linear&symbol=BTCUSDT&limit=50');
    await control({ fault: 'perp_answer', answer: 'forbidden', count: 1 });
    expect(await depth()).toMatchObject({ status: 403, text: 'access too frequent' });
    await control({ fault: 'perp_answer', answer: 'too_many', count: 1 });
    expect((await depth()).body).toMatchObject({ retCode: 10006 });
    expect((await depth()).body).toMatchObject({ retCode: 0, result: { s: 'BTCUSDT' } });
    expect(
      (await get('UNDERROUND_PERP_URL', '/v5/market/orderbook?category=linear&symbol=NONE')).body,
    ).toMatchObject({ retCode: 10001 });
  });

  it.each([
    ['BINANCE', 'binance', '/fapi/v1/depth?limit=50&symbol=', 'BTCUSDT', { code: -1003 }, { code: -1121 }],
    [
      'OKX',
      'okx',
      '/api/v5/market/books?sz=50&instId=',
      'BTC-USDT-SWAP',
      { code: '50011' },
      { code: '51001' },
    ],
    ['HYPERLIQUID', 'hyperliquid', '/info', 'BTC', null, null],
  ] as const)('answers and refuses depth as %s', async (name, venue, path, symbol, limited, unknown) => {
    const depth = (asked: string) =>
      venue === 'hyperliquid'
        ? get('UNDERROUND_PERP_HYPERLIQUID_URL', path, {
            ...{ method: 'POST', body: JSON.stringify({ type: 'l2Book', coin: asked }) },
          })
        : get(`UNDERROUND_PERP_${name}_URL`, `${path}${asked}`);
    await control({ fault: 'perp_answer', answer: 'too_many', count: 1, venue });
    expect(await depth(symbol)).toMatchObject({ status: 429, body: limited });
    await control({ fault: 'perp_answer', answer: 'forbidden', count: 1, venue });
    expect((await depth(symbol)).status).toBe(403);
    const { body } = await depth(symbol);
    const sides = JSON.stringify(body).match(/"(?:bids|levels)":\[/g);
    expect(sides).toHaveLength(1);
    expect((await depth('NONE')).body).toEqual(unknown === null ? null : expect.objectContaining(unknown));
  });

  it('has no other route of a perpetual venue', async () => {
    const bad = { method: 'POST', body: '{' };
    expect((await get('UNDERROUND_PERP_HYPERLIQUID_URL', '/info', bad)).status).toBe(404);
    expect((await get('UNDERROUND_PERP_OKX_URL', '/api/v5/public/instruments')).status).toBe(404);
  });
});

describe('prices', () => {
  it('streams Binance trades combined and raw, and answers candles', async () => {
    const combined = await connect(
      'UNDERROUND_SPOT_WS_URL',
      '/stream?streams=btcusdt@trade/ethusdt@aggTrade',
    );
    const raw = await connect('UNDERROUND_SPOT_WS_URL', '/ws/solusdt@bookTicker');
    await raw.say({ method: 'SUBSCRIBE', params: ['btcusdt@kline_1m'], id: 3 });
    await clock.advance(6000);
    await combined.until(() => combined.heard.length > 10);
    const streams = new Set(combined.heard.map((text) => (JSON.parse(text) as { stream: string }).stream));
    expect([...streams].sort()).toEqual(['btcusdt@trade', 'ethusdt@aggTrade']);
    await raw.until(() => raw.heard.some((text) => text.includes('"e":"kline"')));
    expect(raw.heard).toContain('{"result":null,"id":3}');
    const hours = (await get('UNDERROUND_SPOT_REST_URL', '/api/v3/klines?symbol=BTCUSDT&interval=1h&limit=2'))
      .body as number[][];
    expect(hours.map(([open]) => open)).toEqual([Date.UTC(2026, 10, 20, 14), Date.UTC(2026, 10, 20, 15)]);
    const from = Date.UTC(2026, 10, 19, 17);
    const noon = `/api/v3/klines?symbol=BTCUSDT&interval=1m&startTime=${from}&limit=1`;
    expect(((await get('UNDERROUND_SPOT_REST_URL', noon)).body as number[][])[0]![0]).toBe(from);
    expect((await get('UNDERROUND_SPOT_REST_URL', '/api/v3/klines?symbol=X&interval=1h')).status).toBe(400);
  });

  it('relays price topics with their filters, after recent points', async () => {
    const peer = await connect('UNDERROUND_RTDS_URL');
    await peer.say({
      action: 'subscribe',
      subscriptions: [
        { topic: 'crypto_prices', type: 'update', filters: 'btcusdt,ethusdt' },
        { topic: 'crypto_prices_chainlink', type: '*', filters: '{"symbol":"btc/usd"}' },
        { topic: 'crypto_prices_twap_sixty', type: '*', filters: '{ "symbol": "btc/usd" }' },
      ],
    });
    await peer.say('PING');
    await clock.advance(8000);
    await peer.until(() => peer.heard.length > 12);
    const parsed = peer.heard.map(
      (text) =>
        JSON.parse(text) as {
          topic: string;
          type: string;
          timestamp: number;
          payload: { symbol: string; timestamp: number };
        },
    );
    expect(parsed.slice(0, 3).map(({ type }) => type)).toEqual(['subscribe', 'subscribe', 'subscribe']);
    const updates = parsed.slice(3);
    expect([...new Set(updates.map(({ topic, payload }) => `${topic} ${payload.symbol}`))].sort()).toEqual([
      'crypto_prices btcusdt',
      'crypto_prices ethusdt',
      'crypto_prices_chainlink btc/usd',
    ]);
    for (const { topic, timestamp, payload } of updates) {
      expect(payload.timestamp % 1000).toBe(0);
      if (topic === 'crypto_prices_chainlink') expect(timestamp - payload.timestamp).toBeGreaterThan(1000);
    }
  });

  it('streams Coinbase tickers with a rising sequence, and drops connections without a subscription', async () => {
    const peer = await connect('UNDERROUND_SPOT_FALLBACK_WS_URL');
    const idle = await connect('UNDERROUND_SPOT_FALLBACK_WS_URL');
    await peer.say({ type: 'subscribe', product_ids: ['BTC-USD'], channels: ['ticker', 'heartbeat'] });
    await clock.advance(6000);
    await peer.until(() => peer.heard.some((text) => text.includes('"heartbeat"')) && peer.heard.length > 6);
    const tickers = peer.heard
      .map((text) => JSON.parse(text) as { type: string; sequence: number })
      .filter(({ type }) => type === 'ticker');
    expect(tickers.every(({ sequence }, i) => i === 0 || sequence === tickers[i - 1]!.sequence + 1)).toBe(
      true,
    );
    await idle.until(() => idle.closed !== null);
    expect(idle.closed!.code).toBe(1008);
  });
});
