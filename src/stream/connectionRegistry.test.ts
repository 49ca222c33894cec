import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import type { Gone } from '../accounts/keys/liveKeys.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Connection } from './connection.ts';
import { ConnectionRegistry } from './connectionRegistry.ts';
import { StreamMetrics } from './streamMetrics.ts';

const IDENTITY = { userId: 'usr_1', keyId: 'key_1', email: 'a@example.com', tier: 'pro' } as const;

function rig() {
  const clock = new FakeClock();
  const log: string[] = [];
  const watches = new Set<(why: Gone) => void>();
  const registry = new ConnectionRegistry({
    ...{ clock, log: silentLogger, metrics: new StreamMetrics(new Metrics()) },
    liveKeys: {
      watch: (_, onGone) => {
        watches.add(onGone);
        return () => void watches.delete(onGone);
      },
    },
  });
  /** @param name The socket's name in the log, which also has each call on the socket. The client answers when it is ended. */
  const open = (name: string, serve: (connection: Connection) => void = () => {}) => {
    const socket = Object.assign(new EventEmitter(), {
      ...{ OPEN: 1, readyState: 1, bufferedAmount: 0, send: () => {}, ping: () => {} },
      close: (code: number) => void log.push(`${name} ${code}`),
      terminate: () => {
        log.push(`${name} cut`);
        socket.emit('close');
      },
    });
    registry.open(
      { socket: socket as never, transport: new EventEmitter() as never },
      { stream: 'market', identity: IDENTITY, serve },
    );
    return socket;
  };
  return { clock, registry, log, watches, open };
}

test('a stop waits for the clients, and cuts after 2 s those that do not close', async () => {
  const { clock, registry, log, open } = rig();
  const [quick] = [open('quick'), open('dead')];
  let isClosed = false;
  const closing = registry.close().then(() => {
    isClosed = true;
  });
  expect(log).toEqual(['quick 1001', 'dead 1001']);
  quick.emit('close');
  await clock.advance(1_999);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await closing;
  expect(log.slice(2)).toEqual(['dead cut']);
});

test('a stop ends when the last client has closed, and closes those that come later', async () => {
  const { clock, registry, log, open } = rig();
  const socket = open('only');
  const closing = registry.close();
  socket.emit('close');
  await closing;
  expect(clock.waiting).toBe(0);
  open('late');
  expect([log, registry.count('market', IDENTITY)]).toEqual([['only 1001', 'late 1001'], 0]);
});

test('connections are counted by user, until they end from either side or lose their key', () => {
  const { registry, log, watches, open } = rig();
  let ended = 0;
  const first = open('first', (connection) => {
    connection.onClosed = () => void ended++;
  });
  open('second');
  open('third');
  expect([registry.count('market', IDENTITY), registry.count('replay', IDENTITY)]).toEqual([3, 0]);
  first.emit('close');
  expect([registry.count('market', IDENTITY), watches.size, ended]).toEqual([2, 2, 1]);
  for (const onGone of watches) onGone('revoked');
  expect([registry.count('market', IDENTITY), watches.size]).toEqual([0, 0]);
  expect(log).toEqual(['second 1008', 'third 1008']);
});

test('a connection that its stream ends at once is not counted', () => {
  const { registry, watches, open } = rig();
  open('refused', (connection) => connection.close('slow'));
  expect([registry.count('market', IDENTITY), watches.size]).toEqual([0, 0]);
});
