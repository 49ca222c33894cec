import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FINDING_KEPT_MS, FRAME_BYTES_MAX, type SetAsideFrame, VenueDrift } from './venueDrift.ts';

const T0 = 1_795_176_010_000;
const FIELD = { category: 'unknown_field', feed: 'f', kind: 'book', key: 'depth' } as const;
const frame = (text: string, kind = 'book') => ({
  ...{ feed: 'f', kind, reason: 'unreadable', receivedTimeMs: T0, text },
});

describe('note', () => {
  it('counts a finding from its first to its last time and keeps the first sample', () => {
    const noted: string[] = [];
    const drift = new VenueDrift(({ key }) => noted.push(key));
    drift.note(FIELD, T0, () => ({ a: 'x'.repeat(300) }));
    drift.note(FIELD, T0 + 5, () => 'never read');
    const sample = `{"a":"${'x'.repeat(194)}`;
    expect(drift.findings()).toEqual([{ ...FIELD, firstSeenMs: T0, lastSeenMs: T0 + 5, count: 2, sample }]);
    expect(noted).toEqual(['depth', 'depth']);
  });

  it('keeps 200 keys of a kind and counts the others', () => {
    const drift = new VenueDrift();
    for (let i = 0; i < 205; i++) drift.note({ ...FIELD, key: `k${i}` }, T0, () => null);
    drift.note({ ...FIELD, key: 'k3' }, T0 + 1, () => null);
    expect(drift.findings()).toHaveLength(200);
    expect(drift.findings()[3]).toMatchObject({ key: 'k3', count: 2 });
    const { key: _, ...kind } = FIELD;
    expect(drift.overflow()).toEqual([{ ...kind, count: 5 }]);
  });

  it('keeps 400 kinds, and one place for those beyond', () => {
    const drift = new VenueDrift();
    for (let i = 0; i < 410; i++) drift.note({ ...FIELD, kind: `kind${i}` }, T0, () => null);
    const kinds = new Set(drift.findings().map(({ kind }) => kind));
    expect(kinds.size).toBe(401);
    expect(drift.findings().find(({ kind }) => kind === 'other')).toMatchObject({ count: 10 });
  });

  it('continues the findings of an earlier run', () => {
    const earlier = new VenueDrift();
    earlier.note(FIELD, T0, () => 1);
    const drift = new VenueDrift();
    drift.restore(earlier.findings(), [{ category: 'unknown_field', feed: 'f', kind: 'book', count: 4 }]);
    drift.note(FIELD, T0 + 9, () => 2);
    expect(drift.findings()).toEqual([
      { ...FIELD, firstSeenMs: T0, lastSeenMs: T0 + 9, count: 2, sample: '1' },
    ]);
    expect(drift.overflow()).toMatchObject([{ count: 4 }]);
  });
});

describe('forgetOld', () => {
  it('forgets a finding 30 days after it was last seen, and what overflowed of its kind', () => {
    const drift = new VenueDrift();
    drift.note({ ...FIELD, key: 'old' }, T0, () => 1);
    drift.note({ ...FIELD, key: 'fresh' }, T0 + 1, () => 1);
    for (let i = 0; i < 201; i++) drift.note({ ...FIELD, kind: 'trade', key: `k${i}` }, T0, () => 1);
    drift.forgetOld(T0 + FINDING_KEPT_MS - 1);
    expect([drift.findings().length, drift.overflow().length]).toEqual([202, 1]);
    drift.forgetOld(T0 + FINDING_KEPT_MS);
    expect(drift.findings().map(({ key }) => key)).toEqual(['fresh']);
    expect(drift.overflow()).toEqual([]);
    drift.note({ ...FIELD, kind: 'trade', key: 'k200' }, T0, () => 1);
    expect(drift.findings().map(({ key }) => key)).toEqual(['fresh', 'k200']);
  });
});

describe('setAside', () => {
  it('keeps the newest 100 frames of each kind', () => {
    const drift = new VenueDrift();
    for (let i = 0; i < 103; i++) drift.setAside(frame(`a${i}`));
    drift.setAside(frame('b', 'trade'));
    const kept = drift.takeSetAside();
    expect(kept.map(({ text }) => text)).toEqual([
      ...Array.from({ length: 100 }, (_, i) => `a${i + 3}`),
      'b',
    ]);
    expect(drift.setAsideCount).toBe(104);
    expect(drift.takeSetAside()).toEqual([]);
  });

  it('equals a model that keeps the last frames of each kind, over any takes and returns', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('a', 'b'), count: fc.integer({ min: 1, max: 150 }) }),
      fc.constantFrom('take' as const, 'return' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const drift = new VenueDrift();
        const ofKind = (frames: readonly SetAsideFrame[], kind: string) =>
          frames.filter((one) => one.kind === kind).map(({ text }) => text);
        const model: Record<string, string[]> = { a: [], b: [] };
        let [number, taken] = [0, drift.takeSetAside()];
        for (const one of steps) {
          if (one === 'take') {
            taken = drift.takeSetAside();
            Object.assign(model, { a: [], b: [] });
          } else if (one === 'return') {
            drift.returnSetAside(taken);
            for (const kind of ['a', 'b'])
              model[kind] = [...ofKind(taken, kind), ...(model[kind] ?? [])].slice(-100);
            taken = [];
          } else
            for (let i = 0; i < one.count; i++) {
              drift.setAside(frame(String(number), one.kind));
              model[one.kind] = [...(model[one.kind] ?? []), String(number++)].slice(-100);
            }
        }
        const left = drift.takeSetAside();
        expect({ a: ofKind(left, 'a'), b: ofKind(left, 'b') }).toEqual(model);
      }),
    );
  });

  it('cuts a text above 64 KiB and marks it', () => {
    const drift = new VenueDrift();
    drift.setAside(frame('x'.repeat(FRAME_BYTES_MAX)));
    drift.setAside(frame('x'.repeat(FRAME_BYTES_MAX + 1)));
    const kept = drift.takeSetAside();
    expect(kept.map(({ text, wasCut }) => [text.length, wasCut])).toEqual([
      [FRAME_BYTES_MAX, false],
      [FRAME_BYTES_MAX, true],
    ]);
  });

  it('puts frames back before those that arrived meanwhile', () => {
    const drift = new VenueDrift();
    drift.setAside(frame('1'));
    const taken = drift.takeSetAside();
    drift.setAside(frame('2'));
    drift.returnSetAside(taken);
    expect(drift.takeSetAside().map(({ text }) => text)).toEqual(['1', '2']);
  });
});

describe('silent topics', () => {
  const FEED = 'polymarket.rtds';
  const silentAt = (drift: VenueDrift, nowMs: number) => {
    drift.noteSilentTopics(nowMs);
    return drift.findings().map(({ key, count, sample }) => [key, count, sample]);
  };

  it('reports a topic that delivers nothing for 10 minutes, beside one that does', () => {
    const drift = new VenueDrift();
    drift.topics.subscribed(FEED, ['twap btc/usd', 'twap eth/usd'], T0);
    drift.topics.heard(FEED, 'twap btc/usd', T0 + 590_000);
    expect(silentAt(drift, T0 + 599_999)).toEqual([]);
    expect(silentAt(drift, T0 + 600_000)).toEqual([['twap eth/usd', 1, 'never delivered']]);
  });

  it('reports a topic of a feed that connects again and again without delivering', () => {
    const drift = new VenueDrift();
    for (let atMs = T0; atMs < T0 + 600_000; atMs += 20_000) {
      drift.topics.subscribed(FEED, ['twap btc/usd'], atMs);
      drift.topics.lost(FEED, ['twap btc/usd']);
    }
    drift.topics.subscribed(FEED, ['twap btc/usd'], T0 + 600_000);
    expect(silentAt(drift, T0 + 600_000)).toEqual([['twap btc/usd', 1, 'never delivered']]);
  });

  it('reports nothing while the connection is lost, nor at once after it', () => {
    const drift = new VenueDrift();
    drift.topics.subscribed(FEED, ['twap btc/usd'], T0);
    drift.topics.heard(FEED, 'twap btc/usd', T0);
    drift.topics.lost(FEED, ['twap btc/usd']);
    expect(silentAt(drift, T0 + 3_600_000)).toEqual([]);
    drift.topics.subscribed(FEED, ['twap btc/usd'], T0 + 3_600_000);
    expect(silentAt(drift, T0 + 3_600_001)).toEqual([]);
    expect(silentAt(drift, T0 + 4_200_000)).toEqual([['twap btc/usd', 1, `{"lastHeardMs":${T0}}`]]);
  });
});
