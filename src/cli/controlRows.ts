import { randomBytes } from 'node:crypto';
import { type Job, JobRepository } from '../backtest/jobs.ts';
import type { Config } from '../config.ts';
import type { Database } from '../control/schema.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { systemClock } from '../runtime/clock.ts';
import { AuditReader } from '../signals/auditReader.ts';

/** The control database for exports: opened when its rows are first read, because most exports need only the engine. */
export class ControlDatabase {
  readonly #config: Config;
  #opened: Promise<Database> | null = null;

  constructor(config: Config) {
    this.#config = config;
  }

  async oldest(...asked: Parameters<AuditReader['oldest']>): ReturnType<AuditReader['oldest']> {
    return await new AuditReader(await this.#open()).oldest(...asked);
  }

  async result(jobId: string): Promise<string | null> {
    return await (await this.#jobs()).result(jobId);
  }

  /** A job of any user. */
  async job(jobId: string): Promise<Job | null> {
    return await (await this.#jobs()).find(jobId, null);
  }

  async close(): Promise<void> {
    await (await this.#opened)?.destroy();
  }

  async #jobs(): Promise<JobRepository> {
    return new JobRepository(await this.#open(), { clock: systemClock, randomBytes });
  }

  #open(): Promise<Database> {
    this.#opened ??= openControlDatabase(this.#config, { isReader: true });
    return this.#opened;
  }
}
