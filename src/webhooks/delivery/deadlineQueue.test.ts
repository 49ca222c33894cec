import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { DeadlineQueue } from './deadlineQueue.ts';

const MS = 5_000;

function open() {
  const clock = new FakeClock();
  const late: { what: string; at: number }[] = [];
  const startedAt = clock.monotonic();
  const deadlines = new DeadlineQueue<string>({
    ...{ clock, ms: MS },
    late: (what) => void late.push({ what, at: clock.monotonic() - startedAt }),
  });
  return { clock, deadlines, late };
}

describe('deadlines', () => {
  it('end each task at its own deadline, and never a removed one', async () => {
    const { clock, deadlines, late } = open();
    deadlines.add('a');
    await clock.advance(1_000);
    deadlines.add('b');
    deadlines.add('c');
    deadlines.remove('b');
    await clock.advance(3_999);
    expect(late).toEqual([]);
    await clock.advance(10_000);
    expect(late).toEqual([
      { what: 'a', at: 5_000 },
      { what: 'c', at: 6_000 },
    ]);
  });

  it('need one timer for many tasks, and none without a task', async () => {
    const { clock, deadlines } = open();
    for (let n = 0; n < 100; n++) deadlines.add(String(n));
    expect(clock.waiting).toBe(1);
    for (let n = 0; n < 100; n++) deadlines.remove(String(n));
    expect(clock.waiting).toBe(0);
  });

  it('a task that ends may begin others', async () => {
    const clock = new FakeClock();
    let rounds = 0;
    const deadlines: DeadlineQueue<object> = new DeadlineQueue({
      ...{ clock, ms: MS },
      late: () => {
        if (++rounds < 3) deadlines.add({});
      },
    });
    deadlines.add({});
    await clock.advance(MS * 10);
    expect({ rounds, waiting: clock.waiting }).toEqual({ rounds: 3, waiting: 0 });
  });

  it('behave like one timer per task, in any order of adding and removing', async () => {
    const step = fc.record({ wait: fc.nat(3_000), what: fc.nat(9), add: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, deadlines, late } = open();
        const expected: { what: string; at: number }[] = [];
        const due = new Map<string, number>();
        let now = 0;
        const pass = (until: number) => {
          for (const [what, at] of due) {
            if (at > until) continue;
            expected.push({ what, at });
            due.delete(what);
          }
          now = until;
        };
        for (const { wait, what: n, add } of steps) {
          const what = String(n);
          await clock.advance(wait);
          pass(now + wait);
          if (add && !due.has(what)) {
            deadlines.add(what);
            due.set(what, now + MS);
          } else if (!add) {
            deadlines.remove(what);
            due.delete(what);
          }
        }
        await clock.advance(MS);
        pass(now + MS);
        expect(late).toEqual(expected);
        expect(clock.waiting).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
