import { expect, test } from 'vitest';
import { unaskedStore } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { Bus } from '../bus/bus.ts';
import { readConfig } from '../config.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { silentLogger as log } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { Closers } from './closers.ts';
import { followRecording } from './following.ts';
import type { RecordingSource } from './recordingSource.ts';
import { serveRecording } from './serveRecording.ts';

/** A process without an API, and a recording without markets that notes how it is stopped. */
function rig(changes: Partial<RecordingSource> = {}) {
  const read = readConfig({
    UNDERROUND_DATA_DIR: temporaryDirectory(),
    UNDERROUND_HOST: '127.0.0.1',
    UNDERROUND_PORT: '0',
    UNDERROUND_ROLES: 'signals',
    NATS_URL: 'nats://127.0.0.1:1',
    CLICKHOUSE_URL: 'http://127.0.0.1:1',
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    UNDERROUND_SECRET_KEY: '00'.repeat(32),
  });
  if (!('config' in read)) throw new Error(read.problems.join('\n'));
  const [clock, metrics, stopped] = [new FakeClock(), new Metrics(), [] as string[]];
  const recording = {
    store: unaskedStore,
    bus: new Bus({ log, metrics }),
    live: { markets: () => [], recorded: () => undefined },
    storeLagMs: () => 0,
    stored: () => ({}),
    addChecks: () => undefined,
    listening: () => undefined,
    stopReceiving: async () => void stopped.push('receiving'),
    close: async () => void stopped.push('recording'),
    ...changes,
  } as unknown as RecordingSource;
  const config = { ...read.config, databaseUrl: null };
  const options = { config, clock, log, metrics, random: () => 0.5, dataSource: 'live' as const };
  return { config, clock, stopped, serve: () => serveRecording(recording, options) };
}

test('a start that fails leaves nothing that runs: a process that records tries it again', async () => {
  const { config, clock, serve } = rig();
  const database = await openControlDatabase(config);
  await database.schema.alterTable('audit_entries').renameTo('gone').execute();
  await database.destroy();
  for (let tries = 0; tries < 2; tries++)
    await expect(serve()).rejects.toThrow('no such table: audit_entries');
  expect(clock.waiting).toBe(0);
});

test('a recording that cannot be followed leaves no timer', async () => {
  const [clock, metrics] = [new FakeClock(), new Metrics()];
  const unreachable = () => Promise.reject(new StoreUnavailableError('the stream is away'));
  const stream = { baseSeq: 0, partitions: 4, follow: unreachable, lastSeq: unreachable };
  const parts = { stream, values: { get: unreachable }, store: unaskedStore };
  const following = followRecording(parts as never, { clock, log, metrics } as never);
  await expect(following).rejects.toThrow('the stream is away');
  expect(clock.waiting).toBe(0);
});

test('a part that fails to stop does not prevent the others from being stopped', async () => {
  const { clock, stopped, serve } = rig({ stopReceiving: () => Promise.reject(new Error('feeds')) });
  const service = await serve();
  await expect(service.close()).rejects.toThrow('feeds');
  expect([stopped, clock.waiting]).toEqual([['recording'], 0]);
});

test('all parts are closed in reverse order, and the first failure is reported', async () => {
  const closers = new Closers();
  const closed: number[] = [];
  for (const part of [1, 2, 3])
    closers.add(async () => {
      closed.push(part);
      if (part > 1) throw new Error(`part ${part}`);
    });
  await expect(closers.close()).rejects.toThrow('part 3');
  expect(closed).toEqual([3, 2, 1]);
  await closers.close();
});
