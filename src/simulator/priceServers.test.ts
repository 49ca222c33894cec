import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { Peer } from '../../test/support/peer.ts';
import { silentLogger } from '../runtime/log.ts';
import { windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import { mapPolyboltFrame } from '../venues/polymarket/polybolt/mapper.ts';
import { mapRtdsFrame } from '../venues/polymarket/rtds/mapper.ts';
import { VenueModel } from './model.ts';
import { VenueServer } from './server.ts';

const START = Date.UTC(2026, 10, 20, 15, 1);

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

async function connect(name: string): Promise<Peer> {
  const peer = new Peer(String(server.urls()[name]));
  sockets.push(peer);
  await peer.until(() => peer.socket.readyState === WebSocket.OPEN);
  return peer;
}

it('serves PolyBolt to holders of its credentials, with numbered frames after two minutes of history', async () => {
  const urls = server.credentials();
  const peer = await connect('UNDERROUND_POLYBOLT_URL');
  const credentials = (secret = urls.UNDERROUND_POLYMARKET_API_SECRET) => ({
    ...{ apiKey: urls.UNDERROUND_POLYMARKET_API_KEY, secret },
    passphrase: urls.UNDERROUND_POLYMARKET_API_PASSPHRASE,
  });
  const twap = (symbol: string) => ({
    channel: 'price.crypto.twap',
    filter: { symbol, window_seconds: 60 },
  });
  await peer.say({ op: 'auth', rid: 'a1', auth: credentials('wrong') });
  await peer.say({ op: 'subscribe', rid: 's0', ...twap('btcusd') });
  await peer.say({ op: 'auth', rid: 'a2', auth: credentials() });
  await peer.say({ op: 'subscribe', rid: 's1', subscriptions: [twap('btcusd'), twap('ethusd')] });
  await peer.say({ op: 'subscribe', rid: 's2', ...twap('adausd') });
  await peer.say({ op: 'nonsense' });
  await peer.say({ op: 'ping', rid: 'p' });
  const answers = peer.heard.filter((text) => text.startsWith('{"op"')).map((text) => JSON.parse(text));
  const channel = 'price.crypto.twap';
  expect(answers).toEqual([
    { op: 'error', code: 'auth_invalid', rid: 'a1' },
    { op: 'error', code: 'auth_required', channel, rid: 's0' },
    { op: 'authed', rid: 'a2' },
    { op: 'subscribed', channel, rid: 's1' },
    { op: 'subscribed', channel, rid: 's1' },
    { op: 'error', code: 'bad_filter', channel, rid: 's2' },
    { op: 'error', code: 'bad_op' },
    { op: 'pong', rid: 'p' },
  ]);
  server.fault({ fault: 'polybolt_lost', count: 3, isReported: true });
  await clock.advance(5_000);
  const data = () => peer.heard.filter((text) => text.startsWith('{"v"')).map((text) => JSON.parse(text));
  await peer.until(() => data().length === 2 + 2 * 5 - 3);
  const [first, second, ...updates] = data();
  expect([first, second].map(({ seq, snapshot, payload }) => [seq, snapshot, payload.data.length])).toEqual([
    [1, true, 120],
    [2, true, 120],
  ]);
  expect(updates.map(({ seq }) => seq)).toEqual([6, 7, 8, 9, 10, 11, 12]);
  expect(updates.map(({ dropped }) => dropped)).toEqual([3, ...Array(6).fill(undefined)]);
  const times = (symbol: string) =>
    data().flatMap(({ payload }) =>
      payload.symbol === symbol
        ? (payload.data ?? [payload]).map((one: { timestamp: number }) => one.timestamp)
        : [],
    );
  const eth = times('ethusd');
  expect(eth.at(-1)).toBe(clock.now() - 1000);
  expect(eth).toEqual([...eth].sort());
  server.fault({ fault: 'polybolt_close', code: 4003 });
  await peer.until(() => peer.closed !== null);
  expect(peer.closed!.code).toBe(4003);
});

it('PolyBolt and RTDS give the same price for the same second, and RTDS can be removed', async () => {
  const urls = server.credentials();
  const bolt = await connect('UNDERROUND_POLYBOLT_URL');
  const rtds = await connect('UNDERROUND_RTDS_URL');
  const auth = {
    apiKey: urls.UNDERROUND_POLYMARKET_API_KEY,
    secret: urls.UNDERROUND_POLYMARKET_API_SECRET,
    passphrase: urls.UNDERROUND_POLYMARKET_API_PASSPHRASE,
  };
  await bolt.say({ op: 'auth', auth });
  await bolt.say({ op: 'subscribe', channel: 'price.crypto', filter: { symbol: 'btcusd' } });
  const subscriptions = [{ topic: 'crypto_prices_chainlink', type: '*', filters: 'btc/usd' }];
  await rtds.say({ action: 'subscribe', subscriptions });
  await clock.advance(10_000);
  await rtds.until(() => rtds.heard.length > 5);
  const prices = new Map(
    bolt.heard
      .flatMap((text) => mapPolyboltFrame(text, 0))
      .map(({ eventTimeMs, price }) => [eventTimeMs, price]),
  );
  const relayed = rtds.heard.slice(1).flatMap((text) => mapRtdsFrame(text, 0));
  expect(relayed.length).toBeGreaterThan(4);
  expect(relayed.map(({ price }) => price)).toEqual(
    relayed.map(({ eventTimeMs }) => prices.get(eventTimeMs)),
  );
  server.fault({ fault: 'relay_removed', atMs: clock.now() + 2_000 });
  await clock.advance(1_000);
  expect(rtds.closed).toBeNull();
  await clock.advance(5_000);
  await rtds.until(() => rtds.closed !== null);
  const again = await connect('UNDERROUND_RTDS_URL');
  await again.until(() => again.closed !== null);
  expect(bolt.closed).toBeNull();
});

it('states the open price of a window on the website, some seconds after its open', async () => {
  const { facts, fate } = server.model.registry.ofWindow('BTC', '5m', windowAt('5m', clock.now()));
  const next = Math.ceil(clock.now() / 300_000) * 300_000;
  const get = async (query: string) => {
    const answer = await fetch(`${server.urls().UNDERROUND_CRYPTO_PRICE_URL}${query}`);
    return { status: answer.status, body: (await answer.json()) as object };
  };
  const asked = (startMs: number, more = '&twapEnabled=true&twapLookbackSeconds=60') =>
    get(`?symbol=BTC&variant=fiveminute&eventStartTime=${new Date(startMs).toISOString()}${more}`);
  expect((await asked(next)).body).toMatchObject({ openPrice: null, timestamp: 0, incomplete: true });
  const { body } = await asked(facts.window.startTimeMs);
  expect(body).toMatchObject({
    openPrice: fate.strike,
    closePrice: null,
    completed: false,
    incomplete: true,
  });
  // Without the parameters of the average it is another price.
  expect((await asked(facts.window.startTimeMs, '')).body).not.toMatchObject({ openPrice: fate.strike });
  await clock.advance(next + 1_000 - clock.now());
  const over = (await asked(facts.window.startTimeMs)).body;
  expect(over).toMatchObject({ closePrice: fate.finalPrice, completed: true, incomplete: false });
  expect((await get('?symbol=BTC&variant=weekly')).status).toBe(400);
});
