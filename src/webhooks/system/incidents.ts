import type { Selectable } from 'kysely';
import { createId, type RowSources } from '../../control/ids.ts';
import type { Database } from '../../control/schema.ts';
import type { SystemFinding } from '../../ops/systemFindings.ts';
import type { SystemIncidentsTable } from '../schemaWebhooks.ts';
import type { Incident } from './incidentTracker.ts';

/** Ended incidents are deleted after this. */
const KEPT_MS = 90 * 86_400_000;

/** The incidents of the service, in the database: of two processes only one begins an incident, and only one ends it. */
export class IncidentRepository {
  readonly #db: Database;
  readonly #sources: RowSources;

  constructor(db: Database, sources: RowSources) {
    this.#db = db;
    this.#sources = sources;
  }

  async open(): Promise<Incident[]> {
    return (await this.#all().where('ended_ms', 'is', null).execute()).map(toIncident);
  }

  /** Those that began or ended since then: their events may not have been accepted before a crash. */
  async since(timeMs: number): Promise<Incident[]> {
    const recent = this.#all().where((row) =>
      row.or([row('began_ms', '>=', timeMs), row('ended_ms', '>=', timeMs)]),
    );
    return (await recent.execute()).map(toIncident);
  }

  /** Null if another process began it meanwhile. */
  async begin({ event, subject, summary }: SystemFinding): Promise<Incident | null> {
    const row = await this.#db
      .insertInto('system_incidents')
      .values({
        ...{ incident_id: createId('inc', this.#sources.randomBytes), event, subject, summary },
        ...{ began_ms: this.#sources.clock.now(), ended_ms: null },
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? null : toIncident(row);
  }

  /** Null if another process ended it meanwhile. */
  async end({ incidentId }: Incident, endedMs: number): Promise<Incident | null> {
    const row = await this.#db
      .updateTable('system_incidents')
      .set({ ended_ms: endedMs })
      .where('incident_id', '=', incidentId)
      .where('ended_ms', 'is', null)
      .returningAll()
      .executeTakeFirst();
    await this.#db
      .deleteFrom('system_incidents')
      .where('ended_ms', '<', this.#sources.clock.now() - KEPT_MS)
      .execute();
    return row === undefined ? null : toIncident(row);
  }

  #all() {
    return this.#db.selectFrom('system_incidents').selectAll().orderBy('began_ms');
  }
}

function toIncident(row: Selectable<SystemIncidentsTable>): Incident {
  return {
    ...{ incidentId: row.incident_id, event: row.event, subject: row.subject, summary: row.summary },
    ...{ beganMs: row.began_ms, endedMs: row.ended_ms },
  };
}
