# Generated from the API description by `npm run generate`; do not edit.
"""The answers of the API."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class CalibrationBucket(TypedDict):
    prob_lo: float
    prob_hi: float
    n_markets: int
    frac_resolved_up: float | None
    mean_prob: float | None
    ci_lo: float | None
    ci_hi: float | None


class Calibration(TypedDict):
    ticker: Literal["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ZEC"] | None
    event_type: Literal["5m", "15m", "1h", "4h", "daily_up_down"] | None
    minutes_before: float
    buckets: list[CalibrationBucket]
    n_markets: int
    n_without_mid: int
    brier_score: float | None
    log_loss: float | None
    ece: float | None
    ece_chance_mean: float | None
    ece_chance_p95: float | None
    reliability: float | None
    resolution: float | None
    uncertainty: float | None


class Candle(TypedDict):
    ts: str
    open: float
    high: float
    low: float
    close: float
    volume: float
    trade_count: int


class Candles(TypedDict):
    market_id: str
    timeframe: Literal["5m", "15m", "1h", "4h", "24h"]
    count: int
    candles: list[Candle]
    next_cursor: str | None


class DepthSnapshot(TypedDict):
    timestamp: str
    update_id: int
    bids: list[tuple[float, float]]
    asks: list[tuple[float, float]]
    best_bid: float | None
    best_ask: float | None
    n_bids: int
    n_asks: int


class Gap(TypedDict):
    gap_id: str
    start: str
    end: str | None
    start_received: str
    end_received: str | None
    cause: Literal["disconnected", "silent_feed", "silent_market", "book_mismatch", "crossed_book", "frame_rejected", "clock_step", "process_down", "store_down", "late_feed", "venue_restart", "data_lost", "retention", "thinned"]
    feed: str
    repaired_by: str | None


class Gaps(TypedDict):
    market_id: str
    count: int
    gaps: list[Gap]
    next_cursor: str | None


class Level(TypedDict):
    price: float
    size: float


class MarketList(TypedDict):
    markets: list[Market]
    count: int
    next_cursor: str | None


class MarketReference(TypedDict):
    market_id: str
    market_type: Literal["5m", "15m", "1h", "4h", "daily_up_down", "unknown"]


class Market(TypedDict):
    market_id: str
    event_id: str
    slug: str
    question: str
    market_type: Literal["5m", "15m", "1h", "4h", "daily_up_down", "unknown"]
    ticker: Literal["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ZEC", "unknown"]
    status: Literal["open", "closed", "resolved"]
    start_time: str
    end_time: str
    strike_price: float | None
    strike_source: Literal["official", "relayed", "estimated"] | None
    close_price: float | None
    outcome: Literal["Up", "Down"] | None
    payout_yes: float | None
    coverage: float
    resolved_at: str | None
    resolved_at_source: Literal["stream", "exchange", "listing"] | None
    volume: float | None
    liquidity: float | None
    tick_size: float
    taker_fee_rate: float | None
    taker_delay_ms: float | None
    polymarket_url: str | None


class Orderbook(TypedDict):
    ts: str
    yes_bids: list[Level]
    yes_asks: list[Level]
    no_bids: list[Level]
    no_asks: list[Level]
    underlying_price: float | None
    underlying_ticker: Literal["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ZEC", "unknown"]
    trusted: bool
    market_id: str


class PerpDepth(TypedDict):
    ticker: Literal["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ZEC"]
    total: int
    limit: int
    offset: int
    snapshots: list[DepthSnapshot]
    next_cursor: str | None


class Snapshot(TypedDict):
    ts: str
    yes_bids: list[Level]
    yes_asks: list[Level]
    no_bids: list[Level]
    no_asks: list[Level]
    underlying_price: float | None
    underlying_ticker: Literal["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ZEC", "unknown"]
    trusted: bool


class Snapshots(TypedDict):
    market_id: str
    count: int
    snapshots: list[Snapshot]
    next_cursor: str | None


class TimeseriesPoint(TypedDict):
    ts: str
    mid_yes: float | None
    spread_yes: float | None
    underlying_price: float | None


class Timeseries(TypedDict):
    market: MarketReference
    snapshots: list[TimeseriesPoint]
    total: int
    limit: int
    offset: int
    next_cursor: str | None


class Trade(TypedDict):
    ts: str
    side: Literal["BUY_YES", "SELL_YES", "BUY_NO", "SELL_NO"]
    price: float
    size: float
    trade_id: str


class Trades(TypedDict):
    market_id: str
    count: int
    trades: list[Trade]
    next_cursor: str | None


class UnderlyingPoint(TypedDict):
    ts: str
    price: float


class Underlying(TypedDict):
    ticker: Literal["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ZEC"]
    source: Literal["binance_spot", "coinbase_spot", "chainlink", "twap60"]
    count: int
    points: list[UnderlyingPoint]
    next_cursor: str | None


class AuditAggregate(TypedDict):
    window: Literal["1h", "24h", "7d", "30d", "all"]
    since: str | None
    as_of: str
    overall: dict[str, Any]
    by_ticker: list[dict[str, Any]]
    by_tier: list[dict[str, Any]]
    by_event_type: list[dict[str, Any]]


class AuditRow(TypedDict):
    audit_id: str
    detected_at: str
    market_id: str
    polymarket_slug: str
    ticker: Literal["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ZEC"]
    event_type: Literal["5m", "15m", "1h", "4h", "daily_up_down"]
    tier: Literal["logical", "endgame", "stable", "stale"]
    confidence: Literal["stable", "stale"]
    direction: Literal["BUY_YES", "BUY_NO", "BUY_BOTH"]
    fill_price: float
    fill_spread: float
    est_fee_per_share: float
    model_ev_per_share: float
    model_yes_prob: float
    available_size: float
    underlying: float | None
    strike_price: float | None
    strike_source: Literal["official", "relayed", "estimated"] | None
    sigma_annual: float | None
    tau_minutes: float
    executable: list[dict[str, Any]]
    resolved_at: str | None
    outcome: Literal["Up", "Down"] | None
    realized_per_share: float | None
    hash: str
    prev_hash: str


class AuditRows(TypedDict):
    count: int
    rows: list[AuditRow]
    next_cursor: str | None


class LiveBoard(TypedDict):
    as_of: str
    count: int
    tickers: list[Literal["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ZEC"]]
    event_types: list[Literal["5m", "15m", "1h", "4h", "daily_up_down"]]
    min_edge_pp: float
    opportunities: list[LiveOpportunity]


class LiveOpportunity(TypedDict):
    type: Literal["opportunity"]
    tier: Literal["logical", "endgame", "stable", "stale"]
    ticker: Literal["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ZEC"]
    event_type: Literal["5m", "15m", "1h", "4h", "daily_up_down"]
    market_id: str
    polymarket_slug: str
    direction: Literal["BUY_YES", "BUY_NO", "BUY_BOTH"]
    fill_price: float
    fill_spread: float
    expected_pnl_per_share: float
    est_fee_per_share: float
    tau_minutes: float
    confidence: Literal["stable", "stale"]
    model_yes_prob: float
    detected_at: str
    polymarket_url: str
    question: str
    resolution_at: str
    seconds_to_resolution: float
    underlying_now: float | None
    strike_price: float | None
    log_diff: float | None
    sigma_annual: float | None
    sigma_tau: float | None
    market_yes_mid: float | None
    mismatch_mid: float | None
    yes_bid: float | None
    yes_ask: float | None
    no_bid: float | None
    no_ask: float | None
    edge_per_share: float
    available_size: float


class BacktestJobList(TypedDict):
    jobs: list[dict[str, Any]]
    count: int
    limit: int
    offset: int
    next_cursor: str | None


class BacktestJob(TypedDict):
    job_id: str
    kind: Literal["backtest", "sweep"]
    status: Literal["queued", "running", "complete", "failed", "cancelled"]
    progress: float
    submitted_at: str
    started_at: str | None
    completed_at: str | None
    strategy: dict[str, Any]
    universe: dict[str, Any]
    size_usd: float
    params: dict[str, Any]
    request: dict[str, Any]
    error: str | None
    result: BacktestResult | SweepResult | None


class BacktestResult(TypedDict):
    markets_total: int
    markets_traded: int
    markets_skipped: list[dict[str, Any]]
    trades_total: int
    trades_won: int
    win_rate: float | None
    total_pnl: float
    total_fees: float
    avg_pnl_per_trade: float | None
    avg_slippage: float | None
    orders: dict[str, Any]
    fill_rate: float | None
    profit_factor: float | None
    sharpe_per_market: float | None
    sharpe_ratio: float | None
    sortino_ratio: float | None
    calmar_ratio: float | None
    max_drawdown: float
    largest_trade_share: float | None
    peak_cost: NotRequired[float | None]
    intervals: dict[str, Any] | None
    coverage: float
    stress: NotRequired[dict[str, Any]]
    equity_curve: list[dict[str, Any]]
    trades: list[BacktestTrade]
    receipt: dict[str, Any]


class BacktestTrade(TypedDict):
    market_id: str
    side: Literal["buy_yes", "buy_no"]
    decided_at: str
    opened_at: str
    closed_at: str | None
    decision_price: float
    entry_price: float
    exit_price: float | None
    shares: float
    size_usd: float
    fees_usd: float
    slippage: float
    entry_slippage: float
    exit_slippage: float | None
    entry_levels: int | None
    exit_levels: int | None
    net_pnl: float | None
    outcome: Literal["Up", "Down"] | None
    exit_reason: Literal["resolved", "take_profit", "stop_loss", "market_void"] | None


class SweepCell(TypedDict):
    trades_total: int
    total_pnl: float
    win_rate: float | None
    sharpe_per_market: float | None
    max_drawdown: float
    profit_factor: float | None
    stressed_pnl: NotRequired[float]
    error: str | None


class SweepResult(TypedDict):
    x_axis: dict[str, Any]
    y_axis: dict[str, Any] | None
    cells: list[list[SweepCell]]
    best: dict[str, Any] | None
    n_trials: int
    n_trials_before: int
    n_trials_effective: float | None
    sharpe_variance: float | None
    deflated_sharpe: float | None
    min_track_record_markets: int | None
    pbo: float | None
    warnings: list[str]
    receipt: dict[str, Any]


PaperDivergence = TypedDict("PaperDivergence", {
    "paper_strategy_id": "str",
    "from": "str",
    "to": "str",
    "live": "dict[str, Any]",
    "baseline": "dict[str, Any]",
    "window": "dict[str, Any] | None",
    "same": "int | None",
    "differing": "list[dict[str, Any]]",
})


class PaperEquity(TypedDict):
    paper_strategy_id: str
    n_closed_positions: int
    final_net_pnl: float
    points: list[dict[str, Any]]


class PaperPositions(TypedDict):
    count: int
    positions: list[dict[str, Any]]
    next_cursor: str | None


class PaperStrategyList(TypedDict):
    strategies: list[dict[str, Any]]
    count: int


class PaperStrategy(TypedDict):
    paper_strategy_id: str
    name: str
    active: bool
    created_at: str
    strategy: dict[str, Any]
    universe: dict[str, Any]
    size_usd: float
    net_pnl: float
    open_positions: int
    closed_positions: int
    baseline_backtest_id: str


class ExportManifest(TypedDict):
    manifest_version: Literal[1]
    file: dict[str, Any]
    rows: int
    data_sha256: str
    columns: list[dict[str, Any]]
    asked: dict[str, Any]
    gaps: list[dict[str, Any]]
    made_by: dict[str, Any]
