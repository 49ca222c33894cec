import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { VENUES_OFF } from '../../test/support/venuesOff.ts';
import { noteBackup } from '../ops/backupRecord.ts';
import { VenueDrift } from '../runtime/venueDrift.ts';
import { formatTime } from '../schema/time.ts';
import { writeDriftReport } from '../venues/drift/driftReport.ts';
import { Quarantine } from '../venues/drift/quarantine.ts';
import { registerDoctor } from './doctor.ts';

const { run: runAll, json, dataDir } = commandLine(registerDoctor);
beforeEach(() => {
  Object.assign(process.env, VENUES_OFF, { UNDERROUND_PORT: '0', UNDERROUND_DISK_RESERVE: '1MiB' });
});

/** Runs a command without its last output, the checks. */
async function run(...words: string[]) {
  const { out, ...rest } = await runAll(...words);
  return { ...rest, out: out.filter((text) => !text.startsWith('\nChecks\n')) };
}

type Check = { check: string; state: string; finding: string; next: string | null };

async function checks(): Promise<Map<string, Check>> {
  const { out } = await runAll('doctor', '--json');
  const { checks: found } = JSON.parse(out[0] ?? '') as { checks: Check[] };
  return new Map(found.map((one) => [one.check, one]));
}
/** The report forgets old findings by the clock of the machine, so the test's are in the future. */
const T0 = Date.parse('2100-01-01T00:00:00Z');

async function seen(): Promise<void> {
  const drift = new VenueDrift();
  const field = { category: 'unknown_field', feed: 'polymarket.clob', kind: 'book', key: 'depth' } as const;
  drift.note(field, T0, () => 'a\u001b[31mb');
  drift.note(field, T0 + 60_000, () => 1);
  const topic = { feed: 'polymarket.rtds', kind: 'subscription', key: 'twap btc/usd' };
  drift.note({ category: 'silent_topic', ...topic }, T0, () => 'never delivered');
  const hash = { category: 'hash_recipe', feed: 'polymarket.clob', kind: 'book', key: '0xab' } as const;
  drift.note(hash, T0, () => 'h');
  drift.setAside({
    feed: 'binance',
    kind: 'auction',
    reason: 'unknown kind',
    receivedTimeMs: T0,
    text: '{}',
  });
  await writeDriftReport(dataDir(), drift, T0);
  await new Quarantine(dataDir()).add(drift.takeSetAside());
}

it('says that there is no report while no service has saved one, and names the frames all the same', async () => {
  const none =
    'no report yet: no service of this version has recorded into this directory; start one with `underround serve`';
  expect(await run('doctor')).toEqual({ out: [none], err: [], exit: undefined });
  expect(await json('doctor')).toMatchObject({
    ...{ saved_at: null, findings: [], overflow: [], quarantine: [] },
  });
  const frame = { feed: 'f', kind: 'k', reason: 'r', order: 0, wasCut: false };
  await new Quarantine(dataDir()).add([{ ...frame, receivedTimeMs: T0, text: '{}' }]);
  const { out } = await run('doctor');
  expect(out.slice(0, 3)).toEqual([
    none,
    '',
    'Set-aside frames (`underround import --quarantine` tries them again)',
  ]);
});

it('says that no drift was seen', async () => {
  await writeDriftReport(dataDir(), new VenueDrift(), T0);
  expect(await run('doctor')).toEqual({ out: ['no drift seen'], err: [], exit: undefined });
  const saved_at = '2100-01-01T00:00:00.000+00:00';
  expect(await json('doctor')).toMatchObject({ saved_at, findings: [], overflow: [], quarantine: [] });
});

it('prints each kind of finding with its times, its count and a sample, on one line without control characters', async () => {
  await seen();
  const { out, exit } = await run('doctor');
  const day = '2100-01-01T00:0';
  expect(out.join('\n').replaceAll(/ {2,}/g, '  ').split('\n')).toEqual([
    'Unknown fields',
    'FEED  MESSAGE  WHAT  FIRST SEEN  LAST SEEN  COUNT  SAMPLE',
    `polymarket.clob  book  depth  ${day}0:00.000+00:00  ${day}1:00.000+00:00  2  a [31mb`,
    '',
    'Markets whose book hashes do not verify',
    'FEED  MESSAGE  WHAT  FIRST SEEN  LAST SEEN  COUNT  SAMPLE',
    `polymarket.clob  book  0xab  ${day}0:00.000+00:00  ${day}0:00.000+00:00  1  h`,
    '',
    'Silent topics (COUNT: minutes)',
    'FEED  MESSAGE  WHAT  FIRST SEEN  LAST SEEN  COUNT  SAMPLE',
    `polymarket.rtds  subscription  twap btc/usd  ${day}0:00.000+00:00  ${day}0:00.000+00:00  1  never delivered`,
    '',
    'Set-aside frames (`underround import --quarantine` tries them again)',
    'FEED  MESSAGE  FRAMES  OLDEST  NEWEST  REASON',
    `binance  auction  1  ${day}0:00.000+00:00  ${day}0:00.000+00:00  unknown kind`,
  ]);
  expect(exit).toBeUndefined();
});

it('prints the same as JSON', async () => {
  await seen();
  const report = await json('doctor');
  const at = '2100-01-01T00:00:00.000+00:00';
  expect(report.saved_at).toBe(at);
  expect(report.findings).toHaveLength(3);
  expect(report.findings[0]).toEqual({
    ...{ category: 'unknown_field', feed: 'polymarket.clob', kind: 'book', key: 'depth' },
    ...{ first_seen: at, last_seen: '2100-01-01T00:01:00.000+00:00', count: 2, sample: 'a\u001b[31mb' },
  });
  expect(report.quarantine).toEqual([
    { feed: 'binance', kind: 'auction', frames: 1, reason: 'unknown kind', oldest: at, newest: at },
  ]);
});

it('refuses a directory that does not exist', async () => {
  rmSync(dataDir(), { recursive: true });
  const { out, err, exit } = await run('doctor');
  expect([out, exit]).toEqual([[], 1]);
  expect(err).toEqual([
    `underround: there is no data directory ${dataDir()}; name the directory of a service with --data-dir or UNDERROUND_DATA_DIR`,
  ]);
});

it('checks this machine and its configuration, each with the next step', async () => {
  const found = await checks();
  expect([...found.keys()]).toEqual([
    ...['versions', 'lock', 'engine', 'disk', 'descriptors', 'port', 'credentials', 'proxy', 'backup'],
  ]);
  expect(found.get('lock')?.finding).toBe('no service records into the data directory');
  expect(found.get('engine')?.finding).toBe('the embedded engine is not running');
  expect(found.get('disk')?.finding).toMatch(/MiB free beyond the reserve; growth is unknown before/);
  expect(found.get('credentials')?.finding).toBe('none for Polymarket: PolyBolt is not opened');
  expect((await runAll('doctor')).out.at(-1)).toMatch(
    /^\nChecks\nSTATE +CHECK +FINDING +NEXT STEP\nok +versions /,
  );
});

it('names an engine that holds the directory and does not answer', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()', '--', '--socket', '/s']);
  onTestFinished(() => void child.kill('SIGKILL'));
  mkdirSync(join(dataDir(), 'engine'), { recursive: true });
  writeFileSync(join(dataDir(), 'engine', 'status'), `PID: ${child.pid}\n`);
  expect((await checks()).get('engine')).toMatchObject({
    state: 'fail',
    finding: `process ${child.pid} is the embedded engine and does not answer`,
    next: expect.stringContaining(`kill -CONT ${child.pid}`),
  });
});

it('warns when no proven backup is young enough', async () => {
  process.env.UNDERROUND_BACKUP_MAX_AGE = '3';
  expect((await checks()).get('backup')).toMatchObject({
    state: 'warn',
    next: 'run `underround backup PLACE --verify` (docs/BACKUP.md)',
  });
  const nowMs = Date.now();
  await noteBackup(dataDir(), { proven: { id: 'b', place: '/p', time_ms: nowMs } });
  expect((await checks()).get('backup')).toMatchObject({
    ...{ state: 'ok', next: null },
    finding: `none was written; proven ${formatTime(nowMs)}`,
  });
});

async function venue(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('asks each venue for its clock, and fails where one does not answer', async () => {
  process.env.UNDERROUND_GAMMA_URL = await venue((_, response) => response.end());
  process.env.UNDERROUND_RTDS_URL = (await venue((_, response) => response.writeHead(426).end())).replace(
    'http',
    'ws',
  );
  process.env.UNDERROUND_CLOB_URL = await venue((_, response) =>
    response.writeHead(200, { date: 'Fri, 01 Jan 2100 00:00:00 GMT' }).end(),
  );
  process.env.UNDERROUND_PERP_OKX_URL = await venue((_, response) => response.writeHead(451).end());
  process.env.UNDERROUND_SPOT_REST_URL = await venue((_, response) => response.destroy());
  const found = await checks();
  expect(process.exitCode).toBe(1);
  const states = [...found]
    .filter(([name]) => name.startsWith('venue '))
    .map(([name, { state }]) => [name, state]);
  expect(Object.fromEntries(states)).toEqual({
    ...{ 'venue gamma': 'ok', 'venue clob': 'warn', 'venue rtds': 'ok' },
    ...{ 'venue spot rest': 'fail', 'venue perp okx': 'warn' },
  });
  expect(found.get('venue clob')?.finding).toMatch(/its clock is \d{9,}\.\d s from this machine's$/);
  expect(found.get('venue perp okx')?.next).toBe(
    'read the terms of the venue: it may not serve this address or region',
  );
  expect(found.get('venue spot rest')?.next).toContain('check name resolution, routes, firewall');
});
