import { expect, test } from 'vitest';
import { DEFAULT_TIERS } from '../accounts/users/tiers.ts';
import type { StreamHub } from '../stream/streamHub.ts';
import { RequestRefusedError } from './refusal.ts';
import { admit } from './streamAdmission.ts';

const IDENTITY = { keyId: 'key_1', userId: 'usr_1', email: 'a@example.com', tier: 'free' } as const;

/** The status with which a client is answered that has so many connections. */
function statusAt(open: number, { isClosing = false, most }: { isClosing?: boolean; most?: number } = {}) {
  const connections = { isClosing, count: () => open, open: () => {} };
  const streams = { connections } as unknown as StreamHub;
  const request = { identity: IDENTITY, limits: { ...DEFAULT_TIERS.free, stream_connections: 3 } };
  const parts = { streams, begin: () => {}, ...(most === undefined ? {} : { most }) };
  try {
    return admit(request, 'market', parts).status;
  } catch (error) {
    if (error instanceof RequestRefusedError) return error.status;
    throw error;
  }
}

test('a user has as many connections to a stream as the tier permits, or as the stream does', () => {
  expect([0, 2, 3, 4].map((open) => statusAt(open))).toEqual([426, 426, 429, 429]);
  expect([0, 1].map((open) => statusAt(open, { most: 1 }))).toEqual([426, 429]);
});

test('a service that stops admits nobody', () => {
  expect(statusAt(0, { isClosing: true })).toBe(503);
});
