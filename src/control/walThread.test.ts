import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { MIGRATIONS } from '../controlDatabase.ts';
import { Metrics } from '../runtime/metrics.ts';
import { checkpointWhenDue } from './checkpoint.ts';
import { openSqlite } from './databaseSqlite.ts';
import type { Database } from './schema.ts';
import { SqliteFile } from './sqliteFile.ts';
import { startWalThread } from './walThread.ts';

const PAGE_BYTES = 4_096;
/** Log length that counts as due in these tests. */
const PAGES_DUE = 30;

/** A file in write-ahead mode whose writer never checkpoints by itself, and a second connection to it. */
function writerAndBeside() {
  const path = join(temporaryDirectory(), 'control.sqlite');
  const writer = new SqliteFile(path);
  for (const setting of ['journal_mode = WAL', 'wal_autocheckpoint = 0']) writer.exec(`PRAGMA ${setting}`);
  writer.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT)');
  const beside = new SqliteFile(path);
  onTestFinished(() => {
    beside.close();
    writer.close();
  });
  const write = (id: number) => writer.prepare('INSERT INTO rows VALUES (?, ?)').run([id, 'x'.repeat(4_000)]);
  const pagesIn = (ending: string) => Math.floor(statSync(path + ending).size / PAGE_BYTES);
  /** The file contains the last page of the database only after a complete checkpoint. */
  const isMoved = () => {
    const [{ page_count }] = writer.rows<{ page_count: number }>('PRAGMA page_count') as [
      { page_count: number },
    ];
    return pagesIn('') === page_count;
  };
  return { path, writer, beside, write, isMoved, logPages: () => pagesIn('-wal') };
}

test('the log is checkpointed once it has enough pages, and not before', () => {
  const { beside, write, isMoved, logPages } = writerAndBeside();
  for (let id = 0; logPages() < PAGES_DUE; id++) {
    checkpointWhenDue(beside, PAGES_DUE);
    expect(isMoved()).toBe(false);
    write(id);
  }
  checkpointWhenDue(beside, PAGES_DUE);
  expect(isMoved()).toBe(true);
});

test('a restarted log is checkpointed once it is long enough again, whatever its file size', () => {
  const { beside, write, isMoved, logPages } = writerAndBeside();
  for (let id = 0; id < 100; id++) write(id);
  const length = logPages();
  checkpointWhenDue(beside, PAGES_DUE);
  write(100);
  checkpointWhenDue(beside, PAGES_DUE);
  expect(isMoved()).toBe(false);
  for (let id = 101; id < 140; id++) write(id);
  expect(logPages()).toBe(length);
  checkpointWhenDue(beside, PAGES_DUE);
  expect(isMoved()).toBe(true);
});

test('no checkpoint is due without a log', () => {
  const file = new SqliteFile(join(temporaryDirectory(), 'control.sqlite'));
  onTestFinished(() => file.close());
  const asked: string[] = [];
  const rows = <Row>(text: string): Row[] => {
    asked.push(text);
    return file.rows(text);
  };
  checkpointWhenDue({ path: file.path, rows }, 1);
  expect(asked).toEqual(['PRAGMA page_size']);
});

test('it does not wait: a transaction that is open across it still commits', () => {
  const { writer, beside, write } = writerAndBeside();
  for (let id = 0; id < 40; id++) write(id);
  writer.exec('BEGIN IMMEDIATE');
  write(40);
  checkpointWhenDue(beside, PAGES_DUE);
  write(41);
  writer.exec('COMMIT');
  expect(beside.rows('SELECT count(*) AS n FROM rows')).toEqual([{ n: 42 }]);
});

test.each([
  ['catches up with commits made meanwhile', [40, 12, 3, 0], 4],
  ['gives up when writers stay ahead', Array(99).fill(40), 20],
  ['gives up when another connection runs a checkpoint', [-1, -1], 1],
])('it %s', (_, left, passes) => {
  const { path, write } = writerAndBeside();
  for (let id = 0; id < 40; id++) write(id);
  let passed = 0;
  const rows = <Row>(text: string): Row[] => {
    if (text === 'PRAGMA page_size') return [{ page_size: PAGE_BYTES } as Row];
    const log = 100 + passed * 40;
    const state =
      left[passed] === -1 ? { log: -1, checkpointed: -1 } : { log, checkpointed: log - left[passed] };
    passed++;
    return [state as Row];
  };
  checkpointWhenDue({ path, rows }, PAGES_DUE);
  expect(passed).toBe(passes);
});

test('it does not wait for a reader that needs the log', () => {
  const { path, beside, write, isMoved } = writerAndBeside();
  write(0);
  const reader = new SqliteFile(path, { readOnly: true });
  onTestFinished(() => reader.close());
  reader.exec('BEGIN');
  reader.rows('SELECT count(*) FROM rows');
  for (let id = 1; id < 40; id++) write(id);
  checkpointWhenDue(beside, PAGES_DUE);
  expect(isMoved()).toBe(false);
  reader.exec('COMMIT');
  checkpointWhenDue(beside, PAGES_DUE);
  expect(isMoved()).toBe(true);
});

const pagesAlone = async (db: Database) =>
  (await sql<{ wal_autocheckpoint: number }>`PRAGMA wal_autocheckpoint`.execute(db)).rows[0]
    ?.wal_autocheckpoint;

test('commits still checkpoint a long log, and do it alone once the thread has ended', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'control.sqlite');
  const db = await openSqlite(path, MIGRATIONS);
  const entry = join(directory, 'ending.mjs');
  writeFileSync(entry, "throw new Error('ended');");
  expect(await pagesAlone(db)).toBe(1_000);
  let said: (line: string) => void = () => undefined;
  const line = new Promise<string>((resolve) => {
    said = resolve;
  });
  const log = pino({}, { write: (text) => said(text) });
  const thread = await startWalThread(db, { path, log, metrics: new Metrics(), entry });
  expect(await pagesAlone(db)).toBe(16_000);
  expect(JSON.parse(await line)).toMatchObject({
    ...{ msg: 'accounts.log_thread_ended', err: { message: 'ended' } },
  });
  expect(await pagesAlone(db)).toBe(1_000);
  await thread.close();
  await db.destroy();
});

test('a log that cannot be synced is logged once and counted each time', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'control.sqlite');
  const db = await openSqlite(path, MIGRATIONS);
  const entry = join(directory, 'failing.mjs');
  const messages = ['EIO', 'EIO', null, 'EIO'];
  writeFileSync(
    entry,
    `import { parentPort } from 'node:worker_threads';
    for (const syncFailure of ${JSON.stringify(messages)}) parentPort.postMessage({ syncFailure });`,
  );
  const lines: { msg: string; reason?: string }[] = [];
  const log = pino({}, { write: (text) => lines.push(JSON.parse(text)) });
  const metrics = new Metrics();
  const thread = await startWalThread(db, { path, log, metrics, entry });
  await expect.poll(() => lines.length).toBe(3);
  const failed = ['accounts.log_not_synced', 'EIO'];
  const again = ['accounts.log_synced_again', undefined];
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([failed, again, failed]);
  expect(await metrics.registry.getSingleMetricAsString('underround_control_sync_failures_total')).toMatch(
    / 3$/,
  );
  await thread.close();
  await db.destroy();
});
