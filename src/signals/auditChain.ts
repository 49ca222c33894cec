/**
 * The chain of the audit: each entry's hash covers the entry before it, so that no entry can be changed, removed,
 * inserted or moved. Entries of fills and settlements lie between the detections, so each detection also names the hash
 * of the previous detection: a reader who sees only rows can follow these.
 */
import { createHash } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { PreparedStatement } from '../control/preparedStatement.ts';
import type { Schema } from '../control/schema.ts';
import type { AuditEntriesTable } from './schemaAudit.ts';

/** The hash before the first entry. */
export const GENESIS_HASH = '0'.repeat(64);
/** Setting with the newest link: without it the end of the chain could be cut off unnoticed. */
export const HEAD_SETTING = 'audit.head';

export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** The newest link, and the hash of the newest `detected` entry. */
export interface ChainEnd extends ChainHead {
  readonly rowHash: string;
}

/** The stored form; ends written before rows were linked have no `rowHash`. */
type StoredEnd = ChainHead & Partial<ChainEnd>;

const NO_LINK: ChainEnd = { seq: 0, hash: GENESIS_HASH, rowHash: GENESIS_HASH };

type NewEntry = Pick<AuditEntriesTable, 'audit_id' | 'kind' | 'at_ms' | 'body'>;

/** JSON with sorted keys and no spaces: one text per value. Undefined members are omitted. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}

/**
 * SHA-256 over previous hash, sequence number, row, kind, time and body, one per line; the first five contain no line
 * break.
 */
export function entryHash(entry: Omit<AuditEntriesTable, 'hash'>): string {
  const { prev_hash, seq, audit_id, kind, at_ms, body } = entry;
  return createHash('sha256').update([prev_hash, seq, audit_id, kind, at_ms, body].join('\n')).digest('hex');
}

/** Appends links to the chain. Use one instance per kind of database. */
export class AuditChain {
  readonly #lock = lockStatement();
  readonly #append = appendStatement();
  readonly #store = storeStatement();

  /** Locks the chain for this transaction: others wait. It must be the transaction's first statement. */
  async lock(db: Transaction<Schema>): Promise<ChainEnd> {
    const { rows } = await this.#lock.run(db, NO_LINK);
    const [row] = rows as [{ value: string }];
    const end = JSON.parse(row.value) as StoredEnd;
    return { ...end, rowHash: end.rowHash ?? (await newestRowHash(db)) };
  }

  /** Appends a link after `end`. */
  async append(db: Transaction<Schema>, end: ChainEnd, entry: NewEntry): Promise<ChainEnd> {
    const linked = { ...entry, seq: end.seq + 1, prev_hash: end.hash };
    const hash = entryHash(linked);
    await this.#append.run(db, { ...linked, hash });
    return { seq: linked.seq, hash, rowHash: entry.kind === 'detected' ? hash : end.rowHash };
  }

  /** Stores the new end; call it last in the transaction that called `lock`. */
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

/** A write, so that on SQLite no other transaction can write between this read and the later write. */
function lockStatement(): PreparedStatement<ChainEnd, { value: string }> {
  return new PreparedStatement(
    sql<{ value: string }>`
      insert into settings (name, value, updated_ms) values (${null}, ${null}, 0)
      on conflict (name) do update set name = excluded.name returning value`,
    (first) => [HEAD_SETTING, endText(first)],
  );
}

function appendStatement(): PreparedStatement<AuditEntriesTable> {
  return new PreparedStatement(
    sql`insert into audit_entries (seq, audit_id, kind, at_ms, body, prev_hash, hash)
      values (${null}, ${null}, ${null}, ${null}, ${null}, ${null}, ${null})`,
    ({ seq, audit_id, kind, at_ms, body, prev_hash, hash }) => {
      return [seq, audit_id, kind, at_ms, body, prev_hash, hash];
    },
  );
}

function storeStatement(): PreparedStatement<{ end: ChainEnd; nowMs: number }> {
  return new PreparedStatement(
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
