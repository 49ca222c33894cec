// Generated from docs/openapi.json by `npm run generate`; do not edit.
export type CalibrationBucket = {
  prob_lo: number;
  prob_hi: number;
  n_markets: number;
  frac_resolved_up: number | null;
  mean_prob: number | null;
  ci_lo: number | null;
  ci_hi: number | null;
};
export type Calibration = {
  ticker: 'BTC' | 'ETH' | 'SOL' | null;
  event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | null;
  minutes_before: number;
  buckets: (CalibrationBucket)[];
  n_markets: number;
  n_without_mid: number;
  brier_score: number | null;
  log_loss: number | null;
  ece: number | null;
  ece_chance_mean: number | null;
  ece_chance_p95: number | null;
  reliability: number | null;
  resolution: number | null;
  uncertainty: number | null;
};
export type Candle = {
  ts: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
  trade_count: number;
};
export type Candles = {
  market_id: string;
  timeframe: '5m' | '15m' | '1h' | '4h' | '24h';
  count: number;
  candles: (Candle)[];
  next_cursor: string | null;
};
export type DepthSnapshot = {
  timestamp: string;
  update_id: number;
  bids: ([number, number])[];
  asks: ([number, number])[];
  best_bid: number | null;
  best_ask: number | null;
  n_bids: number;
  n_asks: number;
};
export type Gap = {
  gap_id: string;
  start: string;
  end: string | null;
  start_received: string;
  end_received: string | null;
  cause: 'disconnected' | 'silent_feed' | 'silent_market' | 'book_mismatch' | 'crossed_book' | 'frame_rejected' | 'clock_step' | 'process_down' | 'store_down' | 'late_feed' | 'venue_restart' | 'data_lost' | 'retention' | 'thinned';
  feed: string;
  repaired_by: string | null;
};
export type Gaps = {
  market_id: string;
  count: number;
  gaps: (Gap)[];
  next_cursor: string | null;
};
export type Health = {
  ok: boolean;
  latest_snapshot: string | null;
  snapshots_last_5min: number;
};
export type Level = {
  price: number;
  size: number;
};
export type MarketList = {
  markets: (Market)[];
  count: number;
  next_cursor: string | null;
};
export type MarketReference = {
  market_id: string;
  market_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | 'unknown';
};
export type Market = {
  market_id: string;
  event_id: string;
  slug: string;
  question: string;
  market_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | 'unknown';
  ticker: 'BTC' | 'ETH' | 'SOL' | 'unknown';
  status: 'open' | 'closed' | 'resolved';
  start_time: string;
  end_time: string;
  strike_price: number | null;
  strike_source: 'official' | 'relayed' | 'estimated' | null;
  close_price: number | null;
  outcome: 'Up' | 'Down' | null;
  payout_yes: number | null;
  coverage: number;
  resolved_at: string | null;
  resolved_at_source: 'stream' | 'exchange' | 'listing' | null;
  volume: number | null;
  liquidity: number | null;
  tick_size: number;
  taker_fee_rate: number | null;
  taker_delay_ms: number | null;
  polymarket_url: string | null;
};
export type OpenApi = {
  openapi: string;
  info: {
    title: string;
    version: string;
  };
  paths: {

  };
};
export type Orderbook = {
  ts: string;
  yes_bids: (Level)[];
  yes_asks: (Level)[];
  no_bids: (Level)[];
  no_asks: (Level)[];
  underlying_price: number | null;
  underlying_ticker: 'BTC' | 'ETH' | 'SOL' | 'unknown';
  trusted: boolean;
  market_id: string;
};
export type PerpDepth = {
  ticker: 'BTC' | 'ETH' | 'SOL';
  total: number;
  limit: number;
  offset: number;
  snapshots: (DepthSnapshot)[];
  next_cursor: string | null;
};
export type Probe = {
  ok: true;
};
export type Readiness = {
  ok: true;
  reasons: (string)[];
  degraded: (string)[];
};
export type Snapshot = {
  ts: string;
  yes_bids: (Level)[];
  yes_asks: (Level)[];
  no_bids: (Level)[];
  no_asks: (Level)[];
  underlying_price: number | null;
  underlying_ticker: 'BTC' | 'ETH' | 'SOL' | 'unknown';
  trusted: boolean;
};
export type Snapshots = {
  market_id: string;
  count: number;
  snapshots: (Snapshot)[];
  next_cursor: string | null;
};
export type TimeseriesPoint = {
  ts: string;
  mid_yes: number | null;
  spread_yes: number | null;
  underlying_price: number | null;
};
export type Timeseries = {
  market: MarketReference;
  snapshots: (TimeseriesPoint)[];
  total: number;
  limit: number;
  offset: number;
  next_cursor: string | null;
};
export type Trade = {
  ts: string;
  side: 'BUY_YES' | 'SELL_YES' | 'BUY_NO' | 'SELL_NO';
  price: number;
  size: number;
  trade_id: string;
};
export type Trades = {
  market_id: string;
  count: number;
  trades: (Trade)[];
  next_cursor: string | null;
};
export type UnderlyingPoint = {
  ts: string;
  price: number;
};
export type Underlying = {
  ticker: 'BTC' | 'ETH' | 'SOL';
  source: 'binance_spot' | 'coinbase_spot' | 'chainlink' | 'twap60';
  count: number;
  points: (UnderlyingPoint)[];
  next_cursor: string | null;
};
export type AccountEventList = {
  events: ({
    event_id: string;
    at: string;
    action: 'sign_in' | 'sign_up' | 'change_password' | 'set_password' | 'enable_totp' | 'disable_totp' | 'reset_totp' | 'set_tier' | 'suspend' | 'unsuspend' | 'set_operator' | 'maintenance_on' | 'maintenance_off';
    reason: string | null;
    email: string | null;
    actor: string | null;
    address: string | null;
    detail: string | null;
  })[];
  count: number;
  next_cursor: string | null;
};
export type CurrentUser = {
  user: {
    user_id: string;
    email: string;
    tier: 'free' | 'pro' | 'plus' | 'premium';
    operator: boolean;
  };
};
export type Drift = {
  as_of: string;
  findings: ({
    category: 'unknown_field' | 'unknown_message' | 'refused_message' | 'hash_recipe' | 'silent_topic';
    feed: string;
    kind: string;
    key: string;
    first_seen: string;
    last_seen: string;
    count: number;
    sample: string | null;
  })[];
};
export type FeedStatus = {
  as_of: string;
  feeds: ({
    collector?: string | undefined;
    feed: string;
    group: string | null;
    kind: 'socket' | 'requests';
    connections: number;
    up: number;
    last_message_at: string | null;
    failures: number;
    last_failure: string | null;
    last_failure_at: string | null;
    gaps_open: number;
  })[];
  gaps: ({
    gap_id: string;
    market_id: string;
    ticker: 'BTC' | 'ETH' | 'SOL' | null;
    event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | null;
    start: string;
    cause: 'disconnected' | 'silent_feed' | 'silent_market' | 'book_mismatch' | 'crossed_book' | 'frame_rejected' | 'clock_step' | 'process_down' | 'store_down' | 'late_feed' | 'venue_restart' | 'data_lost' | 'retention' | 'thinned';
    feed: string;
  })[];
  unknown_versions: ({
    collector?: string | undefined;
    where: 'gamma' | 'frame' | 'book' | 'clob_market';
    version: string;
    markets: number;
    newest_market: string;
    last_at: string;
  })[];
  price_sources: ({
    collector?: string | undefined;
    source: 'polybolt' | 'rtds' | 'crypto_price';
    state: 'live' | 'ready' | 'silent' | 'refused' | 'no_credentials' | 'off';
    last_at: string | null;
    missing: string | null;
  })[];
};
export type Maintenance = {
  on: boolean;
  retry_after_seconds: number | null;
  message: string | null;
  since: string | null;
};
export type NewKey = {
  key_id: string;
  label: string;
  key: string;
  prefix: string;
  created_at: string;
};
export type NewSecondFactor = {
  secret: string;
  uri: string;
};
export type OperatorSummary = {
  as_of: string;
  store_lag_seconds: number;
  rows_inserted: number | null;
  stored_bytes: number | null;
  disk_free_bytes: number | null;
  growth_bytes_per_day: number | null;
  disk_full_at: string | null;
};
export type OwnKeyList = {
  keys: ({
    key_id: string;
    label: string;
    prefix: string;
    created_at: string;
    last_used_at: string | null;
    revoked_at: string | null;
    requests_30d: number;
  })[];
};
export type RecoveryCodes = {
  recovery_codes: (string)[];
};
export type SecondFactor = {
  enabled: boolean;
  recovery_codes_left: number;
};
export type SessionList = {
  sessions: ({
    session_id: string;
    created_at: string;
    last_seen_at: string;
    expires_at: string;
    user_agent: string;
    address: string;
    current: boolean;
  })[];
};
export type SignUpState = {
  has_operator: boolean;
  open: boolean;
};
export type TierTable = {
  tiers: {
    free: {
      requests_per_second: number;
      requests_per_minute: number;
      market_data: boolean;
      history_days: number | null;
      backtest_jobs: number;
      backtest_markets: number;
      sweep_cells: number;
      paper_strategies: number;
      stream_connections: number;
      streamed_answers: number;
      arb_ws: boolean;
      replay: boolean;
      export: boolean;
      webhooks: boolean;
    };
    pro: {
      requests_per_second: number;
      requests_per_minute: number;
      market_data: boolean;
      history_days: number | null;
      backtest_jobs: number;
      backtest_markets: number;
      sweep_cells: number;
      paper_strategies: number;
      stream_connections: number;
      streamed_answers: number;
      arb_ws: boolean;
      replay: boolean;
      export: boolean;
      webhooks: boolean;
    };
    plus: {
      requests_per_second: number;
      requests_per_minute: number;
      market_data: boolean;
      history_days: number | null;
      backtest_jobs: number;
      backtest_markets: number;
      sweep_cells: number;
      paper_strategies: number;
      stream_connections: number;
      streamed_answers: number;
      arb_ws: boolean;
      replay: boolean;
      export: boolean;
      webhooks: boolean;
    };
    premium: {
      requests_per_second: number;
      requests_per_minute: number;
      market_data: boolean;
      history_days: number | null;
      backtest_jobs: number;
      backtest_markets: number;
      sweep_cells: number;
      paper_strategies: number;
      stream_connections: number;
      streamed_answers: number;
      arb_ws: boolean;
      replay: boolean;
      export: boolean;
      webhooks: boolean;
    };
  };
};
export type UserList = {
  users: (User)[];
  count: number;
  total: number;
  limit: number;
  offset: number;
  next_cursor: string | null;
};
export type User = {
  user_id: string;
  email: string;
  tier: 'free' | 'pro' | 'plus' | 'premium';
  operator: boolean;
  suspended: boolean;
  created_at: string;
};
export type LiveWindow = {
  market_id: string;
  ticker: 'BTC' | 'ETH' | 'SOL' | 'unknown';
  market_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | 'unknown';
  start_time: string;
  end_time: string;
  strike_price: number | null;
  strike_source: 'official' | 'relayed' | 'estimated' | null;
  gap: 'disconnected' | 'silent_feed' | 'silent_market' | 'book_mismatch' | 'crossed_book' | 'frame_rejected' | 'clock_step' | 'process_down' | 'store_down' | 'late_feed' | 'venue_restart' | 'data_lost' | 'retention' | 'thinned' | null;
  book: {
    ts: string;
    yes_bid: number | null;
    yes_ask: number | null;
    no_bid: number | null;
    no_ask: number | null;
    mid_yes: number | null;
    trusted: boolean;
    yes_bids: ([number, number])[];
    yes_asks: ([number, number])[];
    no_bids: ([number, number])[];
    no_asks: ([number, number])[];
  } | null;
  model: {
    spot: number | null;
    sigma_annual: number | null;
    distance: number | null;
    yes_prob: number | null;
    fee: {
      rate: number;
      exponent: number;
      base: 'share' | 'cost';
      decimals: number;
      rounding: 'half_up' | 'down';
    };
  } | null;
};
export type LiveWindows = {
  as_of: string;
  windows: (LiveWindow)[];
};
export type ServiceState = {
  as_of: string;
  tickers: ('BTC' | 'ETH' | 'SOL')[];
  store_lag_seconds: number;
  ready: boolean;
  reasons: (string)[];
  degraded: (string)[];
  history: {
    share: number;
    hours: number;
    failure: string | null;
  } | null;
};
export type AuditAggregate = {
  window: '1h' | '24h' | '7d' | '30d' | 'all';
  since: string | null;
  as_of: string;
  overall: {
    total: number;
    resolved: number;
    open: number;
    logical_total: number;
    logical_resolved: number;
    avg_model_ev: number | null;
    avg_realized: number | null;
    total_realized: number;
    first_detection: string | null;
    last_detection: string | null;
  };
  by_ticker: ({
    bucket: 'BTC' | 'ETH' | 'SOL';
    total: number;
    resolved: number;
    avg_model_ev: number | null;
    avg_realized: number | null;
    total_realized: number;
  })[];
  by_tier: ({
    bucket: 'logical' | 'endgame' | 'stable' | 'stale';
    total: number;
    resolved: number;
    avg_model_ev: number | null;
    avg_realized: number | null;
    total_realized: number;
  })[];
  by_event_type: ({
    bucket: '5m' | '15m' | '1h' | '4h';
    total: number;
    resolved: number;
    avg_model_ev: number | null;
    avg_realized: number | null;
    total_realized: number;
  })[];
};
export type AuditRow = {
  audit_id: string;
  detected_at: string;
  market_id: string;
  polymarket_slug: string;
  ticker: 'BTC' | 'ETH' | 'SOL';
  event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
  tier: 'logical' | 'endgame' | 'stable' | 'stale';
  confidence: 'stable' | 'stale';
  direction: 'BUY_YES' | 'BUY_NO' | 'BUY_BOTH';
  fill_price: number;
  fill_spread: number;
  est_fee_per_share: number;
  model_ev_per_share: number;
  model_yes_prob: number;
  available_size: number;
  underlying: number | null;
  strike_price: number | null;
  strike_source: 'official' | 'relayed' | 'estimated' | null;
  sigma_annual: number | null;
  tau_minutes: number;
  executable: ({
    after_ms: number;
    fill_price: number | null;
    size: number;
  })[];
  resolved_at: string | null;
  outcome: 'Up' | 'Down' | null;
  realized_per_share: number | null;
  hash: string;
  prev_hash: string;
};
export type AuditRows = {
  count: number;
  rows: (AuditRow)[];
  next_cursor: string | null;
};
export type LiveBoard = {
  as_of: string;
  count: number;
  tickers: ('BTC' | 'ETH' | 'SOL')[];
  event_types: ('5m' | '15m' | '1h' | '4h' | 'daily_up_down')[];
  min_edge_pp: number;
  opportunities: (LiveOpportunity)[];
};
export type LiveOpportunity = {
  type: 'opportunity';
  tier: 'logical' | 'endgame' | 'stable' | 'stale';
  ticker: 'BTC' | 'ETH' | 'SOL';
  event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
  market_id: string;
  polymarket_slug: string;
  direction: 'BUY_YES' | 'BUY_NO' | 'BUY_BOTH';
  fill_price: number;
  fill_spread: number;
  expected_pnl_per_share: number;
  est_fee_per_share: number;
  tau_minutes: number;
  confidence: 'stable' | 'stale';
  model_yes_prob: number;
  detected_at: string;
  polymarket_url: string;
  question: string;
  resolution_at: string;
  seconds_to_resolution: number;
  underlying_now: number | null;
  strike_price: number | null;
  log_diff: number | null;
  sigma_annual: number | null;
  sigma_tau: number | null;
  market_yes_mid: number | null;
  mismatch_mid: number | null;
  yes_bid: number | null;
  yes_ask: number | null;
  no_bid: number | null;
  no_ask: number | null;
  edge_per_share: number;
  available_size: number;
};
export type BacktestJobList = {
  jobs: ({
    job_id: string;
    kind: 'backtest' | 'sweep';
    status: 'queued' | 'running' | 'complete' | 'failed' | 'cancelled';
    progress: number;
    submitted_at: string;
    started_at: string | null;
    completed_at: string | null;
    strategy: {
      type: 'threshold_entry';
      threshold: number;
      direction: 'below' | 'above';
      side: 'buy_yes' | 'buy_no';
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'mean_reversion';
      lookback: number;
      z_threshold: number;
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'time_before_resolution';
      minutes_before: number;
      side: 'buy_yes' | 'buy_no';
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'condition_based';
      entry: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      } | {
        any: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        })[];
      })[];
      take_profit: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
      stop_loss: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
      side: 'buy_yes' | 'buy_no';
      max_trades_per_market: number;
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    };
    universe: {
      ticker: 'BTC' | 'ETH' | 'SOL';
      event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
    } | {
      tickers: ('BTC' | 'ETH' | 'SOL')[];
      event_types: ('5m' | '15m' | '1h' | '4h' | 'daily_up_down')[];
    };
    size_usd: number;
    params: {
      fill_mode: 'walk_book' | 'mid';
      latency_ms: number;
      max_fill_price: number;
      max_slippage: number | null;
      stress?: {
        void_share: number;
        disputed_share: number;
        dispute_delay_hours: number;
      } | undefined;
    };
    request: {
      strategy: {
        type: 'threshold_entry';
        threshold: number;
        direction: 'below' | 'above';
        side: 'buy_yes' | 'buy_no';
        execution?: {
          entry: 'maker';
          offset: number;
          timeout_s: number;
          queue_model: 'optimistic' | 'proportional' | 'pessimistic';
        } | undefined;
      } | {
        type: 'mean_reversion';
        lookback: number;
        z_threshold: number;
        execution?: {
          entry: 'maker';
          offset: number;
          timeout_s: number;
          queue_model: 'optimistic' | 'proportional' | 'pessimistic';
        } | undefined;
      } | {
        type: 'time_before_resolution';
        minutes_before: number;
        side: 'buy_yes' | 'buy_no';
        execution?: {
          entry: 'maker';
          offset: number;
          timeout_s: number;
          queue_model: 'optimistic' | 'proportional' | 'pessimistic';
        } | undefined;
      } | {
        type: 'condition_based';
        entry: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        } | {
          any: ({
            metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
            operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
            value: number;
            token?: 'own' | 'yes' | 'no' | undefined;
            window_s?: number | undefined;
          })[];
        })[];
        take_profit: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        })[];
        stop_loss: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        })[];
        side: 'buy_yes' | 'buy_no';
        max_trades_per_market: number;
        execution?: {
          entry: 'maker';
          offset: number;
          timeout_s: number;
          queue_model: 'optimistic' | 'proportional' | 'pessimistic';
        } | undefined;
      };
      universe: {
        ticker: 'BTC' | 'ETH' | 'SOL';
        event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
      } | {
        tickers: ('BTC' | 'ETH' | 'SOL')[];
        event_types: ('5m' | '15m' | '1h' | '4h' | 'daily_up_down')[];
      };
      size_usd: number;
      start: string | null;
      end: string;
      market_limit: number;
      x_axis?: {
        param: string;
        start: number;
        end: number;
        steps: number;
      } | undefined;
      y_axis?: {
        param: string;
        start: number;
        end: number;
        steps: number;
      } | null | undefined;
      params: {
        fill_mode: 'walk_book' | 'mid';
        latency_ms: number;
        max_fill_price: number;
        max_slippage: number | null;
        stress?: {
          void_share: number;
          disputed_share: number;
          dispute_delay_hours: number;
        } | undefined;
      };
    };
    error: string | null;
    result: null;
  })[];
  count: number;
  limit: number;
  offset: number;
  next_cursor: string | null;
};
export type BacktestJob = {
  job_id: string;
  kind: 'backtest' | 'sweep';
  status: 'queued' | 'running' | 'complete' | 'failed' | 'cancelled';
  progress: number;
  submitted_at: string;
  started_at: string | null;
  completed_at: string | null;
  strategy: {
    type: 'threshold_entry';
    threshold: number;
    direction: 'below' | 'above';
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset: number;
      timeout_s: number;
      queue_model: 'optimistic' | 'proportional' | 'pessimistic';
    } | undefined;
  } | {
    type: 'mean_reversion';
    lookback: number;
    z_threshold: number;
    execution?: {
      entry: 'maker';
      offset: number;
      timeout_s: number;
      queue_model: 'optimistic' | 'proportional' | 'pessimistic';
    } | undefined;
  } | {
    type: 'time_before_resolution';
    minutes_before: number;
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset: number;
      timeout_s: number;
      queue_model: 'optimistic' | 'proportional' | 'pessimistic';
    } | undefined;
  } | {
    type: 'condition_based';
    entry: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    } | {
      any: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
    })[];
    take_profit: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[];
    stop_loss: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[];
    side: 'buy_yes' | 'buy_no';
    max_trades_per_market: number;
    execution?: {
      entry: 'maker';
      offset: number;
      timeout_s: number;
      queue_model: 'optimistic' | 'proportional' | 'pessimistic';
    } | undefined;
  };
  universe: {
    ticker: 'BTC' | 'ETH' | 'SOL';
    event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
  } | {
    tickers: ('BTC' | 'ETH' | 'SOL')[];
    event_types: ('5m' | '15m' | '1h' | '4h' | 'daily_up_down')[];
  };
  size_usd: number;
  params: {
    fill_mode: 'walk_book' | 'mid';
    latency_ms: number;
    max_fill_price: number;
    max_slippage: number | null;
    stress?: {
      void_share: number;
      disputed_share: number;
      dispute_delay_hours: number;
    } | undefined;
  };
  request: {
    strategy: {
      type: 'threshold_entry';
      threshold: number;
      direction: 'below' | 'above';
      side: 'buy_yes' | 'buy_no';
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'mean_reversion';
      lookback: number;
      z_threshold: number;
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'time_before_resolution';
      minutes_before: number;
      side: 'buy_yes' | 'buy_no';
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'condition_based';
      entry: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      } | {
        any: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        })[];
      })[];
      take_profit: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
      stop_loss: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
      side: 'buy_yes' | 'buy_no';
      max_trades_per_market: number;
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    };
    universe: {
      ticker: 'BTC' | 'ETH' | 'SOL';
      event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
    } | {
      tickers: ('BTC' | 'ETH' | 'SOL')[];
      event_types: ('5m' | '15m' | '1h' | '4h' | 'daily_up_down')[];
    };
    size_usd: number;
    start: string | null;
    end: string;
    market_limit: number;
    x_axis?: {
      param: string;
      start: number;
      end: number;
      steps: number;
    } | undefined;
    y_axis?: {
      param: string;
      start: number;
      end: number;
      steps: number;
    } | null | undefined;
    params: {
      fill_mode: 'walk_book' | 'mid';
      latency_ms: number;
      max_fill_price: number;
      max_slippage: number | null;
      stress?: {
        void_share: number;
        disputed_share: number;
        dispute_delay_hours: number;
      } | undefined;
    };
  };
  error: string | null;
  result: BacktestResult | SweepResult | null;
};
export type BacktestResult = {
  markets_total: number;
  markets_traded: number;
  markets_skipped: ({
    market_id: string;
    reason: 'unresolved' | 'gap' | 'no_data' | 'no_strike' | 'no_books' | 'too_large';
  })[];
  trades_total: number;
  trades_won: number;
  win_rate: number | null;
  total_pnl: number;
  total_fees: number;
  avg_pnl_per_trade: number | null;
  avg_slippage: number | null;
  orders: {
    placed: number;
    filled: number;
    missed: {
      no_depth: number;
      price: number;
      untrusted: number;
      unconfirmed: number;
      refused?: number | undefined;
      not_reached?: number | undefined;
    };
    taken_back: number;
  };
  fill_rate: number | null;
  profit_factor: number | null;
  sharpe_per_market: number | null;
  sharpe_ratio: number | null;
  sortino_ratio: number | null;
  calmar_ratio: number | null;
  max_drawdown: number;
  largest_trade_share: number | null;
  peak_cost?: number | null | undefined;
  intervals: {
    total_pnl: [number, number];
    win_rate: [number, number];
    sharpe_per_market: [number, number] | null;
  } | null;
  coverage: number;
  stress?: {
    void_markets: number;
    disputed_markets: number;
    trades_total: number;
    trades_won: number;
    win_rate: number | null;
    total_pnl: number;
    total_fees: number;
    profit_factor: number | null;
    sharpe_per_market: number | null;
    max_drawdown: number;
    late_usd_max: number;
  } | undefined;
  equity_curve: ({
    market_id: string;
    ts: string;
    cumulative_pnl: number;
  })[];
  trades: (BacktestTrade)[];
  receipt: {
    data_hash: string;
    venue_rules: string;
    code_version: string;
    seed: number;
  };
};
export type BacktestTrade = {
  market_id: string;
  side: 'buy_yes' | 'buy_no';
  decided_at: string;
  opened_at: string;
  closed_at: string | null;
  decision_price: number;
  entry_price: number;
  exit_price: number | null;
  shares: number;
  size_usd: number;
  fees_usd: number;
  slippage: number;
  entry_slippage: number;
  exit_slippage: number | null;
  entry_levels: number | null;
  exit_levels: number | null;
  net_pnl: number | null;
  outcome: 'Up' | 'Down' | null;
  exit_reason: 'resolved' | 'take_profit' | 'stop_loss' | 'market_void' | null;
};
export type JobSummaries = {
  jobs: ({
    job_id: string;
    kind: 'backtest' | 'sweep';
    status: 'queued' | 'running' | 'complete' | 'failed' | 'cancelled';
    progress: number;
    submitted_at: string;
    started_at: string | null;
    completed_at: string | null;
    strategy: {
      type: 'threshold_entry';
      threshold: number;
      direction: 'below' | 'above';
      side: 'buy_yes' | 'buy_no';
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'mean_reversion';
      lookback: number;
      z_threshold: number;
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'time_before_resolution';
      minutes_before: number;
      side: 'buy_yes' | 'buy_no';
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'condition_based';
      entry: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      } | {
        any: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        })[];
      })[];
      take_profit: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
      stop_loss: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
      side: 'buy_yes' | 'buy_no';
      max_trades_per_market: number;
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    };
    universe: {
      ticker: 'BTC' | 'ETH' | 'SOL';
      event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
    } | {
      tickers: ('BTC' | 'ETH' | 'SOL')[];
      event_types: ('5m' | '15m' | '1h' | '4h' | 'daily_up_down')[];
    };
    size_usd: number;
    params: {
      fill_mode: 'walk_book' | 'mid';
      latency_ms: number;
      max_fill_price: number;
      max_slippage: number | null;
      stress?: {
        void_share: number;
        disputed_share: number;
        dispute_delay_hours: number;
      } | undefined;
    };
    request: {
      strategy: {
        type: 'threshold_entry';
        threshold: number;
        direction: 'below' | 'above';
        side: 'buy_yes' | 'buy_no';
        execution?: {
          entry: 'maker';
          offset: number;
          timeout_s: number;
          queue_model: 'optimistic' | 'proportional' | 'pessimistic';
        } | undefined;
      } | {
        type: 'mean_reversion';
        lookback: number;
        z_threshold: number;
        execution?: {
          entry: 'maker';
          offset: number;
          timeout_s: number;
          queue_model: 'optimistic' | 'proportional' | 'pessimistic';
        } | undefined;
      } | {
        type: 'time_before_resolution';
        minutes_before: number;
        side: 'buy_yes' | 'buy_no';
        execution?: {
          entry: 'maker';
          offset: number;
          timeout_s: number;
          queue_model: 'optimistic' | 'proportional' | 'pessimistic';
        } | undefined;
      } | {
        type: 'condition_based';
        entry: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        } | {
          any: ({
            metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
            operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
            value: number;
            token?: 'own' | 'yes' | 'no' | undefined;
            window_s?: number | undefined;
          })[];
        })[];
        take_profit: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        })[];
        stop_loss: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        })[];
        side: 'buy_yes' | 'buy_no';
        max_trades_per_market: number;
        execution?: {
          entry: 'maker';
          offset: number;
          timeout_s: number;
          queue_model: 'optimistic' | 'proportional' | 'pessimistic';
        } | undefined;
      };
      universe: {
        ticker: 'BTC' | 'ETH' | 'SOL';
        event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
      } | {
        tickers: ('BTC' | 'ETH' | 'SOL')[];
        event_types: ('5m' | '15m' | '1h' | '4h' | 'daily_up_down')[];
      };
      size_usd: number;
      start: string | null;
      end: string;
      market_limit: number;
      x_axis?: {
        param: string;
        start: number;
        end: number;
        steps: number;
      } | undefined;
      y_axis?: {
        param: string;
        start: number;
        end: number;
        steps: number;
      } | null | undefined;
      params: {
        fill_mode: 'walk_book' | 'mid';
        latency_ms: number;
        max_fill_price: number;
        max_slippage: number | null;
        stress?: {
          void_share: number;
          disputed_share: number;
          dispute_delay_hours: number;
        } | undefined;
      };
    };
    error: string | null;
    is_comparison: boolean;
    summary: {
      total_pnl: number | null;
      sharpe_per_market: number | null;
      trades_total: number | null;
      max_drawdown: number | null;
      markets_traded: number | null;
      cells: number | null;
    } | null;
  })[];
  next_cursor: string | null;
};
export type SweepCell = {
  trades_total: number;
  total_pnl: number;
  win_rate: number | null;
  sharpe_per_market: number | null;
  max_drawdown: number;
  profit_factor: number | null;
  stressed_pnl?: number | undefined;
  error: string | null;
};
export type SweepResult = {
  x_axis: {
    param: string;
    values: (number)[];
  };
  y_axis: {
    param: string;
    values: (number)[];
  } | null;
  cells: ((SweepCell)[])[];
  best: {
    x: number;
    y: number;
  } | null;
  n_trials: number;
  n_trials_before: number;
  n_trials_effective: number | null;
  sharpe_variance: number | null;
  deflated_sharpe: number | null;
  min_track_record_markets: number | null;
  pbo: number | null;
  warnings: (string)[];
  receipt: {
    data_hash: string;
    venue_rules: string;
    code_version: string;
    seed: number;
  };
};
export type PaperDivergence = {
  paper_strategy_id: string;
  from: string;
  to: string;
  live: {
    backtest_id: string | null;
    status: 'live' | 'queued' | 'running' | 'complete' | 'failed' | 'cancelled' | 'gone';
    trades: number | null;
    win_rate: number | null;
    net_pnl: number | null;
    fees: number | null;
    avg_pnl_per_trade: number | null;
    avg_slippage: number | null;
  };
  baseline: {
    backtest_id: string | null;
    status: 'live' | 'queued' | 'running' | 'complete' | 'failed' | 'cancelled' | 'gone';
    trades: number | null;
    win_rate: number | null;
    net_pnl: number | null;
    fees: number | null;
    avg_pnl_per_trade: number | null;
    avg_slippage: number | null;
  };
  window: {
    backtest_id: string | null;
    status: 'live' | 'queued' | 'running' | 'complete' | 'failed' | 'cancelled' | 'gone';
    trades: number | null;
    win_rate: number | null;
    net_pnl: number | null;
    fees: number | null;
    avg_pnl_per_trade: number | null;
    avg_slippage: number | null;
  } | null;
  same: number | null;
  differing: ({
    market_id: string;
    opened_at: string;
    found_in: 'live' | 'backtest' | 'both';
    live_net_pnl: number | null;
    backtest_net_pnl: number | null;
  })[];
};
export type PaperEquity = {
  paper_strategy_id: string;
  n_closed_positions: number;
  final_net_pnl: number;
  points: ({
    ts: string;
    cumulative_pnl: number;
  })[];
};
export type PaperPositions = {
  count: number;
  positions: ({
    position_id: string;
    market_id: string;
    side: 'buy_yes' | 'buy_no';
    decided_at: string;
    opened_at: string;
    closed_at: string | null;
    decision_price: number;
    entry_price: number;
    exit_price: number | null;
    shares: number;
    size_usd: number;
    fees_usd: number;
    slippage: number;
    entry_slippage: number;
    exit_slippage: number | null;
    entry_levels: number | null;
    exit_levels: number | null;
    net_pnl: number | null;
    outcome: 'Up' | 'Down' | null;
    exit_reason: 'resolved' | 'take_profit' | 'stop_loss' | 'market_void' | null;
  })[];
  next_cursor: string | null;
};
export type PaperStrategyList = {
  strategies: ({
    paper_strategy_id: string;
    name: string;
    active: boolean;
    created_at: string;
    strategy: {
      type: 'threshold_entry';
      threshold: number;
      direction: 'below' | 'above';
      side: 'buy_yes' | 'buy_no';
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'mean_reversion';
      lookback: number;
      z_threshold: number;
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'time_before_resolution';
      minutes_before: number;
      side: 'buy_yes' | 'buy_no';
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    } | {
      type: 'condition_based';
      entry: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      } | {
        any: ({
          metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
          operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
          value: number;
          token?: 'own' | 'yes' | 'no' | undefined;
          window_s?: number | undefined;
        })[];
      })[];
      take_profit: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
      stop_loss: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
      side: 'buy_yes' | 'buy_no';
      max_trades_per_market: number;
      execution?: {
        entry: 'maker';
        offset: number;
        timeout_s: number;
        queue_model: 'optimistic' | 'proportional' | 'pessimistic';
      } | undefined;
    };
    universe: {
      ticker: 'BTC' | 'ETH' | 'SOL';
      event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
    };
    size_usd: number;
    net_pnl: number;
    open_positions: number;
    closed_positions: number;
  })[];
  count: number;
};
export type PaperStrategy = {
  paper_strategy_id: string;
  name: string;
  active: boolean;
  created_at: string;
  strategy: {
    type: 'threshold_entry';
    threshold: number;
    direction: 'below' | 'above';
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset: number;
      timeout_s: number;
      queue_model: 'optimistic' | 'proportional' | 'pessimistic';
    } | undefined;
  } | {
    type: 'mean_reversion';
    lookback: number;
    z_threshold: number;
    execution?: {
      entry: 'maker';
      offset: number;
      timeout_s: number;
      queue_model: 'optimistic' | 'proportional' | 'pessimistic';
    } | undefined;
  } | {
    type: 'time_before_resolution';
    minutes_before: number;
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset: number;
      timeout_s: number;
      queue_model: 'optimistic' | 'proportional' | 'pessimistic';
    } | undefined;
  } | {
    type: 'condition_based';
    entry: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    } | {
      any: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
    })[];
    take_profit: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[];
    stop_loss: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[];
    side: 'buy_yes' | 'buy_no';
    max_trades_per_market: number;
    execution?: {
      entry: 'maker';
      offset: number;
      timeout_s: number;
      queue_model: 'optimistic' | 'proportional' | 'pessimistic';
    } | undefined;
  };
  universe: {
    ticker: 'BTC' | 'ETH' | 'SOL';
    event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
  };
  size_usd: number;
  net_pnl: number;
  open_positions: number;
  closed_positions: number;
  baseline_backtest_id: string;
};
export type ExportManifest = {
  manifest_version: 1;
  file: {
    name: string;
    format: 'jsonl' | 'csv' | 'parquet';
    bytes: number | null;
    sha256: string | null;
  };
  rows: number;
  data_sha256: string;
  columns: ({
    name: string;
    type: 'time' | 'text' | 'bool' | 'float' | 'uint' | 'levels' | 'pairs';
    nullable: boolean;
    unit: string | null;
  })[];
  asked: {
    dataset: 'snapshots' | 'quotes' | 'trades' | 'underlying' | 'perp_depth' | 'deltas' | 'markets' | 'gaps' | 'signals' | 'job_trades' | 'job_cells';
    market_ids: (string)[] | null;
    ticker: 'BTC' | 'ETH' | 'SOL' | 'unknown' | null;
    event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | 'unknown' | null;
    source: 'binance_spot' | 'coinbase_spot' | 'chainlink' | 'twap60' | null;
    venue: 'bybit' | 'binance' | 'okx' | 'hyperliquid' | null;
    job_id?: string | undefined;
    start: string | null;
    end: string | null;
  };
  gaps: ({
    market_id: string;
    gap_id: string;
    start: string;
    end: string | null;
    start_received: string | null;
    end_received: string | null;
    cause: string;
    feed: string;
    repaired_by: string | null;
    known_time: string | null;
    known_seq: number | null;
    seq: number;
  })[];
  made_by: {
    release: string;
    engine: string;
  };
};
export type Status = {
  as_of: string;
  state: 'ok' | 'degraded' | 'down';
  store_lag_seconds: number;
  history_as_of: string | null;
  history_is_old: boolean;
  feeds: ({
    feed: string;
    group: string | null;
    state: 'up' | 'partly' | 'down' | 'idle';
    connections: number;
    up: number;
    last_message_at: string | null;
    gaps_open: number;
  })[];
  series: ({
    ticker: 'BTC' | 'ETH' | 'SOL';
    event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
    days: ({
      day: string;
      windows: number;
      windows_expected: number;
      coverage: number | null;
      proven_share: number | null;
      gaps: number;
      longest_gap_seconds: number;
      lag_median_ms: number | null;
      lag_p99_ms: number | null;
    })[];
  })[];
  incidents: ({
    feed: string;
    cause: 'disconnected' | 'silent_feed' | 'silent_market' | 'book_mismatch' | 'crossed_book' | 'frame_rejected' | 'clock_step' | 'process_down' | 'store_down' | 'late_feed' | 'venue_restart' | 'data_lost' | 'retention' | 'thinned';
    start: string;
    end: string | null;
    markets: number;
  })[];
};
export type NewWebhook = {
  webhook_id: string;
  url: string;
  label: string;
  tiers: ('logical' | 'endgame')[];
  tickers: ('BTC' | 'ETH' | 'SOL')[] | null;
  state: 'active' | 'paused';
  failing: boolean;
  consecutive_failures: number;
  created_at: string;
  paused_at: string | null;
  previous_secret_until: string | null;
  format: 'signed' | 'telegram' | 'discord' | 'slack';
  events: ('opportunity' | 'system.gap' | 'system.disk' | 'system.lag' | 'system.webhook_paused' | 'system.backup')[];
  secret: string | null;
};
export type WebhookDeliveryDetail = {
  delivery_id: string;
  state: 'pending' | 'delivered' | 'failed' | 'skipped' | 'expired';
  tier: 'logical' | 'endgame' | null;
  ticker: 'BTC' | 'ETH' | 'SOL' | null;
  market_id: string | null;
  test: boolean;
  detected_at: string;
  created_at: string;
  expires_at: string;
  attempts: number;
  next_attempt_at: string | null;
  attempt_log: ({
    at: string;
    status: number | null;
    latency_ms: number;
    error: string | null;
    response_head: string;
  })[];
  event: 'opportunity' | 'system.gap' | 'system.disk' | 'system.lag' | 'system.webhook_paused' | 'system.backup';
  headers: ({
    name: string;
    value: string | null;
  })[];
  payload: string;
};
export type WebhookDeliveryList = {
  count: number;
  deliveries: (WebhookDelivery)[];
  next_cursor: string | null;
};
export type WebhookDelivery = {
  delivery_id: string;
  state: 'pending' | 'delivered' | 'failed' | 'skipped' | 'expired';
  tier: 'logical' | 'endgame' | null;
  ticker: 'BTC' | 'ETH' | 'SOL' | null;
  market_id: string | null;
  test: boolean;
  detected_at: string;
  created_at: string;
  expires_at: string;
  attempts: number;
  next_attempt_at: string | null;
  attempt_log: ({
    at: string;
    status: number | null;
    latency_ms: number;
    error: string | null;
    response_head: string;
  })[];
  event: 'opportunity' | 'system.gap' | 'system.disk' | 'system.lag' | 'system.webhook_paused' | 'system.backup';
};
export type WebhookList = {
  webhooks: (Webhook)[];
  count: number;
};
export type WebhookQueuedRange = {
  count: number;
};
export type WebhookQueued = {
  delivery_id: string;
};
export type Webhook = {
  webhook_id: string;
  url: string;
  label: string;
  tiers: ('logical' | 'endgame')[];
  tickers: ('BTC' | 'ETH' | 'SOL')[] | null;
  state: 'active' | 'paused';
  failing: boolean;
  consecutive_failures: number;
  created_at: string;
  paused_at: string | null;
  previous_secret_until: string | null;
  format: 'signed' | 'telegram' | 'discord' | 'slack';
  events: ('opportunity' | 'system.gap' | 'system.disk' | 'system.lag' | 'system.webhook_paused' | 'system.backup')[];
};
export type WebhookSummary = {
  since: string;
  delivered: number;
  undelivered: number;
  success_rate: number | null;
  latency_ms_median: number | null;
  latency_ms_p95: number | null;
  failing_since: string | null;
  undelivered_since_failing: number;
};
export type WebhookWithSecret = {
  webhook_id: string;
  url: string;
  label: string;
  tiers: ('logical' | 'endgame')[];
  tickers: ('BTC' | 'ETH' | 'SOL')[] | null;
  state: 'active' | 'paused';
  failing: boolean;
  consecutive_failures: number;
  created_at: string;
  paused_at: string | null;
  previous_secret_until: string | null;
  format: 'signed' | 'telegram' | 'discord' | 'slack';
  events: ('opportunity' | 'system.gap' | 'system.disk' | 'system.lag' | 'system.webhook_paused' | 'system.backup')[];
  secret: string;
};
export type Error = {
  detail: string;
};
export type UnavailableError = {
  detail: string;
  ok?: false | undefined;
  reasons?: (string)[] | undefined;
  degraded?: (string)[] | undefined;
};
export type ValidationError = {
  detail: (ValidationProblem)[];
};
export type ValidationProblem = {
  type: string;
  loc: (string | number)[];
  msg: string;
  input?: unknown | undefined;
  ctx?: Record<string, unknown> | undefined;
};
export interface Operations {
  'GET /health': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Health };
  'GET /livez': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Probe };
  'GET /readyz': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Readiness };
  'GET /metrics': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /app/status': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /app/status.json': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Status };
  'GET /v1/perp/depth': { path: Record<never, never>; query: { ticker: 'BTC' | 'ETH' | 'SOL'; start?: string | undefined; end?: string | undefined; limit?: number | undefined; offset?: number | undefined; order?: 'asc' | 'desc' | undefined; cursor?: string | undefined; venue?: 'bybit' | 'binance' | 'okx' | 'hyperliquid' | undefined; interval_ms?: number | undefined }; body: undefined; answer: PerpDepth };
  'GET /v1/markets': { path: Record<never, never>; query: { ticker?: 'BTC' | 'ETH' | 'SOL' | undefined; event_type?: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | undefined; since?: string | undefined; until?: string | undefined; limit?: number | undefined; cursor?: string | undefined; status?: 'open' | 'closed' | 'resolved' | undefined }; body: undefined; answer: MarketList };
  'GET /v1/markets/resolved': { path: Record<never, never>; query: { ticker?: 'BTC' | 'ETH' | 'SOL' | undefined; event_type?: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | undefined; since?: string | undefined; until?: string | undefined; limit?: number | undefined; cursor?: string | undefined }; body: undefined; answer: MarketList };
  'GET /v1/markets/{market_id}': { path: { market_id: string }; query: Record<never, never>; body: undefined; answer: Market };
  'GET /v1/markets/{market_id}/timeseries': { path: { market_id: string }; query: { start?: string | undefined; end?: string | undefined; limit?: number | undefined; offset?: number | undefined; order?: 'asc' | 'desc' | undefined; cursor?: string | undefined }; body: undefined; answer: Timeseries };
  'GET /v1/snapshots': { path: Record<never, never>; query: { market_id: string; start?: string | undefined; end?: string | undefined; limit?: number | undefined; depth?: number | undefined; interval_ms?: number | undefined; order?: 'asc' | 'desc' | undefined; cursor?: string | undefined }; body: undefined; answer: Snapshots };
  'GET /v1/snapshot-at/{ts}': { path: { ts: string }; query: { market_id: string }; body: undefined; answer: Orderbook };
  'GET /v1/markets/{market_id}/orderbook': { path: { market_id: string }; query: { at?: string | undefined }; body: undefined; answer: Orderbook };
  'GET /v1/trades': { path: Record<never, never>; query: { market_id: string; start?: string | undefined; end?: string | undefined; limit?: number | undefined; order?: 'asc' | 'desc' | undefined; cursor?: string | undefined }; body: undefined; answer: Trades };
  'GET /v1/underlying': { path: Record<never, never>; query: { ticker: 'BTC' | 'ETH' | 'SOL'; source: 'binance_spot' | 'coinbase_spot' | 'chainlink' | 'twap60'; start?: string | undefined; end?: string | undefined; limit?: number | undefined; order?: 'asc' | 'desc' | undefined; cursor?: string | undefined; interval_ms?: number | undefined }; body: undefined; answer: Underlying };
  'GET /v1/candles': { path: Record<never, never>; query: { market_id: string; timeframe: '5m' | '15m' | '1h' | '4h' | '24h'; start: string; end: string; limit?: number | undefined; cursor?: string | undefined }; body: undefined; answer: Candles };
  'GET /v1/stats/calibration': { path: Record<never, never>; query: { ticker?: 'BTC' | 'ETH' | 'SOL' | undefined; event_type?: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | undefined; minutes_before?: number | undefined; since?: string | undefined; until?: string | undefined; buckets?: number | undefined; max_markets?: number | undefined }; body: undefined; answer: Calibration };
  'GET /v1/gaps': { path: Record<never, never>; query: { market_id: string; start?: string | undefined; end?: string | undefined; limit?: number | undefined; cursor?: string | undefined }; body: undefined; answer: Gaps };
  'GET /v1/export': { path: Record<never, never>; query: { dataset: 'snapshots' | 'quotes' | 'trades' | 'underlying' | 'perp_depth' | 'deltas' | 'markets' | 'gaps' | 'signals' | 'job_trades' | 'job_cells'; market_id?: string | undefined; ticker?: 'BTC' | 'ETH' | 'SOL' | undefined; event_type?: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | undefined; source?: 'binance_spot' | 'coinbase_spot' | 'chainlink' | 'twap60' | undefined; job_id?: string | undefined; start?: string | undefined; end?: string | undefined; format?: 'jsonl' | 'csv' | 'parquet' | undefined; venue?: 'bybit' | 'binance' | 'okx' | 'hyperliquid' | undefined }; body: undefined; answer: undefined };
  'GET /v1/tapes/markets': { path: Record<never, never>; query: { ticker: 'BTC' | 'ETH' | 'SOL'; event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down'; start?: string | undefined; end?: string | undefined; limit?: number | undefined }; body: undefined; answer: undefined };
  'GET /v1/tapes': { path: Record<never, never>; query: { dataset: 'quotes' | 'books' | 'trades' | 'prices' | 'perp_depth'; market_id?: string | undefined; ticker?: 'BTC' | 'ETH' | 'SOL' | undefined; source?: 'binance_spot' | 'coinbase_spot' | 'chainlink' | 'twap60' | undefined; venue?: 'bybit' | 'binance' | 'okx' | 'hyperliquid' | undefined; start: string; end: string; after_seq?: number | undefined; to_seq?: number | undefined; depth?: number | undefined }; body: undefined; answer: undefined };
  'GET /v1/export/manifest': { path: Record<never, never>; query: { dataset: 'snapshots' | 'quotes' | 'trades' | 'underlying' | 'perp_depth' | 'deltas' | 'markets' | 'gaps' | 'signals' | 'job_trades' | 'job_cells'; market_id?: string | undefined; ticker?: 'BTC' | 'ETH' | 'SOL' | undefined; event_type?: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | undefined; source?: 'binance_spot' | 'coinbase_spot' | 'chainlink' | 'twap60' | undefined; job_id?: string | undefined; start?: string | undefined; end?: string | undefined; format?: 'jsonl' | 'csv' | 'parquet' | undefined; venue?: 'bybit' | 'binance' | 'okx' | 'hyperliquid' | undefined }; body: undefined; answer: ExportManifest };
  'GET /v1/arb/live': { path: Record<never, never>; query: { min_edge_pp?: number | undefined; vol_window_sec?: number | undefined; tickers?: string | undefined; event_types?: string | undefined; limit?: number | undefined }; body: undefined; answer: LiveBoard };
  'GET /v1/arb/audit/aggregate': { path: Record<never, never>; query: { window?: '1h' | '24h' | '7d' | '30d' | 'all' | undefined }; body: undefined; answer: AuditAggregate };
  'GET /v1/arb/audit': { path: Record<never, never>; query: { window?: '1h' | '24h' | '7d' | '30d' | 'all' | undefined; ticker?: 'BTC' | 'ETH' | 'SOL' | undefined; tier?: 'logical' | 'endgame' | 'stable' | 'stale' | undefined; event_type?: '5m' | '15m' | '1h' | '4h' | 'daily_up_down' | undefined; limit?: number | undefined; cursor?: string | undefined }; body: undefined; answer: AuditRows };
  'POST /v1/backtest': { path: Record<never, never>; query: { wait_for_result?: boolean | undefined }; body: {
  strategy: {
    type: 'threshold_entry';
    threshold: number;
    direction: 'below' | 'above';
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  } | {
    type: 'mean_reversion';
    lookback: number;
    z_threshold: number;
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  } | {
    type: 'time_before_resolution';
    minutes_before: number;
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  } | {
    type: 'condition_based';
    entry: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    } | {
      any: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
    })[];
    take_profit?: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[] | undefined;
    stop_loss?: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[] | undefined;
    side: 'buy_yes' | 'buy_no';
    max_trades_per_market?: number | undefined;
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  };
  universe: {
    ticker: 'BTC' | 'ETH' | 'SOL';
    event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
  } | {
    tickers: ('BTC' | 'ETH' | 'SOL')[];
    event_types: ('5m' | '15m' | '1h' | '4h' | 'daily_up_down')[];
  };
  size_usd?: number | undefined;
  start?: string | null | undefined;
  end?: string | null | undefined;
  market_limit?: number | null | undefined;
  params?: {
    fill_mode?: 'walk_book' | 'mid' | undefined;
    latency_ms?: number | undefined;
    max_fill_price?: number | undefined;
    max_slippage?: number | null | undefined;
    stress?: {
      void_share: number;
      disputed_share: number;
      dispute_delay_hours: number;
    } | undefined;
  } | undefined;
}; answer: BacktestJob };
  'GET /v1/backtest': { path: Record<never, never>; query: { limit?: number | undefined; offset?: number | undefined; cursor?: string | undefined }; body: undefined; answer: BacktestJobList };
  'POST /v1/backtest/sweep': { path: Record<never, never>; query: { wait_for_result?: boolean | undefined }; body: {
  strategy: {
    type: 'threshold_entry';
    threshold: number;
    direction: 'below' | 'above';
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  } | {
    type: 'mean_reversion';
    lookback: number;
    z_threshold: number;
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  } | {
    type: 'time_before_resolution';
    minutes_before: number;
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  } | {
    type: 'condition_based';
    entry: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    } | {
      any: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
    })[];
    take_profit?: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[] | undefined;
    stop_loss?: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[] | undefined;
    side: 'buy_yes' | 'buy_no';
    max_trades_per_market?: number | undefined;
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  };
  universe: {
    ticker: 'BTC' | 'ETH' | 'SOL';
    event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
  } | {
    tickers: ('BTC' | 'ETH' | 'SOL')[];
    event_types: ('5m' | '15m' | '1h' | '4h' | 'daily_up_down')[];
  };
  size_usd?: number | undefined;
  start?: string | null | undefined;
  end?: string | null | undefined;
  market_limit?: number | null | undefined;
  x_axis: {
    param: string;
    start: number;
    end: number;
    steps: number;
  };
  y_axis?: {
    param: string;
    start: number;
    end: number;
    steps: number;
  } | null | undefined;
  params?: {
    fill_mode?: 'walk_book' | 'mid' | undefined;
    latency_ms?: number | undefined;
    max_fill_price?: number | undefined;
    max_slippage?: number | null | undefined;
    stress?: {
      void_share: number;
      disputed_share: number;
      dispute_delay_hours: number;
    } | undefined;
  } | undefined;
}; answer: BacktestJob };
  'GET /v1/backtest/{job_id}': { path: { job_id: string }; query: Record<never, never>; body: undefined; answer: BacktestJob };
  'DELETE /v1/backtest/{job_id}': { path: { job_id: string }; query: Record<never, never>; body: undefined; answer: undefined };
  'POST /v1/paper/strategies': { path: Record<never, never>; query: Record<never, never>; body: {
  name: string;
  strategy: {
    type: 'threshold_entry';
    threshold: number;
    direction: 'below' | 'above';
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  } | {
    type: 'mean_reversion';
    lookback: number;
    z_threshold: number;
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  } | {
    type: 'time_before_resolution';
    minutes_before: number;
    side: 'buy_yes' | 'buy_no';
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  } | {
    type: 'condition_based';
    entry: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    } | {
      any: ({
        metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
        operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
        value: number;
        token?: 'own' | 'yes' | 'no' | undefined;
        window_s?: number | undefined;
      })[];
    })[];
    take_profit?: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[] | undefined;
    stop_loss?: ({
      metric: 'token_price' | 'underlying_distance_pct' | 'underlying_distance_sigma' | 'seconds_to_end' | 'spread' | 'imbalance' | 'model_probability' | 'seconds_since_open' | 'underlying_move_usd' | 'underlying_move_pct' | 'underlying_volatility' | 'token_move' | 'token_volatility';
      operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | '>=' | '<=' | '==' | '!=';
      value: number;
      token?: 'own' | 'yes' | 'no' | undefined;
      window_s?: number | undefined;
    })[] | undefined;
    side: 'buy_yes' | 'buy_no';
    max_trades_per_market?: number | undefined;
    execution?: {
      entry: 'maker';
      offset?: number | undefined;
      timeout_s?: number | undefined;
      queue_model?: 'optimistic' | 'proportional' | 'pessimistic' | undefined;
    } | undefined;
  };
  universe: {
    ticker: 'BTC' | 'ETH' | 'SOL';
    event_type: '5m' | '15m' | '1h' | '4h' | 'daily_up_down';
  };
  size_usd?: number | undefined;
  baseline_backtest_id?: string | null | undefined;
}; answer: PaperStrategy };
  'GET /v1/paper/strategies': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: PaperStrategyList };
  'GET /v1/paper/strategies/{strategy_id}': { path: { strategy_id: string }; query: Record<never, never>; body: undefined; answer: PaperStrategy };
  'PATCH /v1/paper/strategies/{strategy_id}': { path: { strategy_id: string }; query: Record<never, never>; body: {
  active?: boolean | null | undefined;
  name?: string | null | undefined;
}; answer: PaperStrategy };
  'DELETE /v1/paper/strategies/{strategy_id}': { path: { strategy_id: string }; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /v1/paper/strategies/{strategy_id}/positions': { path: { strategy_id: string }; query: { limit?: number | undefined; cursor?: string | undefined }; body: undefined; answer: PaperPositions };
  'GET /v1/paper/strategies/{strategy_id}/equity': { path: { strategy_id: string }; query: Record<never, never>; body: undefined; answer: PaperEquity };
  'GET /v1/paper/strategies/{strategy_id}/divergence': { path: { strategy_id: string }; query: Record<never, never>; body: undefined; answer: PaperDivergence };
  'POST /v1/paper/strategies/{strategy_id}/divergence': { path: { strategy_id: string }; query: Record<never, never>; body: undefined; answer: PaperDivergence };
  'GET /v1/stream': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /v1/arb/ws': { path: Record<never, never>; query: { ticker?: string | undefined }; body: undefined; answer: undefined };
  'GET /app/arb/board': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /v1/replay': { path: Record<never, never>; query: { start?: string | undefined; end?: string | undefined; speed?: number | undefined }; body: undefined; answer: undefined };
  'GET /app/sign-up': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: SignUpState };
  'POST /app/sign-up': { path: Record<never, never>; query: Record<never, never>; body: {
  email: string;
  password: string;
  setup?: string | null | undefined;
}; answer: CurrentUser };
  'POST /app/sign-in': { path: Record<never, never>; query: Record<never, never>; body: {
  email: string;
  password: string;
  code?: string | null | undefined;
}; answer: CurrentUser };
  'POST /app/sign-in-link': { path: Record<never, never>; query: Record<never, never>; body: {
  link: string;
}; answer: CurrentUser };
  'POST /app/sign-out': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /app/me': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: CurrentUser };
  'POST /app/password': { path: Record<never, never>; query: Record<never, never>; body: {
  current_password: string;
  new_password: string;
}; answer: CurrentUser };
  'GET /app/second-factor': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: SecondFactor };
  'POST /app/second-factor': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: NewSecondFactor };
  'POST /app/second-factor/confirm': { path: Record<never, never>; query: Record<never, never>; body: {
  password: string;
  code: string;
}; answer: RecoveryCodes };
  'POST /app/second-factor/disable': { path: Record<never, never>; query: Record<never, never>; body: {
  password: string;
  code: string;
}; answer: undefined };
  'GET /app/sessions': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: SessionList };
  'DELETE /app/sessions/{session_id}': { path: { session_id: string }; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /app/tiers': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: TierTable };
  'GET /app/backtests': { path: Record<never, never>; query: { limit?: number | undefined; offset?: number | undefined; cursor?: string | undefined }; body: undefined; answer: JobSummaries };
  'GET /app/keys': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: OwnKeyList };
  'POST /app/keys': { path: Record<never, never>; query: Record<never, never>; body: {
  label: string;
}; answer: NewKey };
  'DELETE /app/keys/{key_id}': { path: { key_id: string }; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /app/webhooks': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: WebhookList };
  'POST /app/webhooks': { path: Record<never, never>; query: Record<never, never>; body: {
  url: string;
  label?: string | undefined;
  tiers?: ('logical' | 'endgame')[] | null | undefined;
  tickers?: ('BTC' | 'ETH' | 'SOL')[] | null | undefined;
  format?: 'signed' | 'telegram' | 'discord' | 'slack' | undefined;
  events?: ('opportunity' | 'system.gap' | 'system.disk' | 'system.lag' | 'system.webhook_paused' | 'system.backup')[] | undefined;
}; answer: NewWebhook };
  'GET /app/webhooks/{webhook_id}': { path: { webhook_id: string }; query: Record<never, never>; body: undefined; answer: Webhook };
  'PATCH /app/webhooks/{webhook_id}': { path: { webhook_id: string }; query: Record<never, never>; body: {
  label?: string | undefined;
  tiers?: ('logical' | 'endgame')[] | null | undefined;
  tickers?: ('BTC' | 'ETH' | 'SOL')[] | null | undefined;
  events?: ('opportunity' | 'system.gap' | 'system.disk' | 'system.lag' | 'system.webhook_paused' | 'system.backup')[] | undefined;
}; answer: Webhook };
  'DELETE /app/webhooks/{webhook_id}': { path: { webhook_id: string }; query: Record<never, never>; body: undefined; answer: undefined };
  'POST /app/webhooks/{webhook_id}/pause': { path: { webhook_id: string }; query: Record<never, never>; body: undefined; answer: Webhook };
  'POST /app/webhooks/{webhook_id}/resume': { path: { webhook_id: string }; query: Record<never, never>; body: undefined; answer: Webhook };
  'POST /app/webhooks/{webhook_id}/rotate': { path: { webhook_id: string }; query: Record<never, never>; body: undefined; answer: WebhookWithSecret };
  'POST /app/webhooks/{webhook_id}/test': { path: { webhook_id: string }; query: Record<never, never>; body: undefined; answer: WebhookQueued };
  'GET /app/webhooks/{webhook_id}/deliveries': { path: { webhook_id: string }; query: { start?: string | undefined; end?: string | undefined; state?: 'pending' | 'delivered' | 'failed' | 'skipped' | 'expired' | 'undelivered' | undefined; limit?: number | undefined; cursor?: string | undefined }; body: undefined; answer: WebhookDeliveryList };
  'GET /app/webhooks/{webhook_id}/deliveries/{delivery_id}': { path: { webhook_id: string; delivery_id: string }; query: Record<never, never>; body: undefined; answer: WebhookDeliveryDetail };
  'GET /app/webhooks/{webhook_id}/summary': { path: { webhook_id: string }; query: Record<never, never>; body: undefined; answer: WebhookSummary };
  'POST /app/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver': { path: { webhook_id: string; delivery_id: string }; query: Record<never, never>; body: undefined; answer: WebhookQueued };
  'POST /app/webhooks/{webhook_id}/redeliver': { path: { webhook_id: string }; query: Record<never, never>; body: {
  start?: string | null | undefined;
  end?: string | null | undefined;
  state?: 'pending' | 'delivered' | 'failed' | 'skipped' | 'expired' | 'undelivered' | null | undefined;
}; answer: WebhookQueuedRange };
  'GET /app/users': { path: Record<never, never>; query: { limit?: number | undefined; offset?: number | undefined; cursor?: string | undefined; search?: string | undefined }; body: undefined; answer: UserList };
  'PATCH /app/users/{user_id}': { path: { user_id: string }; query: Record<never, never>; body: {
  tier?: 'free' | 'pro' | 'plus' | 'premium' | null | undefined;
  suspended?: boolean | null | undefined;
}; answer: User };
  'GET /app/maintenance': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Maintenance };
  'PUT /app/maintenance': { path: Record<never, never>; query: Record<never, never>; body: {
  on: boolean;
  retry_after_seconds?: number | undefined;
  message?: string | null | undefined;
}; answer: Maintenance };
  'GET /app/operator/summary': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: OperatorSummary };
  'GET /app/operator/events': { path: Record<never, never>; query: { limit?: number | undefined; cursor?: string | undefined }; body: undefined; answer: AccountEventList };
  'GET /app/drift': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Drift };
  'GET /app/feeds': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: FeedStatus };
  'GET /app/state': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: ServiceState };
  'GET /app/live': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: LiveWindows };
  'GET /openapi.json': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: OpenApi };
  'GET /docs': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /docs/reference': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined };
  'GET /docs/style.css': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined };
}
