import type { Session } from 'chdb';
import { expect, test } from 'vitest';
import { SessionPool, type SessionUse, STREAMS_MAX } from './sessionPool.ts';

const READ_SESSIONS = 8;

function rig() {
  const pool = new SessionPool(() => ({ close: () => undefined }) as unknown as Session);
  const got: string[] = [];
  /** Requests a session and records when it is granted. */
  const ask = (use: SessionUse, name: string) =>
    pool.acquire(use).then((session) => {
      got.push(name);
      return { session, release: () => pool.release(use, session) };
    });
  return { pool, got, ask };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('streamed answers never use the last sessions', async () => {
  const { got, ask } = rig();
  for (let i = 0; i < READ_SESSIONS; i++) void ask('stream', 'stream');
  await settled();
  expect(got.length).toBe(STREAMS_MAX);
  expect(STREAMS_MAX).toBe(READ_SESSIONS - 2);
  await ask('read', 'short');
  await ask('read', 'short');
  expect(got.slice(STREAMS_MAX)).toEqual(['short', 'short']);
});

test('a session goes to the longest waiting request that may use it', async () => {
  const { got, ask } = rig();
  const streams = await Promise.all(Array.from({ length: STREAMS_MAX }, () => ask('stream', 'held')));
  const shorts = await Promise.all([ask('read', 'held'), ask('read', 'held')]);
  got.length = 0;
  for (const name of ['stream 1', 'short 1', 'stream 2', 'short 2']) {
    void ask(name.startsWith('stream') ? 'stream' : 'read', name);
  }
  // A short read's session: streamed answers have reached their maximum.
  shorts[0]?.release();
  await settled();
  expect(got).toEqual(['short 1']);
  for (const { release } of streams.slice(0, 3)) release();
  await settled();
  expect(got).toEqual(['short 1', 'stream 1', 'stream 2', 'short 2']);
});

test('short reads may use all sessions; then a streamed answer waits', async () => {
  const { pool, got, ask } = rig();
  const shorts = await Promise.all(Array.from({ length: READ_SESSIONS }, () => ask('read', 'short')));
  void ask('stream', 'stream');
  await settled();
  expect(pool.waiting('stream')).toBe(1);
  shorts[0]?.release();
  await settled();
  expect(got.at(-1)).toBe('stream');
  expect(pool.waiting('stream')).toBe(0);
});
