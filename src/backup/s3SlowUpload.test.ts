/** In a file of its own: the HTTP client keeps the timers that it made first. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { S3_VARIABLES } from '../../test/support/s3Server.ts';
import { openBackupStorage } from './openStorage.ts';

const PIECE_BYTES = 32 * 1024 * 1024;

/**
 * A server that reads at most 256 KiB of a request in each step. A step ends when bytes moved or the upload is over,
 * however busy the machine is.
 */
async function slowServer() {
  let [socket, found, wanted]: [Socket | null, number, number] = [null, 0, Number.POSITIVE_INFINITY];
  const server = createServer((accepted) => {
    socket = accepted.on('readable', () => undefined).on('error', () => undefined);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const stepMs = async (byMs: number, isOver: () => boolean) => {
    vi.advanceTimersByTime(byMs);
    for (let turn = 0; turn < 4; turn++) {
      let bytes: Buffer | null = socket?.read() ?? null;
      while (bytes === null && !isOver()) {
        await new Promise((resolve) => setImmediate(resolve));
        bytes = socket?.read() ?? null;
      }
      if (found === 0 && bytes !== null) wanted = bytes.indexOf('\r\n\r\n') + 4 + PIECE_BYTES;
      found += bytes?.length ?? 0;
      if (found >= wanted) socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      for (let wait = 0; wait < 4; wait++) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stepMs };
}

test('an upload on a slow line lasts as long as bytes move', async () => {
  const { url: s3Endpoint, stepMs } = await slowServer();
  const clock = new FakeClock(1_700_000_000_000);
  const parts = { variables: S3_VARIABLES, clock, random: () => 0.5 };
  const storage = openBackupStorage('s3://books', { s3Endpoint }, parts);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let result: unknown = 'uploading';
  void storage.write('objects/a', Buffer.alloc(PIECE_BYTES)).then(
    () => (result = 'stored'),
    (error: unknown) => (result = error),
  );
  let steps = 0;
  for (; result === 'uploading' && steps < 1_000; steps++) await stepMs(1_000, () => result !== 'uploading');
  expect(result).toBe('stored');
  // Longer than the silence after which an upload fails.
  expect(steps).toBeGreaterThan(70);
});
