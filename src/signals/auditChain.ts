/** The chain of the audit: each entry's hash covers the one before it, so that no link can be changed, taken out, put in or moved. */
import { createHash } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
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

/** Takes the chain for this transaction: others wait. It must be the transaction's first statement. */
export async function lockHead(db: Transaction<Schema>): Promise<ChainHead> {
  // A write, so that on SQLite nobody can write between what is read here and what is written later.
  const first = { name: HEAD_SETTING, value: JSON.stringify({ seq: 0, hash: GENESIS_HASH }), updated_ms: 0 };
  const { value } = await db
    .insertInto('settings')
    .values(first)
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((row) => ({ name: row.ref('excluded.name') })),
    )
    .returning('value')
    .executeTakeFirstOrThrow();
  return JSON.parse(value) as ChainHead;
}

/** Adds a link behind `head`. */
export async function append(db: Transaction<Schema>, head: ChainHead, entry: NewEntry): Promise<ChainHead> {
  const linked = { ...entry, seq: head.seq + 1, prev_hash: head.hash };
  const hash = entryHash(linked);
  await db
    .insertInto('audit_entries')
    .values({ ...linked, hash })
    .execute();
  return { seq: linked.seq, hash };
}

/** Ends what `lockHead` began. */
export async function storeHead(db: Transaction<Schema>, head: ChainHead, nowMs: number): Promise<void> {
  const value = JSON.stringify({ seq: head.seq, hash: head.hash });
  await db
    .updateTable('settings')
    .set({ value, updated_ms: nowMs })
    .where('name', '=', HEAD_SETTING)
    .execute();
}

/** The newest link; seq 0 before the first. */
export async function readHead(db: Kysely<Schema>): Promise<ChainHead> {
  const found = db.selectFrom('settings').select('value').where('name', '=', HEAD_SETTING);
  const row = await found.executeTakeFirst();
  return row === undefined ? { seq: 0, hash: GENESIS_HASH } : (JSON.parse(row.value) as ChainHead);
}
