/** Universes as request bodies contain them and answers repeat them. */
import { z } from 'zod';
import type { BacktestUniverse, SeriesSet, Universe } from '../backtest.ts';
import { EVENT_TYPES, TICKERS, type Ticker } from '../market.ts';
import { isObject, type JsonType, jsonLiteral, jsonText, requiredMember } from './body.ts';
import { jsonList, jsonObject } from './bodyParts.ts';
import { eventTypeType, tickerType } from './parameters.ts';
import { literal } from './types.ts';

/** @param tickers The followed assets. */
export const universeType = (tickers: readonly Ticker[]): JsonType<Universe> =>
  jsonObject({
    ticker: requiredMember(jsonLiteral(tickerType(tickers)), 'The underlying asset'),
    event_type: requiredMember(jsonText(eventTypeType), 'The window'),
  });

const seriesSetType = (tickers: readonly Ticker[]): JsonType<SeriesSet> =>
  jsonObject({
    tickers: requiredMember(
      jsonList(jsonLiteral(tickerType(tickers)), { minLength: 1, maxLength: TICKERS.length }),
      'The underlying assets',
    ),
    event_types: requiredMember(
      jsonList(jsonLiteral(literal(EVENT_TYPES)), { minLength: 1, maxLength: EVENT_TYPES.length }),
      'The windows',
    ),
  });

/** One series, or with the members of a set every combination of its assets and windows. */
export function backtestUniverseType(tickers: readonly Ticker[]): JsonType<BacktestUniverse> {
  const [one, several] = [universeType(tickers), seriesSetType(tickers)];
  const isSet = (value: unknown) =>
    isObject(value) && (Object.hasOwn(value, 'tickers') || Object.hasOwn(value, 'event_types'));
  return {
    schema: { anyOf: [one.schema, several.schema] },
    parse: (value) => (isSet(value) ? several : one).parse(value),
  };
}

export const backtestUniverseShape = z.union([
  z.strictObject({ ticker: z.enum(TICKERS), event_type: z.enum(EVENT_TYPES) }),
  z.strictObject({ tickers: z.array(z.enum(TICKERS)), event_types: z.array(z.enum(EVENT_TYPES)) }),
]);
