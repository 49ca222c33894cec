import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually, type RunningService, startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

/** The name of a part of a table with daily partitions. */
const DAILY_PART = /^\d{8}_\d+_\d+_\d+$/;

interface Snapshots {
  readonly snapshots: readonly { readonly ts: string; readonly trusted: boolean }[];
}

/** Times of the first proven books of a market. */
async function provenBooks(service: RunningService, marketId: string): Promise<string[]> {
  const { snapshots } = await service.get<Snapshots>(`/v1/snapshots?market_id=${marketId}&limit=500`);
  return snapshots.filter(({ trusted }) => trusted).map(({ ts }) => ts);
}

async function provenMarket(service: RunningService): Promise<string | null> {
  const { markets } = await service.get<{ markets: { market_id: string }[] }>('/v1/markets');
  for (const { market_id: id } of markets) if ((await provenBooks(service, id)).length >= 5) return id;
  return null;
}

/** What a power loss does to files that were not synced. */
function emptyParts(dataDir: string): void {
  const tables = join(dataDir, 'engine', 'store');
  const parts = readdirSync(tables, { recursive: true, encoding: 'utf8' }).filter((path) =>
    DAILY_PART.test(path.split('/').at(-1) as string),
  );
  expect(parts).not.toEqual([]);
  for (const part of parts) {
    for (const name of readdirSync(join(tables, part))) {
      const path = join(tables, part, name);
      if (statSync(path).isFile()) truncateSync(path, 0);
    }
  }
}

it('a service whose stored files are empty is ready once gaps cover the lost rows', async () => {
  const dataDir = temporaryDirectory();
  const venues = await startVenues();
  const service = await startService(dataDir, venues);
  const market = await eventually('a market with proven books', () => provenMarket(service));
  await service.stop('SIGKILL');
  emptyParts(dataDir);
  // With it, all rows would be stored again.
  rmSync(join(dataDir, 'journal'), { recursive: true });

  const again = await startService(dataDir, venues);
  await eventually('a ready service', async () => (await fetch(`${again.url}/readyz`)).status === 200);
  const proven = await provenBooks(again, market);
  const { gaps } = await again.get<{ gaps: { cause: string }[] }>(`/v1/gaps?market_id=${market}`);
  expect(gaps.map(({ cause }) => cause)).toContain('data_lost');
  // Each of these books stays proven.
  await eventually(
    'a newer proven book',
    async () => (await provenBooks(again, market)).length > proven.length,
  );
  expect(await provenBooks(again, market)).toEqual(expect.arrayContaining(proven));
  expect(await again.stop()).toBe(0);
  await venues.stop();
});
