/**
 * Underround: buys Up and Down together when both cost less than the 1 USDC that one of them pays.
 *
 * Idea: the two books are separate for a moment. If the best asks and the fees for both are below 1, a pair has a gain
 * that no outcome can take away.
 * Entry: 1 - ask(Up) - ask(Down) - fees is at least `minEdge`. It buys the size that both best levels show, at most
 * `sizeMax` shares, both orders at the seen price.
 * Exit: pairs are held to the resolution. Shares without a partner, because one order found less, are sold at once.
 * Risk: the orders arrive later than the prices were seen, and one of the two misses. That is what the report measures.
 * Try: higher `minEdge` with more latency. On a venue that mirrors its books the underround is nearly always 0.
 */
import { type Context, defineStrategy, type Token } from '@underround/engine';

const PARAMS = {
  minEdge: { default: 0.005, min: 0, max: 1 },
  /** Taker fee of a share: rate x price x (1 - price). */
  feeRate: { default: 0.07, min: 0, max: 1 },
  sizeMax: { default: 50, min: 1 },
  /** After an attempt. */
  pauseSeconds: { default: 5, min: 0 },
} as const;

interface State {
  readonly pausedUntilMs: Map<string, number>;
}
type PairContext = Context<typeof PARAMS, State>;

export default defineStrategy({
  name: 'underround',
  params: PARAMS,
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
  state: (): State => ({ pausedUntilMs: new Map() }),
  onEvent(event, context) {
    if (event.type === 'resolved') context.state.pausedUntilMs.delete(event.marketId);
    if (event.type !== 'book') return;
    const { marketId, trusted, startTimeMs, endTimeMs } = context.market(event.marketId);
    const isOpen = context.nowMs >= startTimeMs && context.nowMs < endTimeMs;
    if (!trusted || !isOpen || context.openOrders(marketId).length > 0) return;
    if (!sellSurplus(marketId, context)) buyPair(marketId, context);
  },
});

/** Sells shares without a partner. @returns False if there are none. */
function sellSurplus(marketId: string, context: PairContext): boolean {
  const held = (token: Token) => context.position(marketId, token).size;
  const surplus = held('yes') - held('no');
  const [token, size] = surplus > 0 ? (['yes', surplus] as const) : (['no', -surplus] as const);
  // Less than a share is not worth an order.
  if (size < 1) return false;
  const bid = context.book(marketId).bestBid(token);
  if (bid !== null) context.place({ marketId, token, action: 'sell', limitPrice: bid, size });
  return true;
}

function buyPair(marketId: string, context: PairContext): void {
  const { params, nowMs, state } = context;
  if (nowMs < (state.pausedUntilMs.get(marketId) ?? 0)) return;
  const [yes, no] = (['yes', 'no'] as const).map((token) => context.book(marketId).levels(token, 'asks')[0]);
  if (yes === undefined || no === undefined) return;
  const fee = (price: number) => params.feeRate * price * (1 - price);
  const edge = 1 - yes.price - no.price - fee(yes.price) - fee(no.price);
  if (edge < params.minEdge) return;
  const size = Math.floor(Math.min(yes.size, no.size, params.sizeMax));
  if (size < 1 || (context.cash !== null && context.cash < size * (yes.price + no.price))) return;
  context.place({ marketId, token: 'yes', action: 'buy', limitPrice: yes.price, size });
  context.place({ marketId, token: 'no', action: 'buy', limitPrice: no.price, size });
  state.pausedUntilMs.set(marketId, nowMs + params.pauseSeconds * 1_000);
}
