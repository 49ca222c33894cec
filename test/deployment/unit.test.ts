import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SERVICE_VARIABLES } from '../support/serviceVariables.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const UNIT = readFileSync(join(PROJECT_ROOT, 'deploy/underround.service'), 'utf8');
const COMMAND = '/opt/underround/bin/underround';
/** In tenths of a point from 0 to 10, as an option of `systemd-analyze security`. Below 2 points is "OK". */
const EXPOSURE_MAX_TENTHS = 15;
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

/** The values of each key; a key with several values may occur several times. */
const values = new Map<string, string[]>();
for (const [, key = '', value = ''] of UNIT.matchAll(/^(\w+)=(.*)$/gm)) {
  values.set(key, [...(values.get(key) ?? []), value]);
}
const only = (key: string) => values.get(key) ?? [];

describe('deploy/underround.service', () => {
  it('consists of sections, comments and assignments', () => {
    const lines = UNIT.split('\n').filter((line) => line !== '' && !/^(?:#|\w+=)/.test(line));
    expect(lines).toEqual(['[Unit]', '[Service]', '[Install]']);
    const twice = [...values].filter(([, found]) => found.length > 1).map(([key]) => key);
    expect(twice).toEqual(['Environment', 'SystemCallFilter']);
  });

  it('starts the command as its own user, with a data directory of that user', () => {
    expect(only('ExecStart')).toEqual([`${COMMAND} serve`]);
    expect([
      ...only('User'),
      ...only('StateDirectory'),
      ...only('StateDirectoryMode'),
      ...only('UMask'),
    ]).toEqual(['underround', 'underround', '0700', '0077']);
    expect(only('Environment')).toContain('UNDERROUND_DATA_DIR=/var/lib/underround');
  });

  it('sets variables that the service reads', () => {
    const names = only('Environment').map((assignment) => assignment.split('=')[0] as string);
    expect(names.filter((name) => !SERVICE_VARIABLES.includes(name))).toEqual([]);
  });

  it('gives the service more time to stop than the service gives itself', () => {
    const running = readFileSync(join(PROJECT_ROOT, 'src/cli/running.ts'), 'utf8');
    const [, limitMs = ''] = /STOP_LIMIT_MS = ([\d_]+);/.exec(running) ?? [];
    const givenMs = Number(only('TimeoutStopSec')[0]?.replace(/s$/, '')) * 1000;
    expect(givenMs).toBeGreaterThan(Number(limitMs.replaceAll('_', '')));
  });
});

describe.skipIf(!hasSystemd)('systemd-analyze (skipped where it is not installed)', () => {
  /** The unit with a command that exists on this machine. */
  const unit = () => {
    const file = join(temporaryDirectory(), 'underround.service');
    writeFileSync(file, UNIT.replace(COMMAND, process.execPath));
    return file;
  };

  it('reports no problem of the unit', () => {
    const file = unit();
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    // It also reports problems of the machine's other units.
    expect(stderr.split('\n').filter((line) => line.includes(file))).toEqual([]);
  });

  it('rates its exposure as low', () => {
    const threshold = `--threshold=${EXPOSURE_MAX_TENTHS}`;
    const words = ['security', '--offline=true', '--no-pager', threshold, unit()];
    expect(spawnSync('systemd-analyze', words).status).toBe(0);
  });
});
