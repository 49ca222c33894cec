import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitedDisk, mayMount } from '../support/limitedDisk.ts';
import { eventually, type RunningService, startService, startVenues } from '../support/runningService.ts';

const DISK_MIB = 512;

interface Gaps {
  readonly gaps: readonly { cause: string; start: string }[];
}

async function storedBooks(service: RunningService, marketId: string): Promise<number> {
  const path = `/v1/snapshots?market_id=${marketId}&limit=5`;
  return (await service.get<{ snapshots: unknown[] }>(path)).snapshots.length;
}

const readiness = async ({ url }: RunningService) => await (await fetch(`${url}/readyz`)).text();
const isReady = async ({ url }: RunningService) => (await fetch(`${url}/readyz`)).status === 200;

describe('a service whose disk fails', () => {
  it.skipIf(!mayMount('ext4'))(
    'says so, sets no row aside for it, and after the repair has its rows and a gap for the rest',
    async () => {
      const disk = limitedDisk('ext4', DISK_MIB);
      const dataDir = join(disk.path, 'data');
      const venues = await startVenues();
      const service = await startService(dataDir, venues);
      await eventually('a service that is ready', () => isReady(service));
      const market = await eventually('a market with stored books', async () => {
        const { markets } = await service.get<{ markets: { market_id: string }[] }>('/v1/markets');
        for (const { market_id: id } of markets) if ((await storedBooks(service, id)) === 5) return id;
        return null;
      });

      disk.fail();
      const failedMs = Date.now();
      await eventually('the reason', async () =>
        (await readiness(service)).includes('journal cannot be written'),
      );
      await eventually('its lag', async () => /stored data is \d+ s behind/.test(await readiness(service)));
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      expect(metrics).toMatch(/^underround_store_rejected_rows_total 0$/m);
      // The stop could not save all rows.
      expect(await service.stop()).toBe(1);

      await disk.repair();
      const again = await startService(dataDir, venues);
      await eventually('a service that is ready', () => isReady(again));
      expect(await storedBooks(again, market)).toBe(5);
      const gap = await eventually('the gap', async () => {
        const { gaps } = await again.get<Gaps>(`/v1/gaps?market_id=${market}`);
        return gaps.find(({ cause }) => cause === 'process_down');
      });
      expect(Date.parse(gap.start)).toBeLessThanOrEqual(failedMs);
      expect(await again.stop()).toBe(0);
      await venues.stop();
    },
  );
});
