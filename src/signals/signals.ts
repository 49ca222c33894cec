/** The signals role: detectors on the bus, the audit they write to, and the readers of both. */

import type { Subscriber } from '../bus/bus.ts';
import { ALWAYS_ELECTED } from '../bus/fixedElections.ts';
import type { Election } from '../bus/recordStream.ts';
import type { Database } from '../control/schema.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import type { Opportunity } from '../schema/opportunity.ts';
import { type ResumedStore, resumedSecondPrices } from '../store/journal/resumeRows.ts';
import { AuditFinisher } from './auditFinisher.ts';
import { AuditLog } from './auditLog.ts';
import { AuditReader } from './auditReader.ts';
import { AuditSink } from './auditSink.ts';
import { auditIdOf } from './detection.ts';
import { DetectorHost, type KnownDetection, type ShownBook } from './detectorHost.ts';
import { ElectedSink } from './electedSink.ts';
import { type Board, LiveBoard } from './liveBoard.ts';
import type { OpportunityPublisher } from './opportunityPublisher.ts';
import { Takeover } from './takeover.ts';
import { WrittenRows } from './writtenRows.ts';

/** Prices before the start used for the volatility. */
const HISTORY_MS = 3_600_000;

interface SignalsOptions {
  readonly database: Database;
  readonly store: ResumedStore;
  /** Age of the oldest received row that is not in the store. */
  readonly storeLagMs?: () => number;
  readonly bus: OpportunityPublisher & Subscriber;
  /** Elects the process that writes; without it, this one does. */
  readonly election?: Election;
  /**
   * Publishes what was written; without it, `bus` does. Whatever publishes it, an opportunity must arrive on `bus` of
   * every process.
   */
  readonly publisher?: OpportunityPublisher;
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
  readonly audit: Pick<AuditReader, 'sums' | 'list' | 'oldest' | 'head'>;
}

export interface Signals extends SignalReaders {
  /** Stops detecting, then waits for queued writes. */
  close(): Promise<void>;
}

/**
 * Starts the detectors. First it loads the state of an earlier run, then it subscribes to the bus. The process that is
 * elected then publishes the rows that the last one had written but not published, and writes what it detects; the
 * others show what that process writes.
 * @throws If the control database cannot be read.
 */
export async function startSignals(options: SignalsOptions): Promise<Signals> {
  const { database, store, bus, clock, log, metrics, storeLagMs = () => 0 } = options;
  const { election = ALWAYS_ELECTED, publisher = bus } = options;
  const parts = { clock, log, metrics };
  const [audit, reader] = [new AuditLog(database, clock), new AuditReader(database)];
  const writer = new AuditSink({ ...parts, audit, reader, publisher, isQueued: publisher !== bus });
  const rows = new WrittenRows({ ...parts, reader });
  const sink = new ElectedSink(writer, rows);
  const known = await reader.ofOpenMarkets(clock.now());
  const host = new DetectorHost({ clock, metrics, sink, known, bookOf: options.bookOf });
  await primeVolatility(host, options);
  for (const market of options.markets()) host.onMarket(market);
  const finisher = () => new AuditFinisher({ ...parts, audit, reader, store, storeLagMs });
  const takeover = new Takeover({ ...parts, election, reader, host, sink, audit: writer, finisher });
  const onOpportunity = (opportunity: Opportunity) => {
    const row = rowOf(opportunity);
    void writer.onHeard(row.auditId);
    if (sink.isElected) return;
    host.onWritten(row);
    rows.onWritten(row.auditId, row);
  };
  const subscriptions = [
    bus.subscribe('market', (market) => {
      host.onMarket(market);
      takeover.onMarket(market);
    }),
    bus.subscribe('book', (record) => host.onBook(record)),
    bus.subscribe('quote', (record) => host.onQuote(record)),
    bus.subscribe('gap', (gap) => host.onGap(gap)),
    bus.subscribe('underlying', (event) => host.onPrice(event)),
    bus.subscribe('receiving', (receiving) => host.onReceiving(receiving)),
    bus.subscribe('opportunity', onOpportunity),
  ];
  await takeover.settled();
  return {
    board: new LiveBoard(host, clock),
    audit: reader,
    close: async () => {
      for (const unsubscribe of subscriptions) unsubscribe();
      host.close();
      await takeover.close();
      await rows.close();
      await writer.close();
    },
  };
}

function rowOf({ market_id: marketId, tier, direction, detected_at }: Opportunity): KnownDetection {
  return {
    auditId: auditIdOf(marketId, tier),
    marketId,
    tier,
    direction,
    detectedMs: Date.parse(detected_at),
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
