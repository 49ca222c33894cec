import { describe, expect, test } from 'vitest';
import { growthPerHour, type Minute, soakFigures } from '../../bench/soak/samples.ts';

function minuteOf(part: number, minute: number, columns: Partial<Minute> = {}): Minute {
  return {
    part,
    minute,
    at: '2026-11-01T12:00:00.000Z',
    machine_percent: 80,
    service_mb: 200,
    engine_mb: 500,
    service_descriptors: 40,
    engine_descriptors: 90,
    requests: 600,
    failed: 0,
    read_p99_ms: 20,
    stream_p99_ms: 30,
    receipt_p99_ms: 5,
    venue_p99_ms: 3,
    changes: 9_000,
    gaps: 0,
    store_lag_s: 1,
    not_ready: 0,
    ...columns,
  };
}

/** Two parts of 40 minutes: 3 MB a minute, and a new process with a lower level in the second part. */
const GROWING = [1, 2].flatMap((part) =>
  Array.from({ length: 40 }, (_none, index) =>
    minuteOf(part, index + 1, { service_mb: 1_000 / part + 3 * index }),
  ),
);

describe('growth an hour', () => {
  test('is the slope within parts, whatever the level of each', () => {
    expect(growthPerHour(GROWING, ({ service_mb }) => service_mb)).toBeCloseTo(180, 9);
  });

  test('does not count the warm-up of a part', () => {
    const warming = Array.from({ length: 40 }, (_none, index) =>
      minuteOf(1, index + 1, { service_mb: index < 10 ? 50 * index : 500 }),
    );
    expect(growthPerHour(warming, ({ service_mb }) => service_mb)).toBe(0);
  });

  test('is unknown before the warm-up is over', () => {
    expect(growthPerHour(GROWING.slice(0, 10), ({ service_mb }) => service_mb)).toBeNaN();
  });
});

describe('figures of a soak run', () => {
  const figureOf = (minutes: readonly Minute[], wanted: string) =>
    soakFigures(minutes).find(({ name }) => name === wanted)?.value;

  test('are of the minutes that have them: the first parts have no heap', () => {
    const old = Array.from({ length: 20 }, (_none, index) => minuteOf(1, index + 1));
    expect(figureOf(old, '  of its heap, highest')).toBeUndefined();
    const later = Array.from({ length: 20 }, (_none, index) =>
      minuteOf(2, index + 1, { service_heap_mb: 100 + index, service_external_mb: null }),
    );
    expect(figureOf([...old, ...later], '  of its heap, highest')).toBe(119);
    expect(figureOf([...old, ...later], '  of its heap, growth')).toBeCloseTo(60, 9);
    expect(figureOf([...old, ...later], '  outside its heap, highest')).toBeUndefined();
  });

  test('add what went wrong in all parts', () => {
    const bad = { failed: 2, gaps: 1, not_ready: 3, store_lag_s: 12 };
    const minutes = [minuteOf(1, 1, bad), minuteOf(1, 2), minuteOf(2, 1, bad)];
    expect(figureOf(minutes, 'parts')).toBe(2);
    expect(figureOf(minutes, 'requests that failed')).toBe(4);
    expect(figureOf(minutes, 'gaps')).toBe(2);
    expect(figureOf(minutes, 'probes that were not ready')).toBe(6);
    expect(figureOf(minutes, 'longest store lag')).toBe(12);
  });

  test('compare the medians of both ends, without minutes that have no value', () => {
    const times = [null, 10, 11, 12, 13, 14, 15, 16, 90].map((read_p99_ms, index) =>
      minuteOf(1, index + 1, { read_p99_ms }),
    );
    expect(figureOf(times, 'read, p99, median of the first quarter')).toBe(11);
    expect(figureOf(times, 'read, p99, median of the last quarter')).toBe(90);
    expect(figureOf(times, 'read, p99, highest minute')).toBe(90);
  });

  test('omit a value that was not measured', () => {
    const figures = soakFigures([minuteOf(1, 1, { stream_p99_ms: null })]);
    expect(figures.filter(({ name }) => /growth|WebSocket/.test(name))).toEqual([]);
    expect(soakFigures([]).every(({ value }) => value === 0)).toBe(true);
  });
});
