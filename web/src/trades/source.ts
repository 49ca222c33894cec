import type { BacktestTrade } from '../api/schema.ts';

/** Whose trades are meant: those of a backtest or of a paper strategy, as an address names them. */
export type TradeSource = { readonly backtest: string } | { readonly paper: string };

/** A trade of either: what was bought in which market, and what came of it. */
export type MadeTrade = BacktestTrade;
