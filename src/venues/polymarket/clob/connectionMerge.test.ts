import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionMerge } from './connectionMerge.ts';

interface Arrival {
  connection: 0 | 1;
  text: string;
  atMs: number;
}

/** One connection: frame `i` is sent at `i * 10` ms and arrives `delays[i]` later, never before its predecessor. */
function connection(
  id: 0 | 1,
  frames: readonly string[],
  delays: readonly number[],
  lost: ReadonlySet<number>,
) {
  const arrivals: Arrival[] = [];
  let last = 0;
  frames.forEach((text, i) => {
    last = Math.max(last, i * 10 + (delays[i % delays.length] ?? 0));
    if (!lost.has(i)) arrivals.push({ connection: id, text, atMs: last });
  });
  return arrivals;
}

function merge(arrivals: Arrival[]) {
  const merged = new ConnectionMerge();
  const out: string[] = [];
  arrivals.sort((a, b) => a.atMs - b.atMs);
  for (const { connection: id, text, atMs } of arrivals)
    if (merged.offer(id, text, atMs, true)) out.push(text);
  return { out, waiting: merged.waiting };
}

/** Few distinct texts, because the venue repeats frames on purpose. */
const frames = fc.array(fc.integer({ min: 0, max: 40 }).map(String), { maxLength: 200 });
const delays = fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1, maxLength: 200 });
const losses = fc.array(fc.nat(199), { maxLength: 20 }).map((list) => new Set(list));

describe('ConnectionMerge', () => {
  it('equals the venue’s stream, including repeats and order, whatever the delays of the connections', () => {
    fc.assert(
      fc.property(frames, delays, delays, (sent, a, b) => {
        const none = new Set<number>();
        const { out, waiting } = merge([...connection(0, sent, a, none), ...connection(1, sent, b, none)]);
        expect(out).toEqual(sent);
        expect(waiting).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it('has every frame once when the connections lose different frames', () => {
    fc.assert(
      fc.property(frames, delays, delays, losses, losses, (texts, a, b, lostA, lostB) => {
        const sent = texts.map((text, i) => `${i}:${text}`);
        const both = [
          ...connection(0, sent, a, lostA),
          ...connection(1, sent, b, new Set([...lostB].filter((i) => !lostA.has(i)))),
        ];
        const { out } = merge(both);
        expect([...out].sort()).toEqual([...sent].sort());
        // Frames that no connection lost keep their order.
        const whole = new Set(sent.filter((_, i) => !lostA.has(i) && !lostB.has(i)));
        expect(out.filter((text) => whole.has(text))).toEqual(sent.filter((text) => whole.has(text)));
      }),
      { numRuns: 500 },
    );
  });

  it('has every frame of the surviving connection when the other dies at any time, noticed or not', () => {
    fc.assert(
      fc.property(frames, delays, delays, fc.nat(200), fc.boolean(), (texts, a, b, dies, isSeen) => {
        const sent = texts.map((text, i) => `${i}:${text}`);
        const gone = new Set(sent.map((_, i) => i).filter((i) => i >= dies));
        const merged = new ConnectionMerge();
        const out: string[] = [];
        const arrivals = [...connection(0, sent, a, gone), ...connection(1, sent, b, new Set())];
        let left = arrivals.filter(({ connection: id }) => id === 0).length;
        for (const { connection: id, text, atMs } of arrivals.sort((x, y) => x.atMs - y.atMs)) {
          if (merged.offer(id, text, atMs, id === 0 || left > 0 || !isSeen)) out.push(text);
          if (id === 0 && --left === 0 && isSeen) merged.lost(0);
        }
        expect([...out].sort()).toEqual([...sent].sort());
      }),
      { numRuns: 300 },
    );
  });

  it('forgets frames without a second copy after fifteen seconds', () => {
    const merged = new ConnectionMerge();
    merged.offer(0, 'a', 0, true);
    merged.offer(0, 'b', 14_999, true);
    expect(merged.waiting).toBe(2);
    merged.offer(0, 'c', 15_000, true);
    expect(merged.waiting).toBe(2);
    expect(merged.offer(1, 'b', 15_001, true)).toBe(false);
    expect(merged.offer(1, 'a', 15_002, true)).toBe(true);
  });

  it('remembers 65,536 frames without a second copy, the newest', () => {
    const merged = new ConnectionMerge();
    for (let i = 0; i < 65_536; i++) merged.offer(0, `${i}`, 0, true);
    expect(merged.offer(1, '0', 0, true)).toBe(false);
    for (const text of ['a', 'b']) merged.offer(0, text, 0, true);
    expect([merged.waiting, merged.offer(1, '1', 0, true), merged.offer(1, '3', 0, true)]).toEqual([
      ...[65_536, true, false],
    ]);
  });

  it('remembers nothing when the other connection is down', () => {
    const merged = new ConnectionMerge();
    for (let i = 0; i < 5; i++) expect(merged.offer(1, 'same', i, false)).toBe(true);
    expect(merged.waiting).toBe(0);
  });
});
