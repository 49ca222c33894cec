import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SqliteFile } from '../../src/control/sqliteFile.ts';
import { TRADES } from '../support/alwaysTrades.ts';
import { underround } from '../support/builtCommand.ts';
import { limitedDisk, mayMount } from '../support/limitedDisk.ts';
import {
  eventually,
  type RunningCommand,
  setupTokenOf,
  startCommand,
  startService,
  startVenues,
} from '../support/runningService.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

const DISK_MIB = 512;
const CREDENTIALS = { email: 'op@example.com', password: 'correct horse battery' };

/** @returns The session cookie, or the status of a refusal. */
async function send({ url }: RunningCommand, path: string, body: object): Promise<string | number> {
  const headers = { origin: url, 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return answer.ok ? (answer.headers.getSetCookie()[0]?.split(';')[0] ?? '') : answer.status;
}

async function statusOf(
  { url }: RunningCommand,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  return (await fetch(url + path, { headers })).status;
}

it.skipIf(!mayMount('ext4'))(
  'a power loss right after their answers undoes no sign-up and no key',
  async () => {
    const disk = limitedDisk('ext4', DISK_MIB);
    const dataDir = join(disk.path, 'data');
    const environment = { ...VENUES_OFF, UNDERROUND_DATA_DIR: dataDir };
    const service = await startCommand(['serve'], environment);
    const cookie = await send(service, '/app/sign-up', {
      ...CREDENTIALS,
      setup: await setupTokenOf(service),
    });
    const words = ['keys', 'create', '--email', CREDENTIALS.email, '--label', 'bot', '--json'];
    const { key } = JSON.parse(await underround(words, environment));
    disk.fail();
    await service.stop('SIGKILL');
    await disk.repair();

    const again = await startCommand(['serve'], environment);
    expect(await statusOf(again, '/app/me', { cookie: String(cookie) })).toBe(200);
    expect(await statusOf(again, '/v1/markets', { authorization: `Bearer ${key}` })).toBe(200);
    expect(await again.stop()).toBe(0);
  },
);

interface Positions {
  readonly positions: readonly { readonly position_id: string }[];
}

it.skipIf(!mayMount('ext4'))('a power loss undoes no position that is older than a few seconds', async () => {
  const disk = limitedDisk('ext4', DISK_MIB);
  const dataDir = join(disk.path, 'data');
  const venues = await startVenues();
  const service = await startService(dataDir, venues);
  const answer = await fetch(`${service.url}/v1/paper/strategies`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ name: 'power loss', strategy: TRADES, size_usd: 10 },
      universe: { ticker: 'BTC', event_type: '5m' },
    }),
  });
  const { paper_strategy_id: id } = (await answer.json()) as { paper_strategy_id: string };
  const known = await eventually('a position', async () => {
    const { positions } = await service.get<Positions>(`/v1/paper/strategies/${id}/positions`);
    return positions.length > 0 && positions.map((position) => position.position_id);
  });
  const knownAtMs = Date.now();
  // The log is synced every quarter of a second, and a busy machine may be late.
  await eventually('some seconds', async () => Date.now() - knownAtMs > 5_000);
  disk.fail();
  await service.stop('SIGKILL');
  await disk.repair();
  await venues.stop();

  // Read from the file itself: a start would trade the missed moments once more.
  const file = new SqliteFile(join(dataDir, 'control.sqlite'));
  const kept = file
    .rows<{ id: string }>('SELECT position_id AS id FROM paper_positions')
    .map((row) => row.id);
  file.close();
  expect(kept).toEqual(expect.arrayContaining([...known]));
});
