/**
 * Market maker: rests a bid for Up and a bid for Down, and earns when both fill for less than 1 USDC together.
 *
 * Idea: a pair of Up and Down pays 1 USDC whatever happens. Post-only orders pay no taker fee.
 * Quotes: fair value (the mid) less `halfSpread` for each token. `skew` lowers the bid of the token it holds more of and
 * raises the other: at `inventoryMax` shares by the whole `skew`. Beyond that it bids for the other token only.
 * Requotes: only when a bid should move by `requoteTicks` ticks, because a new order joins the end of the queue.
 * Cancels: an untrusted book, the last `stopSeconds` of the window, and `newsMinutes` around a daily release at
 * `newsMinuteUtc` (minute of the day in UTC): informed takers fill the quotes that are about to be wrong.
 * Risk: one-sided fills in a trend. Compare the queue models of the report: the optimistic one flatters a maker.
 */
import { type Context, defineStrategy, type OwnOrder, type Token } from '@underround/engine';

const TOKENS = ['yes', 'no'] as const;
const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1_440;

const PARAMS = {
  halfSpread: { default: 0.015, min: 0, max: 0.5 },
  skew: { default: 0.02, min: 0, max: 0.5 },
  size: { default: 20, min: 1 },
  inventoryMax: { default: 60, min: 1 },
  /** Of one token: pairs lock money until the resolution. */
  sharesMax: { default: 200, min: 1 },
  requoteTicks: { default: 2, min: 1, whole: true },
  stopSeconds: { default: 30, min: 0 },
  newsMinuteUtc: { default: 810, min: 0, max: 1_439, whole: true },
  newsMinutes: { default: 2, min: 0, max: 720 },
  /** After a refusal. */
  pauseSeconds: { default: 2, min: 0 },
} as const;

interface State {
  /** Orders that it has asked the venue to cancel. */
  readonly cancelling: Set<number>;
  /** When it may bid again after a refusal, by market. */
  readonly pausedUntilMs: Map<string, number>;
}
type MakerContext = Context<typeof PARAMS, State>;

export default defineStrategy({
  name: 'market_maker',
  params: PARAMS,
  // The clock cancels even if no book changes.
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true, trades: true, clockMs: 1_000 },
  state: (): State => ({ cancelling: new Set(), pausedUntilMs: new Map() }),
  onEvent(event, context) {
    const { cancelling, pausedUntilMs } = context.state;
    if (event.type === 'order') {
      const { orderId, marketId, state } = event.order;
      if (state !== 'resting') cancelling.delete(orderId);
      if (state === 'refused')
        pausedUntilMs.set(marketId, context.nowMs + context.params.pauseSeconds * 1_000);
    }
    if (event.type === 'resolved') pausedUntilMs.delete(event.marketId);
    if (event.type === 'book' || event.type === 'gap') quote(event.marketId, context);
    if (event.type !== 'clock') return;
    for (const { marketId } of context.markets()) quote(marketId, context);
  },
});

/** Brings the two bids of a market to where they should be. */
function quote(marketId: string, context: MakerContext): void {
  const open = context.openOrders(marketId);
  for (const token of TOKENS) {
    const own = open.filter((order) => order.token === token);
    const wanted = bidOf(marketId, token, context);
    if (wanted === null) {
      for (const order of own) withdraw(order, context);
      continue;
    }
    const [resting] = own;
    if (context.nowMs < (context.state.pausedUntilMs.get(marketId) ?? 0)) continue;
    const { tickSize, minimumOrderSize } = context.market(marketId);
    if (resting === undefined) {
      const size = Math.max(context.params.size, minimumOrderSize);
      if (context.cash !== null && context.cash < size * wanted) continue;
      context.place({ marketId, token, action: 'buy', limitPrice: wanted, size, postOnly: true });
    } else if (
      own.length === 1 &&
      resting.state === 'resting' &&
      !context.state.cancelling.has(resting.orderId)
    ) {
      // A second one is a replacement on its way: the venue accepts only one of an order.
      const ticks = Math.abs(resting.limitPrice - wanted) / tickSize;
      // The shares that an order has left stay as they are.
      if (ticks > context.params.requoteTicks - 0.5) context.replace(resting.orderId, { limitPrice: wanted });
    }
  }
}

/** The price to bid for a token; null: no bid now. */
function bidOf(marketId: string, token: Token, context: MakerContext): number | null {
  const { params } = context;
  const { trusted, startTimeMs, endTimeMs, tickSize } = context.market(marketId);
  const isOpen = context.nowMs >= startTimeMs && context.nowMs < endTimeMs - params.stopSeconds * 1_000;
  if (!trusted || !isOpen || isNearNews(context)) return null;
  const book = context.book(marketId);
  const [bid, ask] = [book.bestBid(token), book.bestAsk(token)];
  if (bid === null || ask === null) return null;
  const other = token === 'yes' ? 'no' : 'yes';
  const held = context.position(marketId, token).size;
  const more = held - context.position(marketId, other).size;
  if (more >= params.inventoryMax || held >= params.sharesMax) return null;
  const share = Math.max(-1, Math.min(1, more / params.inventoryMax));
  const wanted = (bid + ask) / 2 - params.halfSpread - params.skew * share;
  // A bid at the ask would trade at once, and be refused.
  const ticks = Math.min(Math.floor(wanted / tickSize + 1e-9), Math.round(ask / tickSize) - 1);
  return ticks < 1 ? null : Number((ticks * tickSize).toFixed(4));
}

function isNearNews({ nowMs, params }: MakerContext): boolean {
  if (params.newsMinutes === 0) return false;
  const minute = (nowMs / MINUTE_MS) % MINUTES_PER_DAY;
  const apart = Math.abs(minute - params.newsMinuteUtc);
  return Math.min(apart, MINUTES_PER_DAY - apart) <= params.newsMinutes;
}

function withdraw({ orderId, state }: OwnOrder, context: MakerContext): void {
  const { cancelling } = context.state;
  if (state !== 'resting' || cancelling.has(orderId)) return;
  cancelling.add(orderId);
  context.cancel(orderId);
}
