import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { closeDataDirectory, makeOwnDirectory, privateName } from './ownerOnly.ts';

const isRoot = process.getuid?.() === 0;
const why = isRoot ? '' : ' (skipped: only root can give files away)';
const STRANGER = 12_345;
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);

describe('an own directory', () => {
  test('is created for its owner only, with any umask, and accepted when it exists', () => {
    const path = join(temporaryDirectory(), 'own');
    makeOwnDirectory(path);
    makeOwnDirectory(path);
    expect(modeOf(path)).toBe('700');
  });

  test.each([
    ['a symbolic link', 'is a symbolic link', (path: string, aside: string) => symlinkSync(aside, path)],
    ['a file', 'is no directory', (path: string) => writeFileSync(path, '')],
    [
      'a world-writable directory',
      'is open to other users',
      (path: string) => {
        mkdirSync(path);
        chmodSync(path, 0o777);
      },
    ],
    [
      'a directory that its group may read',
      'is open to other users',
      (path: string) => {
        mkdirSync(path);
        chmodSync(path, 0o750);
      },
    ],
  ])('%s in its place is refused and stays unchanged', (_, reason, plant) => {
    const directory = temporaryDirectory();
    const [path, aside] = [join(directory, 'own'), join(directory, 'aside')];
    mkdirSync(aside, { mode: 0o700 });
    plant(path, aside);
    const before = lstatSync(path);
    const refusal = new ConfigError(`${path} is not used: it ${reason}; remove it`);
    expect(() => makeOwnDirectory(path)).toThrow(refusal);
    expect([lstatSync(path).ino, lstatSync(path).mode]).toEqual([before.ino, before.mode]);
  });

  test.skipIf(!isRoot)(`another user's directory in its place is refused${why}`, () => {
    const path = join(temporaryDirectory(), 'own');
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, STRANGER, STRANGER);
    expect(() => makeOwnDirectory(path)).toThrow(`it belongs to user ${STRANGER}; remove it`);
  });
});

describe('the private name', () => {
  test('is random, constant for a data directory, and readable only by its owner', () => {
    const [one, other] = [temporaryDirectory(), temporaryDirectory()];
    expect(privateName(one)).toMatch(/^[0-9a-f]{32}$/);
    expect(privateName(one)).toBe(privateName(one));
    expect(privateName(other)).not.toBe(privateName(one));
    expect(modeOf(join(one, 'private-name'))).toBe('600');
  });

  test('with invalid content is refused', () => {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, 'private-name'), '../../etc');
    expect(() => privateName(dataDir)).toThrow(`${join(dataDir, 'private-name')} holds no name`);
  });
});

describe('a data directory', () => {
  /** The files of an earlier service version, all readable by every user. */
  function openToOthers(): string {
    const dataDir = join(temporaryDirectory(), 'data');
    mkdirSync(join(dataDir, 'engine', 'store'), { recursive: true });
    writeFileSync(join(dataDir, 'engine', 'store', 'part.bin'), '');
    writeFileSync(join(dataDir, 'control.sqlite'), '');
    for (const name of ['', 'engine', 'engine/store']) chmodSync(join(dataDir, name), 0o755);
    for (const name of ['control.sqlite', 'engine/store/part.bin']) chmodSync(join(dataDir, name), 0o644);
    return dataDir;
  }
  const modesOf = (dataDir: string) =>
    ['', 'engine', 'engine/store', 'engine/store/part.bin', 'control.sqlite'].map((name) =>
      modeOf(join(dataDir, name)),
    );
  const CLOSED = ['700', '700', '700', '600', '600'];

  test('of an earlier version is closed to other users, with one log line about it', async () => {
    const dataDir = openToOthers();
    const lines: unknown[] = [];
    const log = { ...silentLogger, warn: (...line: unknown[]) => lines.push(line) } as never;
    await closeDataDirectory(dataDir, log);
    expect(modesOf(dataDir)).toEqual(CLOSED);
    expect(lines).toEqual([[{ dataDir, changed: 5 }, 'data_directory.closed_to_others']]);
    await closeDataDirectory(dataDir, log);
    expect(lines).toHaveLength(1);
    privateName(dataDir);
    chmodSync(join(dataDir, 'engine'), 0o755);
    chmodSync(join(dataDir, 'engine', 'store', 'part.bin'), 0o644);
    await closeDataDirectory(dataDir, log);
    expect(modesOf(dataDir)).toEqual(CLOSED);
  });

  test('behind a symbolic link is closed; links inside it are not followed', async () => {
    const [dataDir, aside] = [openToOthers(), temporaryDirectory()];
    chmodSync(aside, 0o755);
    symlinkSync(aside, join(dataDir, 'link'));
    const link = join(temporaryDirectory(), 'link');
    symlinkSync(dataDir, link);
    await closeDataDirectory(link, silentLogger);
    expect([...modesOf(dataDir), modeOf(aside)]).toEqual([...CLOSED, '755']);
  });

  test.skipIf(!isRoot)(
    `of another user is refused, also when only one file in it is another user's${why}`,
    async () => {
      for (const stolen of ['', 'control.sqlite']) {
        const dataDir = openToOthers();
        chownSync(join(dataDir, stolen), STRANGER, STRANGER);
        const path = join(dataDir, stolen);
        await expect(closeDataDirectory(dataDir, silentLogger)).rejects.toThrow(
          `${path} belongs to user ${STRANGER}, this process runs as user 0: start it as that user, or change the owner`,
        );
        expect(existsSync(join(dataDir, 'private-name'))).toBe(false);
      }
    },
  );
});
