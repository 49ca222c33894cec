/** The file in which the command line counts trials: of `--trials`, or in the user's cache. */
import { join } from 'node:path';
import { cellCount } from '../backtest/cells.ts';
import { seriesNames } from '../backtest/earlierTrials.ts';
import { type Trial, TrialsFile } from '../report/trials.ts';
import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import type { JobSpec } from '../schema/backtest.ts';
import { cacheFolder } from './cacheFolder.ts';
import { printBelowBar } from './progress.ts';

const NAME = 'trials.jsonl';

/** The options against self-deception, as commander passes them. */
export interface SelectionOptions {
  readonly trials?: string;
  readonly holdOut?: string;
  readonly walkForward?: string;
}

/** @param path Of `--trials`; undefined: the user's own file. @throws {InvalidInputError} */
export function openTrials(path: string | undefined): TrialsFile {
  if (path === '') throw new InvalidInputError('--trials "" must name a file');
  return new TrialsFile(path ?? join(cacheFolder(), NAME));
}

/** Records a trial. Without `--trials`, a cache that cannot be written is a warning: the result is printed. */
export function recordTrial(trials: TrialsFile, trial: Trial, { isNamed }: { isNamed: boolean }): void {
  try {
    trials.add(trial, systemClock.now());
  } catch (error) {
    if (isNamed) throw error;
    printBelowBar(`underround: warning: the trial is not counted: ${(error as Error).message}`);
  }
}

/** A job without its time range, which the data hash represents: an open end moves with every run. */
export function jobTrial(spec: JobSpec, dataHash: string): Trial {
  const { strategy, sizeUsd, universe } = spec;
  // A stress only adds figures.
  const { stress: _, ...params } = spec.params;
  const axes = spec.kind === 'sweep' ? [spec.xAxis, spec.yAxis] : [];
  return {
    series: seriesNames(universe),
    question: [strategy, params, sizeUsd, axes],
    dataHash,
    trials: spec.kind === 'sweep' ? cellCount(spec) : 1,
  };
}
