import { defineStrategy } from '../../src/core/run/defineStrategy.ts';
import type { Context, ParamSpecs, StrategyDefinition } from '../../src/core/run/definition.ts';
import { singleConditions } from '../../src/core/strategies/condition.ts';
import type { Condition, ConditionBased } from '../../src/schema/strategy.ts';
import { MarketMap, OneAtATime, TRADING_PARAMS, ticksOf, type Wish } from './oneAtATime.ts';

type AnyContext = Context<ParamSpecs, unknown>;
type Token = 'yes' | 'no';
const MODEL_METRICS = ['underlying_distance_pct', 'underlying_distance_sigma', 'model_probability'];

const METRICS: readonly Condition['metric'][] = [
  ...(['token_price', 'spread', 'seconds_to_end', 'imbalance', 'model_probability'] as const),
  ...(['underlying_distance_pct', 'underlying_distance_sigma'] as const),
];
const OPERATORS: readonly Condition['operator'][] = ['above', 'below', 'crosses_above', 'crosses_below'];

/** Whether it is rewritten: without groups, and with conditions whose values a context has. */
export function isRewritable({ entry, take_profit, stop_loss }: ConditionBased): boolean {
  const all = [...singleConditions(entry), ...take_profit, ...stop_loss];
  const isKnown = ({ metric, operator, token = 'own' }: Condition) =>
    METRICS.includes(metric) && OPERATORS.includes(operator) && token === 'own';
  return !entry.some((item) => 'any' in item) && all.every(isKnown);
}

/** One condition on one market, with the value that a crossing remembers. */
class ConditionCheck {
  readonly #condition: Condition;
  readonly #price: 'ask' | 'bid';
  #before: number | null = null;

  constructor(condition: Condition, price: 'ask' | 'bid') {
    this.#condition = condition;
    this.#price = price;
  }

  isTrue(marketId: string, token: Token, context: AnyContext): boolean {
    const { metric, operator, value } = this.#condition;
    const now = readingOf(metric, { marketId, token, price: this.#price }, context);
    const before = this.#before;
    if (!context.market(marketId).trusted) this.#before = null;
    else this.#before = now ?? before;
    if (now === null) return false;
    if (operator === 'above') return now > value;
    if (operator === 'below') return now < value;
    if (before === null || !context.market(marketId).trusted) return false;
    return operator === 'crosses_above' ? before <= value && now > value : before >= value && now < value;
  }
}

/** Buys when all entry conditions are true; sells when any stop-loss, then any take-profit condition is. */
export function conditionBased(strategy: ConditionBased): StrategyDefinition<typeof TRADING_PARAMS, unknown> {
  const { take_profit, stop_loss, side } = strategy;
  const entry = singleConditions(strategy.entry);
  const token: Token = side === 'buy_yes' ? 'yes' : 'no';
  const model = [...entry, ...take_profit, ...stop_loss].some(({ metric }) => MODEL_METRICS.includes(metric));
  const checks = (list: readonly Condition[], price: 'ask' | 'bid') =>
    list.map((condition) => new ConditionCheck(condition, price));
  return defineStrategy({
    name: 'condition_based',
    params: TRADING_PARAMS,
    inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true, model },
    state: () =>
      new MarketMap((marketId) => ({
        trading: new OneAtATime(marketId, strategy.max_trades_per_market),
        ...{ entry: checks(entry, 'ask'), stop: checks(stop_loss, 'bid'), take: checks(take_profit, 'bid') },
      })),
    onEvent(event, context) {
      for (const marketId of context.state.affected(event, context)) {
        const { trading, entry, stop, take } = context.state.of(marketId);
        // Crossings must see every event, so that none is skipped.
        const isTrue = (check: ConditionCheck) => check.isTrue(marketId, token, context);
        const [entries, stops, takes] = [entry.map(isTrue), stop.map(isTrue), take.map(isTrue)];
        let wish: Wish = null;
        if (trading.held(context) === null) wish = entries.every(Boolean) ? side : null;
        else if (stops.includes(true)) wish = 'stop_loss';
        else if (takes.includes(true)) wish = 'take_profit';
        trading.act(wish, context);
      }
    },
  }) as StrategyDefinition<typeof TRADING_PARAMS, unknown>;
}

function readingOf(
  metric: Condition['metric'],
  { marketId, token, price }: { marketId: string; token: Token; price: 'ask' | 'bid' },
  context: AnyContext,
): number | null {
  const book = context.book(marketId);
  switch (metric) {
    case 'token_price':
      return price === 'ask' ? book.bestAsk(token) : book.bestBid(token);
    case 'spread': {
      const bid = book.bestBid(token);
      const ask = book.bestAsk(token);
      return bid === null || ask === null ? null : (ticksOf(ask) - ticksOf(bid)) / 10_000;
    }
    case 'seconds_to_end':
      return (context.market(marketId).endTimeMs - context.nowMs) / 1_000;
    case 'imbalance':
      return book.imbalance(token);
    case 'underlying_distance_pct':
      return context.model(marketId).distancePct;
    case 'underlying_distance_sigma':
      return context.model(marketId).distanceSigma;
    case 'model_probability': {
      const yes = context.model(marketId).yesProbability;
      return yes === null || token === 'yes' ? yes : 1 - yes;
    }
    default:
      throw new RangeError(`no reading ${metric}`);
  }
}
