import type { ExitReason } from '../../core/session/position.ts';
import type { EventType, Outcome, Ticker } from '../../schema/market.ts';

declare module '../../control/schema.ts' {
  interface Schema {
    paper_strategies: PaperStrategiesTable;
    paper_positions: PaperPositionsTable;
    paper_market_terms: PaperMarketTermsTable;
  }
}

/** One paper strategy of a user. Money is whole micro-USD. */
export interface PaperStrategiesTable {
  paper_strategy_id: string;
  user_id: string;
  /** Unique per user. */
  name: string;
  /** JSON of a `Strategy`. */
  strategy: string;
  ticker: Ticker;
  event_type: EventType;
  size_usd: number;
  created_ms: number;
  /** Start of the current or last activation: it may trade from then on. */
  active_from_ms: number;
  /** It opens no position from then on; null: active. */
  entries_until_ms: number | null;
  /** Sum over the closed positions; updated with every change of one, in the same transaction. */
  net_pnl_micro: number;
  open_positions: number;
  closed_positions: number;
  baseline_backtest_id: string;
  /** The last backtest of the windows traded since the last activation; null: none was requested. */
  window_backtest_id: string | null;
}

/** One position of a paper strategy. */
export interface PaperPositionsTable {
  /** Derived from strategy, market and purchase time, so that a position never has two rows. */
  position_id: string;
  paper_strategy_id: string;
  market_id: string;
  token: 'yes' | 'no';
  /** Time from which the strategy saw the market: a restart needs it to reproduce the same result. */
  session_from_ms: number;
  decided_ms: number;
  opened_ms: number;
  closed_ms: number | null;
  /** Units of 1/1,000,000 share. */
  size: number;
  entry_price: number;
  exit_price: number | null;
  exit_reason: ExitReason | null;
  outcome: Outcome | null;
  principal_micro: number;
  fees_micro: number;
  /** Slippage of the entry. */
  slippage: number;
  decision_price: number;
  exit_slippage: number | null;
  /** Null: opened by a release that did not store it. */
  entry_levels: number | null;
  exit_levels: number | null;
  pnl_micro: number | null;
}

/** A market's terms while it was traded; a few rows per market, deleted after days. */
interface PaperMarketTermsTable {
  market_id: string;
  /** In force for records after this arrival number. */
  after_seq: number;
  /** JSON of `MarketTerms`. */
  terms: string;
  written_ms: number;
}
