/** Example values of requests, by operation (`POST /v1/backtest`) and by parameter. A test sends each of them. */
const STRATEGY = { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' } as const;
const UNIVERSE = { ticker: 'BTC', event_type: '5m' } as const;
const BACKTEST = { strategy: STRATEGY, universe: UNIVERSE, size_usd: 10, market_limit: 5 } as const;
const PASSWORD = 'correct horse battery staple';

const BODY_EXAMPLES: Readonly<Record<string, object>> = {
  'POST /v1/backtest': BACKTEST,
  'POST /v1/backtest/sweep': { ...BACKTEST, x_axis: { param: 'threshold', start: 0.2, end: 0.6, steps: 5 } },
  'POST /v1/paper/strategies': { name: 'cheap Up', strategy: STRATEGY, universe: UNIVERSE, size_usd: 10 },
  'PATCH /v1/paper/strategies/{strategy_id}': { active: false },
  'POST /app/sign-up': { email: 'you@example.com', password: PASSWORD },
  'POST /app/sign-in': { email: 'you@example.com', password: PASSWORD },
  'POST /app/sign-in-link': { link: 'TOKEN-OF-THE-LINK' },
  'POST /app/password': { current_password: PASSWORD, new_password: 'another long password' },
  'POST /app/second-factor/confirm': { password: PASSWORD, code: '123456' },
  'POST /app/second-factor/disable': { password: PASSWORD, code: '123456' },
  'POST /app/keys': { label: 'laptop' },
  'POST /app/webhooks': {
    url: 'https://hooks.example.com/underround',
    label: 'alerts',
    tiers: ['logical'],
    tickers: ['BTC'],
  },
  'PATCH /app/webhooks/{webhook_id}': { label: 'alerts', tickers: ['BTC', 'ETH'] },
  'POST /app/webhooks/{webhook_id}/redeliver': { state: 'failed' },
  'PATCH /app/users/{user_id}': { tier: 'pro' },
  'PUT /app/maintenance': { on: true, message: 'Back in five minutes' },
};

/** Values of required parameters. */
const VALUES: Readonly<Record<string, string | number>> = {
  market_id: '0x5f1d9a3a1d7a1f5cf8ff2c34d4e0f0f2f7b6f4b1a0d1c9e8b7a695847362514f',
  ts: '2026-11-20T12:00:00Z',
  start: '2026-11-20T12:00:00Z',
  end: '2026-11-20T13:00:00Z',
  job_id: 'bt_x7Kq2mVd9RtLw4Zs',
  strategy_id: 'ps_x7Kq2mVd9RtLw4Zs',
  webhook_id: 'wh_x7Kq2mVd9RtLw4Zs',
  delivery_id: 'dlv_x7Kq2mVd9RtLw4Zs',
  session_id: 'ses_x7Kq2mVd9RtLw4Zs',
  key_id: 'key_x7Kq2mVd9RtLw4Zs',
  user_id: 'usr_x7Kq2mVd9RtLw4Zs',
  dataset: 'trades',
  ticker: 'BTC',
  source: 'chainlink',
  timeframe: '5m',
  event_type: '5m',
};
const MARKET = { market_id: VALUES.market_id as string };
const RANGE = { start: VALUES.start as string, end: VALUES.end as string };
/** Optional parameters that an example includes. */
const INCLUDED: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  '/v1/markets': { ticker: 'BTC', event_type: '5m', limit: 3 },
  '/v1/markets/resolved': { ticker: 'BTC', limit: 3 },
  '/v1/markets/{market_id}/timeseries': { limit: 5 },
  '/v1/perp/depth': { limit: 2, order: 'desc' },
  '/v1/snapshots': { limit: 2, depth: 3 },
  '/v1/trades': { limit: 5 },
  '/v1/underlying': { limit: 5, order: 'desc' },
  '/v1/export': { ...MARKET, format: 'csv' },
  '/v1/export/manifest': MARKET,
  '/v1/tapes': MARKET,
  '/v1/tapes/markets': { limit: 5 },
  '/v1/stats/calibration': { ticker: 'BTC', minutes_before: 1 },
  '/v1/arb/live': { limit: 5 },
  '/v1/arb/audit': { limit: 5 },
  '/v1/arb/audit/aggregate': { window: '24h' },
  '/v1/backtest': { limit: 5 },
  '/v1/replay': { ...RANGE, ticker: 'BTC', event_type: '5m', speed: 10 },
};

/** @param operation `POST /v1/backtest`. Null without an example: every body has one. */
export function bodyExample(operation: string): object | null {
  return BODY_EXAMPLES[operation] ?? null;
}

/**
 * The value of a parameter in the example of an operation.
 * @returns Null if the example leaves it out.
 */
export function parameterExample(
  path: string,
  { name, required }: { name: string; required: boolean },
): string | number | null {
  const included = INCLUDED[path]?.[name];
  if (included !== undefined) return included;
  return required ? (VALUES[name] ?? null) : null;
}
