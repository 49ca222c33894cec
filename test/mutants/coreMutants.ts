import { of, type TestedMutant } from './mutant.ts';

const money = of('src/core/money.ts', 'src/core/money.test.ts');
const fees = of('src/core/fees.ts', 'src/core/fees.test.ts');
const ledger = of('src/core/ledger.ts', 'src/core/ledger.test.ts');
const walk = of('src/core/fills/walk.ts', 'src/core/fills/walk.test.ts');
const engine = of('src/core/fills/engine.ts', 'src/core/fills/engine.test.ts');
const consumption = of(
  'src/core/fills/consumption.ts',
  'src/core/fills/consumptionDepth.test.ts',
  'src/core/session/replay.test.ts',
);
const queuePosition = of('src/core/fills/queue.ts', 'src/core/fills/queue.test.ts');
const ladderSide = of('src/core/ladderSide.ts', 'src/core/ladderSide.test.ts');
const marketDesk = of('src/core/desk/marketDesk.ts', 'src/core/desk/marketDesk.test.ts');
const replacement = of('src/core/desk/marketDesk.ts', 'src/core/desk/replacement.test.ts');
const replaced = of('src/core/desk/limitOrder.ts', 'src/core/desk/replacement.test.ts');
const replacedOrder = of('src/core/run/orderRecord.ts', 'src/core/run/replacedOrders.test.ts');
const reservedOrders = of('src/core/run/runOrders.ts', 'src/core/run/replacedOrders.test.ts');
const deskBook = of('src/core/desk/deskBook.ts', 'src/core/desk/marketDesk.test.ts');
const restingOrders = of('src/core/desk/restingOrders.ts', 'src/core/desk/marketDesk.test.ts');
const limitOrder = of('src/core/desk/limitOrder.ts', 'src/core/desk/marketDesk.test.ts');
const outage = of('src/core/desk/outage.ts', 'src/core/desk/marketDesk.test.ts');
const latency = of('src/core/desk/latency.ts', 'src/core/desk/latency.test.ts');
const session = of('src/core/session/session.ts', 'src/core/session/replay.test.ts');
const sessionState = of('src/core/session/session.ts', 'src/core/session/sessionState.test.ts');
const memory = of('src/core/strategies/conditionBased.ts', 'src/trading/paper/divergence.test.ts');
const restingSession = of('src/core/session/session.ts', 'src/core/session/restingEntry.test.ts');
const restingEntry = of('src/core/session/restingEntry.ts', 'src/core/session/restingEntry.test.ts');
const rows = of('src/core/session/rows.ts', 'src/core/session/rows.test.ts');
const position = of('src/core/session/position.ts', 'src/core/session/position.test.ts');
const positionBook = of('src/core/session/positionBook.ts', 'src/core/session/positionBook.test.ts');
const depth = of('src/core/session/depth.ts', 'src/core/session/depth.test.ts');
const summary = of('src/core/session/summary.ts', 'src/core/session/summary.test.ts');
const gapEnds = of('src/core/session/gapEnds.ts', 'src/core/session/gapKnowledge.test.ts');
const newestBooks = of('src/core/session/newestBooks.ts', 'src/core/session/newestBooks.test.ts');
const gapReplay = of('src/core/session/gapReplay.ts', 'src/core/session/gapReplay.test.ts');
const prepare = of('src/core/session/prepare.ts', 'src/core/session/replay.test.ts');
const tradeRows = of('src/core/session/tradeRows.ts', 'src/core/session/tradeRows.test.ts');
const underlying = of('src/core/session/underlyingState.ts', 'src/core/strategies/reading.test.ts');
const purse = of('src/core/run/purse.ts', 'src/core/run/purse.test.ts');
const holdings = of('src/core/run/holdings.ts', 'src/core/run/holdings.test.ts');
const equityCurve = of('src/core/run/equityCurve.ts', 'src/core/run/equityCurve.test.ts');
const itemMerge = of('src/core/run/itemMerge.ts', 'src/core/run/itemsOf.test.ts');
const probability = of('src/core/pricing/probability.ts', 'src/core/pricing/probability.test.ts');
const secondPrices = of('src/core/pricing/secondPrices.ts', 'src/core/pricing/secondPrices.test.ts');
const volatility = of(
  'src/core/pricing/volatilityEstimator.ts',
  'src/core/pricing/volatilityEstimator.test.ts',
);
const returns = of('src/core/statistics/returns.ts', 'src/core/statistics/returns.test.ts');
const bootstrap = of('src/core/statistics/bootstrap.ts', 'src/core/statistics/bootstrap.test.ts');
const overfitting = of('src/core/statistics/overfitting.ts', 'src/core/statistics/overfitting.test.ts');
const sweepLuck = of('src/core/statistics/sweepLuck.ts', 'src/core/statistics/sweepLuck.test.ts');
const paired = of('src/core/statistics/pairedDifference.ts', 'src/core/statistics/pairedDifference.test.ts');
const wilson = of('src/core/statistics/wilson.ts', 'src/core/statistics/wilson.test.ts');
const settlement = of('src/core/settlement.ts', 'src/core/settlement.test.ts');
const priceTape = of('src/core/priceTape.ts', 'src/core/priceTape.test.ts');
const venueRules = of('src/core/venueRules.ts', 'src/core/venueRules.test.ts');
const marketRules = of('src/core/marketRules.ts', 'src/core/marketRules.test.ts');
const mispricing = of('src/core/signals/mispricing.ts', 'src/core/signals/mispricing.test.ts');
const endgame = of('src/core/signals/endgame.ts', 'src/core/signals/endgame.test.ts');
const bestPriceAge = of('src/core/signals/bestPriceAge.ts', 'src/core/signals/bestPriceAge.test.ts');
const logical = of('src/core/signals/logical.ts', 'src/core/signals/logical.test.ts');

/** Faults in money, fees, fills, our orders, sessions, pricing, statistics, signals and the venue's rules. */
export const CORE_MUTANTS: readonly TestedMutant[] = [
  ledger('cash: -principal - fee', 'cash: -principal + fee'),
  ledger('won: cost - proceeds', 'won: proceeds - cost'),
  ledger('return 0 - this.#won;', 'return this.#won;'),
  ledger('this.deposit = whole(deposit);', 'this.deposit = whole(0);'),
  mispricing('const MODEL_EDGE_MIN = 0.04;', 'const MODEL_EDGE_MIN = 0.05;'),
  mispricing('secondsLeft < MODEL_SECONDS_MIN', 'secondsLeft <= MODEL_SECONDS_MIN'),
  mispricing('price > MODEL_PRICE_MAX', 'price >= MODEL_PRICE_MAX'),
  mispricing('if (!trusted ||', 'if ('),
  endgame('const ENDGAME_CERTAINTY_MIN = 0.95;', 'const ENDGAME_CERTAINTY_MIN = 0.9;'),
  endgame('const ENDGAME_SOURCES_MIN = 2;', 'const ENDGAME_SOURCES_MIN = 1;'),
  endgame('> ENDGAME_ASK_MAX', '>= ENDGAME_ASK_MAX'),
  endgame('if (!trusted ||', 'if ('),
  money('ticks > TICKS_PER_USDC ?', 'ticks >= TICKS_PER_USDC ?'),
  money("fraction.replace(/0+$/, '')", 'fraction'),
  money('value <= Number.MAX_SAFE_INTEGER', 'value < Number.MAX_SAFE_INTEGER'),
  money('\\.\\d{7,20}$', '\\.\\d{7,16}$'),
  fees('if (numerator < denominator) return 0;', 'if (numerator <= denominator) return 0;'),
  fees(
    'Math.abs(millionths - whole) < 1e-6 ? whole : millionths',
    'millionths',
    'the error of a rate’s double is below half of the last digit of the sum with the price',
  ),
  fees('denominator *= BigInt(TICKS_PER_USDC);', ''),
  fees("rounding === 'half_up' ? steps + 0.5 : steps", 'steps + 0.5'),
  fees('price / TICKS_PER_USDC - this.perShare(price)', 'price / TICKS_PER_USDC + this.perShare(price)'),
  walk('amountOf(before + size) - amountOf(before)', 'amountOf(size)'),
  walk('Math.floor(side.sizes[at] as number)', 'Math.round(side.sizes[at] as number)'),
  walk('at < side.count ?', 'at <= side.count ?'),
  walk('if (price < limitPrice) break;', 'if (price <= limitPrice) break;'),
  walk('if (size <= 0) return;', ''),
  walk('return excess > 0 ? sizeFor(principal - excess) : size;', 'return size;'),
  walk('new Walk(fee, Math.floor)', 'new Walk(fee, Math.ceil)'),
  walk("action === 'buy' ? Math.ceil : Math.floor", "action === 'buy' ? Math.floor : Math.ceil"),
  walk('feeOnTop ? walk.principal : walk.spent', 'walk.principal'),
  engine('Math.max(0, best - maxSlippage)', 'best - maxSlippage'),
  engine('price < TICKS_PER_USDC;', 'price <= TICKS_PER_USDC;'),
  engine('bid <= ask && price > 0', 'bid < ask && price > 0'),
  engine('return placedMs + latencyMs + takerHoldMs;', 'return placedMs + Math.max(latencyMs, takerHoldMs);'),
  engine('if (displayed(side, at) > 0) return', 'if (displayed(side, at) >= 0) return'),
  engine('filled - decided : decided - filled', 'filled - decided : filled - decided'),
  consumption('shown > entry.shown) continue;', 'shown >= entry.shown) continue;'),
  consumption('entry.shown = shown;', ''),
  consumption("side === 'asks' ? price <= worst", "side === 'asks' ? price < worst"),
  queuePosition('this.#base = Math.max(0, this.#base - size);', ''),
  queuePosition('oldest.timeMs >= nowMs - EXPLAINED_MS', 'oldest.timeMs > nowMs - EXPLAINED_MS'),
  queuePosition('Math.min(this.ahead, size)', 'size'),
  queuePosition('decrease.from -= explained;', ''),
  queuePosition('this.#credits = [];', ''),
  queuePosition('credit.size -= explained;', ''),
  queuePosition('Math.min(Math.max(0, decreased), credit.size)', 'Math.min(decreased, credit.size)'),
  queuePosition(
    'this.#base = Math.min(this.ahead, size);\n      this.#decreases = [];',
    'this.#base = Math.min(this.ahead, size);',
  ),
  queuePosition('this.#shown = null;\n    this.#decreases', 'this.#decreases'),
  queuePosition('Math.floor(size - ahead)', 'Math.round(size - ahead)'),
  ladderSide('|| a.sizes[i] !== b.sizes[i])\n', ')\n'),
  marketDesk('while (this.nextDueMs <= sinceMs)', 'while (this.nextDueMs < sinceMs)'),
  marketDesk('Math.max(arrivesMs, limit.order.dueMs)', 'arrivesMs'),
  marketDesk('limit.left -= replaced.filled;', ''),
  marketDesk('this.#end(replaced, replaced.endsMs);', ';'),
  marketDesk('Math.max(latencyMs, untilDueMs)', 'latencyMs'),
  marketDesk('order.dueMs < timeMs && !', 'order.dueMs <= timeMs && !'),
  marketDesk('< rules.minimumSize(placedMs)', '<= rules.minimumSize(placedMs)'),
  marketDesk(
    'takerHoldMs });\n    if (dueMs >= market.endTimeMs)',
    'takerHoldMs });\n    if (dueMs > market.endTimeMs)',
  ),
  marketDesk(
    'placedMs + latencyMs;\n    if (dueMs >= market.endTimeMs)',
    'placedMs + latencyMs;\n    if (dueMs > market.endTimeMs)',
  ),
  marketDesk('while (this.nextDueMs < timeMs) this', 'while (this.nextDueMs <= timeMs) this'),
  marketDesk(
    'if (this.nextDueMs >= timeMs) return;',
    'if (this.nextDueMs > timeMs) return;',
    'no order is due then, and the second advance ends nothing more',
  ),
  marketDesk(
    'Math.min(terms.expiresMs ?? Number.POSITIVE_INFINITY, market.endTimeMs)',
    'terms.expiresMs ?? market.endTimeMs',
  ),
  marketDesk('this.advance(knownMs);\n    if', 'if'),
  marketDesk('refusedAt(outages, order.arrivesMs', 'refusedAt(outages, order.dueMs'),
  replaced('|| !this.hasEnded || this.left === 0', '|| this.left === 0'),
  replaced('|| !this.hasEnded || this.left === 0', '|| !this.hasEnded'),
  replaced('this.#replacedBy ??= orderId;', 'this.#replacedBy = orderId;'),
  replacement('limit.filled = replaced.filled;', ''),
  replacement('if (replaced !== null && dueMs === arrivesMs) {', 'if (replaced !== null) {'),
  replacement('if (limit.left <= 0) {', 'if (limit.left < 0) {'),
  replacement('limit.filled += fill.size;', ''),
  deskBook('if (displayed(remaining, at) > 0) return true;', 'return true;'),
  deskBook(
    'if (own.count === 0 || other.count === 0) return false;',
    'if (own.count === 0 || other.count === 0) return true;',
  ),
  deskBook(
    '&& size < limit.left; at++',
    '; at++',
    'a filled order has nothing left to take from the next level',
  ),
  deskBook(
    'Math.floor(((budget - fill.principal)',
    'Math.ceil(((budget - fill.principal)',
    'one micro-USD buys at least one unit at any price',
  ),
  deskBook(
    'return !wasTrusted;\n    this.#observed = book;',
    'return !wasTrusted;',
    'the same book changes nothing a second time',
  ),
  deskBook('this.trusted && !(bid > ask)', 'this.trusted && !(bid >= ask)'),
  deskBook('ownBest >= otherBest : ownBest <= otherBest', 'ownBest > otherBest : ownBest < otherBest'),
  deskBook('best < fineBelow || best > fineAbove', 'best <= fineBelow || best >= fineAbove'),
  deskBook('return !wasTrusted;', 'return false;'),
  deskBook('const fee = rules.fee(timeMs);', 'const fee = rules.fee(0);'),
  restingOrders('as LimitOrder).rank < order.rank', 'as LimitOrder).rank <= order.rank'),
  restingOrders('if (beyond > 0 && isEarlier) continue;', ''),
  limitOrder(
    'limitPrice < worst : limitPrice > worst',
    'limitPrice <= worst : limitPrice >= worst',
    'the loop above has found a level at the worst price itself',
  ),
  limitOrder('return isInRange ? 0 : null;', 'return 0;'),
  limitOrder('if (count === 0) return 0;', 'if (count === 0) return null;'),
  limitOrder('if (timeMs >= this.endsMs) return;', ''),
  replacedOrder('size - before - this.filledSize', 'size - this.filledSize'),
  replacedOrder('replaces === null ? 0 : replaces.#carriedSize', '0'),
  replacedOrder('replaces === null ? new Set() : replaces.#alternatives', 'new Set()'),
  reservedOrders('Math.max(0, costOf(tracker, order) - together)', 'costOf(tracker, order)'),
  reservedOrders('Math.max(0, ...[...alternatives]', 'Math.max(...[...alternatives]'),
  outage(
    'effectiveMs < untilMs',
    'effectiveMs <= untilMs',
    'a cancel that arrives at the end takes effect then in both cases',
  ),
  outage('timeMs < fromMs || timeMs >= untilMs', 'timeMs < fromMs || timeMs > untilMs'),
  latency('model.maxMs - model.minMs + 1', 'model.maxMs - model.minMs'),
  restingSession('Number.isNaN(ask) ? order.limitPrice : ask', 'ask'),
  session('timeMs < this.#entries.untilMs', 'timeMs <= this.#entries.untilMs'),
  sessionState('if (intent === STOP_LOSS) held.exiting ??=', 'if (intent === STOP_LOSS) held.exiting ='),
  sessionState(
    'else if (intent === TAKE_PROFIT) held.exiting ??=',
    'else if (intent === TAKE_PROFIT) held.exiting =',
  ),
  sessionState('this.#takenBack += fills;', 'this.#takenBack = fills;'),
  sessionState('return !hasOrders && ', 'return '),
  sessionState(' && !this.#desk.hasConsumed && !this.#positions', ' && !this.#positions'),
  sessionState(' && !this.#positions.held?.exiting;', ';'),
  sessionState('(!this.#terms.strategy.exits || !this.#desk.hasConsumed)', '!this.#desk.hasConsumed'),
  sessionState('(!this.#terms.strategy.exits || !this.#desk.hasConsumed)', '!this.#terms.strategy.exits'),
  sessionState(
    'return this.#positions.finished && this.#entry === null;',
    'return this.#positions.finished;',
  ),
  sessionState('this.#desk.hasConsumed ? this.#row + 1 : row;', 'row;'),
  sessionState('return held?.exiting ? from : nextWish', 'return nextWish'),
  sessionState('nextWish === undefined || this.#entry !== null', 'nextWish === undefined'),
  memory("metric === 'token_volatility');", "metric !== 'token_volatility');"),
  memory('Math.max(0, ...windows', 'Math.min(0, ...windows'),
  volatility('prices > LONG_WINDOW', 'prices >= LONG_WINDOW'),
  position('    this.#costAgain();\n', ''),
  position('return { timeMs, change: posting.positions', 'return { timeMs, change: -posting.positions'),
  summary('a.timeMs - b.timeMs || a.rank - b.rank', 'a.timeMs - b.timeMs || b.rank - a.rank'),
  session('this.#pass(row - 1);', 'this.#pass(row);'),
  session(
    'row, this.#desk.nextDueMs)',
    'row, this.#desk.nextDueMs - 1)',
    'the desk compares the times again: a message at the due time matches nothing',
  ),
  session(
    'this.#trades?.skipTo(row);',
    '',
    'trades received before the order reach none of ours: leaving them out only saves time',
  ),
  session('payoutYes : 1 - payoutYes);', 'payoutYes : payoutYes);'),
  session('if (Number.isNaN(decision.best)) return;', ''),
  restingEntry(': ask - tickSize)', ': ask)'),
  position('this.exiting.sinceMs > timeMs', 'this.exiting.sinceMs >= timeMs'),
  position('of.timeMs <= timeMs);', 'of.timeMs < timeMs);'),
  rows('(timeMs[row] as number) > afterMs', '(timeMs[row] as number) >= afterMs'),
  rows('row < 0 || row > count', 'row < 0'),
  position('pnl += of.proceeds - of.fee', 'pnl += of.proceeds'),
  position('weighted += slippage * fill.size;', 'weighted += slippage;'),
  position('{ closedMs: null, pnl: null }', '{ closedMs: 0, pnl: null }'),
  position('Math.floor(size * payout)', 'Math.round(size * payout)'),
  position('const proceeds = this.#costLeft;', 'const proceeds = this.#bought.principal;'),
  position('if (of.slippage === null) continue;', ''),
  position(
    'size === this.left ? this.#costLeft : partOf(this.#costLeft, size, this.left)',
    'partOf(this.#costLeft, size, this.left)',
    'the part of all shares is the whole cost: the division is only avoided',
  ),
  positionBook('this.#closed.length < this.#strategy', 'this.#closed.length <= this.#strategy'),
  positionBook('this.held = position;\n    this.#updateFinished();', 'this.held = position;'),
  positionBook(
    'this.#closed.push(position);\n    this.held = null;\n    this.#updateFinished();',
    'this.#closed.push(position);\n    this.held = null;',
  ),
  positionBook('position !== this.held);\n    this.#updateFinished();', 'position !== this.held);'),
  positionBook('sum + 1 + sales', 'sum + sales'),
  depth('(offsets[book - 1] as number) > levels', '(offsets[book - 1] as number) >= levels'),
  depth('trusted[book] === trusted[last] &&', ''),
  depth('if (count !== Math.min(levels, (offsets[other + 1] as number) - otherFrom)) return false;', ''),
  depth('|| sizes[from + i] !== sizes[otherFrom + i]) return false;', ') return false;'),
  session('Math.floor(price * TICKS_PER_USDC + 1e-6)', 'Math.floor(price * TICKS_PER_USDC)'),
  session('Math.floor(price * TICKS_PER_USDC + 1e-6)', 'Math.round(price * TICKS_PER_USDC)'),
  session(
    'timeMs < this.#market.endTimeMs',
    'timeMs <= this.#market.endTimeMs',
    'an order of the end itself reaches the venue too late: the desk refuses it',
  ),
  summary('returns.length < RETURNS_MIN ?', 'returns.length <= RETURNS_MIN ?'),
  summary('pnls.filter((pnl) => pnl > 0)', 'pnls.filter((pnl) => pnl >= 0)'),
  summary('filter(({ pnl }) => (pnl ?? 0) > 0)', 'filter(({ pnl }) => (pnl ?? 0) >= 0)'),
  summary('takenBack: total(({ takenBack }) => takenBack),', 'takenBack: 0,'),
  summary(
    'const replayed = markets.filter(({ replay }) => replay.skipped === null);',
    'const replayed = markets;',
  ),
  summary('totalPnl / -maxDrawdown', 'totalPnl / maxDrawdown'),
  summary('exitSlippage === null ? [entrySlippage]', 'exitSlippage === null ? [entrySlippage, 0]'),
  gapEnds('endMs + AFTER_MS > receivedMs', 'endMs > receivedMs'),
  gapReplay('Math.max(endMs, knownMs)', 'endMs'),
  prepare('Math.max(startTimeMs, at)', 'at'),
  newestBooks('if (trusted !== this.#trusted) return false;', ''),
  gapReplay('gap.knownMs > receivedMs', 'gap.knownMs >= receivedMs'),
  tradeRows('(nextRow[middle] as number) <= row', '(nextRow[middle] as number) < row'),
  underlying('nowMs - this.#receivedMs <= PRICE_FRESH_MS', 'nowMs - this.#receivedMs < PRICE_FRESH_MS'),
  underlying("if (this.#from === 'quotes') this.#forget();", ''),
  purse('next.dueMs <= nowMs', 'next.dueMs < nowMs'),
  purse('amount > this.cash', 'amount >= this.cash'),
  holdings('timeMs <= sinceMs', 'timeMs < sinceMs'),
  equityCurve('if (stays && !isChange) this.#samples++;', ''),
  itemMerge('if (top.timeMs >= timeMs) return;', 'if (top.timeMs > timeMs) return;'),
  holdings('payoutYes : 1 - payoutYes;', 'payoutYes : payoutYes;'),
  probability('distanceToStrike(outlook) - deviationAhead', 'distanceToStrike(outlook) + deviationAhead'),
  probability('insideMean : spot) >= strike', 'insideMean : spot) > strike'),
  probability(
    'secondsLeft >= twapSeconds ? secondsLeft - (2',
    'secondsLeft > twapSeconds ? secondsLeft - (2',
    'both formulas agree at the beginning of the average',
  ),
  secondPrices('Math.floor(fromMs / 1_000) + 1', 'Math.floor(fromMs / 1_000)'),
  volatility('if (known < RETURNS_MIN) return null;', 'if (known <= RETURNS_MIN) return null;'),
  volatility('this.#shift = last - level;', ''),
  returns('Math.sqrt(squares / (count - 1))', 'Math.sqrt(squares / count)'),
  overfitting('const from = (skipped + period) * trials;', 'const from = period * trials;'),
  sweepLuck('if (pbo < OVERFITTING_MAX) return [];', 'if (pbo <= OVERFITTING_MAX) return [];'),
  sweepLuck('trials: results.trials + trialsBefore', 'trials: results.trials'),
  sweepLuck('Math.max(RETURNS_MIN, Math.ceil(markets))', 'Math.ceil(markets)'),
  sweepLuck('Math.ceil(markets))', 'Math.floor(markets))'),
  sweepLuck('returns.length < needed', 'returns.length <= needed'),
  sweepLuck('if (returns.length < RETURNS_MIN) {', 'if (returns.length <= RETURNS_MIN) {'),
  sweepLuck('Math.min(won, lost) >= EACH_WAY_MIN', 'Math.min(won, lost) > EACH_WAY_MIN'),
  sweepLuck(
    'Math.max(1, correlation + (1 - correlation) * varying)',
    'correlation + (1 - correlation) * varying',
  ),
  bootstrap('Math.min(this.#length, this.#count - taken)', 'this.#length'),
  bootstrap(
    'Math.max(1, Math.floor((RESAMPLES + 1) * level))',
    'Math.floor((RESAMPLES + 1) * level)',
    'from 30 markets on, each bound leaves several resamples outside',
  ),
  paired('freedom: count - 1', 'freedom: count'),
  wilson('(centre + half) / (1 + weight)', 'centre + half'),
  settlement('isStrike ? market.startTimeMs : market.endTimeMs', 'market.startTimeMs'),
  settlement("rule.tie === 'up' ? 1 : 0.5", '0.5'),
  priceTape(
    'if (this.#newestSecond <= second) return null;',
    'if (this.#newestSecond < second) return null;',
  ),
  priceTape('if (known === second) {', 'if (false) {'),
  priceTape("this.#averaged[slot] = use === 'average' ? 1 : 0;", ''),
  venueRules('if (row.fromMs > timeMs) continue;', 'if (row.fromMs >= timeMs) continue;'),
  marketRules('timeMs < this.#untilMs', 'timeMs <= this.#untilMs'),
  marketRules(
    'Math.floor(fee.charged(fill) * makerRebate)',
    'Math.ceil(fee.charged(fill) * makerRebate)',
    'every charged fee is a multiple of 10 micro-USD and the rebate a fifth or nothing: the product is whole',
  ),
  marketRules(
    'Math.floor(fee.charged(fill) * makerRebate)',
    'Math.floor(fee.charged(fill) * (1 - makerRebate))',
  ),
  bestPriceAge('Math.max(0, nowMs - (this.#sinceMs[at] as number))', 'nowMs - (this.#sinceMs[at] as number)'),
  logical('if (taken > 0) levels.push', 'levels.push'),
  logical('if (noLeft === 0) noLeft', 'if (noLeft <= 1) noLeft'),
  logical('state.model.yesProb ?? impliedYesProb(state)', 'impliedYesProb(state)'),
  logical('const heldMs = Math.min(', 'const heldMs = Math.max('),
];
