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

/** The refusal with the seconds after which to try again. */
function refusalOf(parts: { streams: StreamHub | null; identity: typeof IDENTITY | null }) {
  const request = { identity: parts.identity, limits: DEFAULT_TIERS.free };
  try {
    admit(request as never, 'market', { streams: parts.streams, begin: () => {} });
  } catch (error) {
    const { status, detail, headers } = error as RequestRefusedError;
    return [status, detail, headers['retry-after']];
  }
  return null;
}
const hub = (isClosing: boolean) => ({ connections: { isClosing, count: () => 99 } }) as unknown as StreamHub;

test('a refused client learns when to try again: later if its own connections must end first', () => {
  const none = 'This process serves no streams';
  expect(refusalOf({ streams: null, identity: IDENTITY })).toEqual([503, none, '5']);
  expect(refusalOf({ streams: hub(false), identity: null })).toEqual([503, none, '5']);
  expect(refusalOf({ streams: hub(true), identity: IDENTITY })).toEqual([
    ...[503, 'The service is stopping', '5'],
  ]);
  const detail = 'Tier free permits one connection to this stream at once; retry in 10 s';
  expect(refusalOf({ streams: hub(false), identity: IDENTITY })).toEqual([429, detail, '10']);
});

test('an admitted handshake asks for the upgrade, and begins with its tier on the stream it asked for', () => {
  const opened: unknown[] = [];
  const begun: unknown[] = [];
  const connections = {
    isClosing: false,
    count: () => 0,
    open: (upgraded: unknown, { serve, ...facts }: { serve: (connection: unknown) => void }) => {
      opened.push([upgraded, facts]);
      serve('connection');
    },
  };
  const request = { identity: IDENTITY, limits: DEFAULT_TIERS.free };
  const { upgrade, ...answer } = admit(request, 'opportunity', {
    streams: { connections } as unknown as StreamHub,
    begin: (...given) => void begun.push(given),
  });
  expect(answer).toEqual({
    ...{ status: 426, headers: { upgrade: 'websocket' } },
    body: '{"detail":"This endpoint speaks WebSocket"}',
  });
  upgrade?.('socket' as never);
  expect(opened).toEqual([['socket', { stream: 'opportunity', identity: IDENTITY }]]);
  expect(begun).toEqual([['connection', 'free']]);
});
