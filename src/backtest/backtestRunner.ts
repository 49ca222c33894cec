import { FairQueue } from '../core/fairQueue.ts';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import { BacktestFailedError, StoreUnavailableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { type JobQueue, LEASE_MS } from './jobQueue.ts';
import { type RunnerParts, runJob } from './jobRunner.ts';
import type { Job } from './jobs.ts';

/** Maximum number of jobs running in one process. The threads are shared among their users, task by task. */
const JOBS_MAX = 8;
/**
 * Maximum number of jobs of one user among them. One job keeps all threads busy, so a single user loses nothing, and
 * another user's first job can start at once.
 */
const JOBS_PER_USER_MAX = 4;
/** How often a process polls for queued and abandoned jobs, and renews its leases. */
const POLL_MS = 1_000;

const UNREACHABLE = 'the data store could not be reached; submit the job again';
const DEFECT = 'the job failed because of a defect in the service; its log has the details';

interface Running {
  readonly job: Job;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  progress: number;
}

interface BacktestRunnerParts extends Omit<RunnerParts, 'turns'> {
  readonly queue: JobQueue;
  /** Resolves once all rows received so far are stored or were set aside. */
  readonly stored?: () => Promise<void>;
  /** No other process runs jobs of this database. */
  readonly alone: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Runs queued jobs. The jobs table is the queue; the runners of all processes compete for its jobs. */
export class BacktestRunner {
  readonly #parts: BacktestRunnerParts;
  readonly #turns: FairQueue;
  readonly #running = new Map<string, Running>();
  readonly #ended;
  #timer: Timer | null = null;
  #pumping: Promise<void> | null = null;
  #again = false;
  #closed = false;

  constructor(parts: BacktestRunnerParts) {
    this.#parts = parts;
    this.#turns = new FairQueue(parts.workers.threads);
    this.#ended = parts.metrics.counter('underround_backtest_jobs_total', 'Backtests and sweeps that ended', [
      'kind',
      'outcome',
    ]);
  }

  /** Requeues abandoned jobs, then polls for work. */
  async start(): Promise<void> {
    const { queue, alone, log } = this.#parts;
    const recovered = await queue.recover({ alone });
    if (recovered > 0) log.info({ jobs: recovered }, 'backtest.recovered');
    this.#timer = every(this.#parts.clock, POLL_MS, () => void this.#poll());
    this.#pump();
  }

  /** Claims queued jobs now instead of at the next poll. */
  wake(): void {
    this.#pump();
  }

  /** Ends a job that was cancelled, if it runs in this process. */
  abort(jobId: string): void {
    this.#running.get(jobId)?.controller.abort();
  }

  /** Stops; running jobs return to the queue. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#pumping;
    const running = [...this.#running.values()];
    for (const { controller } of running) controller.abort();
    await Promise.all(running.map(({ ended }) => ended));
    await this.#parts.workers.close();
  }

  async #poll(): Promise<void> {
    const { queue, log } = this.#parts;
    try {
      for (const { job, progress, controller } of this.#running.values()) {
        if (!(await queue.keep(job.jobId, progress))) controller.abort();
      }
      // A job that is being claimed now must be among the jobs of this process.
      await this.#pumping;
      await queue.recover({ alone: false, own: [...this.#running.keys()] });
    } catch (error) {
      // The next poll tries again; a lease outlasts many polls.
      log.warn({ err: error, leaseMs: LEASE_MS }, 'backtest.look_failed');
    }
    this.#pump();
  }

  /** Starts as many jobs as possible. A call during a run causes one more run. */
  #pump(): void {
    if (this.#pumping !== null) {
      this.#again = true;
      return;
    }
    this.#pumping = this.#fill()
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'backtest.claim_failed'))
      .finally(() => {
        this.#pumping = null;
        if (this.#again && !this.#closed) this.#pump();
      });
  }

  async #fill(): Promise<void> {
    this.#again = false;
    while (!this.#closed && this.#running.size < JOBS_MAX) {
      const job = await this.#parts.queue.claim((userId) => this.#runningOf(userId) < JOBS_PER_USER_MAX);
      if (job === null) return;
      const controller = new AbortController();
      const running = { job, controller, progress: 0, ended: Promise.resolve() };
      this.#running.set(job.jobId, { ...running, ended: this.#run(running) });
    }
  }

  #runningOf(userId: string): number {
    return [...this.#running.values()].filter(({ job }) => job.userId === userId).length;
  }

  async #run(running: Omit<Running, 'ended'>): Promise<void> {
    const { job, controller } = running;
    const { clock, log, queue } = this.#parts;
    const started = clock.monotonic();
    const { jobId, userId, kind } = job;
    let outcome = 'complete';
    let failure: unknown = null;
    try {
      const onProgress = (share: number) => {
        const known = this.#running.get(jobId);
        if (known) known.progress = share;
      };
      const parts = { ...this.#parts, turns: this.#turns };
      await this.#untilStored(controller.signal);
      const result = await runJob(parts, job, { signal: controller.signal, onProgress });
      if (!(await queue.finish(jobId, { result }))) outcome = 'cancelled';
    } catch (error) {
      failure = error;
      outcome = await this.#unfinished(running, error);
    } finally {
      this.#running.delete(jobId);
    }
    const durationMs = Math.round(clock.monotonic() - started);
    this.#ended.inc({ kind, outcome });
    const line = { job_id: jobId, user_id: userId, kind, outcome, duration_ms: durationMs };
    if (outcome === 'failed') log.warn({ ...line, err: failure }, 'backtest.ended');
    else log.info(line, 'backtest.ended');
    if (!this.#closed) this.#pump();
  }

  /** Starting a job before its rows are stored would exclude them from its result forever. */
  async #untilStored(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    // Rows that were set aside are not in the store; the job runs without them, like every reader.
    const stored = this.#parts.stored?.().catch(() => undefined);
    await Promise.race([stored, aborted]);
    signal.throwIfAborted();
  }

  async #unfinished({ job, controller }: Omit<Running, 'ended'>, error: unknown): Promise<string> {
    const { queue, log } = this.#parts;
    try {
      if (controller.signal.aborted) {
        if (!this.#closed) return 'cancelled';
        await queue.giveBack(job.jobId);
        return 'given_back';
      }
      await queue.finish(job.jobId, { error: errorText(error) });
    } catch (unsaved) {
      // Its lease expires, and the job is tried again.
      log.error({ err: unsaved, job_id: job.jobId }, 'backtest.not_saved');
    }
    return 'failed';
  }
}

/** The error text for the user; never an internal text. */
function errorText(error: unknown): string {
  if (error instanceof BacktestFailedError) return error.message;
  return error instanceof StoreUnavailableError ? UNREACHABLE : DEFECT;
}
