import { MICRO_PER_USDC } from '../core/fees.ts';
import { type CursorScope, decodeCursor, encodeCursor } from '../http/cursor.ts';
import { conflict, forbidden, notFound, numbered, tooManyRequests } from '../http/refusal.ts';
import { type RawRequest, type Route, route, streamedHead } from '../http/route.ts';
import { printRows, rowsObject } from '../http/rowPages.ts';
import { required } from '../schema/api/fields.ts';
import {
  paperChangeMembers,
  paperDivergenceShape,
  paperEquityShape,
  paperPositionsShape,
  paperStrategyListShape,
  paperStrategyMembers,
  paperStrategyShape,
} from '../schema/api/paper.ts';
import * as parameter from '../schema/api/parameters.ts';
import { text } from '../schema/api/types.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import { formatTime } from '../schema/time.ts';
import {
  MAX_COMPARISONS_PER_USER,
  type PaperStrategyService,
} from '../trading/paper/paperStrategyService.ts';
import { positionBody } from '../trading/paper/positionBody.ts';
import type { ClosedPosition, PositionRow } from '../trading/paper/positions.ts';
import { MAX_STRATEGIES_PER_USER, type PaperStrategy, type Refusal } from '../trading/paper/strategies.ts';

const POSITION_ID = /^pos_[0-9a-f]{1,64}$/;
const strategyId = required(text(), '`paper_strategy_id` from the list of strategies');
const ABSENT = 'Paper strategy not found';
/** A comparison usually ends within seconds. */
const RETRY_AFTER_SECONDS = 5;

interface PaperDependencies extends FollowedAssets {
  readonly paper: Pick<
    PaperStrategyService,
    'create' | 'change' | 'delete' | 'divergence' | 'replayWindow'
  > & {
    readonly strategies: Pick<PaperStrategyService['strategies'], 'find' | 'list'>;
    readonly positions: Pick<PaperStrategyService['positions'], 'list' | 'count' | 'closed'>;
  };
}

/** Strategies that trade the live stream on paper. */
export function paperRoutes(parts: PaperDependencies): Route[] {
  return [
    ...strategyRoutes(parts),
    ...changeRoutes(parts),
    ...readingRoutes(parts),
    ...divergenceRoutes(parts),
  ];
}

function strategyRoutes({ paper, tickers }: PaperDependencies): Route[] {
  const ours = { auth: 'key', access: { feature: 'paper' } } as const;
  return [
    route({
      ...ours,
      method: 'POST',
      path: '/v1/paper/strategies',
      summary: 'Start paper trading a strategy on the live stream',
      description:
        'Trading starts one second after the response. Without `baseline_backtest_id` a baseline backtest is started, which does not count against the job limit. 409 if the user already has a strategy with this name.',
      body: paperStrategyMembers(tickers),
      success: 201,
      refusals: [400, 403, 404, 409],
      response: paperStrategyShape,
      handle: async (request) => {
        const {
          name,
          strategy,
          universe,
          size_usd: sizeUsd,
          baseline_backtest_id: baselineId,
        } = request.body;
        const { cap, userId } = ownerOf(request);
        const asked = { userId, name, strategy, universe, sizeUsd, baselineId, cap };
        const made = await paper.create(asked);
        if (made === 'no_baseline') throw notFound('Job not found');
        if (typeof made === 'string') throw refused(made, cap);
        return { status: 201, body: printJson(wholeBody(made)) };
      },
    }),
    route({
      ...ours,
      method: 'GET',
      path: '/v1/paper/strategies',
      summary: 'List the user’s paper strategies, oldest first',
      response: paperStrategyListShape,
      handle: async (request) => {
        const strategies = (await paper.strategies.list(ownerOf(request).userId)).map(strategyBody);
        return { body: printJson({ strategies, count: strategies.length }) };
      },
    }),
    route({
      ...ours,
      method: 'GET',
      path: '/v1/paper/strategies/{strategy_id}',
      summary: 'Get one paper strategy',
      pathFields: { strategy_id: strategyId },
      response: paperStrategyShape,
      handle: async (request) => ({ body: printJson(wholeBody(await found(paper, request))) }),
    }),
  ];
}

function changeRoutes({ paper }: PaperDependencies): Route[] {
  const ours = { auth: 'key', access: { feature: 'paper' } } as const;
  return [
    route({
      ...ours,
      method: 'PATCH',
      path: '/v1/paper/strategies/{strategy_id}',
      summary: 'Rename, stop or resume a paper strategy',
      pathFields: { strategy_id: strategyId },
      body: paperChangeMembers,
      refusals: [403, 409],
      response: paperStrategyShape,
      handle: async (request) => {
        const { active, name } = request.body;
        const { cap, userId } = ownerOf(request);
        const changed = await paper.change(request.path.strategy_id, { userId, active, name, cap });
        if (typeof changed === 'string') throw refused(changed, cap);
        return { body: printJson(wholeBody(changed)) };
      },
    }),
    route({
      ...ours,
      method: 'DELETE',
      path: '/v1/paper/strategies/{strategy_id}',
      summary: 'Delete a paper strategy and its positions',
      pathFields: { strategy_id: strategyId },
      success: 204,
      response: null,
      handle: async (request) => {
        const deleted = await paper.delete(request.path.strategy_id, ownerOf(request));
        if (!deleted) throw notFound(ABSENT);
        return { status: 204, body: '' };
      },
    }),
  ];
}

function readingRoutes({ paper }: PaperDependencies): Route[] {
  const ours = { auth: 'key', access: { feature: 'paper' } } as const;
  return [
    route({
      ...ours,
      method: 'GET',
      path: '/v1/paper/strategies/{strategy_id}/positions',
      summary: 'List the positions of a paper strategy in the order they were opened',
      pathFields: { strategy_id: strategyId },
      query: { limit: parameter.limit(1000, 10_000), cursor: parameter.cursor },
      response: paperPositionsShape,
      handle: async (request) => {
        const { limit, cursor } = request.query;
        const id = request.path.strategy_id;
        const scope: CursorScope = ['paper_positions', id];
        const place = decodeCursor(scope, cursor, POSITION_ID);
        await found(paper, request);
        if (request.headOnly) return { body: streamedHead() };
        const after = place && { openedMs: place.timeMs, positionId: place.tie };
        const printed = await printRows<PositionRow>({
          limit,
          read: (most, last) =>
            paper.positions.list(id, { after: last ? placeOf(last) : after, limit: most }),
          print: (row) => printJson(positionBody(row)),
        });
        const count = limit === 0 ? await paper.positions.count(id) : printed.count;
        const next = printed.next;
        const cursorOfNext = next && encodeCursor(scope, { timeMs: next.opened_ms, tie: next.position_id });
        const around = {
          head: JSON.stringify({ count }),
          tail: JSON.stringify({ next_cursor: cursorOfNext }),
        };
        return { body: rowsObject('positions', printed, around) };
      },
    }),
    route({
      ...ours,
      method: 'GET',
      path: '/v1/paper/strategies/{strategy_id}/equity',
      summary: 'Equity curve of a paper strategy: cumulative P&L after each closed position',
      pathFields: { strategy_id: strategyId },
      response: paperEquityShape,
      handle: async (request) => {
        const strategy = await found(paper, request);
        let sum = 0;
        const printed = await printRows<ClosedPosition>({
          limit: Number.POSITIVE_INFINITY,
          read: (limit, after) => paper.positions.closed(strategy.strategyId, { after, limit }),
          print: ({ closed_ms, pnl_micro }) => {
            sum += pnl_micro ?? 0;
            return printJson({ ts: formatTime(closed_ms), cumulative_pnl: sum / MICRO_PER_USDC });
          },
        });
        const totals = { n_closed_positions: printed.count, final_net_pnl: sum / MICRO_PER_USDC };
        const head = printJson({ paper_strategy_id: strategy.strategyId, ...totals });
        return { body: rowsObject('points', printed, { head, tail: '{}' }) };
      },
    }),
  ];
}

const placeOf = ({ opened_ms, position_id }: PositionRow) => ({
  openedMs: opened_ms,
  positionId: position_id,
});

function divergenceRoutes({ paper }: PaperDependencies): Route[] {
  const shared = {
    auth: 'key' as const,
    access: { feature: 'paper' as const },
    path: '/v1/paper/strategies/{strategy_id}/divergence',
    pathFields: { strategy_id: strategyId },
    response: paperDivergenceShape,
  };
  return [
    route({
      ...shared,
      method: 'GET',
      summary: 'Compare a paper strategy with its baseline and with a backtest of the same period',
      handle: async (request) => ({ body: await divergenceBody(paper, await found(paper, request)) }),
    }),
    route({
      ...shared,
      method: 'POST',
      summary: 'Start a backtest of the period in which a paper strategy has run so far',
      description: `The backtest does not count against the job limit. Starts none while the previous one is queued or running. While ${MAX_COMPARISONS_PER_USER} baselines or replays of the user are queued or running, it gets 429.`,
      success: 201,
      refusals: [429],
      handle: async (request) => {
        const strategy = await found(paper, request);
        const { window } = await paper.divergence(strategy);
        const isUnderWay = window?.status === 'queued' || window?.status === 'running';
        if (!isUnderWay && (await paper.replayWindow(strategy)) === null) throw tooManyComparisons();
        return { status: 201, body: await divergenceBody(paper, await found(paper, request)) };
      },
    }),
  ];
}

function tooManyComparisons() {
  const detail = `${MAX_COMPARISONS_PER_USER} baselines or replays of your paper strategies wait or run already; retry when one has ended`;
  return tooManyRequests(detail, RETRY_AFTER_SECONDS);
}

async function divergenceBody(paper: PaperDependencies['paper'], strategy: PaperStrategy): Promise<string> {
  const { fromMs, toMs, ...compared } = await paper.divergence(strategy);
  const range = { from: formatTime(fromMs), to: formatTime(toMs) };
  return printJson({ paper_strategy_id: strategy.strategyId, ...range, ...compared });
}

async function found(
  { strategies }: PaperDependencies['paper'],
  request: Pick<RawRequest, 'identity' | 'limits'> & { readonly path: { readonly strategy_id: string } },
): Promise<PaperStrategy> {
  const strategy = await strategies.find(request.path.strategy_id, ownerOf(request));
  if (strategy === null) throw notFound(ABSENT);
  return strategy;
}

function ownerOf({ identity, limits }: Pick<RawRequest, 'identity' | 'limits'>) {
  if (identity === null) throw new TypeError('a route without a key has no user');
  return { userId: identity.userId, cap: limits.paper_strategies };
}

function refused(refusal: Refusal, cap: number) {
  if (refusal === 'not_found') return notFound(ABSENT);
  if (refusal === 'name_taken') return conflict('A paper strategy of this name exists already');
  if (refusal === 'too_many') {
    return forbidden(`At most ${MAX_STRATEGIES_PER_USER} paper strategies at once; delete one first`);
  }
  const strategies = numbered(cap, 'active paper strategy', 'active paper strategies');
  return forbidden(`Your tier allows ${strategies}`);
}

function strategyBody(strategy: PaperStrategy) {
  return {
    paper_strategy_id: strategy.strategyId,
    name: strategy.name,
    active: strategy.entriesUntilMs === null,
    created_at: formatTime(strategy.createdMs),
    strategy: strategy.strategy,
    universe: strategy.universe,
    size_usd: strategy.sizeUsd,
    net_pnl: strategy.netPnl / MICRO_PER_USDC,
    open_positions: strategy.openPositions,
    closed_positions: strategy.closedPositions,
  };
}

function wholeBody(strategy: PaperStrategy) {
  return { ...strategyBody(strategy), baseline_backtest_id: strategy.baselineId };
}
