/** Trading of all stored strategies, from a start to its end. */
import type { Kysely } from 'kysely';
import type { Subscriber } from '../../bus/bus.ts';
import type { Database, Schema } from '../../control/schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Market } from '../../schema/market.ts';
import type { Recording } from '../catchUp/recording.ts';
import { forgetOldTerms, readTerms } from './marketTermsTable.ts';
import { liveStrategy } from './paperStrategyService.ts';
import type { PositionReader } from './positions.ts';
import { PositionWriter } from './positionWriter.ts';
import { PaperRunner } from './runner.ts';
import type { StrategyRepository } from './strategies.ts';

interface TradingOptions {
  readonly database: Database;
  readonly strategies: Pick<StrategyRepository, 'all'>;
  readonly positions: PositionReader;
  readonly recording: Recording;
  /** Markets being recorded. */
  readonly markets: () => Iterable<Market>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface Trading {
  readonly runner: PaperRunner;
  /** Resolves when every market has caught up and everything is written. */
  settled(): Promise<void>;
  /** Stops trading, then writes the queue. */
  close(): Promise<void>;
  /** Stops trading at once and writes nothing more. */
  abandon(): Promise<void>;
}

interface TradingStart {
  readonly bus: Subscriber;
  /** See `PositionWriter`. */
  readonly isTrader?: (transaction: Kysely<Schema>) => Promise<boolean>;
}

export type StartTrading = (start: TradingStart) => Promise<Trading>;

/** @throws {StoreUnavailableError} When the control database cannot be reached. */
export async function startTrading(
  options: TradingOptions,
  { bus, isTrader }: TradingStart,
): Promise<Trading> {
  const { database, strategies, positions, recording, markets, clock, log, metrics } = options;
  await forgetOldTerms(database, clock.now());
  const held = await positions.heldMarkets();
  const stored = await strategies.all();
  const writer = new PositionWriter({ database, clock, log, metrics, ...(isTrader && { isTrader }) });
  const runner = new PaperRunner({
    ...{ recording, markets, writer, clock, log, metrics },
    sessionsOf: (marketId) => positions.sessionsOf(marketId),
    termsOf: (marketId) => readTerms(database, marketId),
  });
  for (const strategy of stored) runner.add(liveStrategy(strategy));
  runner.start(bus, { held });
  return {
    runner,
    settled: async () => {
      await runner.settled();
      await writer.settled();
    },
    close: async () => {
      await runner.close();
      await writer.close();
    },
    abandon: async () => {
      await Promise.all([runner.close(), writer.abandon()]);
    },
  };
}
