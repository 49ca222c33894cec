import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VenueServer } from '../../src/simulator/server.ts';
import { slugOf, windowAt } from '../../src/venues/polymarket/windows.ts';
import { commandAbsent } from '../support/builtCommand.ts';
import { eventually, type RunningService, startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

interface Snapshot {
  ts: string;
  yes_bids: unknown[];
  yes_asks: unknown[];
  trusted: boolean;
}

/** The market whose window is in play, once the service has recorded some of its changes. */
async function marketInPlay(service: RunningService): Promise<string> {
  return eventually('a recorded BTC 5m market', async () => {
    const slug = slugOf('BTC', '5m', windowAt('5m', Date.now()));
    const { markets } = await service.get<{ markets: { market_id: string; slug: string }[] }>(
      '/v1/markets?ticker=BTC&event_type=5m',
    );
    const id = markets.find((market) => market.slug === slug)?.market_id;
    return id !== undefined && (await snapshots(service, id)).length > 20 && id;
  });
}

async function snapshots(service: RunningService, marketId: string): Promise<Snapshot[]> {
  return (await service.get<{ snapshots: Snapshot[] }>(`/v1/snapshots?market_id=${marketId}&limit=100000`))
    .snapshots;
}

/** Every row is a change: equal neighbours would be the same change stored twice. */
function expectNoDuplicates(rows: readonly Snapshot[]): void {
  const ladders = rows.map(({ yes_bids, yes_asks }) => JSON.stringify([yes_bids, yes_asks]));
  expect(ladders.filter((ladder, i) => i > 0 && ladder === ladders[i - 1])).toEqual([]);
  expect(rows.map(({ ts }) => ts)).toEqual(rows.map(({ ts }) => ts).sort());
}

describe.skipIf(commandAbsent)('the service when processes die (skipped without a build)', () => {
  let venues: VenueServer;
  beforeAll(async () => {
    venues = await startVenues();
  });
  afterAll(() => venues.stop());

  it('after kill -9 records the loss as a gap, goes on without duplicates, and stops cleanly', async () => {
    const dataDir = temporaryDirectory();
    const first = await startService(dataDir, venues);
    const marketId = await marketInPlay(first);
    const before = await snapshots(first, marketId);
    await first.stop('SIGKILL');

    const second = await startService(dataDir, venues);
    expect(second.startedInMs).toBeLessThan(15_000);
    const after = await eventually('rows after the crash', async () => {
      const rows = await snapshots(second, marketId);
      return rows.length > before.length + 5 && rows;
    });
    // What had been readable is still there, in the same order.
    expect(after.slice(0, before.length)).toEqual(before);
    expectNoDuplicates(after);
    const { gaps } = await eventually('a closed gap', async () => {
      const answer = await second.get<{ gaps: { cause: string; start: string; end: string | null }[] }>(
        `/v1/gaps?market_id=${marketId}`,
      );
      return answer.gaps.some(({ end }) => end !== null) && answer;
    });
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toMatchObject({ cause: 'process_down', repaired_by: 'snapshot' });

    const lastSeen = (await snapshots(second, marketId)).length;
    expect(await second.stop('SIGTERM')).toBe(0);
    const third = await startService(dataDir, venues);
    const reread = await snapshots(third, marketId);
    expect(reread.length).toBeGreaterThanOrEqual(lastSeen);
    expectNoDuplicates(reread);
    await third.stop();
  }, 120_000);

  it('goes on when the engine dies under it, and loses nothing', async () => {
    const service = await startService(temporaryDirectory(), venues);
    const marketId = await marketInPlay(service);
    const before = await snapshots(service, marketId);
    const enginePid = Number(
      /"pid":(\d+)/.exec(
        service
          .log()
          .split('\n')
          .find((line) => line.includes('store.host.ready')) ?? '',
      )?.[1],
    );
    expect(enginePid).toBeGreaterThan(0);
    process.kill(enginePid, 'SIGKILL');
    const after = await eventually('rows after the engine came back', async () => {
      const rows = await snapshots(service, marketId);
      return rows.length > before.length + 10 && rows;
    });
    expect(after.slice(0, before.length)).toEqual(before);
    expectNoDuplicates(after);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('underround_store_engine_restarts_total 1');
    const { gaps } = await service.get<{ gaps: unknown[] }>(`/v1/gaps?market_id=${marketId}`);
    expect(gaps).toEqual([]);
    expect(await service.stop()).toBe(0);
  }, 120_000);
});
