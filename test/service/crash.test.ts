import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VenueServer } from '../../src/simulator/server.ts';
import { slugOf, windowAt } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { commandAbsent } from '../support/builtCommand.ts';
import { kindsInPlay } from '../support/inPlay.ts';
import {
  enginePidOf,
  eventually,
  type RunningService,
  startService,
  startVenues,
} from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

interface Snapshot {
  ts: string;
  yes_bids: unknown[];
  yes_asks: unknown[];
  trusted: boolean;
}

/** A market of a window that stays open, after the service has recorded some of its changes. */
async function marketInPlay(service: RunningService): Promise<string> {
  const [kind = '5m'] = await kindsInPlay(1);
  const slug = slugOf('BTC', kind, windowAt(kind, Date.now()));
  return eventually(`a recorded market ${slug}`, async () => {
    const { markets } = await service.get<{ markets: { market_id: string; slug: string }[] }>(
      `/v1/markets?ticker=BTC&event_type=${kind}`,
    );
    const id = markets.find((market) => market.slug === slug)?.market_id;
    return id !== undefined && (await snapshots(service, id)).length > 20 && id;
  });
}

async function snapshots(service: RunningService, marketId: string): Promise<Snapshot[]> {
  return (await service.get<{ snapshots: Snapshot[] }>(`/v1/snapshots?market_id=${marketId}&limit=100000`))
    .snapshots;
}

/** The gaps of one cause; a machine that stalls may open others for a silent feed. */
async function gapsBy(service: RunningService, marketId: string, cause: string) {
  const { gaps } = await service.get<{
    gaps: { cause: string; end: string | null; repaired_by: string | null }[];
  }>(`/v1/gaps?market_id=${marketId}`);
  return gaps.filter((gap) => gap.cause === cause);
}

/** Every row is a change: equal neighbours would be one change stored twice. */
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

  it('records the loss after kill -9 as a gap, continues without duplicates, and stops cleanly', async () => {
    const dataDir = temporaryDirectory();
    const first = await startService(dataDir, venues);
    const marketId = await marketInPlay(first);
    const before = await snapshots(first, marketId);
    await first.stop('SIGKILL');

    const second = await startService(dataDir, venues);
    const after = await eventually('rows after the crash', async () => {
      const rows = await snapshots(second, marketId);
      return rows.length > before.length + 5 && rows;
    });
    // Rows that were readable before are still there, in the same order.
    expect(after.slice(0, before.length)).toEqual(before);
    expectNoDuplicates(after);
    const gaps = await eventually('a closed gap', async () => {
      const found = await gapsBy(second, marketId, 'process_down');
      return found.some(({ end }) => end !== null) && found;
    });
    expect(gaps).toMatchObject([{ repaired_by: 'snapshot' }]);

    const lastSeen = (await snapshots(second, marketId)).length;
    expect(await second.stop('SIGTERM')).toBe(0);
    const third = await startService(dataDir, venues);
    const reread = await snapshots(third, marketId);
    expect(reread.length).toBeGreaterThanOrEqual(lastSeen);
    expectNoDuplicates(reread);
    await third.stop();
  });

  it('continues without loss when its engine is killed', async () => {
    const service = await startService(temporaryDirectory(), venues);
    const marketId = await marketInPlay(service);
    const before = await snapshots(service, marketId);
    process.kill(enginePidOf(service), 'SIGKILL');
    const after = await eventually('rows after the engine came back', async () => {
      const rows = await snapshots(service, marketId);
      return rows.length > before.length + 10 && rows;
    });
    expect(after.slice(0, before.length)).toEqual(before);
    expectNoDuplicates(after);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('underround_store_engine_restarts_total 1');
    for (const cause of ['store_down', 'process_down']) {
      expect(await gapsBy(service, marketId, cause)).toEqual([]);
    }
    expect(await service.stop()).toBe(0);
  });
});
