import { expect, test } from 'vitest';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { JobSpec } from '../schema/backtest.ts';
import { jobTrial } from './trialsFile.ts';

test('a stress, which only adds figures, is no further trial', () => {
  const spec: JobSpec = {
    ...({ kind: 'backtest', universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10 } as const),
    strategy: { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' },
    ...{ params: DEFAULT_PARAMS, startMs: null, endMs: 0, marketLimit: 50 },
  };
  const stress = { void_share: 0.1, disputed_share: 0, dispute_delay_hours: 72 };
  const stressed = { ...spec, params: { ...DEFAULT_PARAMS, stress } };
  expect(JSON.stringify(jobTrial(stressed, 'hash'))).toBe(JSON.stringify(jobTrial(spec, 'hash')));
});
