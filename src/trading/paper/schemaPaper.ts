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
  /** Unique among its user's. */
  name: string;
  /** JSON of a `Strategy`. */
  strategy: string;
  ticker: Ticker;
  event_type: EventType;
  size_usd: number;
  created_ms: number;
  /** Since when it may trade; of the last time it was made active. */
  active_from_ms: number;
  /** Since when it opens nothing more; null: active. */
  entries_until_ms: number | null;
  /** Sum over the closed positions; kept with every change of one, in the same transaction. */
  net_pnl_micro: number;
  open_positions: number;
  closed_positions: number;
  baseline_backtest_id: string;
  /** The last backtest of the windows it traded since it was last made active; null: none was asked for. */
  window_backtest_id: string | null;
}

/** One position of a paper strategy. */
export interface PaperPositionsTable {
  /** Made of strategy, market and the moment of its purchase, so that the same position never has two rows. */
  position_id: string;
  paper_strategy_id: string;
  market_id: string;
  token: 'yes' | 'no';
  /** Since when its strategy saw the market: what a restart has to know to come to the same. */
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
  /** Of the entry. */
  slippage: number;
  decision_price: number;
  exit_slippage: number | null;
  /** Null: opened by a release that did not keep it. */
  entry_levels: number | null;
  exit_levels: number | null;
  pnl_micro: number | null;
}

/** What the venue said of a market while it was traded; a few rows a market, forgotten after days. */
export interface PaperMarketTermsTable {
  market_id: string;
  /** In force for what arrived after this number. */
  after_seq: number;
  /** JSON of `MarketTerms`. */
  terms: string;
  written_ms: number;
}
