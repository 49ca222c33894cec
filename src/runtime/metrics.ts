import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { VenueFeeds } from './venueFeeds.ts';

/**
 * The process's metrics. Each module asks for the ones it writes by name, so a name's meaning stands beside
 * the code that counts it. Names start with `underround_` and end with their unit.
 */
export class Metrics {
  readonly registry = new Registry();
  /** How each connection to a venue fares, for who operates the service. */
  readonly venueFeeds = new VenueFeeds();

  /** @param collect Called before the counter is read: to count there what is too frequent to be counted one by one. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    collect: (() => void) | null = null,
  ): Counter<L> {
    const known = this.registry.getSingleMetric(name) as Counter<L> | undefined;
    const whenRead = collect === null ? {} : { collect };
    return known ?? new Counter({ name, help, labelNames, registers: [this.registry], ...whenRead });
  }

  /** @param collect Called before the gauge is read, to set it then. */
  gauge<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    collect: ((gauge: Gauge<L>) => void) | null = null,
  ): Gauge<L> {
    const known = this.registry.getSingleMetric(name) as Gauge<L> | undefined;
    if (known) return known;
    const gauge: Gauge<L> = new Gauge({
      ...{ name, help, labelNames, registers: [this.registry] },
      ...(collect === null ? {} : { collect: () => collect(gauge) }),
    });
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
}
