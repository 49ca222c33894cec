import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { DEMO_MARKER } from '../runtime/demoMarker.ts';
import { ConfigError, InvalidInputError } from '../runtime/errors.ts';
import { readSettings } from './settings.ts';

const POSTGRES = { DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/db' };
const CLICKHOUSE = { CLICKHOUSE_URL: 'http://127.0.0.1:1' };

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return () => vi.restoreAllMocks();
});

/** Whether a command may begin without its data directory. */
async function beginsWithout(use: 'read recording' | 'use accounts' | 'read directory', variables: object) {
  const dataDir = join(temporaryDirectory(), 'missing');
  try {
    await readSettings({ dataDir, use }, { ...variables });
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidInputError);
    expect((error as Error).message).toContain(`there is no data directory ${dataDir};`);
    return false;
  } finally {
    expect(existsSync(dataDir)).toBe(false);
  }
}

test.each([
  ['read recording', {}, false],
  ['read recording', POSTGRES, false],
  ['read recording', CLICKHOUSE, true],
  ['use accounts', {}, false],
  ['use accounts', CLICKHOUSE, false],
  ['use accounts', POSTGRES, true],
  ['read directory', { ...POSTGRES, ...CLICKHOUSE }, false],
] as const)(
  'a command that is to %s with %j begins without a data directory: %s',
  async (use, given, begins) => {
    expect(await beginsWithout(use, given)).toBe(begins);
  },
);

test.each(['record', 'record into existing'] as const)(
  'a command that is to %s refuses a demo’s directory, unless it simulates',
  async (use) => {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, DEMO_MARKER), '');
    const line = `data directory ${dataDir} is a demo’s: its data is simulated, and the next demo empties it; name another with --data-dir or UNDERROUND_DATA_DIR`;
    await expect(readSettings({ dataDir, use }, {})).rejects.toThrow(new ConfigError([line]));
    await expect(readSettings({ dataDir, use, simulates: true }, {})).resolves.toMatchObject({ dataDir });
    await expect(readSettings({ dataDir, use: 'read directory' }, {})).resolves.toMatchObject({ dataDir });
  },
);
