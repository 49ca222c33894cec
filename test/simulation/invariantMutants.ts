import type { CHECKS, CLUSTER_CHECKS } from './checks/check.ts';

/** A deliberate fault in one module. */
export interface Mutant {
  readonly file: string;
  readonly search: string;
  readonly replacement: string;
}

/** For each check of one process a fault that only this check finds. */
export const INVARIANT_MUTANTS: Readonly<Record<(typeof CHECKS)[number], Mutant>> = {
  // A quote has another best ask than the book. The API would show a wrong book too.
  book_equals_truth: {
    file: 'src/recorder/recordedMarket.ts',
    search: '      yesBid,\n      yesAsk,\n      noBid,',
    replacement: '      yesBid,\n      yesAsk: noAsk,\n      noBid,',
  },
  // A loss that is healed within a second is no gap.
  lost_rows_in_gaps: {
    file: 'src/recorder/bookTrust.ts',
    search: 'if (wasWrong || wasOverdue)',
    replacement: 'if (!wasWrong && wasOverdue)',
  },
  // A proven state is trusted although its gap stays open.
  no_trust_in_gaps: {
    file: 'src/recorder/bookTrust.ts',
    search: 'if (this.#isLate(recorded.market)) return false;',
    replacement: 'if (this.#isLate(recorded.market)) return true;',
  },
  // Nobody asks for the book of a market in a gap.
  books_recover: {
    file: 'src/recorder/watchdog/watchdog.ts',
    search: 'if (this.#mayClose(watched, gap)) this.#requestBook(watched, nowAt);',
    replacement: 'if (watched !== null) return;',
  },
  // A signal is published, then written.
  audited_before_published: {
    file: 'src/signals/auditSink.ts',
    search: "const written = await this.#write('detected', auditId, () => audit.detected(detection));",
    replacement:
      "this.#options.publisher.publish('opportunity', opportunityOf(detection) as Opportunity);\n" +
      "    const written = await this.#write('detected', auditId, () => audit.detected(detection));",
  },
  // A repeated write of a session adds its profit again.
  money_conserved: {
    file: 'src/trading/paper/positions.ts',
    search: "net_pnl_micro: own('net_pnl_micro', '+', after.pnl - before.pnl),",
    replacement: "net_pnl_micro: own('net_pnl_micro', '+', after.pnl),",
  },
  // Detectors ignore open gaps.
  no_signal_or_fill_in_gaps: {
    file: 'src/signals/watchedMarket.ts',
    search: 'return this.hasBook && this.isProven && this.openGaps.size === 0;',
    replacement: 'return this.hasBook;',
  },
  // Of several webhooks only the first gets an event.
  deliveries_arrive: {
    file: 'src/webhooks/delivery/outbox.ts',
    search: 'return by.map(({ webhookId }) =>',
    replacement: 'return by.slice(0, 1).map(({ webhookId }) =>',
  },
  // Live trading does not see that a gap has ended.
  live_equals_replay: {
    file: 'src/trading/live/paperMarket.ts',
    search: '    this.#gapEnds.add(endMs);',
    replacement: '    void endMs;',
  },
  // Asks of NO are printed as its bids.
  api_books_equal_truth: {
    file: 'src/stream/bookText.ts',
    search: 'fill(row.noAsks, book.no.asks);',
    replacement: 'fill(row.noAsks, book.no.bids);',
  },
  // A past book is trusted although a newer one of that time waits for the store.
  api_equals_published: {
    file: 'src/api/bookInForce.ts',
    search: 'return !live.followed.mayLackBooks(marketId, { atMs, lagMs });',
    replacement: 'return marketId !== null;',
  },
  // A signal is linked to itself instead of the one before it.
  api_signals_audited: {
    file: 'src/api/arbAudit.ts',
    search: 'prev_hash: prevHash,',
    replacement: 'prev_hash: hash,',
  },
  // The service is ready whatever the reasons are.
  api_ready_means_working: {
    file: 'src/ops/readiness.ts',
    search: 'ok: reasons.length === 0,',
    replacement: 'ok: reasons.length >= 0,',
  },
  // An engine that is away is an internal error.
  api_answers_documented: {
    file: 'src/http/errors.ts',
    search: 'status: 502, detail',
    replacement: 'status: 500, detail',
  },
};

/** The same for the checks of several collectors: the faults are in the merge. */
export const MERGE_MUTANTS: Readonly<Record<(typeof CLUSTER_CHECKS)[number], Mutant>> = {
  // A merged book shows the levels of the other token.
  book_equals_truth: {
    file: 'src/recorder/merge/rowAcceptance.ts',
    search: 'record: { ...book, seq: seq(1) }, isLate: false });',
    replacement: 'record: { ...book, yes: book.no, seq: seq(1) }, isLate: false });',
  },
  // The gaps of the senders are ignored.
  lost_rows_in_gaps: {
    file: 'src/recorder/merge/streamMerge.ts',
    search: 'noteGap(sightOf(market, sender), message.body);',
    replacement: 'void noteGap;',
  },
  // No merged gap ends.
  books_recover: {
    file: 'src/recorder/merge/mergedGaps.ts',
    search: 'endTimeMs: end === null ? null : end.eventTimeMs,',
    replacement: 'endTimeMs: null,',
  },
  // A saved state has no quotes.
  readers_agree: {
    file: 'src/recorder/merge/streamMerge.ts',
    search: 'markets: [...this.#markets.values()],',
    replacement: 'markets: [...this.#markets.values()].map((market) => ({ ...market, quote: null })),',
  },
  // A late book is live.
  live_never_goes_back: {
    file: 'src/recorder/merge/rowAcceptance.ts',
    search: 'record, isLate: true } as const;',
    replacement: 'record, isLate: false } as const;',
  },
  // The book with which trust returns is not recognised.
  no_book_twice: {
    file: 'src/recorder/merge/rowAcceptance.ts',
    search: 'if (isRepeated && newest.ladderHash === ladderHash) return true;',
    replacement: 'if (isRepeated) return false;',
  },
};
