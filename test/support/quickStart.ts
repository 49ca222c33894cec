import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bookRecord, marketRecord } from './api.ts';
import { PROJECT_ROOT } from './sourceFiles.ts';
import { openTestStore, type TestStore } from './store.ts';

const T0 = Date.UTC(2026, 10, 20, 11);
export const QUICK_MARKET = `0x${'aa'.repeat(32)}`;
/** When its window ends, as the API writes it. */
export const QUICK_END = '2026-11-20T11:05:00.000+00:00';
/** The lines that the quick start of each client prints about the recording below. */
export const QUICK_LINES = [
  'btc-updown-5m-1795172400 Up 2 trades',
  '2026-11-20T11:00:00.000+00:00 0.5 0.53',
  '2026-11-20T11:00:01.000+00:00 0.51 0.53',
];

/**
 * A recording of one resolved market: two books and two trades.
 * @param outcome With `Down` the last book has no bids for Up, as at the end of such a window.
 */
export async function quickStartStore(outcome: 'Up' | 'Down' = 'Up'): Promise<TestStore> {
  const opened = await openTestStore();
  const { writer } = opened.store;
  const window = { startTimeMs: T0, endTimeMs: T0 + 300_000 };
  const payoutYes = outcome === 'Up' ? 1 : 0;
  const resolved = { status: 'resolved', outcome, payoutYes, resolvedTimeMs: T0 + 330_000 } as const;
  const slug = 'btc-updown-5m-1795172400';
  let seq = 0;
  writer.market({ ...marketRecord({ marketId: QUICK_MARKET, slug, ...window, ...resolved }), seq: ++seq });
  for (const [index, bid] of [5000, 5100].entries()) {
    const at = { seq: ++seq, marketId: QUICK_MARKET, timeMs: T0 + index * 1000 };
    writer.book(bookRecord({ ...at, yesBids: [[bid, 1e6]], yesAsks: [[5300, 8e6]] }));
    const times = { eventTimeMs: at.timeMs, receivedTimeMs: at.timeMs + 40 };
    const trade = { price: 5300, size: 1e6, side: 'BUY_YES', tradeId: `t${index}` } as const;
    writer.trade({ seq: ++seq, marketId: QUICK_MARKET, ...times, ...trade });
  }
  if (outcome === 'Down') {
    const last = { seq: ++seq, marketId: QUICK_MARKET, timeMs: T0 + 299_000 };
    writer.book(bookRecord({ ...last, yesBids: [], yesAsks: [[10, 8e6]] }));
  }
  await writer.flush();
  return opened;
}

/** The first example of a page in a language. */
export function exampleOf(path: string, language: string): string {
  const page = readFileSync(join(PROJECT_ROOT, path), 'utf8');
  const [, code] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  if (code === undefined) throw new Error(`${path} has no ${language} example`);
  return code;
}
