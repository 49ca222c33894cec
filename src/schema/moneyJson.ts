/**
 * JSON for answers, pushes and stored bodies: money has at most nine decimals. Prices, fees and P&L that are averages
 * or expectations are computed in doubles, and 0.015091 would print as 0.015091000000000003. Data as received (prices
 * of an underlying, strikes, sizes), probabilities and statistics keep every digit.
 */

/** A thousandth of a micro-USD, the venue's unit. */
const DECIMALS = 9;

/** Members in USD or USDC per share: first of answers and messages, then of audit entries. */
const MONEY_FIELDS: ReadonlySet<string> = new Set([
  ...['fill_price', 'fill_spread', 'est_fee_per_share', 'expected_pnl_per_share', 'edge_per_share'],
  ...['model_ev_per_share', 'realized_per_share', 'market_yes_mid', 'mismatch_mid'],
  ...['yes_bid', 'yes_ask', 'no_bid', 'no_ask'],
  ...['avg_model_ev', 'avg_realized', 'total_realized'],
  ...['entry_price', 'exit_price', 'fees_usd', 'slippage', 'net_pnl', 'cumulative_pnl', 'final_net_pnl'],
  ...['decision_price', 'entry_slippage', 'exit_slippage'],
  ...['total_pnl', 'total_fees', 'fees', 'avg_pnl_per_trade', 'avg_slippage', 'max_drawdown'],
  ...['live_net_pnl', 'backtest_net_pnl'],
  ...['fillPrice', 'fillSpread', 'feePerShare', 'evPerShare', 'marketYesMid', 'realized'],
]);

/** Prints a body with rounded money. */
export function printJson(body: unknown): string {
  return JSON.stringify(body, roundedMember);
}

/** A copy with rounded money: the stored values then equal the printed ones. */
export function withRoundedMoney<T>(body: T): T {
  return JSON.parse(printJson(body)) as T;
}

/** The nearest number with nine decimals, which prints with at most nine. */
export function roundMoney(amount: number): number {
  return Number(amount.toFixed(DECIMALS));
}

function roundedMember(name: string, value: unknown): unknown {
  if (!MONEY_FIELDS.has(name)) return value;
  if (Array.isArray(value)) return value.map(roundedNumber);
  return roundedNumber(value);
}

function roundedNumber(value: unknown): unknown {
  return typeof value === 'number' ? roundMoney(value) : value;
}
