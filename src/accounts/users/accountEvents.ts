import type { Selectable } from 'kysely';
import { createId, type RowSources } from '../../control/ids.ts';
import { beyondPlace } from '../../control/keyset.ts';
import type { Database } from '../../control/schema.ts';
import type { Logger } from '../../runtime/log.ts';
import type { AccountAction } from '../../schema/accountAction.ts';
import type { AccountEventsTable } from '../schemaAccounts.ts';

const DAY_MS = 86_400_000;
/** How long events are kept, and how many at most (the newest). */
const KEPT_MS = 90 * DAY_MS;
const KEPT_ROWS = 100_000;
/** Old events are deleted once per this number of new ones, starting with the first of a process. */
const TRIM_EVERY = 256;
/** `actor` of commands. Anyone who can read the data directory can run them, so there is no user to name. */
export const COMMAND_LINE = 'command line';

/** An action, or a refused action, on an account or on the whole service. */
interface AccountEvent {
  readonly action: AccountAction;
  /** Why it was refused; null if it succeeded. */
  readonly reason: string | null;
  /** E-mail address of the affected account; null: the whole service. */
  readonly email: string | null;
  /** The acting user's e-mail address, or the command line; null: the account itself, or a stranger. */
  readonly actor: string | null;
  /** Address of the client; null on the command line. */
  readonly address: string | null;
  /** The new value, e.g. the tier that was set; null for actions without one. */
  readonly detail: string | null;
}

export interface StoredAccountEvent extends AccountEvent {
  readonly eventId: string;
  readonly atMs: number;
}

/** The operator's log of sign-ins, sign-ups and operator actions. Newest first, bounded. */
export class AccountEvents {
  readonly #db: Database;
  readonly #sources: RowSources;
  readonly #logger: Pick<Logger, 'warn'> | null;
  readonly #keptRows: number;
  #recorded = 0;

  constructor(db: Database, { logger = null, keptRows = KEPT_ROWS, ...sources }: RowSources & EventOptions) {
    this.#db = db;
    this.#sources = sources;
    this.#logger = logger;
    this.#keptRows = keptRows;
  }

  /** Never rejects: if an event cannot be written, it is logged, and the action continues. */
  async record(event: Pick<AccountEvent, 'action'> & Partial<AccountEvent>): Promise<void> {
    const { clock, randomBytes } = this.#sources;
    const nothing = { reason: null, email: null, actor: null, address: null, detail: null };
    try {
      const row = { event_id: createId('evt', randomBytes), at_ms: clock.now(), ...nothing, ...event };
      await this.#db.insertInto('account_events').values(row).execute();
      if (this.#recorded++ % TRIM_EVERY === 0) await this.#trim(clock.now());
    } catch (error) {
      this.#logger?.warn({ err: error, action: event.action }, 'account_events.write_failed');
    }
  }

  /** @param after The last event of the previous page; null: from the newest. */
  async page({
    limit,
    after,
  }: {
    limit: number;
    after: { atMs: number; eventId: string } | null;
  }): Promise<StoredAccountEvent[]> {
    let query = this.#db.selectFrom('account_events').selectAll();
    if (after !== null) {
      const place = [
        ['at_ms', after.atMs],
        ['event_id', after.eventId],
      ] as const;
      query = query.where((row) => beyondPlace(row, '<', place));
    }
    const rows = await query.orderBy('at_ms', 'desc').orderBy('event_id', 'desc').limit(limit).execute();
    return rows.map(toEvent);
  }

  async count(): Promise<number> {
    const query = this.#db
      .selectFrom('account_events')
      .select((rows) => rows.fn.countAll<number>().as('count'));
    return (await query.executeTakeFirstOrThrow()).count;
  }

  async #trim(nowMs: number): Promise<void> {
    const newestTooMany = await this.#db
      .selectFrom('account_events')
      .select('at_ms')
      .orderBy('at_ms', 'desc')
      .offset(this.#keptRows)
      .limit(1)
      .executeTakeFirst();
    const beforeMs = Math.max(nowMs - KEPT_MS, newestTooMany === undefined ? 0 : newestTooMany.at_ms + 1);
    await this.#db.deleteFrom('account_events').where('at_ms', '<', beforeMs).execute();
  }
}

interface EventOptions {
  readonly logger?: Pick<Logger, 'warn'> | null;
  readonly keptRows?: number;
}

function toEvent({ event_id, at_ms, ...event }: Selectable<AccountEventsTable>): StoredAccountEvent {
  return { eventId: event_id, atMs: at_ms, ...event };
}
