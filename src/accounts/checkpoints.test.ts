import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDriver from 'better-sqlite3';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { checkpointWhenDue } from './checkpoint.ts';
import { checkpointBeside } from './checkpoints.ts';
import { openSqlite } from './databaseSqlite.ts';
import type { Database } from './schema.ts';

/** A file in write-ahead mode whose writer moves nothing by itself, and a second connection to it. */
function writerAndBeside() {
  const path = join(temporaryDirectory(), 'control.sqlite');
  const writer = new SqliteDriver(path);
  writer.pragma('journal_mode = WAL');
  writer.pragma('wal_autocheckpoint = 0');
  writer.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT)');
  const beside = new SqliteDriver(path);
  onTestFinished(() => {
    writer.close();
    beside.close();
  });
  const write = (id: number) => writer.prepare('INSERT INTO rows VALUES (?, ?)').run(id, 'x'.repeat(4_000));
  const logged = () => beside.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }];
  return { writer, beside, write, logged };
}

test('the log is moved once enough pages have gathered, and not before', () => {
  const { beside, write, logged } = writerAndBeside();
  for (let id = 0; logged()[0].log < 30; id++) {
    expect(checkpointWhenDue(beside, 30)).toBe(false);
    write(id);
  }
  expect(logged()[0].checkpointed).toBe(0);
  expect(checkpointWhenDue(beside, 30)).toBe(true);
  const [{ log, checkpointed }] = logged();
  expect(checkpointed).toBe(log);
  expect(checkpointWhenDue(beside, 30)).toBe(false);
});

test('it waits for nobody: a transaction goes on across it, and commits', () => {
  const { writer, beside, write } = writerAndBeside();
  for (let id = 0; id < 40; id++) write(id);
  writer.exec('BEGIN IMMEDIATE');
  write(40);
  expect(checkpointWhenDue(beside, 30)).toBe(true);
  write(41);
  writer.exec('COMMIT');
  expect(beside.prepare('SELECT count(*) AS n FROM rows').get()).toEqual({ n: 42 });
});

test.each([
  ['catches up with what is committed meanwhile', [40, 12, 3, 0], 3],
  ['gives up where writers keep ahead', Array(99).fill(40), 20],
])('it %s', (_, left, passes) => {
  const asked: string[] = [];
  const passesOf = () => asked.filter((text) => text.includes('PASSIVE')).length;
  const file = {
    pragma: (text: string) => {
      asked.push(text);
      const log = 100 + passesOf() * 40;
      return [{ log, checkpointed: log - (left[passesOf()] ?? 0) }];
    },
  };
  expect(checkpointWhenDue(file as unknown as SqliteDriver.Database, 30)).toBe(true);
  expect(passesOf()).toBe(passes);
});

test('it waits for no reader that needs what the log holds', () => {
  const { writer, beside, write, logged } = writerAndBeside();
  write(0);
  const reader = new SqliteDriver(writer.name, { readonly: true });
  onTestFinished(() => void reader.close());
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM rows').get();
  for (let id = 1; id < 40; id++) write(id);
  const [{ log }] = logged();
  checkpointWhenDue(beside, 30);
  expect(logged()[0].checkpointed).toBeLessThan(log);
  reader.exec('COMMIT');
  checkpointWhenDue(beside, 30);
  expect(logged()[0].checkpointed).toBe(log);
});

const pagesAlone = async (db: Database) =>
  (await sql<{ wal_autocheckpoint: number }>`PRAGMA wal_autocheckpoint`.execute(db)).rows[0]
    ?.wal_autocheckpoint;

test('commits move a long log all the same, and do so alone once the thread has ended', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'control.sqlite');
  const db = await openSqlite(path);
  const entry = join(directory, 'ending.mjs');
  writeFileSync(entry, "throw new Error('ended');");
  expect(await pagesAlone(db)).toBe(1_000);
  let said: (line: string) => void = () => undefined;
  const line = new Promise<string>((resolve) => {
    said = resolve;
  });
  const beside = await checkpointBeside(db, { path, log: pino({}, { write: (text) => said(text) }), entry });
  expect(await pagesAlone(db)).toBe(16_000);
  expect(JSON.parse(await line)).toMatchObject({
    ...{ msg: 'accounts.checkpoints_ended', err: { message: 'ended' } },
  });
  expect(await pagesAlone(db)).toBe(1_000);
  await beside.close();
  await db.destroy();
});
