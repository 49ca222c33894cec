/** The market that the crash run of paper trading trades on, the same in every life. */
import type { MarketTape } from '../../src/core/session/tape.ts';
import type { Market } from '../../src/schema/market.ts';
import type { PaperStrategyService } from '../../src/trading/paper/paperStrategyService.ts';
import { marketOf } from './paperRig.ts';
import { STRATEGIES } from './strategies.ts';
import { randomTape, START_MS } from './tapes.ts';

export function crashTape(seed: string): MarketTape {
  return randomTape(seed, { books: 1_500, levels: 6, gaps: false });
}

export function crashResolved(tape: MarketTape): Market {
  const resolvedTimeMs = START_MS + 420_000;
  return marketOf(tape, { status: 'resolved', outcome: 'Up', payoutYes: 1, resolvedTimeMs });
}

/** One of each strategy, active since before the stream; made in the first life only. */
export async function makeStrategies(paperStrategies: PaperStrategyService, userId: string): Promise<void> {
  const known = new Set((await paperStrategies.strategies.list(userId)).map(({ name }) => name));
  for (const [name, strategy] of Object.entries(STRATEGIES)) {
    if (known.has(name)) continue;
    const universe = { ticker: 'BTC', event_type: '5m' } as const;
    await paperStrategies.create({
      userId,
      name,
      strategy,
      universe,
      sizeUsd: 10,
      baselineId: null,
      cap: 100,
    });
  }
}
