/** One side of a comparison, from a result. It reads no file, so the dashboard compares with it too. */
import { MICRO_PER_USDC } from '../core/fees.ts';

/** A strategy's result in one market it traded. */
interface ComparedMarket {
  readonly marketId: string;
  /** Start of the window, or the first decision where the window is not known. */
  readonly timeMs: number;
  /** Whole micro-USD. */
  readonly pnl: number;
}

export interface ComparedRun {
  readonly name: string;
  readonly dataHash: string;
  readonly codeVersion: string;
  readonly traded: ReadonlyMap<string, ComparedMarket>;
  /** Markets without a result: not replayed, or with a position that is still open. */
  readonly skipped: ReadonlySet<string>;
  /** All markets of the run; null: the result does not name those without a trade. */
  readonly markets: ReadonlySet<string> | null;
}

/** The members of a result that a comparison reads. Times are Unix ms, money is USD. */
interface ComparedResult {
  readonly name?: string | undefined;
  readonly receipt: { readonly data_hash: string; readonly code_version: string };
  readonly trades: readonly {
    readonly market_id: string;
    readonly decided_at: number;
    readonly window_start?: number | null | undefined;
    readonly net_pnl: number | null;
  }[];
  readonly markets_skipped: readonly { readonly market_id: string }[];
  readonly markets?: readonly { readonly market_id: string; readonly start: number }[] | null | undefined;
}

/** @param name Used where the result has none. */
export function comparedRun(
  { receipt, trades, markets_skipped: skipped, ...result }: ComparedResult,
  name: string,
): ComparedRun {
  const starts = new Map(result.markets?.map(({ market_id: id, start }) => [id, start]));
  const traded = new Map<string, ComparedMarket>();
  for (const { market_id: marketId, decided_at: decided, window_start: start, net_pnl: pnl } of trades) {
    const known = traded.get(marketId);
    const timeMs = starts.get(marketId) ?? start ?? Math.min(decided, known?.timeMs ?? decided);
    const sum = (known?.pnl ?? 0) + Math.round((pnl ?? 0) * MICRO_PER_USDC);
    traded.set(marketId, { marketId, timeMs, pnl: sum });
  }
  const open = trades.filter(({ net_pnl: pnl }) => pnl === null);
  return {
    name: result.name ?? name,
    dataHash: receipt.data_hash,
    codeVersion: receipt.code_version,
    traded,
    skipped: new Set([...skipped, ...open].map(({ market_id: id }) => id)),
    markets: result.markets ? new Set(result.markets.map(({ market_id: id }) => id)) : null,
  };
}
