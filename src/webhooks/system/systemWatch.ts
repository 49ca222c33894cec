import type { RowSources } from '../../control/ids.ts';
import type { Database } from '../../control/schema.ts';
import type { SystemFinding } from '../../ops/systemFindings.ts';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { SYSTEM_EVENTS } from '../../schema/notification.ts';
import type { SystemEvent } from '../../schema/systemEvent.ts';
import { formatTime } from '../../schema/time.ts';
import { SYSTEM_EVENT_LIFE_MS } from '../delivery/event.ts';
import { IncidentRepository } from './incidents.ts';
import { type Incident, IncidentTracker } from './incidentTracker.ts';

const PERIOD_MS = 5_000;

interface SystemWatchOptions {
  readonly db: Database;
  /** The dispatcher of this process: of several processes, the one that sends also watches. */
  readonly sender: { readonly isSending: boolean; enqueueSystemEvent(event: SystemEvent): void };
  /** Evaluates the service. If it rejects, nothing is known: no incident begins or ends. */
  readonly findings: () => Promise<readonly SystemFinding[]>;
  /** The page that events link to; null: this service has no public name. */
  readonly url: string | null;
  readonly clock: Clock;
  readonly randomBytes: RowSources['randomBytes'];
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Sends each incident of the service to the operator's webhooks: once when it begins, and once when it ends. */
export class SystemWatch {
  readonly #parts: SystemWatchOptions;
  readonly #incidents: IncidentRepository;
  readonly #events;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;
  /** Null until this process is the sender and has read the open incidents. */
  #tracker: IncidentTracker | null = null;

  constructor(parts: SystemWatchOptions) {
    this.#parts = parts;
    const { db, clock, randomBytes, metrics } = parts;
    this.#incidents = new IncidentRepository(db, { clock, randomBytes });
    this.#events = metrics.counter(
      'underround_system_events_total',
      'Incidents of the service that began or ended, by kind',
      ['event', 'state'],
    );
    metrics.gauge(
      'underround_system_incidents_open',
      'Open incidents of the service; counted where webhooks are sent',
      ['event'],
      (gauge) => {
        const open = this.#tracker?.open ?? [];
        for (const event of SYSTEM_EVENTS)
          gauge.set({ event }, open.filter((incident) => incident.event === event).length);
      },
    );
  }

  start(): void {
    this.#timer = every(this.#parts.clock, PERIOD_MS, () => {
      this.#running ??= this.#evaluate()
        .catch((error: unknown) => this.#parts.log.error({ err: error }, 'system.not_evaluated'))
        .finally(() => {
          this.#running = null;
        });
    });
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#running;
  }

  async #evaluate(): Promise<void> {
    const { sender, findings, clock } = this.#parts;
    if (!sender.isSending) {
      this.#tracker = null;
      return;
    }
    this.#tracker ??= await this.#resume();
    const found = await findings();
    const { began, ended } = this.#tracker.evaluate(found, clock.now());
    for (const finding of began) {
      const incident = await this.#incidents.begin(finding);
      // Another process has it: its row is read at the next evaluation.
      if (incident === null) return this.#forget();
      this.#tracker.opened(incident);
      this.#send(incident, 'began');
    }
    for (const { incident, endedMs } of ended) {
      const over = await this.#incidents.end(incident, endedMs);
      if (over === null) return this.#forget();
      this.#tracker.closed(incident);
      this.#send(over, 'ended');
    }
  }

  #forget(): void {
    this.#tracker = null;
  }

  /** Sends recent events again: they have the same ids, so those that were accepted are skipped. */
  async #resume(): Promise<IncidentTracker> {
    const sinceMs = this.#parts.clock.now() - SYSTEM_EVENT_LIFE_MS;
    for (const incident of await this.#incidents.since(sinceMs)) {
      if (incident.beganMs >= sinceMs) this.#enqueue(incident, 'began');
      if (incident.endedMs !== null) this.#enqueue(incident, 'ended');
    }
    return new IncidentTracker(await this.#incidents.open());
  }

  #send(incident: Incident, state: SystemEvent['state']): void {
    const { incidentId, event, subject, summary } = incident;
    this.#events.inc({ event, state });
    this.#parts.log.warn({ incidentId, event, subject, summary }, `system.incident_${state}`);
    this.#enqueue(incident, state);
  }

  #enqueue({ incidentId, event, subject, summary, beganMs, endedMs }: Incident, state: SystemEvent['state']) {
    this.#parts.sender.enqueueSystemEvent({
      ...{ type: event, state, incident_id: incidentId, subject, summary, began_at: formatTime(beganMs) },
      ended_at: state === 'began' || endedMs === null ? null : formatTime(endedMs),
      url: this.#parts.url,
    });
  }
}
