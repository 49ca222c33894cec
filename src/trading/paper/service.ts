/** Paper trading: the strategies on the bus, and the API's operations on them. */

import type { Subscriber } from '../../bus/bus.ts';
import type { Election } from '../../bus/recordStream.ts';
import type { RandomBytes } from '../../control/base62.ts';
import type { Database } from '../../control/schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Market } from '../../schema/market.ts';
import type { Recording } from '../catchUp/recording.ts';
import type { ComparisonJobs } from './divergence.ts';
import { ElectedTrader } from './electedTrader.ts';
import { PaperStrategyService, type StrategyChanges } from './paperStrategyService.ts';
import { PositionReader } from './positions.ts';
import { StrategyRepository } from './strategies.ts';
import { type StartTrading, startTrading } from './trading.ts';

interface PaperServiceOptions {
  readonly database: Database;
  readonly recording: Recording;
  /** Markets being recorded. */
  readonly markets: () => Iterable<Market>;
  readonly bus: Subscriber;
  readonly backtests: ComparisonJobs;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Elects the process that trades; without it, this one does, and no other may. */
  readonly election?: Election;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface PaperTrading {
  readonly paperStrategies: PaperStrategyService;
  /** Resolves when every market has caught up and everything is written. */
  settled(): Promise<void>;
  /** Stops trading, then writes the queue. */
  close(): Promise<void>;
}

/** @throws {StoreUnavailableError} When the control database cannot be reached. */
export async function startPaper(parts: PaperServiceOptions): Promise<PaperTrading> {
  const { database, bus, backtests, clock, randomBytes, log, metrics, election } = parts;
  const strategies = new StrategyRepository(database, { clock, randomBytes });
  const positions = new PositionReader(database);
  const start: StartTrading = (options) => startTrading({ ...parts, strategies, positions }, options);
  const service = (runner: StrategyChanges) =>
    new PaperStrategyService({ strategies, positions, runner, backtests, clock });
  if (election !== undefined) {
    const elected = { election, database, strategies, startTrading: start, bus, clock, randomBytes };
    const trader = new ElectedTrader({ ...elected, log, metrics });
    return {
      paperStrategies: service(trader),
      settled: () => trader.settled(),
      close: () => trader.close(),
    };
  }
  const { runner, settled, close } = await startTrading({ ...parts, strategies, positions }, { bus });
  return { paperStrategies: service(runner), settled, close };
}
