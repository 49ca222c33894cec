import { beforeEach, describe, expect, it } from 'vitest';
import { RateLimits } from '../../src/accounts/limits/limits.ts';
import { DEFAULT_TIERS } from '../../src/accounts/users/tiers.ts';
import { atMostEvery, RequestPace } from '../../web/src/api/pace.ts';
import { FakeClock } from '../support/fakeClock.ts';

let clock: FakeClock;
let storage: Map<string, string>;
/** Send times of requests, in the clock's monotonic time. */
let sentAtMs: number[];

beforeEach(() => {
  clock = new FakeClock();
  storage = new Map();
  sentAtMs = [];
});

const openPage = () =>
  new RequestPace({
    now: () => clock.now(),
    after: (delayMs, run) => clock.after(delayMs, run),
    storage: {
      getItem: (name) => storage.get(name) ?? null,
      setItem: (name, value) => void storage.set(name, value),
    },
  });

const pass = (delayMs: number) => new Promise<void>((resolve) => void clock.after(delayMs, resolve));

/** A service that answers after this time, with this rate in its header. */
const answer = (delayMs: number, policy?: string) => async () => {
  sentAtMs.push(clock.monotonic());
  await pass(delayMs);
  return new Response('', policy === undefined ? {} : { headers: { 'ratelimit-policy': policy } });
};

const sendMany = (pace: RequestPace, count: number, request: () => Promise<Response>) =>
  Promise.all(Array.from({ length: count }, () => pace.send(request)));

describe('the requests of a tab', () => {
  it('are sent at once up to eight, and then one second after each answer', async () => {
    void sendMany(openPage(), 10, answer(50));
    await clock.advance(5_000);
    expect(sentAtMs).toEqual([...Array(8).fill(0), 1050, 1050]);
  });

  it('count across pages of the tab, also requests that the first page left in flight', async () => {
    void sendMany(openPage(), 8, answer(100_000));
    await clock.advance(400);
    void sendMany(openPage(), 1, answer(50));
    await clock.advance(5_000);
    expect(sentAtMs.at(-1)).toBe(1000);
  });

  it('use four fifths of the rate in the service’s header', async () => {
    const pace = openPage();
    void sendMany(pace, 1, answer(50, '"second";q=100;w=1, "minute";q=300;w=60'));
    await clock.advance(2_000);
    void sendMany(pace, 81, answer(50));
    await clock.advance(5_000);
    expect(sentAtMs.slice(1)).toEqual([...Array(80).fill(2000), 3050]);
  });

  it('never exceed the rate of the lowest tier, whatever their duration', async () => {
    const limits = new RateLimits(clock);
    const tier = { ...DEFAULT_TIERS.free, requests_per_second: 10, requests_per_minute: 100_000 };
    let refused = 0;
    let asked = 0;
    const pace = openPage();
    const request = (number: number) => async () => {
      await pass((number * 379) % 1500);
      if ((await limits.request('ann', tier)).retryAfterSeconds > 0) refused++;
      asked++;
      await pass((number * 83) % 400);
      return new Response('');
    };
    for (let number = 0; number < 200; number++) void pace.send(request(number));
    await clock.advance(120_000);
    expect({ asked, refused }).toEqual({ asked: 200, refused: 0 });
  });

  it('are not sent when their page is left while they wait', async () => {
    const pace = openPage();
    void sendMany(pace, 8, answer(50));
    const left = new AbortController();
    const waiting = pace.send(answer(50), left.signal).catch((error: Error) => error.name);
    void pace.send(answer(50));
    left.abort();
    await clock.advance(5_000);
    expect(await waiting).toBe('AbortError');
    expect(sentAtMs).toEqual([...Array(8).fill(0), 1050]);
  });

  it('free their place when they fail', async () => {
    const pace = openPage();
    const fail = () => Promise.reject(new TypeError('no network'));
    for (let count = 0; count < 8; count++) await expect(pace.send(fail)).rejects.toThrow('no network');
    void pace.send(answer(50));
    await clock.advance(5_000);
    expect(sentAtMs).toEqual([1000]);
  });

  it.each(['not JSON', '{}', '["x", null]', '[9e15]'])(
    'ignore stored times that are none: %s',
    async (text) => {
      storage.set('underround.requests', text);
      void sendMany(openPage(), 8, answer(50));
      await clock.advance(0);
      expect(sentAtMs).toEqual(Array(8).fill(0));
    },
  );
});

it('a repeated call runs at once and then once an interval', async () => {
  const ranAtMs: number[] = [];
  const after = (delayMs: number, run: () => void) => clock.after(delayMs, run);
  const call = atMostEvery(2_000, () => void ranAtMs.push(clock.monotonic()), after);
  for (let count = 0; count < 30; count++) {
    call();
    await clock.advance(100);
  }
  await clock.advance(10_000);
  expect(ranAtMs).toEqual([0, 2000, 4000]);
  call();
  expect(ranAtMs).toEqual([0, 2000, 4000, 13_000]);
});
