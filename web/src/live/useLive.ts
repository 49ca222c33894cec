import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { call } from '../api/client.ts';
import type { Market } from '../api/schema.ts';
import type { FromWorker, LiveState, ToWorker } from './messages.ts';

const TICKERS = ['BTC', 'ETH', 'SOL'] as const;
/** Prices asked for at first, so that sigma is known before ten minutes have passed. */
const FIRST_PRICES_MS = 600_000;
const FIRST_PRICES_MAX = 10_000;
const NOTHING_YET: LiveState = {
  connection: 'connecting',
  reason: null,
  markets: {},
  tickers: {},
  received: 0,
};

/** What the stream brings, a few times a second, worked out beside the page's own thread. */
export function useLive(markets: readonly Market[] | undefined): LiveState {
  const [state, setState] = useState(NOTHING_YET);
  const worker = useRef<Worker | null>(null);
  const client = useQueryClient();
  useEffect(() => {
    const made = new Worker(new URL('./feedWorker.ts', import.meta.url), { type: 'module' });
    worker.current = made;
    const post = (message: ToWorker) => made.postMessage(message);
    made.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === 'state') setState(data.state);
      else void client.invalidateQueries({ queryKey: ['GET /v1/markets'] });
    };
    const address = new URL('/app/stream', window.location.href);
    post({ kind: 'open', address: address.href, tickers: TICKERS });
    const asked = new AbortController();
    for (const ticker of TICKERS) void sendFirstPrices(ticker, post, asked.signal);
    return () => {
      asked.abort();
      made.terminate();
    };
  }, [client]);
  useEffect(() => {
    if (markets !== undefined) worker.current?.postMessage({ kind: 'markets', markets } satisfies ToWorker);
  }, [markets]);
  return state;
}

async function sendFirstPrices(
  ticker: (typeof TICKERS)[number],
  post: (message: ToWorker) => void,
  signal: AbortSignal,
): Promise<void> {
  const start = new Date(Date.now() - FIRST_PRICES_MS).toISOString();
  const query = { ticker, source: 'binance_spot', start, order: 'desc', limit: FIRST_PRICES_MAX } as const;
  // Without them sigma is known later, and nothing else is missing.
  const answer = await call('GET /v1/underlying', { query }, signal).catch(() => null);
  const points = (answer?.points ?? []).map(({ ts, price }) => [Date.parse(ts), price] as const).toReversed();
  if (points.length > 0) post({ kind: 'prices', ticker, points });
}
