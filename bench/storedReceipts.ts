import { Agent } from 'node:http';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { StoreClient } from '../src/store/engine/client.ts';
import { socketPath } from '../src/store/engine/paths.ts';

/** Wall time, Unix milliseconds. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A client of the engine that a running service started on a data directory. */
export function engineClient(dataDir: string): StoreClient {
  const agent = new Agent({ keepAlive: true, ...{ socketPath: socketPath(dataDir) } });
  const access = {
    ...{ url: 'http://engine.local', agent, streamAgent: agent, hostPid: null },
    ...{ whenReady: async () => undefined, close: async () => undefined },
  };
  return new StoreClient({ access, clock: systemClock, log: silentLogger });
}

/**
 * Milliseconds from the venue's time of a book to its receipt, 99 %, of the stored books received in these spans; NaN
 * if there is none.
 */
export async function receiptP99(spans: readonly Span[], store: StoreClient): Promise<number> {
  const [row] = await store.rows<{ p99: number | null }>(
    `SELECT quantileExactOrNull(0.99)(toUnixTimestamp64Milli(received) - toUnixTimestamp64Milli(ts)) AS p99 FROM books
     WHERE arrayExists(span -> toUnixTimestamp64Milli(received) >= span.1 AND toUnixTimestamp64Milli(received) < span.2,
       arrayZip({from:Array(Int64)}, {to:Array(Int64)}))`,
    { from: spans.map(({ fromMs }) => fromMs), to: spans.map(({ toMs }) => toMs) },
  );
  return Number(row?.p99 ?? Number.NaN);
}
