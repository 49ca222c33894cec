import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { createRun, disown, otherWriter } from './runDirectory.ts';

describe('otherWriter', () => {
  it('names a living process of the same writer, and no other', async () => {
    const journal = temporaryDirectory();
    const run = await createRun(journal, 'main', 'r1');
    // Our own run is no other's.
    expect(await otherWriter(journal, 'main')).toBeNull();
    const child = spawn('sleep', ['60']);
    const start = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ')[21];
    writeFileSync(join(run.path, 'owner'), JSON.stringify({ pid: child.pid, start }));
    expect(await otherWriter(journal, 'main')).toBe(child.pid);
    expect(await otherWriter(journal, 'import')).toBeNull();
    // The same id with another start time is another process.
    writeFileSync(join(run.path, 'owner'), JSON.stringify({ pid: child.pid, start: '1' }));
    expect(await otherWriter(journal, 'main')).toBeNull();
    writeFileSync(join(run.path, 'owner'), JSON.stringify({ pid: child.pid, start }));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await otherWriter(journal, 'main')).toBeNull();
    await disown(run);
    expect(await otherWriter(journal, 'main')).toBeNull();
  });
});
