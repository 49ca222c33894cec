/**
 * Trials counted across runs of the command line: the best of many trials looks good by chance, whoever counts them. A
 * file with one JSON object a line; lines are only appended.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { InvalidInputError } from '../runtime/errors.ts';
import { makeDirectories } from '../runtime/makeDirectories.ts';
import { systemReason } from '../runtime/systemReason.ts';
import { formatTime } from '../schema/time.ts';

const lineShape = z.object({ series: z.string(), key: z.string(), trials: z.int().min(1) });

export interface Trial {
  /** The markets in general, such as `BTC 5m`: trials on other series do not count. */
  readonly series: string;
  /** Everything that was asked for: strategy, parameters, terms. */
  readonly question: unknown;
  readonly dataHash: string;
  /** Cells of a sweep; 1 for a single backtest. */
  readonly trials: number;
}

export class TrialsFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Number of earlier trials on the same series. Counting stops at the first line with the same question and data,
   * because a repeated run must print the same bytes. Repeated runs in between count once.
   * @throws {InvalidInputError} If the file exists and cannot be read, or a line is not a trial.
   */
  before(trial: Trial): number {
    const own = keyOf(trial);
    const tried = new Map<string, number>();
    for (const { series, key, trials } of this.#lines()) {
      if (series !== trial.series) continue;
      if (key === own) break;
      tried.set(key, trials);
    }
    return [...tried.values()].reduce((sum, trials) => sum + trials, 0);
  }

  /** Appends a trial; a line that is repeated does not change any count. @throws {InvalidInputError} */
  add(trial: Trial, nowMs: number): void {
    const { series, trials, dataHash } = trial;
    const line = { at: formatTime(nowMs), series, trials, key: keyOf(trial), data_hash: dataHash };
    try {
      makeDirectories(dirname(this.path));
      appendFileSync(this.path, `${JSON.stringify(line)}\n`);
    } catch (cause) {
      throw new InvalidInputError(`trials file ${this.path}: ${systemReason(cause)}`, { cause });
    }
  }

  #lines(): z.infer<typeof lineShape>[] {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw new InvalidInputError(`trials file ${this.path}: ${systemReason(cause)}`, { cause });
    }
    return text.split('\n').flatMap((line, at) => (line === '' ? [] : [this.#trial(line, at + 1)]));
  }

  /** A line that is not a trial is not left out: fewer trials would make results look better. */
  #trial(line: string, number: number): z.infer<typeof lineShape> {
    try {
      return lineShape.parse(JSON.parse(line));
    } catch (cause) {
      throw new InvalidInputError(
        `trials file ${this.path}: line ${number} is not a trial; correct or remove it`,
        {
          cause,
        },
      );
    }
  }
}

function keyOf({ question, dataHash }: Trial): string {
  return createHash('sha256')
    .update(JSON.stringify([question, dataHash]))
    .digest('hex');
}
