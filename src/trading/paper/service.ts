/** Paper trading in one process: the strategies on the bus, and the API's operations on them. */

import type { Subscriber } from '../../bus/bus.ts';
import type { RandomBytes } from '../../control/base62.ts';
import type { Database } from '../../control/schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Market } from '../../schema/market.ts';
import { forgetOldTerms, readTerms } from '../catchUp/marketTerms.ts';
import type { Recording } from '../catchUp/recording.ts';
import { PaperRunner } from '../live/runner.ts';
import type { ComparisonJobs } from './divergence.ts';
import { liveStrategy, PaperStrategyService } from './paperStrategyService.ts';
import { PositionReader } from './positions.ts';
import { PositionWriter } from './positionWriter.ts';
import { StrategyRepository } from './strategies.ts';

interface PaperServiceOptions {
  readonly database: Database;
  readonly recording: Recording;
  /** Markets being recorded. */
  readonly markets: () => Iterable<Market>;
  readonly bus: Subscriber;
  readonly backtests: ComparisonJobs;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
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
  const { database, recording, markets, bus, backtests, clock, randomBytes, log, metrics } = parts;
  const strategies = new StrategyRepository(database, { clock, randomBytes });
  const positions = new PositionReader(database);
  const writer = new PositionWriter({ database, clock, log, metrics });
  const runner = new PaperRunner({
    ...{ recording, markets, clock, log, metrics },
    sessionsOf: (marketId) => positions.sessionsOf(marketId),
    termsOf: (marketId) => readTerms(database, marketId),
    changed: (session) => writer.changed(session),
    termsChanged: (version) => writer.termsChanged(version),
    resolutionMoved: (move) => writer.resolutionMoved(move),
  });
  await forgetOldTerms(database, clock.now());
  const held = await positions.heldMarkets();
  for (const strategy of await strategies.all()) runner.add(liveStrategy(strategy));
  runner.start(bus, { held });
  return {
    paperStrategies: new PaperStrategyService({ strategies, positions, runner, backtests, clock }),
    settled: async () => {
      await runner.settled();
      await writer.settled();
    },
    close: async () => {
      await runner.close();
      await writer.close();
    },
  };
}
