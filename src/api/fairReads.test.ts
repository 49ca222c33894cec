import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bookRecord, idleLive, type LevelPairs, marketRecord, testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import type { Identity } from '../accounts/keys/authenticate.ts';
import { StoreProbe } from '../ops/storeProbe.ts';
import type { Tier } from '../schema/tier.ts';

const MARKET = `0x${'a'.repeat(64)}`;
const T0 = Date.UTC(2026, 10, 20, 11);
/** About 6 MB of binary columns in five blocks, and 60 MB of JSON: more than all buffers between engine and client. */
const [BOOKS, LEVELS_A_SIDE] = [10_000, 50];
const ATTACKERS = 8;

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
  const { writer } = opened.store;
  writer.market({ ...marketRecord({ marketId: MARKET }), seq: 1 });
  const side = (from: number, step: number): LevelPairs =>
    Array.from({ length: LEVELS_A_SIDE }, (_, index) => [from + index * step, 1_000_000]);
  const levels = { yesBids: side(4900, -10), yesAsks: side(5000, 10) };
  for (let seq = 2; seq < BOOKS + 2; seq++) {
    writer.book(bookRecord({ seq, marketId: MARKET, timeMs: T0 + seq, ...levels }));
  }
  await writer.flush();
});
afterAll(() => opened.dispose());

/** The API on the real engine, with a probe of the engine. A request's bearer token names its user: `tier:name`. */
async function rig() {
  const clock = new FakeClock();
  let probed = 0;
  const probe = new StoreProbe({ clock, ask: () => opened.store.rows('SELECT 1').then(() => probed++) });
  onTestFinished(() => probe.stop());
  const authenticate = (header: string | undefined): Identity => {
    const [tier = '', name = ''] = (header ?? '').replace('Bearer ', '').split(':');
    return { keyId: name, userId: name, email: `${name}@example.com`, tier: tier as Tier };
  };
  const app = testApi({
    ...{ store: opened.store, clock },
    accounts: { moment: () => 0, maintenance: () => null, authenticate, signedIn: async () => null },
    live: {
      ...idleLive,
      ready: () => ({ ok: probe.reasons().length === 0, reasons: probe.reasons(), degraded: [] }),
    },
  });
  const served: Socket[] = [];
  app.server.on('connection', (socket: Socket) => served.push(socket));
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const ask = async (path: string, user: string) => {
    const headers = { authorization: `Bearer ${user}` };
    const asked: ClientRequest = request({ port, path, headers, agent: false });
    onTestFinished(() => void asked.destroy());
    asked.on('error', () => undefined).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return answer;
  };
  /** Starts one probe and waits for its result. */
  const probeOnce = async () => {
    const before = probed;
    await clock.advance(2_000);
    while (probed === before) await new Promise((resolve) => setImmediate(resolve));
  };
  return { ask, probeOnce, served };
}

test.each([
  ['one Premium user', () => 'premium:attacker'],
  ['eight Free users', (index: number) => `free:attacker ${index}`],
])('unread long responses to %s block neither a small read nor readiness', async (_name, userOf) => {
  const { ask, probeOnce, served } = await rig();
  for (let index = 0; index < ATTACKERS; index++) {
    const answer = await ask(`/v1/snapshots?market_id=${MARKET}&limit=100000`, userOf(index));
    expect(answer.statusCode).toBe(200);
    answer.on('error', () => undefined);
  }
  // Longer than a probe may be silent, and shorter than an unread response may stay open.
  for (let round = 0; round < 4; round++) await probeOnce();
  for (const path of [`/v1/snapshots?market_id=${MARKET}&limit=1`, `/v1/trades?market_id=${MARKET}`]) {
    const small = await ask(path, 'premium:victim');
    expect(small.statusCode).toBe(200);
    await text(small);
  }
  const ready = await ask('/readyz', '');
  expect(ready.statusCode).toBe(200);
  // All responses are still open.
  expect(served.slice(0, ATTACKERS).map(({ destroyed }) => destroyed)).toEqual(Array(ATTACKERS).fill(false));
});
