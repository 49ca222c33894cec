/** What `/readyz` answers: `reasons` make the service not ready, `degraded` says which data is late or missing. */
export interface ReadinessReport {
  readonly ok: boolean;
  readonly reasons: readonly string[];
  readonly degraded: readonly string[];
}

/** Each line is for an operator: the fault, and the figure that shows it. */
type ReadinessCheck = () => readonly string[];

/** Collects why the service is not ready or degraded. Each part registers its own checks; they read memory only. */
export class Readiness {
  readonly #reasons: ReadinessCheck[] = [];
  readonly #degraded: ReadinessCheck[] = [];

  /** Registers a check whose lines make the service not ready (503). */
  addReasons(check: ReadinessCheck): void {
    this.#reasons.push(check);
  }

  /** Registers a check whose lines are listed at 200: a venue's fault must not take every node out of a balancer. */
  addDegraded(check: ReadinessCheck): void {
    this.#degraded.push(check);
  }

  report(): ReadinessReport {
    const reasons = this.#reasons.flatMap((check) => check());
    return { ok: reasons.length === 0, reasons, degraded: this.#degraded.flatMap((check) => check()) };
  }
}
