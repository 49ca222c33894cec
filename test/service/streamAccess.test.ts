import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { RateLimits } from '../../src/accounts/limits/limits.ts';
import type { Opportunity } from '../../src/schema/opportunity.ts';
import { BUFFERED_BYTES_MAX, MESSAGES_AT_ONCE, PRESSURE_BYTES } from '../../src/stream/connection.ts';
import { eventually } from '../support/runningService.ts';
import { StreamRig } from '../support/streams.ts';

const A = `0x${'a1'.repeat(32)}`;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function oneMarket(parts = {}): Promise<StreamRig> {
  const rig = new StreamRig();
  rig.recorder.list({ marketId: A, ticker: 'BTC', eventType: '5m' });
  rig.recorder.change(A, 1);
  return rig.start(parts);
}

const OPPORTUNITY: Opportunity = {
  ...({ type: 'opportunity', tier: 'logical', ticker: 'BTC', event_type: '5m', market_id: A } as const),
  ...({ polymarket_slug: 's', direction: 'BUY_BOTH', fill_price: 0.95, fill_spread: 0.06 } as const),
  ...({
    expected_pnl_per_share: 0.015,
    est_fee_per_share: 0.035,
    tau_minutes: 3,
    confidence: 'stable',
  } as const),
  ...{ model_yes_prob: 0.5, detected_at: '2026-11-20T12:00:00.000+00:00', polymarket_url: 'https://x' },
};

describe('a refused handshake is answered like any request', () => {
  test.each([
    ['/v1/stream', {}, 401, 'Unknown API key'],
    ['/v1/stream?api_key=secret', {}, 401, 'Unknown API key'],
    ['/v1/stream?api_key=premium', bearer('wrong'), 401, 'Unknown API key'],
    ['/v1/arb/ws', bearer('free'), 403, 'Tier free does not include this endpoint; plus and premium do'],
    [
      '/v1/arb/ws?ticker=DOGE',
      bearer('pro'),
      403,
      'Tier pro does not include this endpoint; plus and premium do',
    ],
    ['/v1/arb/ws?ticker=BTC,', bearer('plus'), 422, expect.any(Array)],
    ['/v1/markets?api_key=premium', {}, 401, 'Unknown API key'],
    ['/v1/replay', {}, 401, 'Unknown API key'],
    ['/v1/nothing', bearer('premium'), 404, 'Not Found'],
  ])('%s %j: %i', async (path, headers, status, detail) => {
    const rig = await oneMarket();
    const answer = await rig.refusal(path, headers as Record<string, string>);
    expect(answer).toMatchObject({ status, body: { detail } });
    expect(answer.headers).toMatchObject({ 'x-request-id': expect.any(String) });
    if (status === 401) expect(answer.headers).toMatchObject({ 'www-authenticate': 'Bearer' });
  });

  test.each([
    ['free', 1],
    ['pro', 2],
    ['plus', 5],
    ['premium', 20],
  ] as const)('tier %s has %i concurrent connections', async (tier, most) => {
    const rig = await oneMarket();
    const clients = [];
    for (let i = 0; i < most; i++) clients.push(await rig.connect(tier));
    const answer = await rig.refusal('/v1/stream', bearer(tier));
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '10' } });
    const connections = most === 1 ? 'one connection' : `${most} connections`;
    expect(answer.body).toEqual({
      detail: `Tier ${tier} permits ${connections} to this stream at once; retry in 10 s`,
    });
    const [first] = clients;
    first?.socket.close();
    await first?.closed;
    await rig.connect(tier);
  });

  test('a client whose network was lost is admitted again before the published clients give up', async () => {
    const rig = await oneMarket();
    const lost = await rig.connect('free');
    lost.socket.pause();
    const { headers } = await rig.refusal('/v1/stream', bearer('free'));
    // Of ten connections in a row the first is at once.
    await rig.clock.advance(9 * Number(headers['retry-after']) * 1_000);
    await rig.connect('free');
  });

  test('checks maintenance before the key, and the rate before the tier', async () => {
    const rig = await oneMarket({ rateLimits: new RateLimits({ monotonic: () => 0 }) });
    expect(await rig.refusal('/v1/arb/ws', bearer('free'))).toMatchObject({ status: 403 });
    expect(await rig.refusal('/v1/arb/ws', bearer('free'))).toMatchObject({ status: 429 });
    rig.keys.closed = true;
    expect(await rig.refusal('/v1/stream')).toMatchObject({ status: 503, headers: { 'retry-after': '30' } });
  });

  test('a successful handshake carries the headers of every answer', async () => {
    const rig = await oneMarket({
      dataSource: 'simulated',
      rateLimits: new RateLimits({ monotonic: () => 0 }),
    });
    const socket = new WebSocket(`ws://${rig.url}/v1/stream`, { headers: bearer('free') });
    const headers = await new Promise<Record<string, unknown>>((resolve) => {
      socket.once('upgrade', (response) => resolve(response.headers));
    });
    expect(headers).toMatchObject({
      ...{ 'x-request-id': expect.any(String), 'x-data-source': 'simulated' },
      ratelimit: '"second";r=0;t=1, "minute";r=59;t=60',
    });
    socket.terminate();
  });

  test('several keys are refused, even if one is valid', async () => {
    const rig = await oneMarket();
    const authorization = ['Bearer premium', 'Bearer wrong'];
    const socket = new WebSocket(`ws://${rig.url}/v1/stream`, { headers: { authorization } as never });
    const [, response] = await once(socket, 'unexpected-response');
    expect(response.statusCode).toBe(401);
  });

  test.each([
    ['Sec-WebSocket-Version', '99'],
    ['Sec-WebSocket-Version', undefined],
    ['Sec-WebSocket-Key', 'short'],
  ])('a malformed %s (%s) with a valid key is answered like any request', async (name, value) => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const rateLimits = new RateLimits({ monotonic: () => 0 });
    const rig = await oneMarket({ dataSource: 'simulated', rateLimits, log });
    const sound = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', ...bearer('free') },
      ...{ 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    };
    const faulty = Object.entries({ ...sound, [name]: value }).filter(([, given]) => given !== undefined);
    const asking = request(`http://${rig.url}/v1/stream`, { headers: Object.fromEntries(faulty) }).end();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(400);
    expect(response.headers).toMatchObject({
      ...{ 'content-type': 'application/json', 'x-request-id': expect.any(String) },
      ...{ 'x-data-source': 'simulated', 'sec-websocket-version': '13' },
      ratelimit: '"second";r=0;t=1, "minute";r=59;t=60',
    });
    expect(await json(response)).toEqual({ detail: `Missing or invalid ${name} header` });
    await eventually('access log', async () => lines.some((line) => line.includes('"status":400')));
  });

  test('a request without an upgrade is answered with 426', async () => {
    const rig = await oneMarket();
    const answer = await fetch(`http://${rig.url}/v1/stream`, { headers: bearer('free') });
    expect([answer.status, answer.headers.get('upgrade')]).toEqual([426, 'websocket']);
    expect(await answer.json()).toEqual({ detail: 'This endpoint speaks WebSocket' });
  });

  test('a key in the query is accepted and appears in no log line', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const rig = await oneMarket({ log });
    await rig.refusal('/v1/stream?api_key=secret-value');
    const client = await rig.connect('free', '/v1/stream?api_key=premium');
    client.send('x'.repeat(70_000));
    await client.closed;
    await eventually('access log', async () => lines.some((line) => line.includes('"status":101')));
    expect(lines.join('')).not.toContain('secret-value');
    expect(lines.join('')).not.toContain('api_key');
  });
});

describe('an open connection', () => {
  test('ends when its key is revoked, and frees its slot', async () => {
    const rig = await oneMarket();
    const client = await rig.connect('free');
    expect(rig.watched.map(({ keyId }) => keyId)).toEqual(['key_free']);
    rig.watched[0]?.onGone('revoked');
    expect(await client.closed).toEqual({ code: 1008, reason: 'key no longer permits this' });
    expect(rig.watched).toEqual([]);
    await rig.connect('free');
  });

  test('ends with 1001 when the service stops, even if the client sends nothing', async () => {
    const rig = await oneMarket();
    const [client, dead] = [await rig.connect(), await rig.connect()];
    dead.socket.pause();
    await rig.stop();
    expect(await client.closed).toEqual({ code: 1001, reason: 'service is stopping' });
    expect(await rig.metrics.registry.metrics()).toContain(
      'underround_stream_connections{stream="market"} 0',
    );
  });

  test('when slow, has a bounded buffer, gets the newest books only, and ends with 1013 without reads', async () => {
    const rig = await oneMarket();
    const [slow, dead, good] = [await rig.connect(), await rig.connect(), await rig.connect()];
    for (const client of [slow, dead, good]) await client.ask({ type: 'subscribe', market_ids: [A] });
    slow.socket.pause();
    dead.socket.pause();
    // Twice the capacity of the kernel's buffers of a connection.
    let changes = 0;
    for (; changes < 1000; changes++) {
      rig.recorder.change(A, changes + 2, { levels: 400 });
      if (changes % 10 === 9) await good.rest();
    }
    await good.rest();
    expect(good.messages.filter(({ type }) => type === 'snapshot')).toHaveLength(changes + 1);
    const gauge = await rig.metrics.registry.metrics();
    expect(gauge).toContain('underround_stream_connections{stream="market"} 3');
    slow.socket.resume();
    await slow.rest();
    rig.recorder.change(A, 5000);
    await eventually('the newest', async () =>
      slow.messages.some(({ ts }) => ts === '2026-11-20T12:00:01.002+00:00'),
    );
    const shown = slow.messages.filter(({ type }) => type === 'snapshot').length;
    const skipped = slow.messages.flatMap(({ type, count }) => (type === 'skipped' ? [Number(count)] : []));
    expect(skipped.length).toBeGreaterThan(0);
    expect(shown + skipped.reduce((sum, count) => sum + count, 0)).toBe(changes + 2);
    await rig.clock.advance(5_000);
    dead.socket.resume();
    expect(await dead.closed).toEqual({ code: 1013, reason: 'too slow' });
    expect(BUFFERED_BYTES_MAX).toBeGreaterThan(PRESSURE_BYTES);
  });

  test('ends with 1013 when it sends requests without reading', async () => {
    const rig = await oneMarket();
    const client = await rig.connect();
    client.socket.pause();
    for (let i = 0; i < 60; i++) {
      rig.recorder.list({ marketId: `0x${i}` });
      rig.recorder.change(`0x${i}`, 1, { levels: 40 });
    }
    // The books of these markets each time; more messages would be read later.
    for (let i = 0; i < MESSAGES_AT_ONCE / 2; i++) {
      for (const type of ['subscribe', 'unsubscribe']) {
        client.socket.send(JSON.stringify({ type, tickers: ['BTC'] }));
      }
    }
    await eventually('slow close', async () =>
      (await rig.metrics.registry.metrics()).includes('cause="slow"'),
    );
    client.socket.resume();
    expect(await client.closed).toMatchObject({ code: 1013 });
  });

  test('survives any input', async () => {
    const rig = await oneMarket();
    const client = await rig.connect();
    const words = [
      '{',
      '}',
      '[',
      ']',
      '"type"',
      ':',
      '"subscribe"',
      ',',
      '"tickers"',
      '"BTC"',
      'null',
      '1e999',
      '\u0000',
      '"resume"',
      '"__proto__"',
    ];
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return (seed >>> 8) % below;
    };
    for (let i = 1; i <= 2_850; i++) {
      let text = '';
      for (let n = random(12); n >= 0; n--) text += words[random(words.length)];
      client.socket.send(text, { binary: random(20) === 0 });
      if (i % (MESSAGES_AT_ONCE - 10) > 0) continue;
      // More would be read later.
      await client.rest();
      await rig.clock.advance(20_000);
    }
    await client.rest();
    expect(new Set(client.messages.map(({ type }) => type))).toEqual(new Set(['ready', 'error', 'ping']));
    await client.ask({ type: 'subscribe', tickers: ['BTC'] });
    await client.next('snapshot');
  });
});

describe('/v1/arb/ws', () => {
  test('sends ready with its filter, then every opportunity that matches it', async () => {
    const rig = await oneMarket();
    const all = await rig.connect('plus', '/v1/arb/ws');
    const some = await rig.connect('premium', '/v1/arb/ws?ticker=ETH,BTC');
    expect(all.messages).toEqual([{ type: 'ready', tier: 'plus', ticker_filter: ['BTC', 'ETH', 'SOL'] }]);
    expect(some.messages).toEqual([{ type: 'ready', tier: 'premium', ticker_filter: ['BTC', 'ETH'] }]);
    const sol = { ...OPPORTUNITY, ticker: 'SOL' as const };
    for (const one of [OPPORTUNITY, sol]) rig.bus.publish('opportunity', one);
    expect([await all.next('opportunity'), await all.next('opportunity')]).toEqual([OPPORTUNITY, sol]);
    expect(await some.next('opportunity')).toEqual(OPPORTUNITY);
    expect(await some.ask('{"type":"subscribe","tickers":["SOL"]}', 'error')).toMatchObject({
      type: 'error',
    });
    await rig.clock.advance(25_000);
    await some.next('ping');
  });
});
