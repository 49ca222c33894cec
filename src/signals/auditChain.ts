/** The chain of the audit: each entry's hash covers the one before it, so that no link can be changed, taken out, put in or moved. */
import { createHash } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { CompiledStatement } from '../accounts/compiledStatement.ts';
import type { Schema } from '../accounts/schema.ts';
import type { AuditEntriesTable } from '../accounts/schemaAudit.ts';

/** What the first entry follows. */
export const GENESIS_HASH = '0'.repeat(64);
/** Setting that holds the newest link: without it the chain's end could be cut off unseen. */
export const HEAD_SETTING = 'audit.head';

export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

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
  async lock(db: Transaction<Schema>): Promise<ChainHead> {
    const { rows } = await this.#lock.run(db, { seq: 0, hash: GENESIS_HASH });
    const [row] = rows as [{ value: string }];
    return JSON.parse(row.value) as ChainHead;
  }

  /** Adds a link behind `head`. */
  async append(db: Transaction<Schema>, head: ChainHead, entry: NewEntry): Promise<ChainHead> {
    const linked = { ...entry, seq: head.seq + 1, prev_hash: head.hash };
    const hash = entryHash(linked);
    await this.#append.run(db, { ...linked, hash });
    return { seq: linked.seq, hash };
  }

  /** Ends what `lock` began. */
  async store(db: Transaction<Schema>, head: ChainHead, nowMs: number): Promise<void> {
    await this.#store.run(db, { head, nowMs });
  }
}

const headText = ({ seq, hash }: ChainHead) => JSON.stringify({ seq, hash });

/** A write, so that on SQLite nobody can write between what is read here and what is written later. */
function lockStatement(): CompiledStatement<ChainHead, { value: string }> {
  return new CompiledStatement(
    sql<{ value: string }>`
      insert into settings (name, value, updated_ms) values (${null}, ${null}, 0)
      on conflict (name) do update set name = excluded.name returning value`,
    (first) => [HEAD_SETTING, headText(first)],
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

function storeStatement(): CompiledStatement<{ head: ChainHead; nowMs: number }> {
  return new CompiledStatement(
    sql`update settings set value = ${null}, updated_ms = ${null} where name = ${null}`,
    ({ head, nowMs }) => [headText(head), nowMs, HEAD_SETTING],
  );
}

/** The newest link; seq 0 before the first. */
export async function readHead(db: Kysely<Schema>): Promise<ChainHead> {
  const found = db.selectFrom('settings').select('value').where('name', '=', HEAD_SETTING);
  const row = await found.executeTakeFirst();
  return row === undefined ? { seq: 0, hash: GENESIS_HASH } : (JSON.parse(row.value) as ChainHead);
}
