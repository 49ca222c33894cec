/** How fast waiting journal segments are inserted into the engine. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import type { StoreWriter } from '../src/store/journal/writer.ts';
import { openStore, type Store } from '../src/store/store.ts';
import type { Figure } from './figure.ts';
import { bookSource } from './storeBooks.ts';

const START_MS = Date.UTC(2026, 10, 20, 6);
const WAITING_SECONDS = 120;
/** Rows of one second at 900 venue frames. */
const BOOKS_A_SECOND = 900;
const LEVELS = 50;
const POLL_MS = 20;

export async function backlog(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-bench-'));
  let mayInsert = false;
  const options = { dataDir, clickhouseUrl: null, clock: systemClock, log: silentLogger };
  const store = await openStore({ ...options, metrics: new Metrics(), mayInsert: () => mayInsert });
  try {
    await fill(store.writer);
    const started = performance.now();
    mayInsert = true;
    await store.writer.flush();
    const seconds = (performance.now() - started) / 1_000;
    await checkRows(store);
    const value = WAITING_SECONDS / seconds;
    const name = `drain ${WAITING_SECONDS} s of waiting segments at ${BOOKS_A_SECOND} frames/s`;
    return [{ name, value, unit: 'x real time', goal: '>= 10' }];
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Writes one segment per second to the journal. */
async function fill(writer: StoreWriter): Promise<void> {
  const source = bookSource({ markets: 45, levels: LEVELS, seed: 5 });
  let seq = 0;
  for (let second = 0; second < WAITING_SECONDS; second++) {
    for (let change = 0; change < BOOKS_A_SECOND; change++) {
      const timeMs = START_MS + second * 1_000 + change;
      const times = { eventTimeMs: timeMs, receivedTimeMs: timeMs };
      writer.book(source.next(++seq, timeMs));
      if (change % 2 === 0) {
        const price = 97_000 + change;
        writer.underlying({
          kind: 'underlying',
          seq: ++seq,
          ticker: 'BTC',
          source: 'binance_spot',
          price,
          ...times,
        });
        const quote = { yesBid: 4_000, yesAsk: 4_100, noBid: 5_900, noAsk: 6_000, yesChanged: true };
        const marketId = source.marketIds[change % source.marketIds.length] as string;
        writer.quote({ seq: ++seq, marketId, ...times, ...quote, trusted: true, underlyingPrice: price });
      }
    }
    // Closes the segment; it waits, because inserts are not allowed yet.
    void writer.flush();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function checkRows(store: Store): Promise<void> {
  const [row] = await store.rows<{ n: number }>('SELECT count() AS n FROM books');
  const wanted = WAITING_SECONDS * BOOKS_A_SECOND;
  if (row?.n !== wanted) throw new Error(`${row?.n} of ${wanted} rows arrived`);
}
