import { resolve } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { SqliteStatement } from 'kysely';
import { boundedCache } from '../runtime/boundedCache.ts';
import { outward } from './sqliteFailure.ts';

/** The control database's file in a data directory. */
export const SQLITE_FILE_NAME = 'control.sqlite';
/** How long a statement waits for another connection's write; every write here takes well under a millisecond. */
const BUSY_TIMEOUT_MS = 5_000;
/** Distinct statements kept prepared. The queries of this folder are about fifty; the rest is headroom. */
const MAX_PREPARED_STATEMENTS = 200;
/** After these statements, Node 22 answers an earlier prepared statement with its old columns. */
const CHANGES_TABLES = /^\s*(?:create|alter|drop)\b/i;
/** Node 22 prints this text on standard error when the module is first loaded. */
const EXPERIMENTAL = 'SQLite is an experimental feature';

const sqlite = withoutWarning(EXPERIMENTAL, () => process.getBuiltinModule('node:sqlite'));

/**
 * A connection to a SQLite file: the only user of `node:sqlite`. It has the interface that the query layer needs, and
 * keeps statements prepared, because preparing costs several times a point lookup.
 */
export class SqliteFile {
  readonly path: string;
  readonly #file: DatabaseSync;
  readonly #prepared = boundedCache<SqliteStatement>(MAX_PREPARED_STATEMENTS);

  /**
   * @param path Path of the file, created if absent; `:memory:` for a private database of this connection.
   * @throws The driver's own error, with SQLite's code as `errcode`, where the file cannot be opened.
   */
  constructor(path: string, { readOnly = false }: { readOnly?: boolean } = {}) {
    // SQLite reads a relative path that begins with `file:` as a URI.
    this.path = path === ':memory:' ? path : resolve(path);
    this.#file = new sqlite.DatabaseSync(this.path, { readOnly, timeout: BUSY_TIMEOUT_MS });
  }

  get isInTransaction(): boolean {
    return this.#file.isTransaction;
  }

  /** Runs statements without parameters and ignores their results. @throws The driver's own error. */
  exec(sql: string): void {
    this.#file.exec(sql);
    this.#prepared.clear();
  }

  /** The result rows of a statement without parameters. @throws The driver's own error. */
  rows<Row>(sql: string): Row[] {
    return this.#file.prepare(sql).all() as Row[];
  }

  /**
   * A statement without parameters that returns one value and stays prepared. Reading the value from an array costs a
   * quarter less than from an object.
   * @returns Runs the statement. @throws The driver's own error.
   */
  value(sql: string): () => unknown {
    const statement = this.#file.prepare(sql);
    statement.setReturnArrays(true);
    return () => (statement.get() as unknown as [unknown])[0];
  }

  /**
   * A statement that stays prepared, for the query layer.
   * @throws {StoreUnavailableError} Here and when it is run, where the database cannot do it now.
   */
  prepare(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#newStatement(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  /** Does nothing if already closed. */
  close(): void {
    this.#prepared.clear();
    if (this.#file.isOpen) this.#file.close();
  }

  /** A statement that fails because of the disk is reported as a database that did not answer: it may be retried. */
  #newStatement(sql: string): SqliteStatement {
    const statement = outward(() => this.#file.prepare(sql));
    const isRollback = sql.toLowerCase() === 'rollback';
    const changesTables = CHANGES_TABLES.test(sql);
    return {
      reader: statement.columns().length > 0,
      all: (values) => outward(() => statement.all(...bindable(values))),
      run: (values) => {
        // A full disk has already rolled the transaction back; a second rollback would hide the reason.
        if (isRollback && !this.isInTransaction) return { changes: 0, lastInsertRowid: 0 };
        const counts = outward(() => statement.run(...bindable(values)));
        if (changesTables) this.#prepared.clear();
        return counts;
      },
      iterate: (values) => outward(() => statement.iterate(...bindable(values))),
    };
  }
}

/**
 * Converts values for the driver. It silently stores an object, including a date, as null. On Node 22 and 24 it refuses
 * `undefined`, which PostgreSQL's driver stores as null.
 * @throws {TypeError} For a value without a SQLite type.
 */
function bindable(values: readonly unknown[]): SQLInputValue[] {
  return values.map((value) => {
    if (value === null || value === undefined) return null;
    const type = typeof value;
    if (type === 'string' || type === 'number' || type === 'bigint' || value instanceof Uint8Array) {
      return value as SQLInputValue;
    }
    throw new TypeError(`control database: a value of type ${type} cannot be stored`);
  });
}

/** Loads a module without printing its warning; other warnings are printed. */
function withoutWarning<T>(text: string, load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).startsWith(text)) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
