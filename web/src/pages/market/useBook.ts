import { useDebouncedValue } from '@mantine/hooks';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import type { Market, Orderbook, Snapshot } from '../../api/schema.ts';
import { useServiceTime } from '../../live/useServiceClock.ts';

/** Delay after the last move before the book of a time is loaded. */
const SETTLE_MS = 120;
/** Levels of each side while the recording is played or stepped through. */
const DEPTH = 25;
/** Books of one second of playback, and seconds of playback that are loaded at once. */
const [FRAMES_PER_SECOND, CHUNK_SECONDS] = [10, 20];
/** Changes that are loaded at once for single steps. */
const STEPS = 50;

interface ShownBook {
  /** The book at the time, or the last one known while it loads. */
  readonly book: Snapshot | undefined;
  readonly stored: UseQueryResult<Orderbook, Error>;
  /** Finds the next recorded change, or the one before, Unix ms; null if there is none. */
  readonly findChange: (timeMs: number, way: 1 | -1) => Promise<number | null>;
}

/** The book in force at a time: of loaded frames during playback, otherwise the stored one with all its levels. */
export function useBook(
  market: Market,
  { timeMs, isPlaying, speed }: { timeMs: number; isPlaying: boolean; speed: number },
): ShownBook {
  const [settled] = useDebouncedValue(timeMs, SETTLE_MS);
  const nowMs = useServiceTime();
  const stored = useApi(
    'GET /v1/snapshot-at/{ts}',
    { path: { ts: new Date(settled).toISOString() }, query: { market_id: market.market_id } },
    // A window that has not begun has no book to ask for.
    { keep: true, enabled: !isPlaying && settled <= nowMs },
  );
  const played = useFrames(market.market_id, { timeMs, speed, isPlaying });
  const { stepped, findChange } = useSteps(market.market_id);
  const step = stepped?.timeMs === timeMs ? stepped.book : undefined;
  const isCurrent = settled === timeMs && !stored.isPlaceholderData && !stored.isError;
  const book = isPlaying
    ? (played ?? stored.data)
    : isCurrent
      ? (stored.data ?? step)
      : (step ?? stored.data);
  return { book, stored, findChange };
}

/** The book of a time from chunks that are loaded ahead; undefined while the chunk loads. */
function useFrames(
  marketId: string,
  { timeMs, speed, isPlaying }: { timeMs: number; speed: number; isPlaying: boolean },
): Snapshot | undefined {
  const lengthMs = CHUNK_SECONDS * speed * 1000;
  const index = Math.floor(timeMs / lengthMs);
  const last = useRef<Snapshot | undefined>(undefined);
  const chunkOf = (one: number) => ({
    ...{ market_id: marketId, depth: DEPTH, limit: CHUNK_SECONDS * FRAMES_PER_SECOND + 10 },
    start: new Date(one * lengthMs).toISOString(),
    end: new Date((one + 1) * lengthMs).toISOString(),
    interval_ms: (1000 / FRAMES_PER_SECOND) * speed,
  });
  const enabled = { enabled: isPlaying };
  const chunk = useApi('GET /v1/snapshots', { query: chunkOf(index) }, enabled);
  useApi('GET /v1/snapshots', { query: chunkOf(index + 1) }, enabled);
  const book = isPlaying ? chunk.data?.snapshots.findLast(({ ts }) => Date.parse(ts) <= timeMs) : undefined;
  // A chunk may begin without a change: the book before it is still in force.
  if (book !== undefined) last.current = book;
  if (!isPlaying) last.current = undefined;
  return book ?? last.current;
}

interface Steps {
  readonly fromMs: number;
  readonly toMs: number;
  readonly books: readonly Snapshot[];
}

function useSteps(marketId: string) {
  const client = useQueryClient();
  const known = useRef<Steps | null>(null);
  const [stepped, setStepped] = useState<{ timeMs: number; book: Snapshot } | null>(null);
  const findChange = useCallback(
    async (timeMs: number, way: 1 | -1): Promise<number | null> => {
      const inKnown = known.current && nextOf(known.current, timeMs, way);
      if (inKnown == null) {
        known.current = await client.fetchQuery({
          queryKey: ['steps', marketId, timeMs, way],
          queryFn: ({ signal }) => loadSteps(marketId, { timeMs, way, signal }),
        });
      }
      const book = inKnown ?? (known.current && nextOf(known.current, timeMs, way));
      if (book == null) return null;
      const foundMs = Date.parse(book.ts);
      setStepped({ timeMs: foundMs, book });
      return foundMs;
    },
    [client, marketId],
  );
  return { stepped, findChange };
}

async function loadSteps(
  marketId: string,
  { timeMs, way, signal }: { timeMs: number; way: 1 | -1; signal: AbortSignal },
): Promise<Steps> {
  const bound = new Date(timeMs + way).toISOString();
  const query = { market_id: marketId, depth: DEPTH, limit: STEPS } as const;
  const asked = way > 0 ? { ...query, start: bound } : { ...query, end: bound, order: 'desc' as const };
  const { snapshots } = await call('GET /v1/snapshots', { query: asked }, signal);
  const books = way > 0 ? snapshots : snapshots.toReversed();
  const [first, last] = [books[0], books.at(-1)];
  return {
    fromMs: way > 0 || first === undefined ? timeMs : Date.parse(first.ts),
    toMs: way < 0 || last === undefined ? timeMs : Date.parse(last.ts),
    books,
  };
}

/** The first book after the time, or the last one before; undefined if the steps do not reach so far. */
function nextOf({ fromMs, toMs, books }: Steps, timeMs: number, way: 1 | -1): Snapshot | undefined {
  if (timeMs < fromMs || timeMs > toMs) return undefined;
  return way > 0
    ? books.find(({ ts }) => Date.parse(ts) > timeMs)
    : books.findLast(({ ts }) => Date.parse(ts) < timeMs);
}
