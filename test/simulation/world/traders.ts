import { UserRepository } from '../../../src/accounts/users/users.ts';
import type { Database } from '../../../src/control/schema.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import type { Strategy } from '../../../src/schema/strategy.ts';
import { StrategyRepository } from '../../../src/trading/paper/strategies.ts';
import { STUB_JOB } from '../../support/stubBacktests.ts';
import { simulatedWebhooks } from './readers.ts';
import type { ProcessClock } from './virtualTime.ts';

/** Strategies that trade often, each of another kind: takers, one that sells again, and one whose orders rest. */
const STRATEGIES: readonly { readonly name: string; readonly strategy: Strategy }[] = [
  {
    name: 'threshold',
    strategy: { type: 'threshold_entry', threshold: 0.9, direction: 'below', side: 'buy_yes' },
  },
  {
    name: 'in and out',
    strategy: {
      type: 'condition_based',
      side: 'buy_yes',
      entry: [{ metric: 'token_price', operator: 'below', value: 0.52 }],
      take_profit: [{ metric: 'token_price', operator: 'above', value: 0.5 }],
      stop_loss: [{ metric: 'token_price', operator: 'below', value: 0.42 }],
      max_trades_per_market: 20,
    },
  },
  {
    name: 'maker',
    strategy: {
      type: 'condition_based',
      side: 'buy_no',
      entry: [{ metric: 'token_price', operator: 'above', value: 0.1 }],
      take_profit: [{ metric: 'token_price', operator: 'above', value: 0.51 }],
      stop_loss: [],
      max_trades_per_market: 20,
      execution: { entry: 'maker', offset: 0, timeout_s: 5, queue_model: 'optimistic' },
    },
  },
];
const SERIES = [
  { ticker: 'BTC', event_type: '5m' },
  { ticker: 'BTC', event_type: '15m' },
] as const;
const SIZE_USD = 10;
const WEBHOOKS = 2;

/** Creates a user with paper strategies and webhooks. */
export async function createUser(
  database: Database,
  sources: { clock: ProcessClock & Clock; randomBytes: (size: number) => Uint8Array },
): Promise<void> {
  const { userId } = await new UserRepository(database, sources).create('simulated@example.com', 'premium');
  const strategies = new StrategyRepository(database, sources);
  for (const universe of SERIES)
    for (const { name, strategy } of STRATEGIES) {
      const named = { name: `${name} ${universe.event_type}`, strategy, universe };
      const wanted = { ...named, userId, sizeUsd: SIZE_USD, baselineId: STUB_JOB, cap: 100 };
      const made = await strategies.create(wanted);
      if (typeof made === 'string') throw new Error(made);
    }
  const { registry } = simulatedWebhooks(database, sources);
  for (let n = 1; n <= WEBHOOKS; n++)
    await registry.create({
      ...{ userId, url: `https://hooks.example.com/${n}`, label: `hook ${n}` },
      ...{ tiers: null, tickers: null },
    });
}
