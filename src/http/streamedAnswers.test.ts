import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { STUB_MARKET, stubStore } from '../../test/support/stubStore.ts';
import { DEFAULT_TIERS } from '../accounts/users/tiers.ts';
import { isStreamed, PLACE_WAIT_MS, StreamedAnswers } from './streamedAnswers.ts';

const USER = { userId: 'usr_1', tier: 'plus' } as const;
const never = () => undefined;
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('places', () => {
  test('are assigned in order of request', async () => {
    const answers = new StreamedAnswers(new FakeClock());
    const leave = await answers.enter(USER, 1, never);
    const entered: number[] = [];
    const waiting = [1, 2, 3].map(async (index) => {
      const leaveAgain = await answers.enter(USER, 1, never);
      entered.push(index);
      leaveAgain();
    });
    await settled();
    expect(entered).toEqual([]);
    leave();
    await Promise.all(waiting);
    expect(entered).toEqual([1, 2, 3]);
  });

  test('are waited for up to 5 s, then refused with 429 and Retry-After', async () => {
    const clock = new FakeClock();
    const answers = new StreamedAnswers(clock);
    for (let i = 0; i < 4; i++) await answers.enter(USER, 4, never);
    const refused = expect(answers.enter(USER, 4, never)).rejects.toMatchObject({
      status: 429,
      detail: 'Tier plus permits 4 streamed answers at once; retry in 5 s',
      headers: { 'retry-after': '5' },
    });
    await clock.advance(PLACE_WAIT_MS - 1);
    expect(clock.waiting).toBe(1);
    await clock.advance(1);
    await refused;
  });

  test('of one user are not used by another', async () => {
    const answers = new StreamedAnswers(new FakeClock());
    await answers.enter(USER, 1, never);
    await answers.enter({ ...USER, userId: 'usr_2' }, 1, never);
  });

  test('freed twice count once', async () => {
    const clock = new FakeClock();
    const answers = new StreamedAnswers(clock);
    const leave = await answers.enter(USER, 1, never);
    leave();
    leave();
    await answers.enter(USER, 1, never);
    void answers.enter(USER, 1, never);
    expect(clock.waiting).toBe(1);
  });

  test('are not kept for a client that disconnects while waiting', async () => {
    const clock = new FakeClock();
    const answers = new StreamedAnswers(clock);
    const leave = await answers.enter(USER, 1, never);
    let goAway = never as () => void;
    const gone = expect(
      answers.enter(USER, 1, (giveUp) => {
        goAway = giveUp;
      }),
    ).rejects.toMatchObject({ status: 429 });
    const next = answers.enter(USER, 1, never);
    goAway();
    await gone;
    leave();
    await next;
    expect(clock.waiting).toBe(0);
  });

  test('do not exist in a tier without them', async () => {
    const answers = new StreamedAnswers(new FakeClock());
    await expect(answers.enter(USER, 0, never)).rejects.toMatchObject({ status: 403 });
  });
});

test.each([
  [0, false],
  [1_000, false],
  [1_001, true],
])('an answer of %i rows: %s', (limit, expected) => {
  expect(isStreamed(limit)).toBe(expected);
});

/** An API where a user has two places, and whose store returns endless rows; short pages need no place. */
async function rig() {
  const clock = new FakeClock();
  const sources: Readable[] = [];
  const stream = async (query: string) => {
    if (query.includes('AS page_key')) return Readable.from([]);
    const source = new Readable({ read: () => undefined });
    source.push('[\n');
    sources.push(source);
    return source;
  };
  const premium = { ...DEFAULT_TIERS.premium, streamed_answers: 2 };
  const app = testApi({
    store: stubStore({ stream }),
    tiers: { ...DEFAULT_TIERS, premium },
    clock,
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const ask = async (path: string, { method = 'GET', headers = {} } = {}) => {
    const asked = request({ port, path, method, headers: { ...KEY, ...headers }, agent: false });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    onTestFinished(() => void asked.destroy());
    return answer;
  };
  /** Waits until all places are in use and one request waits. */
  const waiting = async () => {
    const before = clock.waiting;
    const answer = ask(LONG);
    while (clock.waiting === before) await settled();
    return { answer };
  };
  return { app, clock, port, sources, ask, waiting };
}
const LONG = `/v1/trades?market_id=${STUB_MARKET}&limit=1001`;
const EXPORT = `/v1/export?dataset=trades&market_id=${STUB_MARKET}&start=2026-11-20&format=jsonl`;

test('exports and long responses share one limit; short ones and HEAD requests do not count', async () => {
  const { clock, ask, waiting } = await rig();
  expect((await ask(LONG)).statusCode).toBe(200);
  expect((await ask(EXPORT)).statusCode).toBe(200);
  expect((await ask(LONG.replace('1001', '1000'))).statusCode).toBe(200);
  expect((await ask(LONG, { method: 'HEAD' })).statusCode).toBe(200);
  expect((await ask(`${LONG}&order=up`)).statusCode).toBe(422);
  const { answer } = await waiting();
  await clock.advance(PLACE_WAIT_MS);
  const refused = await answer;
  expect(refused.statusCode).toBe(429);
  expect(refused.headers['retry-after']).toBe('5');
});

test('a place becomes free when a response ends, fails, or its client disconnects', async () => {
  const { sources, ask, waiting } = await rig();
  const [first] = [await ask(LONG), await ask(LONG)];
  const next = await waiting();
  sources[0]?.push(']\n');
  sources[0]?.push(null);
  first.resume();
  expect((await next.answer).statusCode).toBe(200);
  const afterFailure = await waiting();
  sources[1]?.destroy(new Error('the engine died'));
  const third = await afterFailure.answer;
  expect(third.statusCode).toBe(200);
  const afterGone = await waiting();
  third.destroy();
  expect((await afterGone.answer).statusCode).toBe(200);
});

test('places of responses that were requested on one connection become free when it closes', async () => {
  const { port, sources, waiting } = await rig();
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void client.destroy());
  const head = `GET ${LONG} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${KEY.authorization}\r\n\r\n`;
  client.write(head + head);
  while (sources.length < 2) await settled();
  const next = [await waiting(), await waiting()];
  client.destroy();
  for (const { answer } of next) expect((await answer).statusCode).toBe(200);
  expect(sources.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]);
});

test('a refused response frees its place', async () => {
  const { ask } = await rig();
  for (let i = 0; i < 5; i++) {
    const answer = await ask(LONG.replace(STUB_MARKET, '0xbb'));
    expect(answer.statusCode).toBe(404);
    answer.resume();
  }
  expect((await ask(LONG)).statusCode).toBe(200);
});
