import { join } from 'node:path';
import { expect, it } from 'vitest';
import { underround } from '../support/builtCommand.ts';
import { limitedDisk, mayMount } from '../support/limitedDisk.ts';
import { type RunningCommand, setupTokenOf, startCommand } from '../support/runningService.ts';
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
