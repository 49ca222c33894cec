import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { DEFAULT_TIERS } from '../accounts/users/tiers.ts';
import { Call } from './call.ts';
import { StreamedAnswers } from './streamedAnswers.ts';

test('a client that disconnected before its request was admitted keeps no place of its user', async () => {
  const clock = new FakeClock();
  const parts = {
    ...{ clock, tiers: DEFAULT_TIERS, live: { storeLagMs: () => 0 } },
    streamedAnswers: new StreamedAnswers(clock),
  };
  const identity = { keyId: 'key_1', userId: 'usr_1', email: 'a@example.com', tier: 'free' };
  const answered: string[] = [];
  const ask = (name: string, { destroyed }: { destroyed: boolean }) => {
    const raw = Object.assign(new EventEmitter(), { destroyed });
    const call = new Call({ identity } as FastifyRequest, { raw } as unknown as FastifyReply, parts);
    void call.streamed(() => {
      answered.push(name);
      return { body: '' };
    });
  };
  expect(DEFAULT_TIERS.free.streamed_answers).toBe(1);
  ask('gone', { destroyed: true });
  ask('next', { destroyed: false });
  await nextTurn();
  expect(answered).toEqual(['gone', 'next']);
});
