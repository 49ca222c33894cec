/** The order book's REST interface: books, a market's winner, the time. */
import { z } from 'zod';
import type { FaultState } from './faultState.ts';
import { json, parsedBody, type Reply, text } from './httpReply.ts';
import type { SimulatedMarket } from './markets.ts';
import type { VenueModel } from './model.ts';

const NO_BOOK = { error: 'No orderbook exists for the requested token id' };
const POST_ONLY = {
  error: 'post-only mode: only post-only orders and cancels are allowed',
  code: 'post_only_mode',
};
const MAX_BOOKS = 500;
const bookRequests = z.array(z.object({ token_id: z.string() })).max(MAX_BOOKS);

interface ClobRequest {
  readonly method: string;
  /** Below `/clob`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly nowMs: number;
}

/** @returns Null when the venue has no such route. */
export function clobReply(model: VenueModel, faults: FaultState, request: ClobRequest): Reply | null {
  const { method, path, query, body, nowMs } = request;
  const { untilMs, postOnlyUntilMs } = faults.restart;
  if (nowMs < untilMs) return json({ error: 'the matching engine is restarting' }, 425);
  if (path === '/order' && nowMs < postOnlyUntilMs) return json(POST_ONLY, 503);
  if (path === '/time') return text(String(Math.floor(nowMs / 1000)));
  if (path === '/book') {
    const book = restBook(model, faults, query.get('token_id') ?? '');
    return book === null ? json(NO_BOOK, 404) : text(book);
  }
  if (path === '/books' && method === 'POST') return manyBooks(model, faults, body);
  const [, kind, conditionId] = /^\/(markets|clob-markets)\/(0x[0-9a-f]{62,64})$/.exec(path) ?? [];
  if (conditionId === undefined) return null;
  const market = model.registry.byId(conditionId);
  if (!market) return json({ error: 'market not found' }, 404);
  return json(kind === 'markets' ? clobMarket(market, nowMs) : compactMarket(market, nowMs));
}

function manyBooks(model: VenueModel, faults: FaultState, body: string): Reply {
  const asked = bookRequests.safeParse(parsedBody(body));
  if (!asked.success) return json({ error: 'Invalid payload' }, 400);
  const books = asked.data
    .map(({ token_id }) => restBook(model, faults, token_id))
    .filter((book) => book !== null);
  return text(`[${books.join(',')}]`);
}

function restBook(model: VenueModel, faults: FaultState, tokenId: string): string | null {
  if (faults.settledTokens.has(tokenId)) return null;
  const market = model.registry.byId(tokenId);
  const live = market && model.bookOf(market);
  return live ? live.book.restBook(tokenId === market.facts.upToken) : null;
}

function clobMarket({ facts, fate }: SimulatedMarket, nowMs: number): Record<string, unknown> {
  const price = (payout: number | null) => payout ?? 0.5;
  const isOver = fate.isSettled && fate.payoutUp !== null;
  const payoutDown = fate.payoutUp === null ? null : 1 - fate.payoutUp;
  return {
    condition_id: facts.conditionId,
    question_id: facts.conditionId,
    market_slug: facts.slug,
    active: true,
    closed: isOver,
    archived: false,
    accepting_orders: nowMs < facts.window.endTimeMs + facts.habits.closedDelayMs,
    enable_order_book: !isOver,
    minimum_order_size: 5,
    minimum_tick_size: Number(fate.tickText),
    neg_risk: false,
    is_50_50_outcome: fate.payoutUp === 0.5,
    end_date_iso: new Date(facts.window.endTimeMs).toISOString(),
    seconds_delay: 0,
    tokens: [
      {
        token_id: facts.upToken,
        outcome: 'Up',
        price: price(isOver ? fate.payoutUp : null),
        winner: isOver && fate.payoutUp === 1,
      },
      {
        token_id: facts.downToken,
        outcome: 'Down',
        price: price(isOver ? payoutDown : null),
        winner: isOver && fate.payoutUp === 0,
      },
    ],
  };
}

function compactMarket({ facts, fate }: SimulatedMarket, nowMs: number): Record<string, unknown> {
  return {
    r: { mi: 50, ma: 1.5, e: true, moas: 1 },
    t: [
      { t: facts.upToken, o: 'Up' },
      { t: facts.downToken, o: 'Down' },
    ],
    c: facts.conditionId,
    mos: 5,
    mts: Number(fate.tickText),
    mbf: 1000,
    tbf: 1000,
    ao: nowMs < facts.window.endTimeMs + facts.habits.closedDelayMs,
    itode: true,
    fd: { r: 0.07, e: 1, to: true },
    ...(facts.version === 'v2' ? { cbos: true } : {}),
    v: facts.version,
  };
}
