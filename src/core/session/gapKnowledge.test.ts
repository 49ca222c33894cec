/**
 * Recordings of earlier releases do not store when a gap was detected. A restart and a backtest treat it as known at
 * once; a live session learned of it later. All must end with the same positions.
 */
import { expect, test } from 'vitest';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { END_MS, randomTape, START_MS } from '../../../test/support/tapes.ts';
import { DEFAULT_PARAMS } from '../../schema/api/strategies.ts';
import { Random } from '../random.ts';
import { compileStrategy } from '../strategies/compile.ts';
import { GapEnds } from './gapEnds.ts';
import { prepareMarket } from './prepare.ts';
import { replayMarket } from './replay.ts';
import type { MarketTape, TapeGap } from './tape.ts';

const SEEDS = 12;
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };

/** About one in ten seconds, each detected up to some seconds after its start and over a little later; none overlap. */
function gapsOf(seed: string): TapeGap[] {
  const random = new Random(`${seed} gaps`);
  const gaps: TapeGap[] = [];
  for (let timeMs = START_MS; ; ) {
    const startMs = timeMs + Math.ceil(random.exponential(10_000));
    const knownMs = startMs + 1 + random.below(4_000);
    const endMs = knownMs + random.below(3_000);
    if (endMs >= END_MS) return gaps;
    gaps.push({ startMs, knownMs, endMs });
    timeMs = endMs + 1;
  }
}

function traded(tape: MarketTape, name: string): string {
  const strategy = compileStrategy(STRATEGIES[name]!);
  const terms = { strategy, size: 40_000_000, params: DEFAULT_PARAMS };
  return JSON.stringify(
    replayMarket(prepareMarket(tape, strategy.needs), terms, { resolution: RESOLUTION }).trades,
  );
}

test.each(Object.keys(STRATEGIES))('%s trades the same whenever its gaps were detected', (name) => {
  let dealt = 0;
  for (let at = 0; at < SEEDS; at++) {
    const seed = `known ${at}`;
    const tape = randomTape(seed, { books: 1_500, levels: 4, gaps: false });
    const gaps = gapsOf(seed);
    const live = traded({ ...tape, gaps }, name);
    const atOnce = gaps.map((gap) => ({ ...gap, knownMs: gap.startMs + 0.5 }));
    expect(traded({ ...tape, gaps: atOnce }, name), seed).toBe(live);
    if (live !== '[]') dealt++;
  }
  expect(dealt).toBeGreaterThan(SEEDS / 2);
});

test('a record received exactly at the end of a gap is still in it, the next one is not', () => {
  const ends = new GapEnds();
  for (const endMs of [300, 200]) ends.add(endMs);
  expect([ends.pass(200), ends.pass(201), ends.pass(300), ends.pass(301)]).toEqual([null, 200, null, 300]);
  expect(ends.count).toBe(0);
});
