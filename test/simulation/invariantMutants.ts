import type { CheckName } from './checks/check.ts';

/** A deliberate fault in one module. */
export interface Mutant {
  readonly file: string;
  readonly search: string;
  readonly replacement: string;
}

/** For each check a fault that only this check finds. */
export const INVARIANT_MUTANTS: Readonly<Record<CheckName, Mutant>> = {
  // A row shows another market side than the book.
  book_equals_truth: {
    file: 'src/recorder/recordedMarket.ts',
    search: '      yes: book.yes,\n      no: book.no,\n      mirrored: book.mirrored,',
    replacement:
      '      yes: { bids: book.yes.bids, asks: book.no.asks },\n      no: book.no,\n      mirrored: false,',
  },
  // A loss that is healed within a second is no gap.
  lost_rows_in_gaps: {
    file: 'src/recorder/bookTrust.ts',
    search: 'if (wasWrong || unproven.wasOverdue)',
    replacement: 'if (!wasWrong && unproven.wasOverdue)',
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
};
