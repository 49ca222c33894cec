import { of, type TestedMutant } from './mutant.ts';

const trust = of('src/recorder/bookTrust.ts', 'src/recorder/bookTrust.test.ts');
const overdue = of('src/recorder/bookTrust.ts', 'src/recorder/overdueFrames.test.ts');
const resent = of('src/recorder/merge/rowAcceptance.ts', 'src/recorder/merge/resentRows.test.ts');
const sight = of('src/recorder/merge/senderSight.ts', 'src/recorder/merge/resentRows.test.ts');
const sequence = of('src/recorder/sequence.ts', 'src/recorder/resume.test.ts');
const gaps = of(
  'src/recorder/gapTracker.ts',
  'src/recorder/gapTracker.test.ts',
  'src/recorder/resume.test.ts',
);
const clockStep = of('src/recorder/watchdog/watchdog.ts', 'src/recorder/watchdog/watchdog.test.ts');
const watched = of('src/recorder/watchdog/watchdogMarket.ts', 'src/recorder/watchdog/watchdogMarket.test.ts');
const turns = of('src/recorder/watchdog/turnLimiter.ts', 'src/recorder/watchdog/turnLimiter.test.ts');
const audit = of('src/recorder/watchdog/bookAudit.ts', 'src/recorder/watchdog/bookAudit.test.ts');
const feedLag = of('src/recorder/watchdog/feedLagMonitor.ts', 'src/recorder/watchdog/feedLagMonitor.test.ts');
const memory = of('src/recorder/marketMemory.ts', 'src/recorder/marketMemory.test.ts');
const recorded = of('src/recorder/recordedMarket.ts', 'src/recorder/silentToken.test.ts');
const inForce = of('src/api/bookInForce.ts', 'src/api/storeLag.test.ts');
const followedPast = of('src/api/bookInForce.ts', 'src/api/followedPast.test.ts');
const storedProgress = of(
  'src/recorder/write/storedProgress.ts',
  'src/recorder/write/storedProgress.test.ts',
);
const lostRows = of('src/recorder/lostRows.ts', 'src/recorder/lostRows.test.ts');
const prices = of('src/recorder/merge/priceMerge.ts', 'src/recorder/merge/priceMerge.test.ts');
const senderRuns = of('src/recorder/merge/senderSight.ts', 'src/recorder/merge/senderSight.test.ts');
const collectors = of(
  'src/recorder/follow/collectorStatuses.ts',
  'src/recorder/follow/collectorStatuses.test.ts',
);
const archive = of(
  'src/recorder/import/archives/archiveReport.ts',
  'src/recorder/import/archives/archives.test.ts',
);
const unlisted = of(
  'src/recorder/import/unlistedMarketAdopter.ts',
  'src/recorder/import/unlistedMarketAdopter.test.ts',
);
const acceptance = of(
  'src/recorder/merge/rowAcceptance.ts',
  'src/recorder/merge/streamMerge.test.ts',
  'src/recorder/merge/resentRows.test.ts',
);
const batchFile = of('src/store/journal/batchFile.ts', 'src/store/journal/batchFile.test.ts');
const scan = of(
  'src/store/journal/journalScan.ts',
  'src/store/journal/recovery.test.ts',
  'src/store/journal/crash.test.ts',
);
const missing = of('src/store/journal/missingRows.ts', 'src/store/journal/missingRows.test.ts');
const rows = of('src/store/journal/rowBuffer.ts', 'src/store/journal/rowBuffer.test.ts');
const writer = of(
  'src/store/journal/writer.ts',
  'src/store/journal/writer.test.ts',
  'src/store/journal/writerJournal.test.ts',
);
const lag = of('src/store/journal/writer.ts', 'src/store/journal/recovery.test.ts');
const resumed = of('src/store/journal/resumeRows.ts', 'src/store/journal/resumeRows.test.ts');
const segments = of('src/store/journal/segmentQueue.ts', 'src/store/journal/segmentQueue.test.ts');
const reserve = of('src/store/journal/journalReserve.ts', 'src/store/journal/journalReserve.test.ts');
const keptRuns = of('src/store/journal/keptSegmentRegistry.ts', 'src/store/journal/keptRuns.test.ts');
const keptSegments = of(
  'src/store/journal/keptSegmentRegistry.ts',
  'src/store/journal/keptSegmentRegistry.test.ts',
);
const recovery = of('src/store/journal/recovery.ts', 'src/store/journal/writerJournal.test.ts');
const writeRole = of('src/recorder/write/writeRole.ts', 'src/recorder/write/writeRole.test.ts');
const silence = of('src/recorder/watchdog/watchdog.ts', 'src/recorder/watchdog/watchdog.test.ts');
const follower = of('src/recorder/follow/recordFollower.ts', 'src/recorder/follow/recordFollower.test.ts');
const blindness = of('src/recorder/merge/senderSight.ts', 'src/recorder/merge/senderSight.test.ts');
const serialQueue = of('src/recorder/serialQueue.ts', 'src/recorder/serialQueue.test.ts');
const recent = of('src/recorder/recentSnapshotCounter.ts', 'src/recorder/recentSnapshotCounter.test.ts');
const streamSink = of('src/recorder/publish/streamSink.ts', 'src/recorder/publish/streamSink.test.ts');
const outbox = of('src/bus/outbox/outbox.ts', 'src/bus/outbox/outbox.test.ts');
const outboxFile = of('src/bus/outbox/outboxFile.ts', 'src/bus/outbox/outboxFile.test.ts');
const readPosition = of('src/bus/nats/readPosition.ts', 'src/bus/nats/readPosition.test.ts');
const publisher = of('src/bus/nats/orderedPublisher.ts', 'src/bus/nats/orderedPublisher.test.ts');
const ladderHash = of('src/recorder/publish/ladderHash.ts', 'src/recorder/publish/ladderHash.test.ts');
const partWatch = of('src/store/engine/partWatch.ts', 'src/store/engine/partWatch.test.ts');
const partRepair = of('src/store/engine/host/partRepair.ts', 'src/store/engine/host/partRepair.test.ts');
const diskGuard = of('src/store/engine/diskGuard.ts', 'src/store/engine/diskGuard.test.ts');

/** Faults in the recorder (trust, gaps, clocks, the merge of several collectors) and in the journal of the store. */
export const RECORDING_MUTANTS: readonly TestedMutant[] = [
  trust('const MISMATCH_GRACE_MS = 1000;', 'const MISMATCH_GRACE_MS = 1500;'),
  trust('if (gap !== null && this.isStoreDown) return false;', ''),
  trust('|| wasLost());', ');'),
  trust("form === 'late' || form === 'rest'", "form === 'late'"),
  trust('unproven.isOneSided ||', ''),
  overdue(' || unproven.states.wasOverdue', ''),
  trust("const provedBy = asked ? 'rest_book'", "const provedBy = !asked ? 'rest_book'"),
  trust(
    'if (start === null) return;\n    const { receivedTimeMs: knownTimeMs } = action;',
    'if (start !== null) return;\n    const { receivedTimeMs: knownTimeMs } = action;',
  ),
  sequence('this.#last = Math.max(this.#last, seq);', ''),
  gaps('const endTimeMs = Math.max(eventTimeMs, gap.startTimeMs);', 'const endTimeMs = eventTimeMs;'),
  gaps('Math.max(gap.knownTimeMs, startReceivedMs)', 'gap.knownTimeMs'),
  gaps('lastProven.eventTimeMs < gap.startTimeMs', 'lastProven.eventTimeMs > gap.startTimeMs'),
  gaps('if (this.#open.has(gap.marketId)) return;', ''),
  clockStep('this.#offsetMs = offsetMs;\n    return', 'return'),
  watched('yes.frames > this.#framesAtGap[0] &&', 'yes.frames > this.#framesAtGap[0] ||'),
  watched('this.aheadSince = null;\n    this.askedAt', 'this.askedAt'),
  watched('Math.min(...this.#lastFrameAt)', 'Math.max(...this.#lastFrameAt)'),
  watched('this.isSettled = false;\n    this.#noteFrames(0', 'this.#noteFrames(0'),
  turns('nowAt - askedAt < LEFT_AFTER_MS', 'nowAt - askedAt <= LEFT_AFTER_MS'),
  audit('this.#backoff.reset();', ''),
  feedLag('if (lagMs <= LATE_AFTER_MS) this', 'if (lagMs < LATE_AFTER_MS) this'),
  feedLag('lags.length >= 2 && least', 'lags.length >= 1 && least'),
  memory('this.#wasTrusted && this.isProven && this.isReceiving', 'this.#wasTrusted && this.isProven'),
  memory('(this.#eventTimesMs[index] as number) <= atMs', '(this.#eventTimesMs[index] as number) < atMs'),
  memory('(this.#publishedAt[index] as number) < since', '(this.#publishedAt[index] as number) <= since'),
  memory('return kept === KEPT_TIMES_MAX;', 'return false;'),
  memory('if (times === undefined || lagMs <= 0)', 'if (times === undefined)'),
  recorded('return this.#provenTogether ?? this.#first', 'return this.#proven ?? this.#first'),
  recorded(' || this.#provenTogether === null', ''),
  inForce('return !live.followed.mayLackBooks(marketId, { atMs, lagMs });', 'return marketId !== null;'),
  followedPast('mayBeOld || isUnknown ||', 'mayBeOld ||'),
  storedProgress('Math.max(received.waitingMs(partition, streamSeq), ', 'Math.max(0, '),
  storedProgress('oldest.lastSeq = next.lastSeq;', ''),
  memory("bus.subscribe('lateBook', (record) => this.#noteTime(record));", ''),
  lostRows('if (insertedAgain === lostRows) return;', 'if (insertedAgain > 0) return;'),
  resent('if (action.book?.trusted)', 'if (action.book?.mirrored)'),
  sight('sight.lastBooks?.eventTimeMs === eventTimeMs ? sight.lastBooks.keys : []', '[]'),
  prices('.slice(-PRICE_IDS_MAX)', '.slice(0, PRICE_IDS_MAX)'),
  senderRuns('sight.isInDoubt = false;\n  sight.trades = null;', 'sight.isInDoubt = false;'),
  collectors('heardMs < oldest && this.#collectors.size > 1', 'heardMs < oldest'),
  archive('receivedTimeMs - lastMs >= HOLE_MS', 'receivedTimeMs - lastMs > HOLE_MS'),
  unlisted('const { receivedTimeMs } = events[0] ?? event;', 'const { receivedTimeMs } = event;'),
  acceptance(
    'timeMs - row.receivedTimeMs <= COPIES_DROPPED_MS',
    'timeMs - row.receivedTimeMs > COPIES_DROPPED_MS',
  ),
  acceptance(
    'book.eventTimeMs < newest.eventTimeMs) return acceptLate',
    'book.eventTimeMs <= newest.eventTimeMs) return acceptLate',
  ),
  batchFile('if (crc32(record.subarray(0, CRC_AT)) !== record.readUInt32LE(CRC_AT)) return null;', ''),
  scan('previousRun.clean = run.clean;', 'previousRun.clean = true;'),
  missing(
    '< (rows.seqs[row] as number)) missing.add(row);',
    '<= (rows.seqs[row] as number)) missing.add(row);',
  ),
  missing(
    '(rows.seqs[known] as number) <= (rows.seqs[row] as number)',
    '(rows.seqs[known] as number) >= (rows.seqs[row] as number)',
  ),
  rows('Math.floor(timeMs / DAY_MS)', 'Math.round(timeMs / DAY_MS)'),
  rows('this.length + (other.ends[row] as number)', '(other.ends[row] as number)'),
  writer("if (this.#full && kind !== 'gap' && kind !== 'market') {", 'if (this.#full) {'),
  lag('clock.monotonic() - oldest.firstRowAtMs', 'clock.now() - oldest.firstRowAtMs'),
  writer('await this.#journalling;\n    await this.#journalNew();', 'await this.#journalNew();'),
  resumed('row.seq > (proven.get(marketId)?.seq ?? 0)', 'row.seq < (proven.get(marketId)?.seq ?? 0)'),
  resumed('.filter((market) => market.endTimeMs > endAfterMs)', ''),
  resumed('Math.ceil(eventTimeMs / 1000) * 1000', 'Math.floor(eventTimeMs / 1000) * 1000'),
  recovery('this.report.skippedRows -= inserted;', ''),
  segments('i >= first && bytes > MEMORY_BYTES_MAX', 'i > first && bytes > MEMORY_BYTES_MAX'),
  reserve('if (size > bytes) await file.truncate(bytes);', ''),
  keptSegments('bytes -= segment.bytes;\n      return true', 'return true'),
  writeRole('await done;\n', ''),
  storedProgress('received.forgetStored(partition, streamSeq);', ''),
  silence('clock.monotonic() - watched.lastFrameAt -', 'clock.monotonic() + watched.lastFrameAt -'),
  watched('this.lastFrameAt > this.aheadSince ? null', 'this.lastFrameAt < this.aheadSince ? null'),
  audit("if (answer.eventTimeMs < ours.timeMs) return 'behind';", ''),
  unlisted('if (isYes === false) sighting.noTokenId ??= tokenId;', ''),
  follower(
    'this.#markets.delete(marketId);\n      this.#gaps.delete(marketId);',
    'this.#markets.delete(marketId);',
  ),
  blindness(
    'const isInside = eventTimeMs > start.eventTimeMs &&',
    'const isInside = eventTimeMs >= start.eventTimeMs &&',
  ),
  prices(
    'timeMs - body.receivedTimeMs > COPIES_DROPPED_MS) {',
    'timeMs - body.receivedTimeMs >= COPIES_DROPPED_MS) {',
  ),
  prices('owner.heardMs <= OUTDATED_MAX_MS', 'owner.heardMs < OUTDATED_MAX_MS'),
  prices('if (isSame || isOutdated)', 'if (isOutdated)'),
  serialQueue('this.#working = true;', ''),
  recent(' || receivedTimeMs > this.latestTimeMs', ''),
  streamSink("known.doubtful = [];\n    this.#publish('gap'", "this.#publish('gap'"),
  streamSink('if (endTimeMs < endedBefore)', 'if (endTimeMs > endedBefore)'),
  outbox('messages is removed.\n      await this.#loadNextIfSent();', 'messages is removed.'),
  outbox('if (writing.count === 0) this.#files.push(writing);', 'this.#files.push(writing);'),
  outboxFile('await handle.truncate(this.#length).catch(() => undefined);', ''),
  readPosition('this.#next = streamSeq + 1;', 'this.#next = streamSeq + 2;'),
  diskGuard('this.#space.freeBytes - this.#reserve());', 'this.#space.freeBytes);'),
  partWatch('      this.#uncovered = lost;', ''),
  partWatch('      this.#uncovered = [];', ''),
  partWatch('LostPart[] | null = null;', 'LostPart[] | null = [];'),
  partRepair('Math.max(fromMs, Math.min(fromMs + DAY_MS - 1, nowMs))', 'fromMs + DAY_MS - 1'),
  partRepair(
    'Math.max(fromMs, Math.min(fromMs + DAY_MS - 1, nowMs))',
    'Math.min(fromMs + DAY_MS - 1, nowMs)',
  ),
  publisher('this.#inFlightBytes -= message.payload.length;', ''),
  ladderHash('hash.update(`', 'void (`'),
  keptRuns('ofOther === -1 ? waiting : waiting.slice(0, ofOther)', 'waiting'),
];
