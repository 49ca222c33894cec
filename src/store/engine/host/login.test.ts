import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/runningService.ts';
import { testHostEntry } from '../../../../test/support/store.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { Secret } from '../../../runtime/secret.ts';
import { StoreClient } from '../client.ts';
import { serverAccess } from '../serverAccess.ts';
import { Supervisor } from '../supervisor.ts';

const PASSWORD = 'right horse';
const metrics = new Metrics();
let dataDir: string;
let host: Supervisor;

async function startHost(port: number): Promise<Supervisor> {
  const listen = { host: '127.0.0.1', port, password: new Secret(PASSWORD) };
  const parts = { clock: systemClock, log: silentLogger, metrics };
  return await Supervisor.start({ dataDir, entry: await testHostEntry(), listen, ...parts });
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'underround-login-'));
  host = await startHost(0);
});
afterAll(async () => {
  await host.close();
  await rm(dataDir, { recursive: true, force: true });
});

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const refusals = async () =>
  (await metrics.registry.getSingleMetric('underround_store_refused_logins_total')?.get())?.values[0]
    ?.value ?? 0;

async function ask(path: string, headers: Record<string, string> = {}) {
  const url = `http://127.0.0.1:${host.port}${path}`;
  const answer = await fetch(url, { method: 'POST', body: 'SELECT 1', headers });
  return {
    status: answer.status,
    code: answer.headers.get('x-clickhouse-exception-code'),
    text: await answer.text(),
  };
}

describe('credentials', () => {
  const query = (password: string) => `/?${new URLSearchParams({ user: 'underround', password })}`;
  test.each([
    ['Basic', '/', { authorization: basic(`underround:${PASSWORD}`) }],
    ['headers', '/', { 'x-clickhouse-user': 'underround', 'x-clickhouse-key': PASSWORD }],
    ['parameters of the URL', query(PASSWORD), {}],
  ])('as %s are accepted', async (_name, path, headers) => {
    expect(await ask(path, headers)).toEqual({ status: 200, code: null, text: '1\n' });
  });

  test.each([
    ['none', '/', {}, 'default'],
    ['a wrong password', '/', { authorization: basic('underround:wrong') }, 'underround'],
    ['a prefix of the password', '/', { authorization: basic('underround:right') }, 'underround'],
    ['another user', '/', { authorization: basic(`default:${PASSWORD}`) }, 'default'],
    ['a user without a password', '/', { authorization: basic('underround') }, 'underround'],
    ['a wrong key', '/', { 'x-clickhouse-user': 'underround', 'x-clickhouse-key': '' }, 'underround'],
    ['a wrong parameter', query('wrong'), {}, 'underround'],
    [
      'a right parameter beside a wrong header',
      query(PASSWORD),
      { authorization: basic('underround:wrong') },
      'underround',
    ],
    ['a token', '/', { authorization: `Bearer ${PASSWORD}` }, 'default'],
  ])('%s: 403 like a ClickHouse server, counted', async (_name, path, headers, user) => {
    const before = await refusals();
    expect(await ask(path, headers as Record<string, string>)).toEqual({
      status: 403,
      code: '516',
      text: `Code: 516. DB::Exception: ${user}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)\n`,
    });
    await eventually('the count of refusals', async () => (await refusals()) === before + 1);
  });

  test('the driver refuses a wrong password at once, without showing it', async () => {
    const url = `http://underround:hunter2@127.0.0.1:${host.port}`;
    const client = new StoreClient({
      access: serverAccess(url, systemClock),
      clock: systemClock,
      log: silentLogger,
      database: 'default',
    });
    const failure = await client.rows('SELECT 1').catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'StoreRefusedError', storeCode: '516' });
    expect(String(failure)).not.toContain('hunter2');
    await client.close();
  });
});

test('ping needs no password, and parts are checked on the Unix socket alone', async () => {
  const ping = await fetch(`http://127.0.0.1:${host.port}/ping`);
  expect([ping.status, await ping.text()]).toEqual([200, 'Ok.\n']);
  expect((await ask('/check-parts')).status).toBe(403);
  const known = await ask('/check-parts', { authorization: basic(`underround:${PASSWORD}`) });
  expect(known).toMatchObject({ status: 200, text: '1\n' });
  expect(await host.checkParts([])).toMatchObject({ complete: true, broken: 0, lost: [] });
});

test('a host that died listens at the same port again', async () => {
  const before = host.port;
  const pid = host.hostPid as number;
  process.kill(pid, 'SIGKILL');
  await eventually('another host', async () => host.hostPid !== null && host.hostPid !== pid);
  await host.whenReady(10_000);
  const headers = { authorization: basic(`underround:${PASSWORD}`) };
  await eventually('an answer', async () => (await ask('/', headers)).status === 200);
  expect(host.port).toBe(before);
});

test('a stop finishes running queries first and refuses new ones', async () => {
  const headers = { authorization: basic(`underround:${PASSWORD}`) };
  const url = `http://127.0.0.1:${host.port}/`;
  const slow = fetch(url, { method: 'POST', body: 'SELECT sleep(1)', headers });
  const isRunning = async () =>
    (await (
      await fetch(url, {
        method: 'POST',
        body: "SELECT value FROM system.metrics WHERE metric = 'Query'",
        headers,
      })
    ).text()) === '2\n';
  await eventually('the running query', isRunning);
  const closing = host.close();
  expect(await (await slow).text()).toBe('0\n');
  await closing;
  await expect(fetch(url)).rejects.toThrow();
  host = await startHost(0);
});
