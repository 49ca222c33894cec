import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../clock.ts';
import { StoreUnavailableError } from '../errors.ts';
import { silentLogger } from '../ops/log.ts';
import { StoreClient } from './client.ts';

/** An engine each try at which fails after that long, by a clock on which waiting takes no time. */
async function failing(afterMs: number) {
  let nowMs = 0;
  let tries = 0;
  const engine = createServer((request) => {
    tries++;
    nowMs += afterMs;
    request.socket.destroy();
  });
  await new Promise<void>((resolve) => void engine.listen(0, '127.0.0.1', resolve));
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    after: (delayMs, run) => {
      nowMs += delayMs;
      queueMicrotask(run);
      return { cancel: () => undefined };
    },
  };
  const access = {
    url: `http://127.0.0.1:${(engine.address() as AddressInfo).port}`,
    agent: null,
    streamAgent: null,
    hostPid: null,
    whenReady: async () => undefined,
    close: async () => undefined,
  };
  const client = new StoreClient({ access, clock, log: silentLogger });
  onTestFinished(async () => {
    await client.close();
    await new Promise((resolve) => engine.close(resolve));
  });
  return { client, tries: () => tries };
}

const READS: readonly (readonly [string, (client: StoreClient) => Promise<unknown>])[] = [
  ['rows', (client) => client.rows('SELECT 1')],
  ['stream', (client) => client.stream('SELECT 1', {}, { format: 'JSONEachRow' })],
];

test.each(READS)(
  '%s: an engine that is gone is tried again until one may have started',
  async (_name, read) => {
    const { client, tries } = await failing(0);
    await expect(read(client)).rejects.toThrow(StoreUnavailableError);
    expect(tries()).toBe(6);
  },
);

test.each(READS)('%s: an engine that hangs is not waited for again and again', async (_name, read) => {
  const { client, tries } = await failing(60_000);
  await expect(read(client)).rejects.toThrow(StoreUnavailableError);
  expect(tries()).toBe(1);
});

test('a statement without an answer is tried again however long it took: it may be a long one', async () => {
  const { client, tries } = await failing(60_000);
  await expect(client.command('OPTIMIZE TABLE books')).rejects.toThrow(StoreUnavailableError);
  expect(tries()).toBe(6);
});
