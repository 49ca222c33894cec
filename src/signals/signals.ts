/** The signals role: detectors on the bus, the audit they write to, and the readers of both. */

import type { Publisher, Subscriber } from '../bus/bus.ts';
import type { Database } from '../control/schema.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import { type ResumedStore, resumedSecondPrices } from '../store/journal/resumeRows.ts';
import { AuditFinisher } from './auditFinisher.ts';
import { AuditLog } from './auditLog.ts';
import { AuditReader } from './auditReader.ts';
import { AuditSink } from './auditSink.ts';
import { DetectorHost, type ShownBook } from './detectorHost.ts';
import { type Board, LiveBoard } from './liveBoard.ts';

/** Prices before the start used for the volatility. */
const HISTORY_MS = 3_600_000;
/** Unpublished rows of an earlier run; no more than this were written right before a crash. */
const UNPUBLISHED_MAX = 1_000;

interface SignalsOptions {
  readonly database: Database;
  readonly store: ResumedStore;
  /** Age of the oldest received row that is not in the store. */
  readonly storeLagMs?: () => number;
  readonly bus: Publisher & Subscriber;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Markets being recorded, and their newest published books. */
  readonly markets: () => Iterable<Market>;
  readonly bookOf: (marketId: string) => ShownBook | 'unfinished' | null;
}

/** The parts that the API reads. */
export interface SignalReaders {
  readonly board: Board;
  readonly audit: Pick<AuditReader, 'sums' | 'list' | 'head'>;
}

export interface Signals extends SignalReaders {
  /** Stops detecting, then waits for queued writes. */
  close(): Promise<void>;
}

/**
 * Starts the detectors. First it loads the state of an earlier run, then it subscribes to the bus, then it publishes
 * the rows that the earlier run had written but not published.
 * @throws If the control database cannot be read.
 */
export async function startSignals(options: SignalsOptions): Promise<Signals> {
  const { database, store, bus, clock, log, metrics, storeLagMs = () => 0 } = options;
  const parts = { clock, log, metrics };
  const [audit, reader] = [new AuditLog(database, clock), new AuditReader(database)];
  const sink = new AuditSink({ ...parts, audit, reader, bus });
  const known = await reader.ofOpenMarkets(clock.now());
  const unpublished = await reader.unpublished(UNPUBLISHED_MAX);
  const host = new DetectorHost({ clock, metrics, sink, known, bookOf: options.bookOf });
  const finisher = new AuditFinisher({ ...parts, audit, reader, store, storeLagMs });
  await primeVolatility(host, options);
  for (const market of options.markets()) host.onMarket(market);
  const subscriptions = [
    bus.subscribe('market', (market) => {
      host.onMarket(market);
      finisher.onMarket(market);
    }),
    bus.subscribe('book', (record) => host.onBook(record)),
    bus.subscribe('quote', (record) => host.onQuote(record)),
    bus.subscribe('gap', (gap) => host.onGap(gap)),
    bus.subscribe('underlying', (event) => host.onPrice(event)),
    bus.subscribe('receiving', (receiving) => host.onReceiving(receiving)),
  ];
  for (const { detection } of unpublished) await sink.publish(detection);
  void finisher.round();
  return {
    board: new LiveBoard(host, clock),
    audit: reader,
    close: async () => {
      for (const unsubscribe of subscriptions) unsubscribe();
      host.close();
      await sink.close();
      await finisher.close();
    },
  };
}

/** Without an answer from the store there is no volatility for half a minute, but the signals start. */
async function primeVolatility(host: DetectorHost, { store, clock, log }: SignalsOptions): Promise<void> {
  try {
    host.prime(await resumedSecondPrices(store, clock.now() - HISTORY_MS));
  } catch (error) {
    log.warn({ err: error }, 'signals.history_missing');
  }
}
