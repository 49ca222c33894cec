/** The terms of a run of a user's strategy: everything but its code, its parameters and the recording. */
import type { LatencyModel, QueueModel } from '../desk/order.ts';
import type { Outage } from '../desk/outage.ts';

export interface RunTerms {
  /** Draws of latency and of `context.random()` start from it. */
  readonly seed: number;
  readonly orderLatency: LatencyModel;
  readonly queueModel: QueueModel;
  /** Whether a maker's fill has the rebate that can be expected as a negative fee. Default false. */
  readonly countsRebate?: boolean;
  /** Times at which the venue refuses orders; a recording does not show them. Default none. */
  readonly outages?: readonly Outage[];
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
