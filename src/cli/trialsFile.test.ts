import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { JobSpec } from '../schema/backtest.ts';
import { jobTrial, openTrials, recordTrial } from './trialsFile.ts';

const TRIAL = { series: 'BTC 5m', question: ['momentum'], dataHash: 'a'.repeat(64), trials: 1 };

/** A file of trials whose directory cannot be made. */
function unwritable() {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, '');
  return openTrials(join(file, 'trials.jsonl'));
}

function printed(): string[] {
  const lines: string[] = [];
  const spy = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(String(line)));
  onTestFinished(() => spy.mockRestore());
  return lines;
}

test('a trial that cannot be counted in the file of --trials is refused', () => {
  const lines = printed();
  const record = () => recordTrial(unwritable(), TRIAL, { isNamed: true });
  expect(record).toThrow(InvalidInputError);
  expect(lines).toEqual([]);
});

test('a trial that cannot be counted in the cache is a warning, and the result is printed', () => {
  const lines = printed();
  recordTrial(unwritable(), TRIAL, { isNamed: false });
  expect(lines).toEqual([
    expect.stringMatching(/^underround: warning: the trial is not counted: trials file .*trials\.jsonl: /),
  ]);
});

test('an empty name of the file is refused', () => {
  expect(() => openTrials('')).toThrow(new InvalidInputError('--trials "" must name a file'));
});

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
