/**
 * The output of a run on the live stream: one JSON object a line, in the order in which things happened. Besides orders
 * it has the facts that a recording keeps only in their newest form: a run that goes on reads them from its output.
 */
import type { Context, OwnOrder, ParamSpecs, StrategyDefinition } from '../core/run/definition.ts';
import type { RunItem } from '../core/run/runner.ts';
import type { Resolution, TapeMarket } from '../core/session/tape.ts';

export type PaperLine = { readonly seq: number; readonly time_ms: number } & (
  | { readonly kind: 'market'; readonly market: TapeMarket }
  | { readonly kind: 'resolved'; readonly market_id: string; readonly resolution: Resolution }
  | {
      readonly kind: 'order';
      readonly order: OwnOrder;
      /** After the order's change. */
      readonly position: {
        readonly size: number;
        readonly average_price: number | null;
        readonly cost_usd: number;
      };
      readonly cash: number | null;
    }
);

export function factLines(item: RunItem): PaperLine[] {
  const at = { seq: item.seq, time_ms: item.timeMs };
  if (item.kind === 'market') return [{ kind: 'market', ...at, market: item.market }];
  if (item.kind !== 'resolved') return [];
  return [{ kind: 'resolved', ...at, market_id: item.marketId, resolution: item.resolution }];
}

type Definition = StrategyDefinition<ParamSpecs, unknown>;

/**
 * The strategy of a live run. What was received before the run began only warms up prices and books: the code is not
 * called for it, and so decides nothing in the past.
 */
export function paperDefinition(
  definition: Definition,
  { fromMs, lines }: { fromMs: number; lines: PaperLine[] },
): Definition {
  return {
    ...definition,
    onEvent(event, context) {
      if (event.timeMs < fromMs) return;
      if (event.type === 'order') lines.push(orderLine(event, context));
      definition.onEvent(event, context);
    },
  };
}

function orderLine(
  { seq, timeMs, order }: { seq: number; timeMs: number; order: OwnOrder },
  context: Context,
): PaperLine {
  const { size, averagePrice, costUsd } = context.position(order.marketId, order.token);
  const position = { size, average_price: averagePrice, cost_usd: costUsd };
  return { kind: 'order', seq, time_ms: timeMs, order: { ...order }, position, cash: context.cash };
}

/** What earlier output says about markets, so that a repetition knows what was known when. */
export class PrintedFacts {
  readonly #markets = new Map<string, { listed: TapeMarket; newest: TapeMarket }>();
  readonly #resolutions = new Map<string, { readonly resolution: Resolution; readonly timeMs: number }>();
  /** Receive time of the newest line. */
  timeMs = 0;

  add(line: PaperLine): void {
    this.timeMs = Math.max(this.timeMs, line.time_ms);
    if (line.kind === 'resolved') {
      const { market_id, resolution, time_ms: timeMs } = line;
      this.#resolutions.set(market_id, { resolution, timeMs });
    }
    if (line.kind !== 'market') return;
    const { marketId } = line.market;
    const known = this.#markets.get(marketId);
    this.#markets.set(marketId, { listed: known?.listed ?? line.market, newest: line.market });
  }

  /** Time of the line with the outcome; null without one. */
  paidMs(marketId: string): number | null {
    return this.#resolutions.get(marketId)?.timeMs ?? null;
  }

  /** @param floorMs What is new was not known before this time. */
  market(market: TapeMarket, floorMs: number): TapeMarket {
    const known = this.#markets.get(market.marketId);
    // The strike alone changes: other facts stay as they were when the market was listed.
    const facts = known?.listed ?? market;
    const { strikePrice, strikeKnownTimeMs } = known?.newest ?? {
      strikePrice: null,
      strikeKnownTimeMs: null,
    };
    if (strikeKnownTimeMs !== null) return { ...facts, strikePrice, strikeKnownTimeMs };
    const knownMs = market.strikeKnownTimeMs === null ? null : Math.max(market.strikeKnownTimeMs, floorMs);
    return { ...facts, strikePrice: market.strikePrice, strikeKnownTimeMs: knownMs };
  }

  resolution(marketId: string, resolution: Resolution | null, floorMs: number): Resolution | null {
    const known = this.#resolutions.get(marketId);
    if (known !== undefined) return known.resolution;
    if (resolution === null) return null;
    return { ...resolution, resolvedTimeMs: Math.max(resolution.resolvedTimeMs, floorMs) };
  }
}
