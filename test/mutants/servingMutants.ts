import { of, type TestedMutant } from './mutant.ts';

const queue = of('src/webhooks/delivery/deliveryQueue.ts', 'src/webhooks/delivery/dispatcher.test.ts');
const queueBounds = of(
  'src/webhooks/delivery/deliveryQueue.ts',
  'src/webhooks/delivery/deliveryQueue.test.ts',
);
const outcomes = of('src/webhooks/delivery/outcomeWriter.ts', 'src/webhooks/delivery/outcomeWriter.test.ts');
const deadlines = of('src/webhooks/delivery/deadlineQueue.ts', 'src/webhooks/delivery/deadlineQueue.test.ts');
const request = of('src/webhooks/delivery/request.ts', 'src/webhooks/delivery/sender.test.ts');
const sender = of('src/webhooks/delivery/sender.ts', 'src/webhooks/delivery/sender.test.ts');
const target = of('src/webhooks/target/target.ts', 'src/webhooks/target/target.test.ts');
const addresses = of('src/webhooks/target/addresses.ts', 'src/webhooks/target/addresses.test.ts');
const registry = of('src/webhooks/registry/registry.ts', 'src/webhooks/registry/registry.test.ts');
const deliveryLog = of('src/webhooks/registry/deliveryLog.ts', 'src/webhooks/registry/deliveryLog.test.ts');
const missed = of('src/webhooks/registry/missed.ts', 'src/webhooks/registry/missed.test.ts');
const deliveryReports = of(
  'src/webhooks/registry/deliveryReports.ts',
  'src/webhooks/registry/deliveryReports.test.ts',
);
const logRetention = of('src/webhooks/registry/retention.ts', 'src/webhooks/delivery/outbox.test.ts');
const incidents = of('src/webhooks/system/incidentTracker.ts', 'src/webhooks/system/incidentTracker.test.ts');
const chatReply = of('src/webhooks/chat/chatReply.ts', 'src/webhooks/chat/chatDelivery.test.ts');
const eventQueue = of(
  'src/webhooks/delivery/webhookEventQueue.ts',
  'src/webhooks/delivery/webhookEventQueue.test.ts',
);
const dispatcher = of(
  'src/webhooks/delivery/dispatcher.ts',
  'src/webhooks/delivery/unwrittenOutcomes.test.ts',
);
const sendQuotas = of('src/webhooks/delivery/sendQuotas.ts', 'src/webhooks/delivery/sendQuotas.test.ts');
const fillTracker = of(
  'src/signals/fillTracker.ts',
  'src/signals/fillTracker.test.ts',
  'src/signals/auditFinisher.test.ts',
  'src/signals/signals.test.ts',
);
const opportunities = of('src/signals/opportunityTracker.ts', 'src/signals/opportunityTracker.test.ts');
const executable = of(
  'src/signals/executable.ts',
  'src/signals/auditLog.test.ts',
  'src/signals/signals.test.ts',
);
const liveBoard = of('src/signals/liveBoard.ts', 'src/signals/liveBoard.test.ts');
const feedBasis = of('src/signals/feedBasis.ts', 'src/signals/feedBasis.test.ts');
const detectorHost = of(
  'src/signals/detectorHost.ts',
  'src/signals/signals.test.ts',
  'src/signals/restart.test.ts',
);
const gapRecords = of('src/api/gapRecords.ts', 'src/api/storeLag.test.ts');
const tickerPrices = of('src/signals/tickerPrices.ts', 'src/signals/tickerPrices.test.ts');
const auditChain = of('src/signals/auditChain.ts', 'src/signals/auditLog.test.ts');
const takeover = of('src/signals/takeover.ts', 'src/signals/takeover.test.ts');
const tapePlayer = of('src/trading/live/tapePlayer.ts', 'src/trading/live/tapePlayer.test.ts');
const sortedBounds = of('src/trading/live/sortedBounds.ts', 'src/trading/live/sortedBounds.test.ts');
const triggers = of('src/trading/live/triggerIndex.ts', 'src/trading/live/sessionGroup.test.ts');
const sessionGroup = of('src/trading/live/sessionGroup.ts', 'src/trading/live/sessionGroup.test.ts');
const priceHistory = of('src/trading/live/priceHistory.ts', 'src/trading/live/priceHistory.test.ts');
const recordBuffer = of('src/trading/live/recordBuffer.ts', 'src/trading/live/recordBuffer.test.ts');
const paperMarket = of('src/trading/live/paperMarket.ts', 'src/trading/live/paperMarket.test.ts');
const resolutions = of('src/trading/live/resolutionCache.ts', 'src/trading/live/resolutionCache.test.ts');
const positionWriter = of('src/trading/paper/positionWriter.ts', 'src/trading/paper/positionWriter.test.ts');
const writtenStates = of('src/trading/paper/positionWriter.ts', 'src/trading/paper/persistence.test.ts');
const paperTrader = of('src/trading/live/paperTrader.ts', 'src/trading/live/paperTrader.test.ts');
const effects = of('src/trading/live/traderEffects.ts', 'src/trading/live/paperTrader.test.ts');
const pastReplay = of('src/trading/live/pastReplay.ts', 'src/trading/live/paperTrader.test.ts');
const strategies = of(
  'src/trading/paper/strategies.ts',
  'src/trading/paper/strategies.test.ts',
  'src/trading/paper/persistence.test.ts',
);
const positions = of('src/trading/paper/positions.ts', 'src/trading/paper/persistence.test.ts');
const divergence = of('src/trading/paper/divergence.ts', 'src/trading/paper/divergence.test.ts');
const retrying = of('src/trading/catchUp/retryUntilDone.ts', 'src/trading/catchUp/retryUntilDone.test.ts');
const jobs = of('src/backtest/jobs.ts', 'src/backtest/jobs.test.ts');
const jobRetention = of('src/backtest/jobRetention.ts', 'src/backtest/jobRetention.test.ts');
const storedResult = of('src/backtest/storedResult.ts', 'src/backtest/storedResult.test.ts');
const longDivergence = of('src/trading/paper/divergence.ts', 'src/trading/paper/longDivergence.test.ts');
const jobQueue = of(
  'src/backtest/jobQueue.ts',
  'src/backtest/jobs.test.ts',
  'src/backtest/processes.test.ts',
);
const earlier = of('src/backtest/earlierTrials.ts', 'src/backtest/earlierTrials.test.ts');
const asked = of('src/backtest/asked.ts', 'src/backtest/asked.test.ts');
const cells = of('src/backtest/cells.ts', 'src/backtest/cells.test.ts');
const stress = of('src/backtest/stress.ts', 'src/backtest/stress.test.ts');
const swept = of('src/backtest/sweptTrades.ts', 'src/backtest/sweptTrades.test.ts');
const depth = of('src/backtest/depth.ts', 'src/backtest/depth.test.ts');
const sweepReport = of('src/backtest/sweepReport.ts', 'src/backtest/sweepReport.test.ts');
const equity = of('src/report/equity.ts', 'src/report/equity.test.ts');
const breakdowns = of('src/report/breakdowns.ts', 'src/report/breakdowns.test.ts');
const compared = of('src/report/comparedResult.ts', 'src/report/comparedResult.test.ts');
const pack = of('src/backup/pack.ts', 'src/backup/pack.test.ts');
const signature = of('src/backup/awsSignature.ts', 'src/backup/awsSignature.test.ts');
const pace = of('src/stream/replayPace.ts', 'src/stream/replayPace.test.ts');
const changeLog = of('src/stream/changeLog.ts', 'src/stream/changeLog.test.ts');
const opportunityStream = of('src/stream/opportunityStream.ts', 'src/stream/opportunityStream.test.ts');
const connection = of('src/stream/connection.ts', 'src/stream/connection.test.ts');
const registryOfStreams = of('src/stream/connectionRegistry.ts', 'src/stream/connectionRegistry.test.ts');
const marketStream = of('src/stream/marketStream.ts', 'src/stream/marketStream.test.ts');
const replay = of('src/stream/replay.ts', 'test/service/replayStream.test.ts');
const replayStart = of('src/stream/replay.ts', 'src/stream/replay.test.ts');
const walkForward = of('src/report/walkForward.ts', 'src/report/walkForward.test.ts');
const admission = of('src/http/admission.ts', 'src/api/access.test.ts');
const operators = of('src/http/admission.ts', 'src/http/admission.test.ts');
const cursor = of('src/http/cursor.ts', 'src/http/cursor.test.ts');
const history = of('src/http/history.ts', 'src/http/history.test.ts');
const caching = of('src/http/caching.ts', 'src/http/caching.test.ts');
const shortPages = of('src/http/shortPages.ts', 'src/http/shortPages.test.ts');
const hosts = of('src/http/hosts.ts', 'src/http/hosts.test.ts');
const streamAdmission = of('src/http/streamAdmission.ts', 'src/http/streamAdmission.test.ts');
const keyset = of('src/store/queries/keyset.ts', 'src/api/paging.test.ts');
const replayedBooks = of('src/store/queries/replay.ts', 'src/store/queries/replay.test.ts');
const exportedRows = of('src/store/export/rowHash.ts', 'src/store/export/rowHash.test.ts');
const places = of(
  'src/control/keyset.ts',
  'src/webhooks/registry/redelivery.test.ts',
  'src/trading/paper/persistence.test.ts',
  'src/backtest/jobs.test.ts',
);
const authenticate = of('src/accounts/keys/authenticate.ts', 'src/accounts/keys/authenticate.test.ts');
const rowCache = of('src/accounts/keys/rowCache.ts', 'src/accounts/keys/rowCache.test.ts');
const freshness = of('src/accounts/keys/freshness.ts', 'src/accounts/keys/rowCache.test.ts');
const keptCommits = of('src/control/keptCommits.ts', 'src/control/keptCommits.test.ts');
const liveKeys = of('src/accounts/keys/liveKeys.ts', 'src/accounts/keys/liveKeys.test.ts');
const keys = of('src/accounts/keys/keys.ts', 'src/accounts/keys/keys.test.ts');
const maintenance = of('src/accounts/maintenance.ts', 'src/accounts/maintenance.test.ts');
const call = of('src/http/call.ts', 'src/http/call.test.ts');
const usage = of('src/accounts/limits/usage.ts', 'src/accounts/limits/usage.test.ts');
const connections = of('src/http/connectionLimits.ts', 'src/http/connectionLimits.test.ts');
const limitsWindow = of('src/accounts/limits/limitsWindow.ts', 'src/accounts/limits/limits.test.ts');
const rateCounters = of(
  'src/accounts/limits/rateCounters.ts',
  'src/accounts/limits/signInLimits.test.ts',
  'src/accounts/limits/limits.test.ts',
);

/** Faults in what reads the recording: webhooks, signals, paper trading, backtests, HTTP, keys and limits. */
export const SERVING_MUTANTS: readonly TestedMutant[] = [
  queue('const RETRY_JITTER = 0.2;', 'const RETRY_JITTER = 0.3;'),
  queue('Math.min(step, RETRY_DELAYS_MS.length) - 1', 'Math.min(step, RETRY_DELAYS_MS.length - 1)'),
  queue('return Math.max(delayMs,', 'return Math.min(delayMs,'),
  queue('FAILURES_MAX - this.#failures', 'FAILURES_MAX'),
  queue("if (status === GONE) return { delivery, state: 'failed' };", ''),
  queueBounds('nowMs >= delivery.expiresMs', 'nowMs > delivery.expiresMs'),
  queueBounds('if (held.delivery.attempts !== delivery.attempts) return;', ''),
  outcomes('attempt + 1 >= CLOSE_TRIES', 'attempt > CLOSE_TRIES'),
  outcomes('if (this.#changes.size + this.#healthChanges.size > 0) this.#arm();', ''),
  deadlines('if (this.#dueAt.size > 0) return;', ''),
  request('secret !== null && nowMs < untilMs', 'secret !== null'),
  request('Math.floor(nowMs / 1000)', 'nowMs'),
  sender('this.#endpoints.delete(webhookId);', ''),
  sender('status >= 200 && status < 300', 'status >= 200 && status < 400'),
  target('this.#checkFound(hostname, found);', 'this.#checkFound(hostname, found.slice(0, 1));'),
  target("if (url.username !== '' || url.password !== '') {", "if (url.username !== '') {"),
  addresses("private: ['10.0.0.0/8', '172.16.0.0/12',", "private: ['10.0.0.0/8', '172.16.0.0/13',"),
  registry('existing.count >= MAX_WEBHOOKS_PER_USER', 'existing.count > MAX_WEBHOOKS_PER_USER'),
  registry(
    "const row = await (userId === undefined ? query : query.where('user_id', '=', userId)).executeTakeFirst();",
    'const row = await query.executeTakeFirst();',
  ),
  registry('filter(({ until_ms }) => nowMs < until_ms)', 'filter(() => true)'),
  deliveryLog(
    "bounded.where('delivery.created_ms', '<', endMs)",
    "bounded.where('delivery.created_ms', '<=', endMs)",
  ),
  deliveryLog(
    "if (webhook.state === 'paused') throw pausedWebhook();\n    this.#quotas.consume('test'",
    "this.#quotas.consume('test'",
  ),
  missed(".where('row.end_ms', '>', nowMs)", ''),
  fillTracker('probe.detectedMs + afterMs >= timeMs', 'probe.detectedMs + afterMs > timeMs'),
  fillTracker('this.#waiting.length >= WAITING_MAX', 'this.#waiting.length > WAITING_MAX'),
  opportunities('open !== undefined && open.signal.direction === signal.direction', 'open !== undefined'),
  executable('levels.at(-1)?.price ?? 0', 'levels.at(0)?.price ?? 0'),
  executable('const size = Math.min(...sizes);', 'const size = Math.max(...sizes);'),
  liveBoard(
    'filter(({ edge_per_share: edge }) => roundMoney(edge) >= minEdge)',
    'filter(({ edge_per_share: edge }) => roundMoney(edge) > minEdge)',
  ),
  liveBoard(
    'b.expected_pnl_per_share - a.expected_pnl_per_share',
    'a.expected_pnl_per_share - b.expected_pnl_per_share',
  ),
  feedBasis('timeMs - this.#pairedMs > AGE_MAX_MS ? 1', 'timeMs - this.#pairedMs > AGE_MAX_MS ? PAIRS_MIN'),
  detectorHost('fills.advanceTo(gap.endReceivedMs);', ''),
  detectorHost('watch.fills.forget();', ''),
  gapRecords('endTimeMs >= startMs', 'endTimeMs > startMs'),
  tickerPrices(
    'nowMs - point.receivedTimeMs > UNDERLYING_AGE_MAX_MS',
    'nowMs - point.eventTimeMs > UNDERLYING_AGE_MAX_MS',
  ),
  tickerPrices('eventTimeMs >= last.eventTimeMs))', 'eventTimeMs > last.eventTimeMs))'),
  auditChain('.sort(([a], [b]) => (a < b ? -1 : 1))', ''),
  auditChain('seq: end.seq + 1, prev_hash', 'seq: end.seq, prev_hash'),
  takeover('if (signal.aborted) return;\n        for (const row of known)', 'for (const row of known)'),
  tapePlayer('next >= beforeSeq) return;', 'next > beforeSeq) return;'),
  tapePlayer('first.afterSeq >= seq) return;', 'first.afterSeq > seq) return;'),
  sortedBounds('if (!(entry.key < to)) return;', 'if (!(entry.key <= to)) return;'),
  triggers('if (!Object.is(this.#of(reading).before, before)) return false;', ''),
  triggers('watched.read(), isTrusted)', 'watched.read(), true)'),
  sessionGroup('if (timeMs < paper.fromMs) continue;', ''),
  sessionGroup('this.#triggers.leave(session);\n    }', '}'),
  strategies('cap !== null && active.count >= cap', 'cap !== null && active.count > cap'),
  strategies(
    'const isActive = stood.entries_until_ms === null;',
    'const isActive = stood.entries_until_ms !== null;',
  ),
  positions('after.pnl - before.pnl', 'after.pnl'),
  positions(".where('opened_ms', '<', range.endMs)", ".where('opened_ms', '<=', range.endMs)"),
  divergence('first.startTimeMs >= knowsFromMs', 'first.startTimeMs > knowsFromMs'),
  retrying('Math.min(RETRY_MS_MAX, 2 * retryMs)', '2 * retryMs'),
  longDivergence('!skipped.has(market_id)', 'true'),
  longDivergence('if (at % ROWS_A_TURN === 0) await nextTurn();\n', ''),
  jobRetention('octet_length(result)', 'length(result)'),
  jobRetention('where place > ', 'where place >= '),
  jobRetention("status not in ('queued', 'running') and ", ''),
  storedResult('if (++parsed % TRADES_A_TURN === 0) await nextTurn();', ''),
  jobQueue("      .where('queued.user_id', 'not in', suspendedUsers)\n", ''),
  jobs(
    '(await activeJobs(transaction, { userId, isComparison })) >= cap',
    '(await activeJobs(transaction, { userId, isComparison })) > cap',
  ),
  jobs("if (owner !== null) found = found.where('user_id', '=', owner.userId);", ''),
  jobs(
    "      .where('job_id', '=', jobId)\n      .where('status', 'in', ACTIVE)",
    "      .where('job_id', '=', jobId)",
  ),
  jobQueue(
    "running.where('seen_ms', '<', this.#clock.now() - LEASE_MS);",
    "running.where('seen_ms', '<', this.#clock.now());",
  ),
  jobQueue("return own.length === 0 ? silent : silent.where('job_id', 'not in', own);", 'return silent;'),
  jobQueue("where('attempts', '>=', ATTEMPTS_MAX)", "where('attempts', '>', ATTEMPTS_MAX)"),
  jobQueue("      .where('runner', '=', this.#runner)\n", ''),
  earlier(
    "const all = db.selectFrom('backtest_jobs').where('user_id', '=', userId);",
    "const all = db.selectFrom('backtest_jobs');",
  ),
  earlier('if (key === own) break;', 'if (key === own) continue;'),
  asked(
    'Math.min(wholeMs(asked.end) ?? Number.POSITIVE_INFINITY, within.nowMs)',
    'wholeMs(asked.end) ?? within.nowMs',
  ),
  cells('(at * (end - start)) / (steps - 1)', '(at * (end - start)) / steps'),
  stress('stress.dispute_delay_hours * MS_PER_HOUR', 'stress.dispute_delay_hours'),
  stress('draw >= stress.void_share + stress.disputed_share', 'draw >= stress.disputed_share'),
  swept(
    '(closedMs[a] as number) - (closedMs[b] as number)',
    '(closedMs[b] as number) - (closedMs[a] as number)',
  ),
  walkForward('if (testEnd > endMs) return folds;', 'if (testEnd >= endMs) return folds;'),
  walkForward('const testStart = trainEnd + embargoMs;', 'const testStart = trainEnd;'),
  operators("if (route.auth === 'operator' && !operator)", "if (route.auth === 'operator' && operator)"),
  admission('result.userId}`, tiers', 'result.keyId}`, tiers'),
  admission('all = all === undefined ? value', 'all = all !== undefined ? value'),
  cursor('if (encodeCursor(scope, place) === text) return place;', 'return place;'),
  history('givenMs >= this.earliestMs - GRACE_MS', 'givenMs > this.earliestMs - GRACE_MS'),
  history('if (resumed && (startMs === null || startMs < this.earliestMs)) return earliestMs;', ''),
  caching('settlesMs < storedToMs - SETTLED_AFTER_MS', 'settlesMs < storedToMs'),
  shortPages('if (this.#found <= this.#request.limit) this.#last = key;', 'this.#last = key;'),
  hosts("name.endsWith('.localhost')", "name.endsWith('localhost')"),
  streamAdmission(
    'connections.count(stream, identity) >= most',
    'connections.count(stream, identity) > most',
  ),
  keyset('compare} (', 'compare}= ('),
  keyset('next: found > limit ? last : null', 'next: found >= limit ? last : null'),
  places('    side,', "    side === '<' ? '<=' : '>=',"),
  authenticate("row.revoked_ms !== null ? 'revoked' :", ''),
  authenticate("if (parsed.environment !== this.#environment) return 'wrong_environment';", ''),
  rowCache('if (this.#asking.get(hash)?.readAt === moment) this', 'this'),
  freshness('return --unreadable;', 'return unreadable;'),
  keptCommits('    if (next !== null) return next;\n', ''),
  keptCommits('        next = null;\n', ''),
  keptCommits('      .catch(() => undefined)\n', ''),
  limitsWindow('this.#used(index, nowMs) < requests', 'this.#used(index, nowMs) <= requests'),
  limitsWindow('this.#leavesInMs(tail, windowMs, nowMs) <= 0', 'this.#leavesInMs(tail, windowMs, nowMs) < 0'),
  rateCounters('Math.ceil(waitMs / 1000)', 'Math.floor(waitMs / 1000)'),
  deliveryReports("'delivery.created_ms', '<', newest.at", "'delivery.created_ms', '<=', newest.at"),
  deliveryReports('Math.ceil(ascending.length * share) - 1', 'Math.floor(ascending.length * share) - 1'),
  logRetention('left -= count;', ''),
  incidents('nowMs - calmSinceMs >= CALM_MS', 'nowMs - calmSinceMs > CALM_MS'),
  chatReply(
    'beside ?? parameters?.retry_after ?? null',
    'parameters?.retry_after ?? beside ?? null',
    'no chat sends both',
  ),
  eventQueue('attempt = 0;\n        this.#parts.dispatch', 'this.#parts.dispatch'),
  sendQuotas('Math.ceil(waitMs / 1000)', 'Math.floor(waitMs / 1000)'),
  priceHistory('seq < firstSeq', 'seq <= firstSeq'),
  recordBuffer('this.#records.length >= this.#recordsMax', 'this.#records.length > this.#recordsMax'),
  paperMarket('this.#openGaps.size + this.#gapEnds.count', 'this.#openGaps.size'),
  paperMarket('size: Math.round(size)', 'size'),
  resolutions('before.outcome === now.outcome && before', 'before'),
  positionWriter('retryMs = RETRY_MS_MIN;\n        await', 'await'),
  positionWriter('if (!this.#moves.has(move.marketId)) this', 'this'),
  writtenStates('if (!this.#waiting.has(key)) this', 'this'),
  paperTrader('if (step.kind === ', 'if (step.kind !== '),
  paperTrader(
    'nowMs < paper.market.endTimeMs + TAPE_AFTER_MS',
    'nowMs <= paper.market.endTimeMs + TAPE_AFTER_MS',
  ),
  paperTrader('else this.#changedLate.add(marketId);', ''),
  paperTrader("if (correction === 'payout')", "if (correction === 'time')"),
  effects('if (this.#effects.length === 0) return NO_EFFECTS;', ''),
  effects('    this.#changed.clear();\n', ''),
  pastReplay('hasFills || isWritten(strategy.strategyId)', 'isWritten(strategy.strategyId)'),
  pastReplay('    this.buffer.drain(paper);\n', ''),
  depth('micro <= sizeUsdMax', 'micro < sizeUsdMax'),
  sweepReport('Math.floor(luck.best / width)', 'Math.round(luck.best / width)'),
  equity(
    'Math.min(SPANS - 1, Math.floor((timeMs - first.timeMs) / spanMs))',
    'Math.floor((timeMs - first.timeMs) / spanMs)',
  ),
  breakdowns('Math.floor((third * known.length) / 3)', 'Math.ceil((third * known.length) / 3)'),
  compared('Math.min(decided, known?.timeMs ?? decided)', 'decided'),
  pack('at + pieceBytes - waitingBytes', 'at + pieceBytes'),
  signature('.filter(Boolean).sort()', '.filter(Boolean)'),
  pace('this.#begunMs += this.#clock.monotonic() - sinceMs;', ''),
  changeLog('nowMs - oldest.timeMs <= RETAINED_MS', 'nowMs - oldest.timeMs < RETAINED_MS'),
  changeLog('this.#headSeq = Math.max(this.#headSeq, seq);', 'this.#headSeq = seq;'),
  opportunityStream('this.#position < count - kept.length', 'this.#position <= count - kept.length'),
  liveKeys('this.#checkedAt = null;\n    this.#timer', 'this.#timer'),
  liveKeys('keyIds.slice(from, from + MAX_KEYS_PER_QUERY)', 'keyIds.slice(from, MAX_KEYS_PER_QUERY)'),
  keys("          .where('user_id', '=', userId)\n          .where('revoked", "          .where('revoked"),
  maintenance(
    "'maintenance.read_failed');\n      return this.#last;",
    "'maintenance.read_failed');\n      return null;",
  ),
  call('if (raw.destroyed) leave();', ''),
  dispatcher(' && !this.#outcomes.isBehind', ''),
  usage('this.#flush();\n      this.#dayMs', 'this.#dayMs'),
  connections('this.#refusing--;', ''),
  connection('this.#stalled?.cancel();\n      this.#stalled = null;', 'this.#stalled = null;'),
  registryOfStreams('await Promise.all(parted);', ''),
  marketStream('if (market.subscribers.size === 0) market.idleSinceMs = this.#clock.monotonic();', ''),
  replay('placeMs ?? this.#terms.fromMs', 'this.#terms.fromMs'),
  replayStart('      await pace.room();\n', ''),
  outcomes('this.#changes.get(deliveryId) ?? change', 'change'),
  replayedBooks('after = beforeSeq - 1;', 'after = beforeSeq;'),
  exportedRows('while (rest >= 0x80)', 'while (rest > 0x80)'),
];
