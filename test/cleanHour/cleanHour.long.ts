import { expect, it, vi } from 'vitest';
import { runClean } from '../support/cleanFeed.ts';

vi.mock('ws', async () => ({ WebSocket: (await import('../support/memorySockets.ts')).MemoryWebSocket }));

it('opens no gap in an hour of clean traffic at 900 frames a second', async () => {
  const run = await runClean({
    minutes: 60,
    onMinute: (minute, { frames, sink }) =>
      process.stdout.write(`minute ${minute}: ${frames} frames, ${sink.gaps.size} gaps\n`),
  });
  process.stdout.write(`${JSON.stringify(run)}\n`);
  expect(run.framesPerSecond).toBeGreaterThanOrEqual(900);
  expect(run.gaps).toEqual([]);
  expect(run.untrustedBooks).toBe(0);
  expect(run.wrong).toEqual([]);
});
