import { describe, expect, it } from 'vitest';
import { ApiProblem } from '../../web/src/api/problem.ts';
import { sendWithRetries, TRIES_MAX, WAIT_MS_MAX } from '../../web/src/api/retry.ts';
import { FakeClock } from '../support/fakeClock.ts';

const problem = (status: number, retryAfterSeconds: number | null = null) =>
  new ApiProblem(`status ${status}`, { status, retryAfterSeconds });

/** Sends a request whose tries fail with these problems; the next one returns `done`. */
async function send(method: string, ...problems: readonly Error[]) {
  const clock = new FakeClock();
  const sentAtMs: number[] = [];
  const attempt = async () => {
    sentAtMs.push(clock.monotonic());
    const refusal = problems[sentAtMs.length - 1];
    if (refusal !== undefined) throw refusal;
    return 'done';
  };
  const pause = (delayMs: number) => new Promise<void>((resolve) => void clock.after(delayMs, resolve));
  const outcome = sendWithRetries(method, attempt, pause).catch((error: Error) => error);
  await clock.advance(10 * WAIT_MS_MAX);
  return { outcome: await outcome, sentAtMs };
}

describe('a request that the service refuses', () => {
  it.each(['GET', 'POST', 'PATCH', 'DELETE'])('%s waits for `Retry-After` of a 429', async (method) => {
    const { outcome, sentAtMs } = await send(method, problem(429, 1), problem(429, 2));
    expect(outcome).toBe('done');
    expect(sentAtMs).toEqual([0, 1000, 3000]);
  });

  it('waits longer each time without a `Retry-After`', async () => {
    const { outcome, sentAtMs } = await send('GET', problem(0), problem(502), problem(429));
    expect(outcome).toBe('done');
    expect(sentAtMs).toEqual([0, 500, 1500, 3500]);
  });

  it('stops after `TRIES_MAX` tries, with the last error', async () => {
    const refusals = Array.from({ length: TRIES_MAX + 1 }, () => problem(429, 1));
    const { outcome, sentAtMs } = await send('GET', ...refusals);
    expect(outcome).toBe(refusals[TRIES_MAX - 1]);
    expect(sentAtMs).toHaveLength(TRIES_MAX);
  });

  it.each([
    ['one wait', [problem(429, WAIT_MS_MAX / 1000 + 1)], [0]],
    ['all waits together', [problem(429, 6), problem(429, 6)], [0, 6000]],
  ])('leaves longer waits to the reader: %s', async (_, refusals, expected) => {
    const { outcome, sentAtMs } = await send('GET', ...refusals);
    expect(outcome).toBe(refusals.at(-1));
    expect(sentAtMs).toEqual(expected);
  });

  it.each([
    ['POST', problem(0)],
    ['POST', problem(502, 1)],
    ['PATCH', problem(500)],
    ['GET', problem(401)],
    ['GET', problem(422)],
    ['GET', new TypeError('ours')],
  ])('%s is not sent again after %s', async (method, refusal) => {
    expect(await send(method, refusal)).toEqual({ outcome: refusal, sentAtMs: [0] });
  });

  it('is not repeated after it was aborted', async () => {
    const left = new DOMException('left', 'AbortError');
    const attempt = () => Promise.reject(problem(429, 1));
    await expect(sendWithRetries('GET', attempt, () => Promise.reject(left))).rejects.toBe(left);
  });
});
