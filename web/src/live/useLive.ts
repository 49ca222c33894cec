import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Ticker } from '../api/assets.ts';
import { call } from '../api/client.ts';
import { atMostEvery } from '../api/pace.ts';
import type { LiveWindow } from '../api/schema.ts';
import type { FromWorker, LiveState, ToWorker } from './messages.ts';

/** Prices loaded at first, so that sigma is known before ten minutes have passed. */
const FIRST_PRICES_MS = 600_000;
const FIRST_PRICES_MAX = 10_000;
/** Windows of all lengths begin and end at the same time, each with its own message. */
const MARKETS_REFETCH_MS = 2_000;
const NOTHING_YET: LiveState = {
  connection: 'connecting',
  reason: null,
  markets: {},
  tickers: {},
  newestBookMs: null,
  unreadable: 0,
  received: 0,
};

/**
 * State of the live stream, a few times a second, computed in a worker.
 * @param ticker The displayed underlying: only its older prices are loaded.
 * @param aheadMs How far the service's clock is ahead of this machine's.
 */
export function useLive(
  markets: readonly LiveWindow[] | undefined,
  ticker: Ticker,
  aheadMs: number,
): LiveState {
  const [state, setState] = useState(NOTHING_YET);
  const worker = useRef<Worker | null>(null);
  const seededTickers = useRef(new Set<Ticker>());
  const client = useQueryClient();
  useEffect(() => {
    const made = new Worker(new URL('./feedWorker.ts', import.meta.url), { type: 'module' });
    worker.current = made;
    const refetchMarkets = atMostEvery(
      MARKETS_REFETCH_MS,
      () => void client.invalidateQueries({ queryKey: ['GET /app/live'] }),
      (delayMs, run) => setTimeout(run, delayMs),
    );
    made.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === 'state') setState(data.state);
      else refetchMarkets();
    };
    const address = new URL('/app/stream', window.location.href);
    made.postMessage({ kind: 'open', address: address.href } satisfies ToWorker);
    const seeded = seededTickers.current;
    return () => {
      seeded.clear();
      made.terminate();
    };
  }, [client]);
  useEffect(() => {
    if (markets === undefined) return;
    worker.current?.postMessage({ kind: 'markets', markets, aheadMs } satisfies ToWorker);
  }, [markets, aheadMs]);
  // The difference of the clocks comes with the markets.
  const isClockKnown = markets !== undefined;
  useEffect(() => {
    if (!isClockKnown || seededTickers.current.has(ticker)) return;
    seededTickers.current.add(ticker);
    const start = new Date(Date.now() + aheadMs - FIRST_PRICES_MS).toISOString();
    void sendFirstPrices({ ticker, start }, (message) => worker.current?.postMessage(message));
  }, [ticker, isClockKnown, aheadMs]);
  return state;
}

async function sendFirstPrices(
  { ticker, start }: { ticker: Ticker; start: string },
  post: (message: ToWorker) => void,
): Promise<void> {
  const query = { ticker, source: 'binance_spot', start, order: 'desc', limit: FIRST_PRICES_MAX } as const;
  // Without them sigma is known later; nothing else depends on them.
  const answer = await call('GET /v1/underlying', { query }).catch(() => null);
  const points = (answer?.points ?? []).map(({ ts, price }) => [Date.parse(ts), price] as const).toReversed();
  if (points.length > 0) post({ kind: 'prices', ticker, points });
}
