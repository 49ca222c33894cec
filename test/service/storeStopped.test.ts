import { describe, expect, it, onTestFinished } from 'vitest';
import { commandAbsent } from '../support/builtCommand.ts';
import { enginePidOf, eventually, startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

interface Market {
  readonly market_id: string;
  readonly start_time: string;
}
interface Orderbook {
  readonly market_id: string;
  readonly ts: string;
  readonly trusted: boolean;
}

describe.skipIf(commandAbsent)('while the engine is stopped (skipped without a build)', () => {
  it('serves the current book and the next window, and stores them when it runs again', async () => {
    const venues = await startVenues();
    onTestFinished(() => venues.stop());
    const service = await startService(temporaryDirectory(), venues);
    const of = (kind: string) => `/v1/markets?ticker=BTC&event_type=${kind}`;
    const [next, inPlay] = await eventually('a window of a day in play, and the one after it', async () => {
      const { markets } = await service.get<{ markets: Market[] }>(of('daily_up_down'));
      const [later, now] = markets;
      const book = await service.get<Orderbook>(`/v1/markets/${now?.market_id}/orderbook`);
      return later && now && book.trusted && Date.parse(later.start_time) > Date.now() && [later, now];
    });
    const enginePid = enginePidOf(service);
    process.kill(enginePid, 'SIGSTOP');
    const stoppedMs = Date.now();
    let book: Orderbook;
    try {
      book = await eventually('a book newer than the engine’s stop', async () => {
        const newest = await service.get<Orderbook>(`/v1/markets/${inPlay.market_id}/orderbook`);
        return Date.parse(newest.ts) > stoppedMs + 1_000 && newest.trusted && newest;
      });
      const { market_id: found } = await service.get<Market>(`/v1/markets/${next.market_id}`);
      expect(found).toBe(next.market_id);
    } finally {
      process.kill(enginePid, 'SIGCONT');
    }
    const { market_id: marketId, ...state } = book;
    const from = `market_id=${marketId}&start=${encodeURIComponent(book.ts)}`;
    const stored = await eventually('rows from the same time on', async () => {
      const { snapshots } = await service.get<{ snapshots: object[] }>(`/v1/snapshots?${from}`);
      return snapshots.length > 0 && snapshots;
    });
    expect(stored).toContainEqual(state);
    expect(await service.stop()).toBe(0);
  });
});
