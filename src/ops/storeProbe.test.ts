import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { StoreProbe } from './storeProbe.ts';

describe('StoreProbe', () => {
  it('reports nothing while the store answers, how long it has been silent, and its recovery', async () => {
    const clock = new FakeClock();
    let answers = true;
    const probe = new StoreProbe({
      clock,
      ask: async () => {
        if (!answers) throw new Error('away');
      },
    });
    await clock.advance(60_000);
    expect(probe.reasons()).toEqual([]);
    answers = false;
    await clock.advance(6000);
    expect(probe.reasons()).toEqual([]);
    await clock.advance(2000);
    expect(probe.reasons()).toEqual(['the store has not answered for 8 s']);
    answers = true;
    await clock.advance(2000);
    expect(probe.reasons()).toEqual([]);
    probe.stop();
    expect(clock.waiting).toBe(0);
  });

  it('runs one query at a time while the store hangs', async () => {
    const clock = new FakeClock();
    let asked = 0;
    const probe = new StoreProbe({
      clock,
      ask: () => {
        asked++;
        return new Promise(() => {});
      },
    });
    await clock.advance(20_000);
    expect(asked).toBe(1);
    expect(probe.reasons()).toEqual(['the store has not answered for 20 s']);
    probe.stop();
  });
});
