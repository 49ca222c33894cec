/**
 * Gamma's objects with the peculiarities of the real ones: JSON inside strings, two date formats, numbers that some
 * markets lack, prices frozen long before the end, and undocumented, incomplete event metadata.
 */
import { DateTime } from 'luxon';
import { EVENT_TYPES, type EventType, TICKERS, type Ticker } from '../schema/market.ts';
import { seriesSlug } from '../venues/polymarket/lifecycle/windows.ts';
import { MINUTE_MS } from './candles.ts';
import { decidedByFutures, isByCandle, type MarketFacts, type SimulatedMarket } from './markets.ts';

const NAMES: Record<Ticker, string> = {
  BTC: 'Bitcoin',
  ETH: 'Ethereum',
  SOL: 'Solana',
  XRP: 'XRP',
  DOGE: 'Dogecoin',
  BNB: 'BNB',
  HYPE: 'Hyperliquid',
  ZEC: 'Zcash',
};
/** The venue's own numbers where they are known; the other series get invented ones. */
const SERIES_IDS: Record<EventType, Partial<Record<Ticker, string>>> = {
  '5m': { BTC: '10684', ETH: '10683', SOL: '10686' },
  '15m': { BTC: '10192', ETH: '10191', SOL: '10423' },
  '1h': { BTC: '10114', ETH: '10117', SOL: '10122' },
  '4h': { BTC: '10331', ETH: '10332', SOL: '10326' },
  daily_up_down: { BTC: '41', ETH: '40', SOL: '10086' },
};
/** Final prices appear minutes after the resolution. */
const FINAL_PRICE_DELAY_MS = 200_000;

export type GammaObject = Record<string, unknown>;

/** Question, description and source in the venue's words. */
export function describeMarket(facts: MarketFacts): {
  question: string;
  description: string;
  source: string;
} {
  const name = NAMES[facts.ticker];
  const start = DateTime.fromMillis(facts.window.startTimeMs, { zone: 'America/New_York', locale: 'en-US' });
  const end = DateTime.fromMillis(facts.window.endTimeMs, { zone: 'America/New_York', locale: 'en-US' });
  const pair = `${facts.ticker}/USD`;
  if (isByCandle(facts.eventType)) {
    const candle = decidedByFutures(facts) ? 'Binance Futures' : 'Binance';
    const source = decidedByFutures(facts)
      ? `https://www.binance.com/en/futures/${facts.ticker}USDT`
      : `https://www.binance.com/en/trade/${facts.ticker}_USDT`;
    const named = facts.ticker === 'HYPE' ? facts.ticker : name;
    if (facts.eventType === '1h') {
      const description = `This market will resolve to "Up" if the ${candle} 1 hour candle for ${facts.ticker}USDT closes higher than or equal to its open. Otherwise, this market will resolve to "Down".`;
      return { question: `${named} Up or Down - ${start.toFormat('LLLL d, ha')} ET`, description, source };
    }
    const description = `This market will resolve to "Up" if the close price of the ${candle} 1 minute candle for ${facts.ticker}/USDT ${end.toFormat('LLL d yyyy')} 12:00 in the ET timezone (noon) is higher than that of the day before, and to "Down" if it is lower. If they are equal, this market will resolve 50-50.`;
    return { question: `${named} Up or Down on ${end.toFormat('LLLL d')}?`, description, source };
  }
  const source = `https://data.chain.link/streams/${facts.ticker.toLowerCase()}-usd-twap-60s-streams`;
  const description = `This market will resolve to "Up" if the Chainlink TWAP for ${pair} at the end of the interval in the title is greater than or equal to the price at the beginning of the interval. Otherwise, this market will resolve to "Down". The resolution source is the Chainlink 60-second TWAP data stream: ${source}`;
  const span = `${start.toFormat('LLLL d, h:mma')}-${end.toFormat('h:mma')} ET`;
  return { question: `${name} Up or Down - ${span}`, description, source };
}

/** The market object that Gamma returns at `nowMs`. */
export function gammaMarket({ facts, fate }: SimulatedMarket, nowMs: number): GammaObject {
  const { habits, window } = facts;
  const { question, description, source } = describeMarket(facts);
  const isFinal = fate.isFinal && fate.payoutUp !== null;
  const prices = isFinal ? [String(fate.payoutUp), String(1 - (fate.payoutUp ?? 0))] : ['0.505', '0.495'];
  const progress = Math.min(
    1,
    Math.max(0.02, (nowMs - facts.createdMs) / (window.endTimeMs - facts.createdMs)),
  );
  const volume = habits.volume * progress;
  return {
    id: facts.gammaId,
    question,
    conditionId: facts.listedId,
    version: facts.version,
    slug: facts.slug,
    resolutionSource: source,
    endDate: isoSeconds(window.endTimeMs),
    startDate: isoMicros(facts.createdMs + 53_690, habits.hasFraction),
    createdAt: isoMicros(facts.createdMs, true),
    description,
    outcomes: '["Up", "Down"]',
    outcomePrices: JSON.stringify(prices).replace(',', ', '),
    ...tokenIds(facts),
    active: true,
    closed: isFinal,
    archived: false,
    restricted: true,
    negRisk: false,
    enableOrderBook: true,
    acceptingOrders: nowMs < window.endTimeMs + habits.closedDelayMs,
    acceptingOrdersTimestamp: isoSeconds(facts.createdMs + 40_000),
    automaticallyActive: true,
    eventStartTime: isoSeconds(window.startTimeMs),
    orderPriceMinTickSize: Number(fate.tickText),
    orderMinSize: 5,
    rewardsMinSize: 50,
    rewardsMaxSpread: 4.5,
    feesEnabled: true,
    feeType: 'crypto_fees_v2',
    feeSchedule: { rate: 0.07, exponent: 1, takerOnly: true, rebateRate: 0.2 },
    makerBaseFee: 1000,
    takerBaseFee: 1000,
    ...(facts.version === 'v2' ? { resolutionStatus: 'active' } : { umaResolutionStatuses: '[]' }),
    ...numbers(facts, fate.lastTradePrice, volume),
    ...twapConfig(facts),
    ...(isFinal ? closing(facts) : {}),
  };
}

/** V1 has its ids as JSON inside a text, V2 as a list in another field. */
function tokenIds({ version, upToken, downToken }: MarketFacts): GammaObject {
  const ids = [upToken, downToken];
  if (version === 'v2') return { clobTokenIds: null, positionIds: ids };
  return { clobTokenIds: JSON.stringify(ids).replace(',', ', ') };
}

/** The event object; `withMarkets` false gives the short form inside a market. */
export function gammaEvent(market: SimulatedMarket, nowMs: number, withMarkets = true): GammaObject {
  const { facts, fate } = market;
  const { question, description, source } = describeMarket(facts);
  const series = seriesSlug(facts.ticker, facts.eventType);
  const inner = gammaMarket(market, nowMs);
  return {
    id: facts.eventId,
    ticker: facts.slug,
    slug: facts.slug,
    version: facts.version,
    title: question,
    description,
    resolutionSource: source,
    startDate: inner.startDate,
    creationDate: inner.createdAt,
    startTime: inner.eventStartTime,
    endDate: inner.endDate,
    active: true,
    closed: fate.isFinal,
    archived: false,
    restricted: true,
    enableOrderBook: true,
    negRisk: false,
    automaticallyActive: true,
    seriesSlug: series,
    series: [
      {
        id: SERIES_IDS[facts.eventType][facts.ticker] ?? inventedSeriesId(facts),
        ticker: series,
        slug: series,
        title: series,
        active: true,
        closed: false,
      },
    ],
    tags: marketTags(facts).map((label, at) => ({
      id: String(100 + at),
      label,
      slug: label.toLowerCase().replaceAll(' ', '-'),
    })),
    eventMetadata: metadata(market, nowMs),
    ...(withMarkets ? { markets: [inner] } : {}),
  };
}

function metadata({ facts, fate }: SimulatedMarket, nowMs: number): GammaObject {
  const { habits } = facts;
  const shown: GammaObject = {};
  const [strikeMs, finalMs] = statementTimesMs(facts);
  if (nowMs >= strikeMs && !habits.strikeMissing && fate.strike !== null) shown.priceToBeat = fate.strike;
  if (nowMs >= finalMs && !habits.finalPriceMissing && fate.finalPrice !== null)
    shown.finalPrice = fate.finalPrice;
  return shown;
}

/** When Gamma begins to show a market's strike and its final price, if it ever does. */
export function statementTimesMs(facts: MarketFacts): [strikeMs: number, finalMs: number] {
  const { eventType, habits, window } = facts;
  // A day's strike is the close of the minute that begins at its start.
  const settlesMs = eventType === 'daily_up_down' ? MINUTE_MS : 0;
  return [
    window.startTimeMs + settlesMs + habits.strikeDelayMs,
    window.endTimeMs + habits.resolvedDelayMs + FINAL_PRICE_DELAY_MS,
  ];
}

function numbers(facts: MarketFacts, lastTradePrice: string, volume: number): GammaObject {
  const { missing, liquidity } = facts.habits;
  const shown: GammaObject = { spread: 0.01 };
  if (!missing.has('volume'))
    Object.assign(shown, {
      volume: String(volume),
      volumeNum: volume,
      volumeClob: volume,
      volume24hr: volume,
    });
  if (!missing.has('liquidity'))
    Object.assign(shown, { liquidity: String(liquidity), liquidityNum: liquidity, liquidityClob: liquidity });
  // The venue caches these long before the end: never a price source.
  if (!missing.has('bestBid')) Object.assign(shown, { bestBid: 0.5, bestAsk: 0.51 });
  if (!missing.has('lastTradePrice') && lastTradePrice !== '') shown.lastTradePrice = Number(lastTradePrice);
  return shown;
}

function twapConfig(facts: MarketFacts): GammaObject {
  if (isByCandle(facts.eventType)) return {};
  const id = `${facts.ticker.toLowerCase()}-${facts.eventType}-twap-60`;
  const config = {
    id,
    asset: facts.ticker.toLowerCase(),
    duration: facts.eventType,
    twapEnabled: true,
    twapLookbackSeconds: 60,
  };
  return { cryptoMarketConfigId: id, cryptoMarketConfig: config };
}

function closing(facts: MarketFacts): GammaObject {
  const closedMs = facts.window.endTimeMs + facts.habits.closedDelayMs;
  return {
    closedTime: `${isoSeconds(closedMs).replace('T', ' ').replace('Z', '')}+00`,
    umaEndDate: isoSeconds(closedMs),
    [facts.version === 'v2' ? 'resolutionStatus' : 'umaResolutionStatus']: 'resolved',
    automaticallyResolved: true,
    updatedAt: isoMicros(facts.window.endTimeMs + facts.habits.finalDelayMs, true),
  };
}

function isoSeconds(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}

function isoMicros(timeMs: number, withFraction: boolean): string {
  return withFraction ? `${new Date(timeMs).toISOString().slice(0, 23)}458Z` : isoSeconds(timeMs);
}

const KIND_TAGS: Record<EventType, string> = {
  '5m': '5M',
  '15m': '15M',
  '1h': '1H',
  '4h': '4H',
  daily_up_down: 'Daily',
};

export function marketTags(facts: MarketFacts): string[] {
  const kind = KIND_TAGS[facts.eventType];
  return ['Crypto', NAMES[facts.ticker], 'Crypto Prices', 'Recurring', 'Up or Down', 'Hide From New', kind];
}

function inventedSeriesId({ ticker, eventType }: MarketFacts): string {
  return String(20_000 + 10 * TICKERS.indexOf(ticker) + EVENT_TYPES.indexOf(eventType));
}
