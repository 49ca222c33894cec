import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { DEFAULT_TIERS } from '../accounts/users/tiers.ts';
import { Call } from './call.ts';
import { StreamedAnswers } from './streamedAnswers.ts';

function rig() {
  const clock = new FakeClock();
  const parts = {
    ...{ clock, tiers: DEFAULT_TIERS, live: { storeLagMs: () => 0 } },
    streamedAnswers: new StreamedAnswers(clock),
  };
  const identity = { keyId: 'key_1', userId: 'usr_1', email: 'a@example.com', tier: 'free' };
  return (response: { destroyed: boolean; writableFinished?: boolean }) => {
    const raw = Object.assign(new EventEmitter(), response);
    const call = new Call({ identity } as FastifyRequest, { raw } as unknown as FastifyReply, parts);
    return { call, raw };
  };
}

test('a client that disconnected before its request was admitted keeps no place of its user', async () => {
  const callOf = rig();
  const answered: string[] = [];
  const ask = (name: string, { destroyed }: { destroyed: boolean }) => {
    void callOf({ destroyed }).call.streamed(() => {
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

test.each([
  ['is aborted once the client disconnects', { destroyed: false, writableFinished: false }, [false, true]],
  [
    'is not aborted once the response is complete',
    { destroyed: false, writableFinished: true },
    [false, false],
  ],
  [
    'is aborted if the client has disconnected before',
    { destroyed: true, writableFinished: false },
    [true, true],
  ],
] as const)('the work of a request %s', (_, response, expected) => {
  const { call, raw } = rig()(response);
  const before = call.signal.aborted;
  raw.emit('close');
  expect([before, call.signal.aborted]).toEqual(expected);
});
