/**
 * Paper trading on one core: one market with 10,000 strategies and a stream of books. Seconds are processor time; the
 * duration of a book change is wall time.
 */
import { compileStrategy } from '../src/core/strategies/compile.ts';
import type { Strategy } from '../src/schema/strategy.ts';
import { PaperMarket } from '../src/trading/live/paperMarket.ts';
import { type LiveStrategy, PaperSession } from '../src/trading/live/paperSession.ts';
import { TapePlayer } from '../src/trading/live/tapePlayer.ts';
import { randomTape } from '../test/support/tapes.ts';
import type { Figure } from './figure.ts';

const STRATEGIES = 10_000;
const BOOKS = 400;

/** Each strategy gets a different number. */
const KINDS: Readonly<Record<string, (n: number) => Strategy>> = {
  'none reached': (n) => ({
    ...{ type: 'threshold_entry', direction: 'below', side: n % 2 === 0 ? 'buy_yes' : 'buy_no' },
    threshold: n / 1e7,
  }),
  // The price repeatedly crosses the thresholds near it in both directions.
  'spread over all prices': (n) => ({
    ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 5, stop_loss: [] },
    entry: [
      { metric: 'imbalance', operator: 'above', value: -0.5 },
      { metric: 'token_price', operator: 'crosses_below', value: n / STRATEGIES },
    ],
    take_profit: [{ metric: 'token_price', operator: 'above', value: n / STRATEGIES + 0.02 }],
  }),
  // All buy at once, so that each is evaluated on every change.
  'all hold': (n) => ({
    ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 5 },
    entry: [{ metric: 'token_price', operator: 'above', value: 0 }],
    take_profit: [{ metric: 'token_price', operator: 'crosses_above', value: 0.999 + n / 1e8 }],
    stop_loss: [{ metric: 'imbalance', operator: 'above', value: 1 + n / 1e7 }],
  }),
};

function live(n: number, strategy: Strategy): LiveStrategy {
  const compiled = compileStrategy(strategy);
  const entries = { untilMs: Number.POSITIVE_INFINITY };
  return { strategyId: `ps_${n}`, series: 'BTC 5m', compiled, size: 10_000_000, activeFromMs: 0, entries };
}

function measure(kind: string, make: (n: number) => Strategy): Figure[] {
  const tape = randomTape('paper bench', { books: BOOKS, levels: 10, gaps: false });
  const market = new PaperMarket(tape.market, (_, error) => {
    throw error;
  });
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const sessions = Array.from({ length: STRATEGIES }, (_, n) => {
    const strategy = live(n, make(n));
    return new PaperSession(strategy, market.viewOf(strategy), { fromMs: 0, changed: () => {} });
  });
  market.addAll(sessions);
  globalThis.gc?.();
  const bytes = (process.memoryUsage().heapUsed - before) / STRATEGIES;
  const took: number[] = [];
  const timed = { book: market.book.bind(market), quote: market.quote.bind(market) };
  const around =
    <T>(run: (record: T) => void) =>
    (record: T) => {
      const begun = performance.now();
      run(record);
      took.push(performance.now() - begun);
    };
  market.book = around(timed.book);
  market.quote = around(timed.quote);
  const cpu = process.cpuUsage();
  const steps = new TapePlayer(market).play(tape);
  while (!steps.next().done);
  const { user, system } = process.cpuUsage(cpu);
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor(share * (took.length - 1))] as number;
  const seconds = (user + system) / 1e6;
  const rate = (STRATEGIES * took.length) / seconds / 1e6;
  return [
    { name: `${kind}: strategies x quotes a second a core`, value: rate, unit: 'M/s' },
    { name: `${kind}: a quote at ${STRATEGIES} strategies, median`, value: at(0.5), unit: 'ms', goal: '5' },
    { name: `${kind}: the same, 99 %`, value: at(0.99), unit: 'ms', goal: '5' },
    { name: `${kind}: memory a strategy and market`, value: bytes, unit: 'bytes' },
  ];
}

export async function run(): Promise<Figure[]> {
  return Object.entries(KINDS).flatMap(([kind, make]) => measure(kind, make));
}
