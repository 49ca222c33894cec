import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { commandAbsent } from '../support/builtCommand.ts';
import { historyRecorded } from '../support/demoPages.ts';
import { eventually, type RunningCommand, startCommand } from '../support/runningService.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const SAME_ORIGIN = (url: string) => ({ method: 'POST', headers: { origin: url } });
const post = (url: string, path: string, body: object) =>
  fetch(`${url}${path}`, { ...SAME_ORIGIN(url), body: JSON.stringify(body) });

/** Every program of `examples/` with the last line that it prints. */
const EXAMPLES: readonly (readonly [string, RegExp])[] = [
  ['backtest.mjs', /trades_total: \d+,[\s\S]*interval_of_total_pnl: null\n}\n$/],
  ['bookChanges.mjs', /^btc-updown-5m-\d+\n(?:\S+ bid \S+ ask \S+ proven (?:true|false)\n){5}$/],
  ['calibration.py', /^(?:\d\.\d to \d\.\d: \d+ markets, Up \S+\n){10}$/],
  ['followBooks.mjs', /^(?:\S+Z?\S* 0x\w{8} \S+ \S+\n){10}$/],
];

function runExample(name: string, env: { BASE: string; KEY: string }): string {
  const program = name.endsWith('.py') ? 'python3' : process.execPath;
  const file = path.join(PROJECT_ROOT, 'examples', name);
  return execFileSync(program, [file], { encoding: 'utf8', env: { PATH: process.env.PATH, ...env } });
}

async function readiness(url: string): Promise<{ degraded: string[] }> {
  return (await (await fetch(`${url}/readyz`)).json()) as { degraded: string[] };
}

/** A function that sends requests to the API with the demo's own key. */
function askingWith(demo: RunningCommand) {
  const [, key] = /key +(\S+)/.exec(demo.out()) ?? [];
  return async <T>(path: string) => {
    const answer = await fetch(`${demo.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as T };
  };
}

/** Rows and gaps of a market that was open during the whole history. */
async function recordedRows(demo: RunningCommand, beforeMs: number) {
  const ask = askingWith(demo);
  const listed = '/v1/markets?ticker=BTC&event_type=daily_up_down&status=open&limit=10';
  const { body } = await ask<{ markets: { market_id: string; start_time: string }[] }>(listed);
  const begun = body.markets.find(({ start_time: start }) => Date.parse(start) < beforeMs);
  const id = begun?.market_id;
  const stored = await ask<{ snapshots: { ts: string }[] }>(`/v1/snapshots?market_id=${id}&limit=100000`);
  const lost = await ask<{ gaps: { start: string }[] }>(`/v1/gaps?market_id=${id}&limit=1000`);
  const [rows, { gaps }] = [stored.body.snapshots, lost.body];
  return { rows: rows.map((row) => JSON.stringify(row)), times: rows.map(({ ts }) => Date.parse(ts)), gaps };
}

describe.skipIf(commandAbsent)('underround demo (skipped without a build)', () => {
  it('records history, goes live, and prints curl lines that work unchanged', async () => {
    const environment = { UNDERROUND_DATA_DIR: path.join(temporaryDirectory(), 'data') };
    const dataDir = path.join(temporaryDirectory(), 'shown');
    const demo = await startCommand(['demo', '--hours', '0.3', '--data-dir', dataDir], environment);
    expect(demo.log()).toContain(`underround: data directory ${dataDir}\n`);
    const lines = demo
      .out()
      .split('\n')
      .filter((line) => line.trim().startsWith('curl'));
    expect(lines).toHaveLength(3);
    const answers = lines.map((line) => JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' })));
    expect(answers[0]).toMatchObject({ ok: expect.any(Boolean) });
    expect(answers[1].markets[0]).toMatchObject({
      status: 'resolved',
      outcome: expect.stringMatching(/Up|Down/),
    });
    expect(answers[2].snapshots[0].bids).toHaveLength(50);
    await historyRecorded(demo.url);
    const [, email, password] = /login +(\S+) +(\w{16}) +\(operator\)/.exec(demo.out()) ?? [];
    const signIn = await post(demo.url, '/app/sign-in', { email, password });
    expect(await signIn.json()).toMatchObject({ user: { email, tier: 'premium', operator: true } });
    expect(demo.log()).toContain('recording simulated history 100 %');
    const { headers } = await fetch(`${demo.url}/health`);
    expect(headers.get('x-data-source')).toBe('simulated');
    const [, key = ''] = /key +(\S+)/.exec(demo.out()) ?? [];
    for (const [example, printed] of EXAMPLES)
      expect(runExample(example, { BASE: demo.url, KEY: key })).toMatch(printed);
    expect(await demo.stop()).toBe(0);
  });

  it('has a test of every example', () => {
    const programs = readdirSync(path.join(PROJECT_ROOT, 'examples')).filter((name) =>
      /\.(?:mjs|py)$/.test(name),
    );
    expect(EXAMPLES.map(([name]) => name)).toEqual(programs.sort());
  });

  it('serves at once, says how far the history is, and leaves no gap or repetition in it', async () => {
    const startedMs = systemClock.now();
    const environment = { UNDERROUND_DATA_DIR: path.join(temporaryDirectory(), 'data') };
    const demo = await startCommand(['demo', '--hours', '0.5'], environment);
    const ask = askingWith(demo);
    const { degraded } = await readiness(demo.url);
    expect(degraded).toContainEqual(expect.stringMatching(/^history is being recorded: \d+ % of 0.33 h$/));
    const { headers } = await ask('/v1/markets?limit=1');
    expect(headers.get('x-history-recorded')).toMatch(/^\d+%$/);
    const link = /\/sign-in\?link=([\w-]{43})/.exec(demo.out())?.[1];
    const visits = [await post(demo.url, '/app/sign-in-link', { link })];
    visits.push(await post(demo.url, '/app/sign-in-link', { link }));
    expect(visits.map(({ status }) => status)).toEqual([200, 403]);
    await historyRecorded(demo.url);
    const { rows, times, gaps } = await recordedRows(demo, startedMs);
    // All rows, of the older part and of the newest minutes, each one once.
    expect(Math.min(...times)).toBeLessThan(startedMs - 29 * 60_000);
    expect(times.some((time) => time > startedMs - 9 * 60_000)).toBe(true);
    expect(new Set(rows).size).toBe(rows.length);
    // The only gap is the time without a recorder: between the history's end and the service's first book.
    expect(gaps.filter(({ start }) => Date.parse(start) < startedMs - 60_000)).toEqual([]);
    expect((await ask('/v1/markets?limit=1')).headers.get('x-history-recorded')).toBeNull();
    expect(`${demo.log()}${demo.out().replace(/.*sign-in\?link=.*/, '')}`).not.toContain(link);
    expect(await demo.stop()).toBe(0);
  });

  it('stops at once on Ctrl-C while recording history, which the next start records again completely', async () => {
    const environment = { UNDERROUND_DATA_DIR: path.join(temporaryDirectory(), 'data') };
    const first = await startCommand(['demo', '--hours', '0.5'], environment);
    const ended = once(first.child, 'exit');
    first.child.kill('SIGINT');
    await eventually('answer', async () => first.log().includes('stopping: ending feeds, open answers'));
    expect(await ended).toEqual([0, null]);
    expect(first.log()).not.toContain('recording simulated history 100 %');
    const killed = await startCommand(['demo', '--hours', '0.5'], environment);
    await eventually('history', async () => killed.log().includes('recording simulated history'));
    expect(await killed.stop('SIGKILL')).toBeNull();
    const startedMs = systemClock.now();
    const last = await startCommand(['demo', '--hours', '0.25'], environment);
    await historyRecorded(last.url);
    const { rows, times } = await recordedRows(last, startedMs);
    expect(new Set(rows).size).toBe(rows.length);
    // No rows of the earlier demos, whose history began earlier. The first book of a market whose window has just begun
    // may be as old as its listing, a day.
    const older = times.filter((time) => time < startedMs - 16 * 60_000);
    expect(older.filter((time) => time > startedMs - 60 * 60_000)).toEqual([]);
    expect(await last.stop()).toBe(0);
  });

  it('refuses to empty a directory not created by a demo', async () => {
    const dataDir = path.join(temporaryDirectory(), 'data');
    const { mkdirSync, writeFileSync } = await import('node:fs');
    mkdirSync(`${dataDir}-demo`);
    writeFileSync(path.join(`${dataDir}-demo`, 'precious'), '');
    await expect(startCommand(['demo'], { UNDERROUND_DATA_DIR: dataDir })).rejects.toThrow(
      `${dataDir}-demo is not a demo's directory; set UNDERROUND_DATA_DIR to another`,
    );
  });
});
