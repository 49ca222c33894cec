import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { PaperPositions } from '../api/schema.ts';

type Position = PaperPositions['positions'][number];

/** Rows per request: the service's maximum. */
const PAGE_SIZE = 10_000;
/** Most positions that a page loads. */
export const POSITIONS_MAX = 50_000;

interface KnownPositions {
  /** In the order they were opened. */
  readonly positions: readonly Position[];
  /** The strategy has newer ones than a page loads. */
  readonly isCut: boolean;
}

/**
 * The positions of a paper strategy, at most `POSITIONS_MAX`.
 * @param revision Positions are reloaded only when it changes, because there may be many.
 */
export function usePositions(
  strategyId: string | undefined,
  revision = '',
): UseQueryResult<KnownPositions, Error> {
  return useQuery({
    queryKey: ['positions', strategyId, revision],
    queryFn: ({ signal }) => allPositions(strategyId ?? '', signal),
    enabled: strategyId !== undefined,
    placeholderData: keepPreviousData,
  });
}

export async function allPositions(strategyId: string, signal: AbortSignal): Promise<KnownPositions> {
  const found: Position[] = [];
  let cursor: string | null = null;
  do {
    const query = { limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
    const page: PaperPositions = await call(
      'GET /v1/paper/strategies/{strategy_id}/positions',
      { path: { strategy_id: strategyId }, query },
      signal,
    );
    found.push(...page.positions);
    cursor = page.next_cursor;
  } while (cursor !== null && found.length < POSITIONS_MAX);
  return { positions: found, isCut: cursor !== null };
}
