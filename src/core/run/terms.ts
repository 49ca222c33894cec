/** The terms of a run of a user's strategy: everything but its code, its parameters and the recording. */
import type { LatencyModel, QueueModel } from '../desk/order.ts';

export interface RunTerms {
  /** Draws of latency and of `context.random()` start from it. */
  readonly seed: number;
  readonly orderLatency: LatencyModel;
  readonly queueModel: QueueModel;
  /** Cash at the start in USD; null: unlimited. */
  readonly cashUsd: number | null;
  /** Largest cost of open positions and resting purchases, in USD; null: no cap. */
  readonly exposure: {
    readonly perMarketUsd: number | null;
    readonly perTickerUsd: number | null;
    readonly totalUsd: number | null;
  };
  /** From the venue's resolution until a payout is cash again. */
  readonly redemptionDelayMs: number;
}
