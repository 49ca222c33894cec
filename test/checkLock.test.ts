import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from './support/sourceFiles.ts';
import { temporaryDirectory } from './support/temporaryDirectory.ts';

interface LockFile {
  packages: Record<
    string,
    {
      version?: string;
      integrity?: string;
      resolved?: string;
      optional?: boolean;
      hasInstallScript?: boolean;
      dev?: boolean;
    }
  >;
}

/** Runs the check on the project's lock file with one change. */
function check(change: (packages: LockFile['packages']) => void) {
  const lock: LockFile = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package-lock.json'), 'utf8'));
  change(lock.packages);
  const file = join(temporaryDirectory(), 'package-lock.json');
  writeFileSync(file, JSON.stringify(lock));
  const script = join(PROJECT_ROOT, 'scripts/checkLock.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, file], { encoding: 'utf8' });
  return { status, problems: stderr.trim().split('\n').filter(Boolean) };
}

const HASH = `sha512-${'A'.repeat(86)}==`;
const planted = 'node_modules/fastify/node_modules/@planted/package';

describe('the check of the lock file', () => {
  test('accepts the project’s lock file, and runs with every `npm run check`', () => {
    expect(check(() => {})).toEqual({ status: 0, problems: [] });
    const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'));
    expect(scripts.check).toContain('node scripts/checkLock.mjs');
  });

  test('accepts an added package with its hash', () => {
    const added = check((packages) =>
      Object.assign(packages, { [planted]: { version: '1.0.0', integrity: HASH } }),
    );
    expect(added).toEqual({ status: 0, problems: [] });
  });

  test.each([
    ['no hash', { version: '1.0.0' }, 'has no sha512 integrity'],
    ['no hash, optional', { version: '1.0.0', optional: true }, 'has no sha512 integrity'],
    [
      'a weak hash',
      { version: '1.0.0', integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
      'has no sha512 integrity',
    ],
    ['half a hash', { version: '1.0.0', integrity: 'sha512-AAAA' }, 'has no sha512 integrity'],
    [
      'a download address',
      { version: '1.0.0', integrity: HASH, resolved: 'https://mirror.example/a.tgz' },
      'names an address: https://mirror.example/a.tgz',
    ],
    [
      'an install script',
      { version: '1.0.0', integrity: HASH, hasInstallScript: true },
      'has an install script',
    ],
    [
      'an install script, optional',
      { version: '1.0.0', integrity: HASH, hasInstallScript: true, optional: true },
      'has an install script',
    ],
  ])('rejects a package with %s', (_, entry, problem) => {
    expect(check((packages) => Object.assign(packages, { [planted]: entry }))).toEqual({
      status: 1,
      problems: [`package-lock.json: @planted/package@1.0.0 ${problem}`],
    });
  });

  test('accepts an install script of a development package', () => {
    const entry = { version: '1.0.0', integrity: HASH, hasInstallScript: true, dev: true };
    const added = check((packages) => Object.assign(packages, { [planted]: entry }));
    expect(added).toEqual({ status: 0, problems: [] });
  });

  test('rejects another version of a package whose install script is excused', () => {
    const newer = check((packages) => {
      const excused = packages['node_modules/chdb'];
      if (excused) excused.version = '99.0.0';
    });
    expect(newer).toEqual({
      status: 1,
      problems: [
        'package-lock.json: chdb@99.0.0 has an install script',
        'package-lock.json: chdb@3.4.0 is excused in scripts/checkLock.mjs and need not be',
      ],
    });
  });

  test('rejects a known package without its hash, and another version of an excused one', () => {
    const lost = check((packages) => void delete packages['node_modules/fastify']?.integrity);
    expect(lost.status).toBe(1);
    expect(lost.problems.join()).toMatch(/fastify@\S+ has no sha512 integrity/);
    const newer = check((packages) => {
      const excused = packages['node_modules/@chdb/lib-darwin-x64'];
      if (excused) excused.version = '99.0.0';
    });
    expect(newer.problems).toEqual([
      'package-lock.json: @chdb/lib-darwin-x64@99.0.0 has no sha512 integrity',
      'package-lock.json: @chdb/lib-darwin-x64@26.7.3-stable.1 is excused in scripts/checkLock.mjs and need not be',
    ]);
  });
});
