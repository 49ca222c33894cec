import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TurnLimiter } from './turnLimiter.ts';

const TICK_MS = 100;
const PERIOD_MS = 300;

/** Ticks for a while, with each waiter asking at each tick; returns the granted turns with their times. */
function tickFor(turns: TurnLimiter<string>, wanting: (nowAt: number) => readonly string[], forMs: number) {
  const given: { one: string; nowAt: number }[] = [];
  for (let nowAt = 0; nowAt < forMs; nowAt += TICK_MS)
    for (const one of wanting(nowAt)) if (turns.claim(one, nowAt)) given.push({ one, nowAt });
  return given;
}

describe('TurnLimiter', () => {
  it('gives each waiter the same number of turns, at most one per period', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 5 }), (count, rounds) => {
        const names = Array.from({ length: count }, (_, i) => `market ${i}`);
        const given = tickFor(new TurnLimiter(PERIOD_MS), () => names, rounds * count * PERIOD_MS);
        expect(given).toHaveLength(rounds * count);
        for (const name of names) expect(given.filter(({ one }) => one === name)).toHaveLength(rounds);
        const gaps = given.slice(1).map(({ nowAt }, i) => nowAt - (given[i]?.nowAt ?? 0));
        for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(PERIOD_MS);
      }),
    );
  });

  it('serves waiters in order of arrival, whatever the order of asking', () => {
    const turns = new TurnLimiter<string>(PERIOD_MS);
    const given = tickFor(turns, (nowAt) => (nowAt === 0 ? ['a', 'c'] : ['d', 'b', 'c']), 4 * PERIOD_MS);
    expect(given.map(({ one }) => one)).toEqual(['a', 'c', 'd', 'b']);
  });

  it.each([
    [449, false],
    [450, true],
  ])(
    'waits less than 250 ms for an earlier waiter of 200 ms: at %d ms the next one gets %j',
    (nowAt, isGiven) => {
      const turns = new TurnLimiter<string>(PERIOD_MS);
      expect([turns.claim('a', 0), turns.claim('gone', 200), turns.claim('b', 200)]).toEqual([
        true,
        false,
        false,
      ]);
      expect(turns.claim('b', nowAt)).toBe(isGiven);
    },
  );

  it('does not wait for waiters that stopped asking', () => {
    const turns = new TurnLimiter<string>(PERIOD_MS);
    const given = tickFor(turns, (nowAt) => (nowAt <= 100 ? ['a', 'gone'] : ['b']), 10 * TICK_MS);
    expect(given).toEqual([
      { one: 'a', nowAt: 0 },
      { one: 'b', nowAt: 400 },
      { one: 'b', nowAt: 700 },
    ]);
  });
});
