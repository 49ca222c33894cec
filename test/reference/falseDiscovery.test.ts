import { expect, test } from 'vitest';
import { minTrackRecord } from '../../src/core/statistics/trackRecord.ts';
import { observedFalseDiscovery, plannedFalseDiscovery, sharpeSignificance } from './falseDiscovery.ts';

test('published values of 2025: the ratio under each hypothesis', () => {
  const record = { sharpe: 0.036 / 0.079, count: 24, skewness: -2.448, kurtosis: 10.164 };
  const hypotheses = { worthless: 0, good: 0.5, goodShare: 0.05 };
  expect(sharpeSignificance(record, 0)).toBeCloseTo(0.987, 3);
  expect(sharpeSignificance(record, 0.1)).toBeCloseTo(0.939, 3);
  expect(observedFalseDiscovery(record, hypotheses)).toBeCloseTo(0.306, 3);
  expect(plannedFalseDiscovery(record, hypotheses, 0.05)).toBeCloseTo(0.581, 3);
  // Its minimum track record, without the one observation the older formula adds.
  expect((minTrackRecord({ sharpe: record.sharpe, skewness: 0, kurtosis: 1 }, 0) as number) - 1).toBeCloseTo(
    13.029,
    3,
  );
});
