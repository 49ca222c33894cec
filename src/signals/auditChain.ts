/**
 * The chain of the audit: each entry's hash covers the one before it, so that no link can be changed, taken out, put in or
 * moved. What the rows became lies between their detections, so each detection also names the hash of the one before
 * it: readers who see rows alone can follow these.
 */
import { createHash } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { CompiledStatement } from '../control/compiledStatement.ts';
import type { Schema } from '../control/schema.ts';
import type { AuditEntriesTable } from './schemaAudit.ts';

/** What the first entry follows. */
export const GENESIS_HASH = '0'.repeat(64);
/** Setting that holds the newest link: without it the chain's end could be cut off unseen. */
export const HEAD_SETTING = 'audit.head';

export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** The newest link, and the newest of those that are a row's detection. */
export interface ChainEnd extends ChainHead {
  readonly rowHash: string;
}

/** As it is kept; ends of before rows were linked have no `rowHash`. */
type StoredEnd = ChainHead & Partial<ChainEnd>;

const NO_LINK: ChainEnd = { seq: 0, hash: GENESIS_HASH, rowHash: GENESIS_HASH };

export type NewEntry = Pick<AuditEntriesTable, 'audit_id' | 'kind' | 'at_ms' | 'body'>;

/** JSON with sorted keys and no spaces: one text for one value. Keys that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}

/** SHA-256 over previous hash, place, row, kind, time and body, a line each; none of the first five holds a line end. */
export function entryHash(entry: Omit<AuditEntriesTable, 'hash'>): string {
  const { prev_hash, seq, audit_id, kind, at_ms, body } = entry;
  return createHash('sha256').update([prev_hash, seq, audit_id, kind, at_ms, body].join('\n')).digest('hex');
}

/** Where links are added. One of them for one kind of database. */
export class AuditChain {
  readonly #lock = lockStatement();
  readonly #append = appendStatement();
  readonly #store = storeStatement();

  /** Takes the chain for this transaction: others wait. It must be the transaction's first statement. */
  async lock(db: Transaction<Schema>): Promise<ChainEnd> {
    const { rows } = await this.#lock.run(db, NO_LINK);
    const [row] = rows as [{ value: string }];
    const end = JSON.parse(row.value) as StoredEnd;
    return { ...end, rowHash: end.rowHash ?? (await newestRowHash(db)) };
  }

  /** Adds a link behind `end`. */
  async append(db: Transaction<Schema>, end: ChainEnd, entry: NewEntry): Promise<ChainEnd> {
    const linked = { ...entry, seq: end.seq + 1, prev_hash: end.hash };
    const hash = entryHash(linked);
    await this.#append.run(db, { ...linked, hash });
    return { seq: linked.seq, hash, rowHash: entry.kind === 'detected' ? hash : end.rowHash };
  }

  /** Ends what `lock` began. */
  async store(db: Transaction<Schema>, end: ChainEnd, nowMs: number): Promise<void> {
    await this.#store.run(db, { end, nowMs });
  }
}

const endText = ({ seq, hash, rowHash }: ChainEnd) => JSON.stringify({ seq, hash, rowHash });

async function newestRowHash(db: Kysely<Schema>): Promise<string> {
  const detected = db.selectFrom('audit_entries').select('hash').where('kind', '=', 'detected');
  const newest = await detected.orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return newest?.hash ?? GENESIS_HASH;
}

/** A write, so that on SQLite nobody can write between what is read here and what is written later. */
function lockStatement(): CompiledStatement<ChainEnd, { value: string }> {
  return new CompiledStatement(
    sql<{ value: string }>`
      insert into settings (name, value, updated_ms) values (${null}, ${null}, 0)
      on conflict (name) do update set name = excluded.name returning value`,
    (first) => [HEAD_SETTING, endText(first)],
  );
}

function appendStatement(): CompiledStatement<AuditEntriesTable> {
  return new CompiledStatement(
    sql`insert into audit_entries (seq, audit_id, kind, at_ms, body, prev_hash, hash)
      values (${null}, ${null}, ${null}, ${null}, ${null}, ${null}, ${null})`,
    ({ seq, audit_id, kind, at_ms, body, prev_hash, hash }) => {
      return [seq, audit_id, kind, at_ms, body, prev_hash, hash];
    },
  );
}

function storeStatement(): CompiledStatement<{ end: ChainEnd; nowMs: number }> {
  return new CompiledStatement(
    sql`update settings set value = ${null}, updated_ms = ${null} where name = ${null}`,
    ({ end, nowMs }) => [endText(end), nowMs, HEAD_SETTING],
  );
}

/** The newest link; seq 0 before the first. */
export async function readHead(db: Kysely<Schema>): Promise<StoredEnd> {
  const found = db.selectFrom('settings').select('value').where('name', '=', HEAD_SETTING);
  const row = await found.executeTakeFirst();
  return row === undefined ? NO_LINK : (JSON.parse(row.value) as StoredEnd);
}
