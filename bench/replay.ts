/**
 * Replays on one core: rows per second with fills, and a sweep's cells over prepared markets. Seconds are processor
 * time, so that other load on the machine does not count.
 */

import { type PreparedMarket, prepareMarket } from '../src/core/session/prepare.ts';
import { replayMarket } from '../src/core/session/replay.ts';
import { compileStrategy } from '../src/core/strategies/compile.ts';
import type { ConditionBased, Strategy } from '../src/schema/strategy.ts';
import { STRATEGIES } from '../test/support/strategies.ts';
import { randomTape, START_MS } from '../test/support/tapes.ts';
import type { Figure } from './figure.ts';

const MARKETS = 100;
/** Quotes per market; each has a book of ten levels per side. */
const QUOTES = 400;
const SHAPE = { books: QUOTES, levels: 10, gaps: false };
const ROUNDS = 5;
const CELLS = 250;
const PARAMS = { fill_mode: 'walk_book', latency_ms: 50, max_fill_price: 0.985, max_slippage: 0.02 } as const;
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: START_MS + 400_000 };
const SIZE = 10_000_000;

interface Run {
  rows: number;
  trades: number;
  seconds: number;
}

function replayAll(markets: readonly PreparedMarket[], strategies: readonly Strategy[]): Run {
  let [rows, trades] = [0, 0];
  const before = process.cpuUsage();
  for (const strategy of strategies) {
    const terms = { strategy: compileStrategy(strategy), size: SIZE, params: PARAMS };
    for (const market of markets) {
      trades += replayMarket(market, terms, { resolution: RESOLUTION }).trades.length;
      rows += market.rows.count;
    }
  }
  const { user, system } = process.cpuUsage(before);
  return { rows, trades, seconds: (user + system) / 1e6 };
}

function median(runs: readonly Run[]): Run {
  return runs.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(runs.length / 2)] as Run;
}

/** Enters and exits continuously and is never held to the end, so that every row is evaluated. */
const BUSY: ConditionBased = {
  type: 'condition_based',
  side: 'buy_yes',
  entry: [{ metric: 'token_price', operator: 'crosses_below', value: 0.5 }],
  take_profit: [{ metric: 'token_price', operator: 'above', value: 0.52 }],
  stop_loss: [{ metric: 'token_price', operator: 'below', value: 0.46 }],
  max_trades_per_market: 100,
};

export async function run(): Promise<Figure[]> {
  const tapes = Array.from({ length: MARKETS }, (_, n) => randomTape(`bench ${n}`, SHAPE));
  const started = performance.now();
  const plain = tapes.map((tape) => prepareMarket(tape, { model: false }));
  const preparing = (performance.now() - started) / MARKETS;
  const modelled = tapes.map((tape) => prepareMarket(tape, { model: true }));
  const figures: Figure[] = [];
  const measure = (name: string, markets: readonly PreparedMarket[], strategy: Strategy, goal?: string) => {
    const repeated = Array.from({ length: 40 }, () => strategy);
    const runs = Array.from({ length: ROUNDS + 1 }, () => replayAll(markets, repeated)).slice(1);
    const { rows, trades, seconds } = median(runs);
    const label = `${name} (${Math.round(trades / repeated.length)} trades a pass)`;
    figures.push({
      name: label,
      value: rows / seconds,
      unit: 'rows/s',
      ...(goal === undefined ? {} : { goal }),
    });
  };
  measure('condition_based: buys and sells all the time', plain, BUSY, '>= 10,000,000');
  measure('mean_reversion', plain, STRATEGIES.mean_reversion as Strategy, '>= 2,000,000');
  measure('threshold_entry: never buys', plain, {
    ...{ type: 'threshold_entry', threshold: 0, direction: 'below', side: 'buy_yes' },
  });
  const never = [{ metric: 'token_price', operator: 'below', value: 0 }] as const;
  measure('condition_based: never buys', plain, { ...BUSY, entry: never }, '>= 10,000,000');
  const onModel = STRATEGIES['condition_based on the model'] as Strategy;
  measure('condition_based on the model, computed once', modelled, onModel, '>= 10,000,000');
  figures.push({ name: 'preparing a market of 400 quotes', value: preparing, unit: 'ms' });
  figures.push(sweep(plain));
  return figures;
}

/** Thresholds over the whole range: most enter early, and then nothing remains to be read. */
function sweep(markets: readonly PreparedMarket[]): Figure {
  const strategies = Array.from({ length: CELLS }, (_, cell): Strategy => {
    const take = 0.3 + (cell % 25) * 0.02;
    return {
      ...BUSY,
      entry: [{ metric: 'token_price', operator: 'below', value: 0.2 + Math.floor(cell / 25) * 0.04 }],
      take_profit: [{ metric: 'token_price', operator: 'above', value: take }],
      max_trades_per_market: 5,
    };
  });
  const { seconds } = replayAll(markets, strategies);
  const whole = (seconds * 2_500) / CELLS;
  return {
    name: `condition_based, 2,500 cells x ${MARKETS} markets of ${QUOTES} quotes, one core, from ${CELLS} cells`,
    value: whole,
    unit: 's',
    goal: '< 20 (two cores: 10)',
  };
}
