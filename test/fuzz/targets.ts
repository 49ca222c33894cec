import { decodeMessage } from '../../src/bus/wire/message.ts';
import { compileStrategy } from '../../src/core/strategies/compile.ts';
import { decodeCursor } from '../../src/http/cursor.ts';
import { marketOfLostFrame } from '../../src/recorder/lostFrame.ts';
import { UnderroundError, VenueMessageError } from '../../src/runtime/errors.ts';
import { strategyShape } from '../../src/schema/api/strategies.ts';
import type { Strategy } from '../../src/schema/strategy.ts';
import { parseSegment } from '../../src/store/journal/journalFormat.ts';
import { mapBinanceFrame } from '../../src/venues/binance/mapper.ts';
import { mapBybitAnswer } from '../../src/venues/bybit/mapper.ts';
import { mapCoinbaseFrame } from '../../src/venues/coinbase/mapper.ts';
import { mapHyperliquidBook } from '../../src/venues/hyperliquid/mapper.ts';
import { mapClobFrame } from '../../src/venues/polymarket/clob/mapper.ts';
import { mapClobMarket, mapClobMarketRules, mapRestBook } from '../../src/venues/polymarket/clob/rest.ts';
import { mapGammaEvent } from '../../src/venues/polymarket/gamma/mapper.ts';
import { mapPolyboltFrame } from '../../src/venues/polymarket/polybolt/mapper.ts';
import { mapRtdsFrame } from '../../src/venues/polymarket/rtds/mapper.ts';
import { apiTargets } from './apiTargets.ts';
import { importTarget } from './importTarget.ts';
import { expecting, type FuzzTarget } from './target.ts';

const RECEIVED_MS = Date.UTC(2026, 10, 20, 12);
const TIMES = { receivedTimeMs: RECEIVED_MS, roundTripMs: 20, ticker: 'BTC' } as never;
const SCOPE = { route: 'markets', filters: {} } as never;

/** A mapper of whole text frames. */
function frames(name: string, map: (text: string) => unknown): FuzzTarget {
  return { name, run: (input) => expecting([VenueMessageError], () => map(input.toString('utf8'))) };
}

/** A mapper of parsed answers; its caller reports texts that are no JSON. */
function answers(name: string, map: (raw: unknown) => unknown): FuzzTarget {
  return {
    name,
    run: (input) => {
      const raw = parsed(input);
      if (raw !== undefined) expecting([VenueMessageError], () => map(raw));
    },
  };
}

function parsed(input: Buffer): unknown {
  try {
    return JSON.parse(input.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Every parser of what others send. */
export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  frames('clob', (text) => {
    marketOfLostFrame(text);
    return mapClobFrame(text, RECEIVED_MS);
  }),
  frames('polybolt', (text) => mapPolyboltFrame(text, RECEIVED_MS)),
  frames('rtds', (text) => mapRtdsFrame(text, RECEIVED_MS)),
  frames('binance', (text) => mapBinanceFrame(text, RECEIVED_MS)),
  frames('coinbase', (text) => mapCoinbaseFrame(text, RECEIVED_MS)),
  answers('clobRest', (raw) => {
    expecting([VenueMessageError], () => mapClobMarket(raw));
    expecting([VenueMessageError], () => mapClobMarketRules(raw));
    return mapRestBook(raw, RECEIVED_MS);
  }),
  answers('gamma', (raw) => mapGammaEvent(raw, RECEIVED_MS)),
  // The venue may refuse in a valid answer.
  answers('bybit', (raw) => expecting([UnderroundError], () => mapBybitAnswer(raw, TIMES))),
  answers('hyperliquid', (raw) => mapHyperliquidBook(raw, TIMES)),
  answers('strategy', (raw) => {
    const spec = strategyShape.safeParse(raw);
    return spec.success ? compileStrategy(spec.data as Strategy) : null;
  }),
  {
    name: 'cursor',
    run: (input) => expecting([UnderroundError], () => decodeCursor(SCOPE, input.toString('utf8'), /^\d+$/)),
  },
  // A segment with an unreadable head, or with a table of another release, is set aside by whoever reads it.
  { name: 'journal', run: (input) => expecting([SyntaxError, RangeError], () => parseSegment(input)) },
  { name: 'message', run: (input) => expecting([Error], () => decodeMessage(input)) },
  importTarget,
  ...apiTargets,
];
