import type { BacktestTrade } from '../api/schema.ts';

/** The source of trades in an address: a backtest or a paper strategy. */
export type TradeSource = { readonly backtest: string } | { readonly paper: string };

/** A trade of a backtest, or a position of a paper strategy. */
export type MadeTrade = BacktestTrade;
