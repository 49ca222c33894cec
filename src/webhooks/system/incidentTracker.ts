import type { SystemFinding } from '../../ops/systemFindings.ts';
import type { SystemEventName } from '../../schema/notification.ts';

/** An incident ends when nothing was found of it for this long. */
export const CALM_MS = 60_000;

/** A fault from its first evaluation to the one that finds it over. */
export interface Incident {
  readonly incidentId: string;
  readonly event: SystemEventName;
  readonly subject: string;
  readonly summary: string;
  readonly beganMs: number;
  /** Null while it is open. */
  readonly endedMs: number | null;
}

/** What one evaluation changes. */
interface IncidentChanges {
  readonly began: readonly SystemFinding[];
  /** With the time of the first evaluation that found nothing. */
  readonly ended: readonly { readonly incident: Incident; readonly endedMs: number }[];
}

/** Open incidents, and since when nothing is found of each. Pure: the caller stores and sends. */
export class IncidentTracker {
  readonly #open = new Map<string, { incident: Incident; calmSinceMs: number | null }>();

  /** @param open Those that an earlier process left open. */
  constructor(open: readonly Incident[]) {
    for (const incident of open) this.opened(incident);
  }

  get open(): readonly Incident[] {
    return [...this.#open.values()].map(({ incident }) => incident);
  }

  /** Decides what begins and ends; the caller confirms each by `opened` and `closed` once it is stored. */
  evaluate(findings: readonly SystemFinding[], nowMs: number): IncidentChanges {
    const found = new Set(findings.map(keyOf));
    const began = findings.filter((finding) => finding.level === 'bad' && !this.#open.has(keyOf(finding)));
    const ended = [];
    for (const [key, entry] of this.#open) {
      entry.calmSinceMs = found.has(key) ? null : (entry.calmSinceMs ?? nowMs);
      const { incident, calmSinceMs } = entry;
      if (calmSinceMs !== null && nowMs - calmSinceMs >= CALM_MS)
        ended.push({ incident, endedMs: calmSinceMs });
    }
    return { began, ended };
  }

  opened(incident: Incident): void {
    this.#open.set(keyOf(incident), { incident, calmSinceMs: null });
  }

  closed(incident: Incident): void {
    this.#open.delete(keyOf(incident));
  }
}

function keyOf({ event, subject }: { event: string; subject: string }): string {
  return `${event} ${subject}`;
}
