/** What a command knows of its run of a JSON file's job. */
import type { TrialsFile } from '../report/trials.ts';
import type { HeldOut } from './holdOut.ts';
import type { LocalJobs } from './localJobs.ts';
import type { SelectionOptions } from './trialsFile.ts';

export interface JobOptions extends SelectionOptions {
  readonly json?: boolean;
  readonly dataDir?: string;
  /** Directory of the report. */
  readonly out?: string;
}

/** A command's run of one job. */
export interface JobRun {
  readonly jobs: LocalJobs;
  readonly path: string;
  readonly trials: TrialsFile;
  readonly options: JobOptions;
  readonly heldOut: HeldOut | null;
}
