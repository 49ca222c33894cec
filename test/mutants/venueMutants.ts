import { of, type TestedMutant } from './mutant.ts';

const POLYMARKET = 'src/venues/polymarket';
const binanceBook = of('src/venues/binance/depthBook.ts', 'src/venues/binance/depthBook.test.ts');
const klines = of('src/venues/binance/klines.ts', 'src/venues/binance/klines.test.ts');
const binance = of('src/venues/binance/mapper.ts', 'src/venues/binance/mapper.test.ts');
const bybit = of('src/venues/bybit/mapper.ts', 'src/venues/bybit/mapper.test.ts');
const coinbase = of('src/venues/coinbase/mapper.ts', 'src/venues/coinbase/mapper.test.ts');
const hyperliquid = of('src/venues/hyperliquid/mapper.ts', 'src/venues/perpVenues.test.ts');
const okx = of('src/venues/okx/perp.ts', 'src/venues/perpVenues.test.ts');
const depthLadder = of(
  'src/venues/depthLadder.ts',
  'src/venues/depthLadder.test.ts',
  'src/venues/bybit/mapper.test.ts',
);
const poller = of('src/venues/perpPoller.ts', 'src/venues/perpPoller.test.ts');
const http = of('src/venues/http.ts', 'src/venues/http.test.ts');
const underlying = of('src/venues/underlying.ts', 'src/venues/underlying.test.ts');
const bookHash = of(`${POLYMARKET}/book/bookHash.ts`, `${POLYMARKET}/book/bookHash.test.ts`);
const unproven = of(`${POLYMARKET}/book/unprovenStates.ts`, `${POLYMARKET}/book/unprovenStates.test.ts`);
const overdue = of(`${POLYMARKET}/book/unprovenStates.ts`, 'src/recorder/overdueFrames.test.ts');
const lastTrade = of(`${POLYMARKET}/book/lastTradeGuesser.ts`, `${POLYMARKET}/book/lastTradeGuesser.test.ts`);
const recipe = of(`${POLYMARKET}/book/hashCheck.ts`, `${POLYMARKET}/book/hashCheck.test.ts`);
const tokenReset = of(`${POLYMARKET}/book/tokenBook.ts`, `${POLYMARKET}/book/tokenBook.test.ts`);
const hashCheck = of(`${POLYMARKET}/book/hashCheck.ts`, `${POLYMARKET}/book/marketBook.test.ts`);
const changeLog = of(`${POLYMARKET}/book/recentChangeLog.ts`, `${POLYMARKET}/book/lateFrames.test.ts`);
const tokenBook = of(`${POLYMARKET}/book/tokenBook.ts`, `${POLYMARKET}/book/marketBook.test.ts`);
const marketBook = of(`${POLYMARKET}/book/marketBook.ts`, `${POLYMARKET}/book/marketBook.test.ts`);
const actionFrames = of(`${POLYMARKET}/book/actionFrames.ts`, `${POLYMARKET}/book/marketBook.test.ts`);
const clob = of(`${POLYMARKET}/clob/mapper.ts`, `${POLYMARKET}/clob/mapper.test.ts`);
const merge = of(`${POLYMARKET}/clob/connectionMerge.ts`, `${POLYMARKET}/clob/connectionMerge.test.ts`);
const joins = of(`${POLYMARKET}/clob/joinBuffer.ts`, `${POLYMARKET}/clob/shard.test.ts`);
const joinBuffer = of(`${POLYMARKET}/clob/joinBuffer.ts`, `${POLYMARKET}/clob/joinBuffer.test.ts`);
const shard = of(`${POLYMARKET}/clob/shard.ts`, `${POLYMARKET}/clob/shard.test.ts`);
const scouting = of(`${POLYMARKET}/clob/feed.ts`, `${POLYMARKET}/clob/scouting.test.ts`);
const gamma = of(`${POLYMARKET}/gamma/mapper.ts`, `${POLYMARKET}/gamma/mapper.test.ts`);
const polybolt = of(`${POLYMARKET}/polybolt/feed.ts`, `${POLYMARKET}/polybolt/feed.test.ts`);
const rtds = of(`${POLYMARKET}/rtds/mapper.ts`, `${POLYMARKET}/rtds/mapper.test.ts`);
const takerDelay = of(`${POLYMARKET}/takerDelay.ts`, `${POLYMARKET}/takerDelay.test.ts`);
const cryptoPrice = of(`${POLYMARKET}/cryptoPrice/client.ts`, `${POLYMARKET}/cryptoPrice/client.test.ts`);

/** Faults in the decoders of the venues, their books and hashes, and the requests to them. */
export const VENUE_MUTANTS: readonly TestedMutant[] = [
  unproven('this.#trades.add(tradePriceText(price));', ''),
  unproven('if (state.every((token)', 'if (state.some((token)'),
  unproven('return this.#states.every(', 'return this.#states.some('),
  unproven('if (event.eventTimeMs > stateTimeMs) continue;', ''),
  unproven('if (timeMs === token.timestampMs && hash !== token.hash) return false;', ''),
  unproven('if (timeMs < token.timestampMs && !isNewest()) return false;', ''),
  overdue('const isOverdue = isFirst &&', 'const isOverdue ='),
  overdue('if (isCompleted && isOverdue)', 'if (isOverdue)'),
  bookHash("book.version === 'v2'", "book.version === 'v1'"),
  bookHash('"hash":"",', '"hash":"0",'),
  binanceBook('update.u <= last : update.u < last;', 'update.u < last : update.u < last;'),
  binanceBook('this.#waiting.length === WAITING_UPDATES_MAX', 'this.#waiting.length > WAITING_UPDATES_MAX'),
  binanceBook("this.#kind === 'spot' ? last + 1 : last;", 'last;'),
  binanceBook('engineTimeMs: times?.T ?? null', 'engineTimeMs: times?.T ?? 0'),
  klines('first[0] !== startTimeMs', 'first[0] < startTimeMs'),
  klines('closed: next !== undefined', 'closed: true'),
  binance('eventTimeMs: trade.T,', 'eventTimeMs: trade.E,'),
  bybit('if (received === last + 1) return;', 'if (received > last) return;'),
  bybit("bids: bestLevels('bids', book.b)", "bids: bestLevels('bids', book.a)"),
  coinbase('if (!ticker || price === 0) return [];', 'if (!ticker) return [];'),
  hyperliquid('Number(bid) > Number(ask)', 'Number(bid) >= Number(ask)'),
  hyperliquid("bestLevels('asks', pairs(levels[1]))", "bestLevels('asks', pairs(levels[0]))"),
  okx('multiplyDecimals(size, contractCoins)', 'size'),
  okx(
    'spacingMs: 1_000 / 16',
    'spacingMs: 1_000 / 61',
    'at most three contracts are polled, and three requests in 200 ms are fewer than either rate',
  ),
  okx('eventTimeMs: Number(book.ts)', 'eventTimeMs: Number(book.ts) / 1_000'),
  depthLadder('Number(sizeText) === 0', 'false'),
  poller(
    'event.updateId < last.updateId && event.eventTimeMs < last.eventTimeMs',
    'event.updateId < last.updateId',
  ),
  poller('if (symbol.inFlight) return this.#count(symbol', 'if (false) return this.#count(symbol'),
  poller('if (isOfAddress) this.#allPausedUntil = Math.max(this.#allPausedUntil, until);\n    else ', ''),
  poller('Math.max(this.#allPausedUntil, until)', 'until'),
  poller('symbol.failures = 0;', ''),
  http('return Math.ceil(Number(text) * 1000);', 'return Math.ceil(Number(text));'),
  http('backoffDelayMs(RETRY, attempt, random)', 'backoffDelayMs(RETRY, 0, random)'),
  http('error.retryAfterMs <= RETRY_AFTER_HONOURED_MS', 'error.retryAfterMs < RETRY_AFTER_HONOURED_MS'),
  underlying('firstPending.delete(event.ticker) ?', 'firstPending.has(event.ticker) ?'),
  lastTrade('this.#prices.length >= PRICES_MAX', 'this.#prices.length > PRICES_MAX'),
  lastTrade('this.#prices.length = 0;', ''),
  recipe('this.#replacedTick = null;\n    return true;', 'return true;'),
  recipe(
    'return this.#snapshotFailures >= SNAPSHOT_FAILURES_MAX;',
    'return this.#snapshotFailures > SNAPSHOT_FAILURES_MAX;',
  ),
  tokenReset('return this.frames > this.#framesAtReset;', 'return this.frames >= this.#framesAtReset;'),
  tokenReset('this.known = false;\n    this.timeMs = 0;', 'this.known = false;'),
  hashCheck(
    'this.#snapshotFailures >= SNAPSHOT_FAILURES_MAX) this',
    'this.#snapshotFailures > SNAPSHOT_FAILURES_MAX) this',
  ),
  hashCheck('context.tickSize = tickSize;\n    return verified;', 'return verified;'),
  changeLog('eventTimeMs <= this.#sinceTimeMs', 'eventTimeMs < this.#sinceTimeMs'),
  changeLog('timeMs >= eventTimeMs &&', 'timeMs > eventTimeMs &&'),
  changeLog('&& timeMs <= untilMs)', ')'),
  tokenBook("change.side === 'BUY' ? this.bids : this.asks", "change.side === 'BUY' ? this.asks : this.bids"),
  tokenBook('bid !== null && ask !== null && bid > ask', 'bid !== null && ask !== null && bid >= ask'),
  actionFrames('this.#aloneSinceMs >= LOPSIDED_MS', 'this.#aloneSinceMs > LOPSIDED_MS'),
  marketBook('Math.max(this.eventTimeMs, timeMs)', 'timeMs'),
  joins('?? 0) < join.timeMs) return [];', '?? 0) <= join.timeMs) return [];'),
  shard('behind < CONNECTION_BEHIND_FRAMES', 'behind <= CONNECTION_BEHIND_FRAMES'),
  joinBuffer('join.timeMs = Math.max(join.timeMs, timeMs);', 'join.timeMs = timeMs;'),
  joinBuffer('this.#joins[connection].clear();\n', '\n'),
  joinBuffer('this.#newest[connection].clear();', ''),
  joinBuffer('this.#newest[connection].delete(marketId);', ''),
  joinBuffer('if (!(timeMs > (this.#newest[connection].get(marketId) ?? 0))) return;', ''),
  scouting('down.length > 0 && down.length < this.#downBefore', 'down.length < this.#downBefore'),
  scouting('nowMs - this.#followedAt >= FOLLOW_PERIOD_MS', 'nowMs - this.#followedAt > FOLLOW_PERIOD_MS'),
  scouting('nowMs - this.#scoutedAt >= SCOUT_PERIOD_MS', 'nowMs - this.#scoutedAt > SCOUT_PERIOD_MS'),
  scouting('down[this.#scoutTurn++ % down.length]', 'down[0]'),
  clob('return ticks === 10_000 ? null : ticks;', 'return ticks;'),
  clob('ms >= TIME_MS_MIN && ms < TIME_MS_MAX', 'ms >= 0 && ms < TIME_MS_MAX'),
  merge(
    'const isFirst = known.lead * step > 0;',
    'const isFirst = known.lead * step >= 0;',
    'a frame whose copies are even is forgotten at once: no known lead is 0',
  ),
  merge('nowMs - sinceMs < PENDING_AGE_MAX_MS', 'nowMs - sinceMs <= PENDING_AGE_MAX_MS'),
  merge('connection === 0 ? lead < 0 : lead > 0', 'connection === 0 ? lead > 0 : lead < 0'),
  gamma('nowMs > window.endTimeMs + ZOMBIE_AFTER_MS', 'nowMs > window.endTimeMs'),
  gamma("if (!raw.closed || status !== 'resolved') return null;", "if (status !== 'resolved') return null;"),
  gamma('takerFeeRate: raw.feeSchedule?.rate ?? null', 'takerFeeRate: raw.feeSchedule?.rate ?? 0'),
  polybolt('seq > last ? seq - last - 1 : 1', 'seq > last ? seq - last : 1'),
  rtds('eventTimeMs: point.timestamp,', 'eventTimeMs: receivedTimeMs,'),
  takerDelay('number > 0 && number <= SECONDS_MAX', 'number >= 0 && number <= SECONDS_MAX'),
  cryptoPrice('timestamp < query.startTimeMs ? null', 'timestamp <= query.startTimeMs ? null'),
];
