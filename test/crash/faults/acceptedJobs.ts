/** Backtests that a service accepts during a fault: each must end, whatever happens to the service. */
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import type { ServiceProcess } from './serviceProcess.ts';

const JOB = {
  strategy: { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
  market_limit: 2,
};
/** Below the number that a user may have at once. */
const OPEN_MAX = 8;
const POLL_MS = 500;
const END_WITHIN_MS = 60_000;

export class AcceptedJobs {
  readonly #open = new Set<string>();
  accepted = 0;

  /** Sends a backtest, unless many have not ended. The service may refuse it, or not answer within the limit. */
  async offer(service: ServiceProcess, limitMs: number): Promise<void> {
    if (this.#open.size >= OPEN_MAX) return;
    const { status, body } = await service.post('/v1/backtest', JOB, limitMs);
    if (status !== 201) return;
    this.#open.add((JSON.parse(body) as { job_id: string }).job_id);
    this.accepted++;
  }

  /** Waits until all have ended. @returns How many are unknown to the service, or have not ended in time. */
  async lost(service: ServiceProcess): Promise<number> {
    const started = clock.monotonic();
    while (this.#open.size > 0 && clock.monotonic() - started < END_WITHIN_MS) {
      for (const id of this.#open) {
        const { status, body } = await service.get(`/v1/backtest/${id}`);
        if (status === 200 && /"status":"(?:complete|failed)"/.test(body)) this.#open.delete(id);
      }
      await sleep(clock, POLL_MS);
    }
    return this.#open.size;
  }
}
