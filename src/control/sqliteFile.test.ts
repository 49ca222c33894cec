import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { SqliteFile } from './sqliteFile.ts';

function opened(path = ':memory:', options = {}): SqliteFile {
  const file = new SqliteFile(path, options);
  onTestFinished(() => file.close());
  return file;
}

/** Returns the error that a call throws. */
function failureOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return null;
}

test.each([
  ['select 1', true],
  ['PRAGMA data_version', true],
  ['create table a (b)', false],
  ['PRAGMA foreign_keys = ON', false],
])('%s answers rows: %s', (sql, reader) => {
  expect(opened().prepare(sql).reader).toBe(reader);
});

test('bytes are read as bytes, and large integers exactly or not at all', () => {
  const file = opened();
  const echo = (value: unknown) => file.prepare('select ? as value').all([value]);
  expect(echo(new Uint8Array([1, 0, 255]))).toEqual([{ value: new Uint8Array([1, 0, 255]) }]);
  expect(echo(Buffer.from('ab'))).toEqual([{ value: new Uint8Array([97, 98]) }]);
  expect(echo(5n)).toEqual([{ value: 5 }]);
  expect(failureOf(() => echo(2n ** 53n + 1n))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
});

test.each([[true], [{ value: 1 }], [new Date(0)], [() => 1], [Symbol('x')]])('%o is refused', (value) => {
  const statement = opened().prepare('select ? as value, ? as other');
  const message = `control database: a value of type ${typeof value} cannot be stored`;
  expect(failureOf(() => statement.all([value, 1]))).toEqual(new TypeError(message));
  expect(failureOf(() => statement.all([1, value]))).toEqual(new TypeError(message));
});

test('the same text is prepared once, unless 200 others were used since', () => {
  const file = opened();
  const first = file.prepare('select 0');
  for (let n = 1; n < 200; n++) file.prepare(`select ${n}`);
  expect(file.prepare('select 0')).toBe(first);
  for (let n = 1; n <= 200; n++) file.prepare(`select ${n}`);
  expect(file.prepare('select 0')).not.toBe(first);
  // A statement that was evicted still runs.
  expect(first.all([])).toEqual([{ 0: 0 }]);
});

test.each(['exec', 'prepare'] as const)('a statement works after a change of its table by %s', (by) => {
  const file = opened();
  const change = (sql: string) => (by === 'exec' ? file.exec(sql) : void file.prepare(sql).run([]));
  const all = () => file.prepare('select * from rows').all([]);
  change('create table rows (a)');
  file.prepare('insert into rows values (1)').run([]);
  expect(all()).toEqual([{ a: 1 }]);
  change('alter table rows add column b default 2');
  expect(all()).toEqual([{ a: 1, b: 2 }]);
  change('alter table rows drop column a');
  expect(all()).toEqual([{ b: 2 }]);
});

test('a single value is read again on each call', () => {
  const file = opened();
  file.exec('create table rows (a)');
  const count = file.value('select count(*) from rows');
  expect(count()).toBe(0);
  file.exec('insert into rows values (1)');
  expect(count()).toBe(1);
});

test('rows can be read one by one', () => {
  const values =
    'with recursive n(i) as (select 1 union all select i + 1 from n where i < ?) select i from n';
  expect([...opened().prepare(values).iterate([3])]).toEqual([{ i: 1 }, { i: 2 }, { i: 3 }]);
});

test('another connection’s lock is a retryable failure after the timeout', () => {
  const path = join(temporaryDirectory(), 'a.sqlite');
  const [holder, waiter] = [opened(path), opened(path)];
  holder.exec('create table rows (a)');
  // SQLite itself would wait; a timeout of 0 disables that.
  waiter.exec('PRAGMA busy_timeout = 0');
  holder.exec('BEGIN IMMEDIATE');
  const statement = waiter.prepare('insert into rows values (1)');
  const failure = failureOf(() => statement.run([]));
  expect(failure).toEqual(new StoreUnavailableError('control database: database is locked'));
  expect((failure as StoreUnavailableError).cause).toMatchObject({ errcode: 5 });
  holder.exec('COMMIT');
  expect(statement.run([])).toMatchObject({ changes: 1 });
});

test('a violated constraint is not retryable', () => {
  const file = opened();
  file.exec('create table rows (a unique)');
  const insert = file.prepare('insert into rows values (?)');
  insert.run([1]);
  const failure = failureOf(() => insert.run([1]));
  expect(failure).not.toBeInstanceOf(StoreUnavailableError);
  expect(failure).toMatchObject({ errcode: 2067, message: 'UNIQUE constraint failed: rows.a' });
});

test('opened for reading, it creates no file and writes nothing', () => {
  const path = join(temporaryDirectory(), 'a.sqlite');
  expect(failureOf(() => new SqliteFile(path, { readOnly: true }))).toMatchObject({ errcode: 14 });
  expect(existsSync(path)).toBe(false);
  opened(path).exec('create table rows (a)');
  const failure = failureOf(() => opened(path, { readOnly: true }).exec('insert into rows values (1)'));
  expect(failure).toMatchObject({ errcode: 8, message: 'attempt to write a readonly database' });
});

test('a path is never read as a URI', () => {
  const folder = temporaryDirectory();
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  opened('file:a?mode=memory').exec('create table rows (a)');
  expect(existsSync(join(folder, 'file:a?mode=memory'))).toBe(true);
});

test('closing twice is allowed, and removes the log file', () => {
  const path = join(temporaryDirectory(), 'a.sqlite');
  const file = new SqliteFile(path);
  file.exec('PRAGMA journal_mode = WAL');
  const statement = file.prepare('create table rows (a)');
  statement.run([]);
  expect(existsSync(`${path}-wal`)).toBe(true);
  file.close();
  file.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
  expect(failureOf(() => statement.run([]))).toMatchObject({ code: 'ERR_INVALID_STATE' });
});

const MODULE = JSON.stringify(new URL('./sqliteFile.ts', import.meta.url).href);
const USE = `const { SqliteFile } = await import(${MODULE}); new SqliteFile(':memory:').exec('select 1');`;
const THREAD = `data:text/javascript,${encodeURIComponent(USE)}`;

test.each([
  ['a process', USE],
  [
    'a thread of the process',
    `const { Worker } = await import('node:worker_threads'); new Worker(new URL(${JSON.stringify(THREAD)}));`,
  ],
])('%s that uses SQLite prints no warning about it, but prints other warnings', (_name, program) => {
  const arguments_ = ['--input-type=module', '--eval', `${program} process.emitWarning('another');`];
  const { status, stderr } = spawnSync(process.execPath, arguments_, { encoding: 'utf8' });
  expect(stderr).not.toMatch(/SQLite/);
  expect(stderr).toMatch(/Warning: another/);
  expect(status).toBe(0);
});

test('a thread that is terminated during a statement leaves the file intact', async () => {
  const path = join(temporaryDirectory(), 'a.sqlite');
  const file = opened(path);
  file.exec('PRAGMA journal_mode = WAL');
  file.exec('create table rows (a)');
  const body = `
    const { parentPort } = await import('node:worker_threads');
    const { SqliteFile } = await import(${MODULE});
    const file = new SqliteFile(${JSON.stringify(path)});
    file.exec('BEGIN IMMEDIATE');
    file.exec('insert into rows values (1)');
    parentPort.postMessage('written');
    parentPort.on('message', () => undefined);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(body)}`));
  await new Promise((resolve) => worker.once('message', resolve));
  await worker.terminate();
  file.exec('insert into rows values (2)');
  expect(file.rows('select a from rows')).toEqual([{ a: 2 }]);
  expect(file.rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
});
