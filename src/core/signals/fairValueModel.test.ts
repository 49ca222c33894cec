import { describe, expect, test } from 'vitest';
import { probabilityUp, sigmaPerSecond } from '../pricing/probability.ts';
import { FairValueModel, type ModelReadings } from './fairValueModel.ts';

const END = 1_795_176_300_000;
const TWAP = { kind: 'chainlink_twap', lookbackSeconds: 60, tie: 'up' } as const;
const SPOT = { kind: 'chainlink_spot', tie: 'up' } as const;
const DAILY = { kind: 'binance_minute', tie: 'split' } as const;

function read(
  settlement: typeof TWAP | typeof SPOT | typeof DAILY,
  readings: Partial<ModelReadings>,
): FairValueModel {
  const model = new FairValueModel({ endTimeMs: END, settlement });
  model.update({
    nowMs: END - 120_000,
    strike: 97_000,
    spot: 97_050,
    sigmaAnnual: 0.5,
    insideMean: null,
    ...readings,
  });
  return model;
}

const outlook = { spot: 97_050, strike: 97_000, sigma: sigmaPerSecond(0.5), insideMean: 0 };

describe('the model’s value of a market', () => {
  test('is decided by one price, or by the mean of the last minute', () => {
    expect(read(SPOT, {}).yesProb).toBe(probabilityUp({ ...outlook, secondsLeft: 120, twapSeconds: 0 }));
    expect(read(TWAP, {}).yesProb).toBe(probabilityUp({ ...outlook, secondsLeft: 120, twapSeconds: 60 }));
    expect(read(TWAP, {}).averageFromMs).toBe(END - 60_000);
  });

  test('by one price needs no mean after its end', () => {
    expect(read(SPOT, { nowMs: END + 1_000 })).toMatchObject({ yesProb: 1, distance: Infinity });
  });

  test('of a daily one is decided a minute after its window ends', () => {
    const model = read(DAILY, { nowMs: END - 10_000 });
    expect(model.secondsLeft).toBe(10);
    expect(model.yesProb).toBe(probabilityUp({ ...outlook, secondsLeft: 70, twapSeconds: 0 }));
  });

  test('depends on the mean so far inside the last minute', () => {
    const late = { nowMs: END - 20_000 };
    expect(read(TWAP, { ...late, insideMean: 97_010 }).yesProb).toBe(
      probabilityUp({ ...outlook, secondsLeft: 20, twapSeconds: 60, insideMean: 97_010 }),
    );
    expect(read(TWAP, late)).toMatchObject({ yesProb: null, distance: null });
    expect(read(SPOT, late).yesProb).toBeGreaterThan(0.5);
  });

  test('needs no mean at the start of the average', () => {
    expect(read(TWAP, { nowMs: END - 60_000 }).yesProb).not.toBeNull();
  });

  test.each([{ strike: null }, { spot: null }, { sigmaAnnual: null }])('is unknown with %j', (missing) => {
    expect(read(SPOT, missing)).toMatchObject({ yesProb: null, distance: null });
  });

  test('a missing input hides only the values that depend on it', () => {
    expect(read(SPOT, { sigmaAnnual: null })).toMatchObject({ sigmaTau: null, secondsLeft: 120 });
    expect(read(SPOT, { sigmaAnnual: null }).logDiff).toBeCloseTo(Math.log(97_050 / 97_000), 15);
    expect(read(SPOT, { strike: null }).sigmaTau).toBeCloseTo(0.5 * Math.sqrt(120 / 31_536_000), 15);
  });

  test('forgets its values when an input goes missing', () => {
    const model = read(SPOT, {});
    model.update({ nowMs: END, strike: 97_000, spot: null, sigmaAnnual: 0.5, insideMean: null });
    expect(model).toMatchObject({ yesProb: null, distance: null, logDiff: null, spot: null });
  });
});
