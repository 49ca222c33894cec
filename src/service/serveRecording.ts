import { randomBytes } from 'node:crypto';
import { type Accounts, openAccounts } from '../accounts/accounts.ts';
import type { Database } from '../control/schema.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import type { DataSource } from '../http/lifecycle.ts';
import { watchBackups } from '../ops/backupRecord.ts';
import { type HistoryState, historyLines } from '../ops/historyProgress.ts';
import { Readiness } from '../ops/readiness.ts';
import { StoreProbe } from '../ops/storeProbe.ts';
import type { Clock } from '../runtime/clock.ts';
import { recordedBooks, StreamHub } from '../stream/streamHub.ts';
import { Closers } from './closers.ts';
import type { NodeOptions } from './nodeOptions.ts';
import { type Division, startReadingRoles } from './readingRoles.ts';
import type { RecordingSource } from './recordingSource.ts';
import { serveApi, serveStatus } from './serveApi.ts';

/** A running process of the service. */
export interface Service {
  /** The address that accepts requests, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Null in a process without an API. */
  readonly accounts: Accounts | null;
  /** Stops feeds, answers requests in flight and writes the recorded data to the store. */
  close(): Promise<void>;
}

interface ServingOptions extends NodeOptions {
  readonly dataSource: DataSource;
  readonly history?: HistoryState;
  /** Left out: this process does everything. */
  readonly division?: Division;
  /** Adds the reasons for which other parts of this process do not work. */
  readonly addChecks?: (readiness: Readiness) => void;
}

/** Starts everything that reads the recording, the API last. The recording belongs to the caller if this fails. */
export async function serveRecording(recording: RecordingSource, options: ServingOptions): Promise<Service> {
  const parts = new Closers();
  try {
    const { url, accounts } = await startParts(recording, options, parts);
    recording.listening();
    const ends = new Closers();
    // Stops new frames, then writes the recorded data to disk; the store answers requests until then.
    ends.add(() => recording.close());
    ends.add(() => parts.close());
    ends.add(() => recording.stopReceiving());
    return { url, accounts, close: () => ends.close() };
  } catch (error) {
    await parts.close().catch(() => undefined);
    throw error;
  }
}

/** @param parts Each part is added once it is started, so that the caller can close them if a later one fails. */
async function startParts(
  recording: RecordingSource,
  options: ServingOptions,
  parts: Closers,
): Promise<Pick<Service, 'url' | 'accounts'>> {
  const { config, log, metrics, clock, history = () => null, division = null } = options;
  const hasApi = config.roles.includes('api');
  const database = await openControlDatabase(config);
  const opening = openAccounts({ database, config, clock, randomBytes, logger: log, metrics });
  const accounts = await opening.catch(async (error: unknown) => {
    await database.destroy();
    throw error;
  });
  parts.add(() => accounts.close());
  const probe = new StoreProbe({ clock, ask: () => recording.store.rows('SELECT 1') });
  parts.add(async () => probe.stop());
  const control = probeOf(database, clock);
  parts.add(async () => control.stop());
  const readiness = new Readiness();
  readiness.addReasons(() => probe.reasons());
  readiness.addReasons(() => control.reasons());
  recording.addChecks(readiness);
  options.addChecks?.(readiness);
  readiness.addDegraded(() => historyLines(history()));
  const limits = { dataDir: config.dataDir, maxAgeDays: config.backupMaxAgeDays };
  const backups = await watchBackups(limits, { readiness, clock, log, metrics });
  parts.add(async () => backups.stop());
  // Before the detectors, so that no opportunity is published without a subscriber.
  const streams = hasApi ? openStreams(recording, { ...options, accounts }) : null;
  const reading = { ...options, database, division };
  const roles = await startReadingRoles(recording, reading);
  parts.add(() => roles.close());
  const serving = await (streams
    ? serveApi(recording, { ...reading, accounts, roles, streams, readiness, history })
    : serveStatus(options, readiness));
  parts.add(() => serving.close());
  return { url: serving.url, accounts: hasApi ? accounts : null };
}

function probeOf(database: Database, clock: Clock): StoreProbe {
  // SQLite answers a query without a table even when its file cannot be read.
  const ask = () => database.selectFrom('settings').select('name').limit(1).execute();
  return new StoreProbe({ clock, ask, name: 'the control database' });
}

function openStreams(
  { bus, live, shared }: RecordingSource,
  { config, accounts, clock, log, metrics }: ServingOptions & { readonly accounts: Accounts },
): StreamHub {
  const { liveKeys } = accounts;
  const run = randomBytes(6).toString('hex');
  const together = shared && { baseSeq: shared.baseSeq, startSeq: shared.newestSeq() };
  const streamed = { tickers: config.tickers, run, shared: together, bus, books: recordedBooks(live) };
  return new StreamHub({ ...streamed, liveKeys, clock, log, metrics });
}
