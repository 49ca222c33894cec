import { describe, expect, it, vi } from 'vitest';
import { runClean } from '../support/cleanFeed.ts';

vi.mock('ws', async () => ({ WebSocket: (await import('../support/memorySockets.ts')).MemoryWebSocket }));

describe('the watchdog over a clean feed', () => {
  it('opens no gap and marks no book untrusted in five minutes at 900 frames a second', async () => {
    const run = await runClean({ minutes: 5 });
    expect(run.framesPerSecond).toBeGreaterThanOrEqual(900);
    expect(run.gaps).toEqual([]);
    expect(run.untrustedBooks).toBe(0);
    expect(run.wrong).toEqual([]);
  });

  it('opens no gap in a quiet night, with one slow series and a second between its frames', async () => {
    const run = await runClean({
      minutes: 20,
      density: 0.005,
      tickers: ['SOL'],
      eventTypes: ['1h', '4h', 'daily_up_down'],
    });
    expect(run.framesPerSecond).toBeLessThan(10);
    expect(run.gaps).toEqual([]);
    expect(run.wrong).toEqual([]);
  });

  it('opens no gap in hours of assets whose books change once in many seconds', async () => {
    const run = await runClean({ minutes: 20, tickers: ['HYPE', 'ZEC'] });
    expect(run.framesPerSecond).toBeLessThan(20);
    expect(run.gaps).toEqual([]);
    expect(run.wrong).toEqual([]);
  });
});
