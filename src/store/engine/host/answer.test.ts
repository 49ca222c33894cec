import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ChdbQueryStream } from 'chdb';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { FairQueue } from '../../../core/fairQueue.ts';
import { answerStream, TURN_MS_MAX } from './answer.ts';
import { AnswerBuffer, MEMORY_BYTES } from './answerBuffer.ts';
import { ShortReads, YIELD_IN_TURN_MS_MAX, YIELD_SHARING_MS_MAX } from './shortReads.ts';

const BLOCKS = 5;

/** A response with what a streamed answer needs; its head is ignored. */
function response(): ServerResponse {
  return Object.assign(new PassThrough(), { headersSent: true, writeHead: () => undefined }) as never;
}

/** Answers of an engine that records the order of the blocks and the highest number made at once. */
function rig(places: number) {
  const [turns, order] = [new FairQueue(places), [] as string[]];
  const clock = new FakeClock();
  const shortReads = new ShortReads(clock);
  let [now, most] = [0, 0];
  let slow = Promise.resolve();
  async function* blocks(name: string, fails: boolean) {
    for (let at = 0; at < BLOCKS; at++) {
      most = Math.max(most, ++now);
      order.push(name);
      await (name === 'slow' ? slow : Promise.resolve());
      now--;
      if (fails) throw new Error('no more memory');
      yield { raw: () => Buffer.from(`${name}${at} `) };
    }
  }
  const answer = async (name: string, { to = response(), fails = false } = {}) => {
    const openFile = () => Promise.reject(new Error('no file is needed'));
    const buffer = new AnswerBuffer(to, { openFile, clock: new FakeClock(), othersWait: () => false });
    const head = { queryId: name, format: 'TabSeparated' };
    const start = () => blocks(name, fails) as unknown as ChdbQueryStream;
    const rest = await answerStream(to, head, { start, buffer, turns, shortReads, clock });
    await rest();
    return text(to as unknown as PassThrough);
  };
  /** Blocks of the answer `slow` wait until the returned function is called. */
  const stop = () => {
    let go: () => void = () => undefined;
    slow = new Promise<void>((resolve) => {
      go = resolve;
    });
    return go;
  };
  return { answer, order, most: () => most, shortReads, clock, stop };
}

test('long answers produce one block per turn, so that a later answer does not wait for the others to end', async () => {
  const { answer, order, most } = rig(1);
  const texts = await Promise.all(['a', 'b', 'c'].map((name) => answer(name)));
  expect(order.slice(0, 9)).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
  expect(most()).toBe(1);
  expect(texts).toEqual(['a0 a1 a2 a3 a4 ', 'b0 b1 b2 b3 b4 ', 'c0 c1 c2 c3 c4 ']);
});

test('at most as many blocks are produced at once as there are places', async () => {
  const { answer, most } = rig(2);
  await Promise.all(Array.from({ length: 8 }, (_, at) => answer(`${at}`)));
  expect(most()).toBe(2);
});

test('an answer that fails or lost its reader passes its turn on', async () => {
  const { answer, order } = rig(1);
  const gone = response();
  const [failed, , whole] = await Promise.allSettled([
    answer('a', { fails: true }),
    answer('b', { to: gone.destroy() }),
    answer('c'),
  ]);
  expect(failed).toMatchObject({ status: 'rejected', reason: new Error('no more memory') });
  expect(whole).toMatchObject({ status: 'fulfilled', value: 'c0 c1 c2 c3 c4 ' });
  // No query was started for the reader that had left.
  expect(order).not.toContain('b');
});

test('an answer whose reader is behind makes no block while a short read is in progress', async () => {
  const { answer, order, shortReads, clock } = rig(1);
  const slow = response();
  Object.defineProperty(slow, 'writableLength', { value: MEMORY_BYTES });
  let end: () => void = () => undefined;
  const short = shortReads.run(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const [behind, other] = [answer('behind', { to: slow }), answer('read')];
  await clock.advance(2 * (YIELD_SHARING_MS_MAX + YIELD_IN_TURN_MS_MAX));
  expect(order).toEqual(['read', 'read']);
  end();
  await short;
  expect(await other).toBe('read0 read1 read2 read3 read4 ');
  await behind.catch(() => undefined);
  expect(order).toContain('behind');
});

test('a block that takes long passes its turn on', async () => {
  const { answer, order, clock, stop } = rig(1);
  const go = stop();
  const [slow, other] = [answer('slow'), answer('other')];
  await clock.advance(TURN_MS_MAX - 1);
  expect(order).toEqual(['slow']);
  await clock.advance(1);
  expect(await other).toBe('other0 other1 other2 other3 other4 ');
  go();
  expect(await slow).toBe('slow0 slow1 slow2 slow3 slow4 ');
});

test('an answer whose turn comes while a short read is in progress waits for it', async () => {
  const { answer, order, clock, stop, shortReads } = rig(1);
  const go = stop();
  const [slow, other] = [answer('slow'), answer('other')];
  await clock.advance(0);
  void shortReads.run(() => new Promise(() => undefined));
  go();
  await clock.advance(YIELD_IN_TURN_MS_MAX - 1);
  expect(order).toEqual(['slow']);
  await clock.advance(1);
  expect(order).toEqual(['slow', 'other']);
  await clock.advance(20 * YIELD_SHARING_MS_MAX);
  expect(await Promise.all([slow, other])).toHaveLength(2);
});
