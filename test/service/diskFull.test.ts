import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitedDisk, mayMount } from '../support/limitedDisk.ts';
import { eventually, startService, startVenues } from '../support/runningService.ts';

const DISK_MIB = 96;

/** Reads from the store, from memory and from the control database. */
const reads = (marketId: string) => [
  '/health',
  '/v1/markets?limit=5',
  `/v1/snapshots?market_id=${marketId}&limit=5`,
  `/v1/gaps?market_id=${marketId}`,
  '/v1/arb/live',
  '/v1/paper/strategies',
];

describe('a service on a full disk', () => {
  it.skipIf(!mayMount('tmpfs'))(
    'answers requests, reports why it is not ready, and recovers when space is free',
    async () => {
      const disk = limitedDisk('tmpfs', DISK_MIB);
      const venues = await startVenues();
      const service = await startService(join(disk.path, 'data'), venues);
      const call = async (path: string) => {
        const headers = { authorization: `Bearer ${service.key}` };
        const answer = await fetch(service.url + path, { headers });
        return { status: answer.status, body: await answer.text() };
      };
      const marketId = await eventually('a market', async () => {
        const { body } = await call('/v1/markets?limit=1');
        return /"market_id": ?"(0x[0-9a-f]+)"/.exec(body)?.[1];
      });
      const statuses = async () => {
        const answers = await Promise.all(reads(marketId).map(call));
        return answers.map(({ status }) => status);
      };
      const allGood = reads(marketId).map(() => 200);
      expect(await statuses()).toEqual(allGood);
      await eventually('a service that is ready', async () => (await call('/readyz')).status === 200);

      disk.fill();
      const ready = await eventually('a service that is not ready', async () => {
        const answer = await call('/readyz');
        return answer.status === 503 ? answer.body : null;
      });
      expect(ready).toMatch(/the disk has \d+ MiB free, the reserve is 16 MiB: only the journal is written/);
      expect(await statuses()).toEqual(allGood);
      expect((await call('/metrics')).body).toContain('underround_disk_guard 1');

      disk.free();
      await eventually('a service that is ready', async () => (await call('/readyz')).status === 200);
      expect(await statuses()).toEqual(allGood);
      expect(await service.stop()).toBe(0);
      await venues.stop();
    },
  );
});
