import { type Clock, sleep } from '../runtime/clock.ts';
import { DiskScarceError } from '../runtime/errors.ts';
import type { Job, JobRepository, NewJob } from './jobs.ts';

const WAIT_POLL_MS = 100;

/** The runner of the same process. */
interface LocalRunner {
  /** A job was created: claim it now instead of at the next poll. */
  wake(): void;
  /** A job was cancelled: end it if it runs here. */
  abort(jobId: string): void;
}

/**
 * What users do with jobs: create, read, wait for and cancel them. The table is the queue, so this works in every
 * process; without a runner in this one, another process claims the jobs and notices cancellations within a second.
 */
export class JobControl {
  readonly jobs: JobRepository;
  readonly #clock: Clock;
  readonly #runner: LocalRunner | null;
  readonly #isDiskScarce: () => Promise<boolean>;

  constructor(parts: {
    jobs: JobRepository;
    clock: Clock;
    runner: LocalRunner | null;
    /** Whether jobs may take no more space on the disk of the control database. */
    isDiskScarce: () => Promise<boolean>;
  }) {
    this.jobs = parts.jobs;
    this.#clock = parts.clock;
    this.#runner = parts.runner;
    this.#isDiskScarce = parts.isDiskScarce;
  }

  /**
   * @returns Null if the user has the maximum number of jobs.
   * @throws {DiskScarceError} While the disk is nearly full: the results of many users could stop the recording.
   */
  async submit(wanted: NewJob): Promise<Job | null> {
    if (await this.#isDiskScarce()) throw new DiskScarceError('no job is accepted: the disk is nearly full');
    const job = await this.jobs.create(wanted);
    if (job !== null) this.#runner?.wake();
    return job;
  }

  /** The job once it has ended, or its state after `limitMs`; null if the user has no such job. */
  async wait(
    jobId: string,
    owner: { userId: string },
    { limitMs, signal }: { limitMs: number; signal: AbortSignal },
  ): Promise<Job | null> {
    const deadline = this.#clock.monotonic() + limitMs;
    for (;;) {
      const job = await this.jobs.find(jobId, owner);
      const ended = job === null || (job.status !== 'queued' && job.status !== 'running');
      const leftMs = deadline - this.#clock.monotonic();
      if (ended || leftMs <= 0 || signal.aborted) return job;
      await sleep(this.#clock, Math.min(WAIT_POLL_MS, leftMs), signal);
    }
  }

  /** @returns False if the user has no such job. A finished job does not change. */
  async cancel(jobId: string, owner: { userId: string }): Promise<boolean> {
    const found = await this.jobs.cancel(jobId, owner);
    if (found) this.#runner?.abort(jobId);
    return found;
  }
}
