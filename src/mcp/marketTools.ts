import { z } from 'zod';
import { parseSlug } from '../venues/polymarket/lifecycle/windows.ts';
import * as argument from './arguments.ts';
import { following, joined, readingTool, shortened, type ToolContext, ToolInputError } from './tool.ts';

const MARKETS_MAX = 50;
const POINTS_MAX = 300;
const LEVELS_MAX = 50;
const GAPS_MAX = 100;
const SLUG_CHARACTERS_MAX = 200;

const listMarkets = readingTool({
  name: 'list_markets',
  title: 'List recorded markets',
  description:
    'Lists recorded up-or-down markets on crypto prices, newest window first: id, slug, window, status, strike (USD), outcome, coverage (0 to 1, share of the window that is recorded and trusted) and fees. Start here to find a market_id.',
  input: {
    ticker: argument.ticker.optional(),
    event_type: argument.eventType.optional(),
    status: z
      .enum(['open', 'closed', 'resolved'])
      .optional()
      .describe('closed: ended, outcome not yet known'),
    since: argument.time('Only markets whose window ends at or after this').optional(),
    until: argument.time('Only markets whose window ends before this').optional(),
    limit: argument.limit(MARKETS_MAX, 20),
    cursor: argument.cursor,
  },
  run: async (query, { client, signal }) => {
    const body = await client.call('GET /v1/markets', { query, signal });
    return { body, leftOut: following(body.next_cursor) };
  },
});

const getMarket = readingTool({
  name: 'get_market',
  title: 'Get one market',
  description:
    'Gets one market by its market_id or by its Polymarket slug, e.g. btc-updown-5m-1795176000. YES means Up. strike_price and close_price are USD; payout_yes is USDC per YES share after resolution.',
  input: {
    market_id: argument.marketId.optional(),
    slug: z.string().max(SLUG_CHARACTERS_MAX).optional().describe('Slug of the market’s page on Polymarket'),
  },
  run: async ({ market_id: marketId, slug }, context) => {
    const { client, signal } = context;
    if ((marketId === undefined) === (slug === undefined))
      throw new ToolInputError('Name either market_id or slug.');
    const id = marketId ?? (await marketIdOf(slug ?? '', context));
    return { body: await client.market(id, signal), leftOut: null };
  },
});

/** The id of the market with this slug: the slug names its series and window. */
async function marketIdOf(slug: string, { client, signal, nowMs }: ToolContext): Promise<string> {
  const parsed = parseSlug(slug, nowMs);
  if (parsed === null) {
    const example = 'btc-updown-5m-1795176000 or bitcoin-up-or-down-november-20-2026-7am-et';
    throw new ToolInputError(`${JSON.stringify(slug)} is no slug of a recorded series, such as ${example}.`);
  }
  for (const { endTimeMs } of parsed.windows) {
    const query = {
      ticker: parsed.ticker,
      event_type: parsed.eventType,
      since: new Date(endTimeMs).toISOString(),
      until: new Date(endTimeMs + 1).toISOString(),
    };
    const { markets } = await client.call('GET /v1/markets', { query, signal });
    const found = markets.find((market) => market.slug === slug);
    if (found) return found.market_id;
  }
  throw new ToolInputError(`No market ${slug} was recorded. list_markets shows the recorded ones.`);
}

const getBook = readingTool({
  name: 'get_book',
  title: 'Get an order book',
  description:
    'Gets the order book of a market now or at a past time: levels of YES and NO, best first, with price in USDC per share (0 to 1) and size in shares. ts is the time of the book; trusted: false means it was not proven equal to the venue’s, so do not rely on it.',
  input: {
    market_id: argument.marketId,
    at: argument.time('The book in force at this time; without it the newest').optional(),
    levels: z
      .int()
      .min(1)
      .max(LEVELS_MAX)
      .default(10)
      .describe(`Most levels of each side, 1 to ${LEVELS_MAX}`),
  },
  run: async ({ market_id: marketId, at, levels }, { client, signal }) => {
    const book = await client.book(marketId, { ...(at === undefined ? {} : { at }), signal });
    const notes: (string | null)[] = [];
    const cut = (name: 'yes_bids' | 'yes_asks' | 'no_bids' | 'no_asks') => {
      const [kept, note] = shortened(book[name], levels, `levels of ${name}`);
      notes.push(note);
      return kept;
    };
    const sides = {
      yes_bids: cut('yes_bids'),
      yes_asks: cut('yes_asks'),
      no_bids: cut('no_bids'),
      no_asks: cut('no_asks'),
    };
    const left = joined(...notes);
    const more =
      levels < LEVELS_MAX
        ? `ask for up to ${LEVELS_MAX} levels`
        : 'GET /v1/markets/{market_id}/orderbook has all';
    return { body: { ...book, ...sides }, leftOut: left === null ? null : `${left}; ${more}` };
  },
});

const range = {
  start: argument.time('Start, inclusive; default: the oldest row').optional(),
  end: argument.time('End, exclusive; default: the newest row').optional(),
};

const getPriceSeries = readingTool({
  name: 'get_price_series',
  title: 'Series of best prices',
  description:
    'Gets the YES mid and spread (USDC per share) and the underlying price (USD) of a market, one row for each change of a best price. Many rows: prefer get_candles for more than minutes. mid_yes and spread_yes are null while one side of the book is empty or the book is not trusted.',
  input: {
    market_id: argument.marketId,
    ...range,
    order: argument.order,
    limit: argument.limit(POINTS_MAX, 100),
    cursor: argument.cursor,
  },
  run: async ({ market_id, ...query }, { client, signal }) => {
    const body = await client.call('GET /v1/markets/{market_id}/timeseries', {
      path: { market_id },
      query,
      signal,
    });
    return { body, leftOut: following(body.next_cursor) };
  },
});

const getCandles = readingTool({
  name: 'get_candles',
  title: 'Candles of a market',
  description:
    'Gets open, high, low and close of the YES mid (USDC per share), traded volume (shares) and number of trades in equal periods.',
  input: {
    market_id: argument.marketId,
    timeframe: z.enum(['5m', '15m', '1h', '4h', '24h']).describe('Length of one candle'),
    start: argument.time('Start, inclusive'),
    end: argument.time('End, exclusive'),
    limit: argument.limit(POINTS_MAX, 100),
    cursor: argument.cursor,
  },
  run: async (query, { client, signal }) => {
    const body = await client.call('GET /v1/candles', { query, signal });
    return { body, leftOut: following(body.next_cursor) };
  },
});

const getGaps = readingTool({
  name: 'get_gaps',
  title: 'Gaps and coverage of a recording',
  description:
    'Gets the periods in which a market’s recorded book cannot be trusted, with their causes, and the coverage of its window (0 to 1). Read this before you draw conclusions from a market’s data. end: null means that the gap is still open.',
  input: {
    market_id: argument.marketId,
    ...range,
    limit: argument.limit(GAPS_MAX, 50),
    cursor: argument.cursor,
  },
  run: async (query, { client, signal }) => {
    const [gaps, { coverage }] = await Promise.all([
      client.call('GET /v1/gaps', { query, signal }),
      client.market(query.market_id, signal),
    ]);
    return { body: { ...gaps, coverage }, leftOut: following(gaps.next_cursor) };
  },
});

export const marketTools = [listMarkets, getMarket, getBook, getPriceSeries, getCandles, getGaps];
