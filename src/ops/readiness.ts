/** The response of `/readyz`: `reasons` make the service not ready, `degraded` lists late or missing data. */
export interface ReadinessReport {
  readonly ok: boolean;
  readonly reasons: readonly string[];
  readonly degraded: readonly string[];
}

/** `Retry-After` of a failed readiness probe. */
const RETRY_AFTER_SECONDS = '5';

/** The response of `/readyz`, the same at the address of the API and at that of the metrics. */
export function readinessAnswer({ ok, reasons, degraded }: ReadinessReport) {
  if (ok) return { status: 200, headers: {}, body: { ok, reasons, degraded } };
  const detail = `not ready: ${reasons.join(', ')}`;
  const headers = { 'retry-after': RETRY_AFTER_SECONDS };
  return { status: 503, headers, body: { ok, reasons, degraded, detail } };
}

/** Returns one line per fault, for an operator: the fault with its measured value. */
type ReadinessCheck = () => readonly string[];

/**
 * Collects why the service is not ready or degraded. Each component registers its own checks, which only read memory.
 */
export class Readiness {
  readonly #reasons: ReadinessCheck[] = [];
  readonly #degraded: ReadinessCheck[] = [];

  /** Registers a check whose lines make the service not ready (503). */
  addReasons(check: ReadinessCheck): void {
    this.#reasons.push(check);
  }

  /**
   * Registers a check whose lines are listed with status 200. A venue's fault must not remove every node from a load
   * balancer.
   */
  addDegraded(check: ReadinessCheck): void {
    this.#degraded.push(check);
  }

  report(): ReadinessReport {
    const reasons = this.#reasons.flatMap((check) => check());
    return { ok: reasons.length === 0, reasons, degraded: this.#degraded.flatMap((check) => check()) };
  }
}
