import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { PaperPositions } from '../api/schema.ts';

type Position = PaperPositions['positions'][number];

/** Rows per request: the service's maximum. */
const PAGE_SIZE = 10_000;
/** Most positions that a page loads; of more the first are shown. */
const POSITIONS_MAX = 50_000;

/**
 * All positions of a paper strategy, in the order they were opened.
 * @param revision Positions are reloaded only when it changes, because there may be many.
 */
export function usePositions(
  strategyId: string | undefined,
  revision = '',
): UseQueryResult<readonly Position[], Error> {
  return useQuery({
    queryKey: ['positions', strategyId, revision],
    queryFn: ({ signal }) => allPositions(strategyId ?? '', signal),
    enabled: strategyId !== undefined,
    placeholderData: keepPreviousData,
  });
}

async function allPositions(strategyId: string, signal: AbortSignal): Promise<Position[]> {
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
  return found;
}
