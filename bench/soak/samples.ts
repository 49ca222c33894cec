/** The minutes of a soak run, and what they show over hours: growth, drift, and everything that went wrong. */
import type { Figure } from '../figure.ts';
import { median } from '../quantile.ts';

/** One minute, as a line of `soak.jsonl`. Members that could not be measured are null. */
export interface Minute {
  /** A part is one start of the service on the data directory; the first one is 1. */
  readonly part: number;
  /** Since the part's start. */
  readonly minute: number;
  /** End of the minute, ISO. */
  readonly at: string;
  /** Share of the processors that this run may use that was busy, also with other programs, in percent. */
  readonly machine_percent: number;
  readonly service_mb: number;
  /** JavaScript's heap, and the memory that its objects hold outside it; parts before 2026-11-26 have neither. */
  readonly service_heap_mb?: number | null;
  readonly service_external_mb?: number | null;
  readonly engine_mb: number;
  readonly service_descriptors: number;
  readonly engine_descriptors: number;
  /** Answered requests of the load, and those without a status of 200. */
  readonly requests: number;
  readonly failed: number;
  readonly read_p99_ms: number | null;
  /** From a change's venue time to a WebSocket client. */
  readonly stream_p99_ms: number | null;
  /** From a change's venue time to its receipt, and the part of it that the stand-in venues added themselves. */
  readonly receipt_p99_ms: number | null;
  readonly venue_p99_ms: number | null;
  readonly changes: number;
  readonly gaps: number;
  /** The same by cause; parts before 2026-11-26 have none. */
  readonly gap_causes?: Readonly<Record<string, number>>;
  /** The largest of the minute. */
  readonly store_lag_s: number;
  /** Answers of `/readyz` other than 200. */
  readonly not_ready: number;
}

/** Starting, filling caches and the first merges are no growth: the slope begins after them. */
const WARM_UP_MINUTES = 10;
/** Drift compares the first and the last so many parts of all minutes. */
const ENDS = 4;

/** What all parts on a data directory come to; figures that cannot be known yet are left out. */
export function soakFigures(minutes: readonly Minute[]): Figure[] {
  return figuresOf(minutes).filter(({ value }) => Number.isFinite(value));
}

function figuresOf(minutes: readonly Minute[]): Figure[] {
  const sum = (of: (minute: Minute) => number) => minutes.reduce((total, minute) => total + of(minute), 0);
  const highest = (of: (minute: Minute) => number) => Math.max(...minutes.map(of));
  const last = minutes.at(-1);
  return [
    { name: 'duration', value: minutes.length / 60, unit: 'h', goal: '8' },
    { name: 'parts', value: last?.part ?? 0, unit: '' },
    { name: 'busy processors, median', value: median(minutes.map((one) => one.machine_percent)), unit: '%' },
    { name: 'requests', value: sum(({ requests }) => requests), unit: '' },
    { name: 'requests that failed', value: sum(({ failed }) => failed), unit: '', goal: '0' },
    { name: 'stored book changes', value: sum(({ changes }) => changes), unit: '' },
    { name: 'gaps', value: sum(({ gaps }) => gaps), unit: '', goal: '0' },
    { name: 'probes that were not ready', value: sum((one) => one.not_ready), unit: '', goal: '0' },
    { name: 'longest store lag', value: highest((one) => one.store_lag_s), unit: 's', goal: '< 10' },
    ...trend('memory of the service', (one) => one.service_mb, minutes, 'MB'),
    ...trend('  of its heap', (one) => one.service_heap_mb, minutes, 'MB'),
    ...trend('  outside its heap', (one) => one.service_external_mb, minutes, 'MB'),
    ...trend('memory of its engine', (one) => one.engine_mb, minutes, 'MB'),
    ...trend('descriptors of the service', (one) => one.service_descriptors, minutes, ''),
    ...trend('descriptors of its engine', (one) => one.engine_descriptors, minutes, ''),
    ...drift('read, p99', (one) => one.read_p99_ms, minutes),
    ...drift('venue to receipt, p99', (one) => one.receipt_p99_ms, minutes),
    ...drift("venues' own delay in it, p99", (one) => one.venue_p99_ms, minutes),
    ...drift('venue to WebSocket client, p99', (one) => one.stream_p99_ms, minutes),
  ];
}

/**
 * The highest value, and the growth an hour: the slope of a least-squares line, the same for each part. Of the minutes
 * that have the value; without one both figures are NaN or infinite.
 */
function trend(
  name: string,
  of: (minute: Minute) => number | null | undefined,
  minutes: readonly Minute[],
  unit: string,
): Figure[] {
  const known = minutes.filter((one) => of(one) != null);
  const value = (one: Minute) => of(one) as number;
  return [
    { name: `${name}, highest`, value: Math.max(...known.map(value)), unit },
    { name: `${name}, growth`, value: growthPerHour(known, value), unit: `${unit}/h`.replace(/^\//, 'per ') },
  ];
}

/**
 * Every part has a level of its own, because each is a new process; the slope is one for all.
 * @returns NaN unless a part is longer than its warm-up.
 */
export function growthPerHour(minutes: readonly Minute[], of: (minute: Minute) => number): number {
  let [covariance, variance] = [0, 0];
  for (const part of new Set(minutes.map(({ part }) => part))) {
    const warm = minutes.filter((one) => one.part === part && one.minute > WARM_UP_MINUTES);
    const mean = (value: (minute: Minute) => number) =>
      warm.reduce((total, one) => total + value(one), 0) / warm.length;
    const [middle, level] = [mean(({ minute }) => minute), mean(of)];
    for (const one of warm) {
      covariance += (one.minute - middle) * (of(one) - level);
      variance += (one.minute - middle) ** 2;
    }
  }
  return variance === 0 ? Number.NaN : (60 * covariance) / variance;
}

/** Medians of the minutes at both ends: a single slow minute is no drift. */
function drift(name: string, of: (minute: Minute) => number | null, minutes: readonly Minute[]): Figure[] {
  const values = minutes.map(of).filter((value) => value !== null);
  const share = Math.ceil(values.length / ENDS);
  return [
    { name: `${name}, median of the first quarter`, value: median(values.slice(0, share)), unit: 'ms' },
    { name: `${name}, median of the last quarter`, value: median(values.slice(-share)), unit: 'ms' },
    { name: `${name}, highest minute`, value: Math.max(...values), unit: 'ms' },
  ];
}
