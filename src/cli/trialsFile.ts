/** The file in which the command line counts trials: of `--trials`, or in the user's cache. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { cellCount } from '../backtest/cells.ts';
import { seriesNames } from '../backtest/earlierTrials.ts';
import { type Trial, TrialsFile } from '../report/trials.ts';
import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import type { JobSpec } from '../schema/backtest.ts';

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
  return new TrialsFile(path ?? join(cacheFolder(), 'underround', NAME));
}

/** Records a trial. Without `--trials`, a cache that cannot be written is a warning: the result is printed. */
export function recordTrial(trials: TrialsFile, trial: Trial, { isNamed }: { isNamed: boolean }): void {
  try {
    trials.add(trial, systemClock.now());
  } catch (error) {
    if (isNamed) throw error;
    console.error(`underround: warning: the trial is not counted: ${(error as Error).message}`);
  }
}

/** A job without its time range, which the data hash represents: an open end moves with every run. */
export function jobTrial(spec: JobSpec, dataHash: string): Trial {
  const { strategy, params, sizeUsd, universe } = spec;
  const axes = spec.kind === 'sweep' ? [spec.xAxis, spec.yAxis] : [];
  return {
    series: seriesNames(universe),
    question: [strategy, params, sizeUsd, axes],
    dataHash,
    trials: spec.kind === 'sweep' ? cellCount(spec) : 1,
  };
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME = '', LOCALAPPDATA } = process.env;
  if (process.platform === 'win32') return LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  return isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache');
}
