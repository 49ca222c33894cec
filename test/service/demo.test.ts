import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandAbsent } from '../support/builtCommand.ts';
import { startCommand } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe.skipIf(commandAbsent)('underround demo (skipped without a build)', () => {
  it('records history, goes live, and prints curl lines that work as they stand', async () => {
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
    const [, email, password] = /login +(\S+) +(\w{16}) +\(operator\)/.exec(demo.out()) ?? [];
    const signIn = await fetch(`${demo.url}/app/sign-in`, {
      method: 'POST',
      headers: { origin: demo.url },
      body: JSON.stringify({ email, password }),
    });
    expect(await signIn.json()).toMatchObject({ user: { email, tier: 'premium', operator: true } });
    expect(demo.log()).toContain('recording simulated history 100 %');
    const { headers } = await fetch(`${demo.url}/health`);
    expect(headers.get('x-data-source')).toBe('simulated');
    expect(await demo.stop()).toBe(0);
  });

  it('refuses to empty a directory that no demo made', async () => {
    const dataDir = path.join(temporaryDirectory(), 'data');
    const { mkdirSync, writeFileSync } = await import('node:fs');
    mkdirSync(`${dataDir}-demo`);
    writeFileSync(path.join(`${dataDir}-demo`, 'precious'), '');
    await expect(startCommand(['demo'], { UNDERROUND_DATA_DIR: dataDir })).rejects.toThrow(
      `${dataDir}-demo is not a demo's directory; set UNDERROUND_DATA_DIR to another`,
    );
  });
});
