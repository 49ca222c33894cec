/** A market that is split at any moments and continued trades like one that is played at once, and like its backtest. */
import { expect, test } from 'vitest';
import { drawnStrategy } from '../../../test/support/drawnConditions.ts';
import { withLateGaps } from '../../../test/support/lateGaps.ts';
import { withPricesBeside } from '../../../test/support/oddTapes.ts';
import { tapeBetween } from '../../../test/support/paperRig.ts';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { END_MS, randomTape } from '../../../test/support/tapes.ts';
import { Random } from '../../core/random.ts';
import { prepareMarket } from '../../core/session/prepare.ts';
import { replayMarket } from '../../core/session/replay.ts';
import type { MarketTape } from '../../core/session/tape.ts';
import { compileStrategy } from '../../core/strategies/compile.ts';
import { DEFAULT_PARAMS } from '../../schema/api/strategies.ts';
import { QUEUE_MODELS, type Strategy } from '../../schema/strategy.ts';
import { PaperMarket } from './paperMarket.ts';
import { type LiveStrategy, PaperSession } from './paperSession.ts';
import { TapePlayer } from './tapePlayer.ts';

const SEEDS = 12;
const SIZE = 40_000_000;
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };

/** Half of them with purchases that rest. */
function strategiesOf(random: Random): Strategy[] {
  const drawn = Array.from({ length: 6 }, () => drawnStrategy(random));
  return [...Object.values(STRATEGIES), ...drawn].map((strategy, at): Strategy => {
    const queue_model = QUEUE_MODELS[random.below(QUEUE_MODELS.length)] ?? 'pessimistic';
    const execution = {
      entry: 'maker',
      offset: (random.below(5) - 2) / 100,
      timeout_s: 1 + random.below(40),
    };
    return at % 2 === 0 ? strategy : ({ ...strategy, execution: { ...execution, queue_model } } as Strategy);
  });
}

/** Trades may arrive long after the venue made them. */
function tapeOf(seed: string, random: Random): MarketTape {
  const shape = { books: 220, levels: 5, trades: true };
  const isLate = random.chance(0.5);
  const plain = randomTape(seed, { ...shape, gaps: !isLate });
  const tape = isLate ? withLateGaps(plain, seed) : plain;
  const { trades } = tape;
  const made = trades && { ...trades, eventMs: trades.receivedMs.map((ms) => ms - random.below(3_000)) };
  return { ...(random.chance(0.3) ? withPricesBeside(tape) : tape), ...(made && { trades: made }) };
}

/** The trades of each strategy if the market is played in stretches that end at these arrival numbers. */
function played(tape: MarketTape, strategies: readonly Strategy[], ends: readonly number[]): string[] {
  const paper = new PaperMarket(tape.market, (_, error) => {
    throw error;
  });
  const sessions = strategies.map((strategy, at) => {
    const live: LiveStrategy = {
      ...{ strategyId: `${at}`, series: 'BTC 5m', compiled: compileStrategy(strategy), size: SIZE },
      ...{ execution: strategy.execution, activeFromMs: 0, entries: { untilMs: Number.POSITIVE_INFINITY } },
    };
    return new PaperSession(live, paper.viewOf(live), { fromMs: 0, changed: () => undefined });
  });
  paper.addAll(sessions);
  const player = new TapePlayer(paper);
  let afterSeq = 0;
  for (const toSeq of [...ends, Number.MAX_SAFE_INTEGER]) {
    for (const _ of player.play(tapeBetween(tape, { afterSeq, toSeq })));
    afterSeq = toSeq;
  }
  player.finish();
  paper.settle(RESOLUTION, 'Up');
  return sessions.map(({ trades }) => JSON.stringify(trades));
}

test('wherever a past is split, each strategy has the trades of the whole, which are those of its backtest', () => {
  let [traded, rested] = [0, 0];
  for (let n = 0; n < SEEDS; n++) {
    const seed = `split ${n}`;
    const random = new Random(seed);
    const tape = tapeOf(seed, random);
    const strategies = strategiesOf(random);
    const whole = played(tape, strategies, []);
    const last = tape.quotes.seq.at(-1) ?? 0;
    const ends = Array.from({ length: 1 + random.below(6) }, () => random.below(last)).sort((a, b) => a - b);
    expect(played(tape, strategies, ends), seed).toEqual(whole);
    for (const [at, strategy] of strategies.entries()) {
      const compiled = compileStrategy(strategy);
      // Like a loader: the prices are read only for the model.
      const read = compiled.needs.model ? tape : { ...tape, prices: null };
      const terms = { strategy: compiled, size: SIZE, params: DEFAULT_PARAMS, execution: strategy.execution };
      const { trades } = replayMarket(prepareMarket(read, compiled.needs), terms, { resolution: RESOLUTION });
      expect(whole[at], `${seed}, strategy ${at}`).toBe(JSON.stringify(trades));
      if (strategy.execution === undefined) traded += trades.length;
      else rested += trades.length;
    }
  }
  expect(Math.min(traded, rested)).toBeGreaterThan(10 * SEEDS);
});
