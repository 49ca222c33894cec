/** A deliberate fault of one line, and the test file that must fail because of it. */
interface TestedMutant {
  readonly file: string;
  readonly search: string;
  readonly replacement: string;
  readonly test: string;
}

const of =
  (file: string, test: string) =>
  (search: string, replacement: string): TestedMutant => ({ file, search, replacement, test });

const trust = of('src/recorder/bookTrust.ts', 'src/recorder/bookTrust.test.ts');
const ledger = of('src/core/ledger.ts', 'src/core/ledger.test.ts');
const sequence = of('src/recorder/sequence.ts', 'src/recorder/resume.test.ts');
const schedule = of('src/webhooks/delivery/schedule.ts', 'src/webhooks/delivery/dispatcher.test.ts');
const queue = of('src/webhooks/delivery/deliveryQueue.ts', 'src/webhooks/delivery/dispatcher.test.ts');
const mispricing = of('src/core/signals/mispricing.ts', 'src/core/signals/mispricing.test.ts');
const endgame = of('src/core/signals/endgame.ts', 'src/core/signals/endgame.test.ts');
const bookHash = of('src/venues/polymarket/book/bookHash.ts', 'src/venues/polymarket/book/bookHash.test.ts');
const unproven = of(
  'src/venues/polymarket/book/unprovenState.ts',
  'src/venues/polymarket/book/unprovenState.test.ts',
);

/** Faults in the core, the venues, trading and webhooks. */
export const MUTANTS: readonly TestedMutant[] = [
  trust('const MISMATCH_GRACE_MS = 1000;', 'const MISMATCH_GRACE_MS = 1500;'),
  trust('if (gap !== null && this.isStoreDown) return false;', ''),
  trust('|| wasLost)', ')'),
  trust("form === 'late' || form === 'rest'", "form === 'late'"),
  trust('unproven.isOneSided ||', ''),
  trust("const provedBy = asked ? 'rest_book'", "const provedBy = !asked ? 'rest_book'"),
  trust(
    'if (start === null) return;\n    const { receivedTimeMs: knownTimeMs } = action;',
    'if (start !== null) return;\n    const { receivedTimeMs: knownTimeMs } = action;',
  ),
  unproven('this.#trades.add(tradePriceText(price));', ''),
  unproven('if (this.#tokens.every(', 'if (this.#tokens.some('),
  sequence('this.#last = Math.max(this.#last, seq);', ''),
  ledger('cash: -principal - fee', 'cash: -principal + fee'),
  ledger('won: cost - proceeds', 'won: proceeds - cost'),
  ledger('return 0 - this.#won;', 'return this.#won;'),
  ledger('this.deposit = whole(deposit);', 'this.deposit = whole(0);'),
  schedule('const RETRY_JITTER = 0.2;', 'const RETRY_JITTER = 0.3;'),
  schedule('Math.min(step, RETRY_DELAYS_MS.length) - 1', 'Math.min(step, RETRY_DELAYS_MS.length - 1)'),
  schedule('return Math.max(delayMs,', 'return Math.min(delayMs,'),
  queue('FAILURES_MAX - this.#failures', 'FAILURES_MAX'),
  queue("if (status === GONE) return { delivery, state: 'failed' };", ''),
  mispricing('const MODEL_EDGE_MIN = 0.04;', 'const MODEL_EDGE_MIN = 0.05;'),
  mispricing('secondsLeft < MODEL_SECONDS_MIN', 'secondsLeft <= MODEL_SECONDS_MIN'),
  mispricing('price > MODEL_PRICE_MAX', 'price >= MODEL_PRICE_MAX'),
  mispricing('if (!trusted ||', 'if ('),
  endgame('const ENDGAME_CERTAINTY_MIN = 0.95;', 'const ENDGAME_CERTAINTY_MIN = 0.9;'),
  endgame('const ENDGAME_SOURCES_MIN = 2;', 'const ENDGAME_SOURCES_MIN = 1;'),
  endgame('> ENDGAME_ASK_MAX', '>= ENDGAME_ASK_MAX'),
  endgame('if (!trusted ||', 'if ('),
  bookHash("book.version === 'v2'", "book.version === 'v1'"),
  bookHash('"hash":"",', '"hash":"0",'),
];
