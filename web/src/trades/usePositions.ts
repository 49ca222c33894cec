import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { PaperPositions } from '../api/schema.ts';

export type Position = PaperPositions['positions'][number];

/** Rows asked for at once: the most the service answers. */
const PAGE_SIZE = 10_000;
/** Positions a page works with; a strategy that has more shows the first of them. */
const POSITIONS_MAX = 50_000;

/**
 * All positions of a paper strategy, in the order they were opened.
 * @param revision They are asked for again when it changes, and not otherwise: all of them may be many.
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
