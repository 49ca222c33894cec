import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { lostLogLines } from './log.ts';
import type { Tracer } from './tracing/tracer.ts';
import { UnknownVersionRegistry } from './unknownVersionRegistry.ts';
import { DRIFT_CATEGORIES, VenueDrift } from './venueDrift.ts';
import { VenueFeedRegistry } from './venueFeedRegistry.ts';

/**
 * The process's metrics. Each module requests its metrics by name, so a name is described beside the code that counts
 * it. Names start with `underround_` and end with their unit, except those of `addProcess`.
 */
export class Metrics {
  readonly registry = new Registry();
  /** Null unless traces are asked for. */
  tracer: Tracer | null = null;
  /** The state of each venue connection, for the operator. */
  readonly venueFeeds = new VenueFeedRegistry();
  /** The protocol versions of venue data that were refused, for the operator. */
  readonly unknownVersions = new UnknownVersionRegistry();
  /** Differences from the known formats of the venues, for the operator. */
  readonly venueDrift = new VenueDrift(
    ({ category, feed }) => this.#drift().inc({ feed, kind: category }),
    // `increase` of Prometheus does not see the first event of a series that begins with it.
    (feed) => {
      for (const kind of DRIFT_CATEGORIES) this.#drift().inc({ feed, kind }, 0);
    },
  );

  /** What sets each metric before it is read. A part that is started again replaces the reader of the one before it. */
  readonly #collectors = new Map<string, () => void>();

  /**
   * Adds CPU time, memory, open files, event-loop delay and garbage collection under the usual names of Prometheus, and
   * the lines that the log has lost.
   */
  addProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    const help = 'Log lines lost because standard error could not be written';
    const lost = this.counter('underround_log_lost_lines_total', help, [], () => {
      lost.reset();
      lost.inc(lostLogLines());
    });
  }

  /** @param collect Called before the counter is read, to add events that are too frequent to count one by one. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    collect: (() => void) | null = null,
  ): Counter<L> {
    if (collect !== null) this.#collectors.set(name, collect);
    const known = this.registry.getSingleMetric(name) as Counter<L> | undefined;
    return (
      known ?? new Counter({ name, help, labelNames, registers: [this.registry], ...this.#reading(name) })
    );
  }

  /** @param collect Called before the gauge is read, to set its value. */
  gauge<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    collect: ((gauge: Gauge<L>) => void) | null = null,
  ): Gauge<L> {
    const known = this.registry.getSingleMetric(name) as Gauge<L> | undefined;
    if (collect !== null) this.#collectors.set(name, () => collect(gauge));
    const gauge: Gauge<L> =
      known ?? new Gauge({ name, help, labelNames, registers: [this.registry], ...this.#reading(name) });
    return gauge;
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    options: { labelNames?: readonly L[]; buckets: readonly number[] },
  ): Histogram<L> {
    const known = this.registry.getSingleMetric(name) as Histogram<L> | undefined;
    if (known) return known;
    const { labelNames = [], buckets } = options;
    return new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [this.registry] });
  }

  #reading(name: string): { collect?: () => void } {
    return this.#collectors.has(name) ? { collect: () => this.#collectors.get(name)?.() } : {};
  }

  #drift(): Counter<'feed' | 'kind'> {
    const help = 'Fields, messages, hashes and topics of venues that differ from the known formats, by kind';
    return this.counter('underround_venue_drift_total', help, ['feed', 'kind']);
  }
}
