import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keptDataDirectory } from '../../../test/support/dataDirectories.ts';
import { openTestStore, reachTestEngine } from '../../../test/support/store.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { systemClock } from '../../runtime/clock.ts';
import { NewerDataError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { readSchema } from '../connection.ts';
import { StoreClient } from '../engine/client.ts';
import { FoundObjects } from './foundObjects.ts';
import { STORE_MIGRATIONS, STORE_VERSION } from './migrations.ts';
import { PROJECTIONS } from './rollups.ts';
import { DATABASE, TABLES } from './schema.ts';
import { EMBEDDED_FORM, migrationStages, schemaStages, versionStatement } from './statements.ts';

const sameName = (table: string) => table;

/** The engine of a directory, without the store's own opening. */
async function engineOn(dataDir: string) {
  const parts = { clock: systemClock, log: silentLogger };
  const access = await reachTestEngine(dataDir);
  const client = new StoreClient({ ...parts, access });
  const found = async () => new FoundObjects(await readSchema({ ...parts, access }));
  const close = async () => {
    await client.close();
    await access.close();
  };
  return { client, found, close, objects: () => readSchema({ ...parts, access }) };
}

describe('the numbered migrations of the store', () => {
  it('have numbers without holes, and every added object has the number of one', () => {
    const numbers = STORE_MIGRATIONS.map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    const added = [
      ...Object.values(TABLES).flatMap(({ columns }) => columns.flatMap((column) => column.added ?? [])),
      ...PROJECTIONS.map((projection) => projection.added),
    ];
    expect(new Set(added)).toEqual(new Set(numbers.slice(1)));
  });

  it('are each one statement on one table of an engine, so that a kill leaves all or nothing of it', async () => {
    const engine = await engineOn(keptDataDirectory('187b58b'));
    onTestFinished(engine.close);
    const found = await engine.found();
    const counts = STORE_MIGRATIONS.map(
      ({ number }) => migrationStages(number, EMBEDDED_FORM, found).flat().length,
    );
    expect(counts).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
  });
});

describe('a store of an earlier release', () => {
  it('has the version of its columns, and after every migration the next one', async () => {
    const dataDir = keptDataDirectory('187b58b');
    const engine = await engineOn(dataDir);
    const versions = [(await engine.found()).completeVersion(sameName)];
    for (const [statement = ''] of schemaStages(EMBEDDED_FORM, await engine.objects())) {
      await engine.client.command(statement);
      versions.push((await engine.found()).completeVersion(sameName));
    }
    expect(versions).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13]);
    expect((await engine.found()).recordedVersion).toBe(null);
    await engine.close();
  });

  it('keeps its recorded version until the last migration is done, and a start continues', async () => {
    const dataDir = keptDataDirectory('187b58b');
    const engine = await engineOn(dataDir);
    await engine.client.command(versionStatement(EMBEDDED_FORM, 5));
    for (const [statement = ''] of schemaStages(EMBEDDED_FORM, await engine.objects()).slice(0, 3))
      await engine.client.command(statement);
    expect((await engine.found()).recordedVersion).toBe(5);
    await engine.close();
    const opened = await openTestStore({ dataDir });
    await opened.store.close();
    const again = await engineOn(dataDir);
    const found = await again.found();
    expect([found.recordedVersion, found.completeVersion(sameName)]).toEqual([STORE_VERSION, STORE_VERSION]);
    await again.close();
  });
});

describe('a store of a newer release', () => {
  it('is refused before a statement changes it', async () => {
    const dataDir = temporaryDirectory();
    const opened = await openTestStore({ dataDir });
    const comment = versionStatement(EMBEDDED_FORM, STORE_VERSION + 1);
    await opened.store.rows(comment);
    await opened.store.rows(`ALTER TABLE ${DATABASE}.gaps DROP COLUMN start_received`);
    await opened.store.close();
    await expect(openTestStore({ dataDir })).rejects.toThrow(
      new NewerDataError(
        'the data directory',
        `its store has version ${STORE_VERSION + 1}, and release 0.1.0 knows ${STORE_VERSION}`,
      ),
    );
    const file = readFileSync(join(dataDir, 'engine/metadata/underround/gaps.sql'), 'utf8');
    expect(file).not.toContain('start_received');
  });
});
