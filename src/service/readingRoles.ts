import { randomBytes } from 'node:crypto';
import { openJobControl, startBacktests } from '../backtest/service.ts';
import { NEVER_ELECTED } from '../bus/fixedElections.ts';
import type { Election } from '../bus/recordStream.ts';
import type { Config, Role } from '../config.ts';
import type { Database } from '../control/schema.ts';
import { isScarce } from '../ops/systemFindings.ts';
import type { OpportunityPublisher } from '../signals/opportunityPublisher.ts';
import { type Signals, startSignals } from '../signals/signals.ts';
import { storedRecording } from '../trading/catchUp/recording.ts';
import { type PaperTrading, startPaper } from '../trading/paper/service.ts';
import { openWebhookControl, startWebhooks } from '../webhooks/delivery/service.ts';
import { Closers } from './closers.ts';
import type { NodeOptions } from './nodeOptions.ts';
import type { RecordingSource } from './recordingSource.ts';
import { statusUrl, systemFindings } from './systemFindings.ts';

/** What divides the work of several processes; left out, this process does all of it. */
export interface Division {
  readonly election: Election;
  /** Publishes opportunities to all processes. */
  readonly publisher: OpportunityPublisher;
}

export interface ReadingOptions extends NodeOptions {
  readonly database: Database;
  readonly division: Division | null;
}

/** The roles that read the recording, each at work here or, for the API, as its records in the databases. */
export interface ReadingRoles {
  readonly signals: Signals;
  readonly webhooks: ReturnType<typeof openWebhookControl>;
  readonly backtests: ReturnType<typeof openJobControl>;
  readonly paper: PaperTrading['paperStrategies'];
  close(): Promise<void>;
}

/**
 * Starts the roles of this process that read the recording.
 * @throws {StoreUnavailableError} When a database does not answer.
 */
export async function startReadingRoles(
  recording: RecordingSource,
  options: ReadingOptions,
): Promise<ReadingRoles> {
  const { config, division, random } = options;
  const { store, live, bus, storeLagMs, stored } = recording;
  const has = (role: Role) => config.roles.includes(role);
  const common = { ...options, randomBytes };
  const closers = new Closers();
  const electionOf = (role: Role) => (has(role) ? {} : { election: NEVER_ELECTED });
  try {
    // Before the detectors, so that no opportunity is published without a subscriber.
    const system = { findings: systemFindings(recording, options), url: statusUrl(config) };
    const sending = has('webhooks') ? await startWebhooks({ ...common, bus, random, system }) : null;
    if (sending !== null) closers.add(() => sending.close());
    const bookOf = (marketId: string) => live.recorded(marketId)?.liveBook() ?? null;
    const markets = () => live.markets();
    const detecting = {
      ...common,
      markets,
      bookOf,
      store,
      storeLagMs,
      bus,
      ...division,
      ...electionOf('signals'),
    };
    const signals = await startSignals(detecting);
    closers.add(() => signals.close());
    const isDiskScarce = jobDiskIsScarce(recording, config);
    const running = has('backtest') ? await startBacktests({ ...common, store, stored, isDiskScarce }) : null;
    if (running !== null) closers.add(() => running.close());
    const backtests = running?.control ?? openJobControl({ ...common, isDiskScarce });
    const past = storedRecording(store, { stored });
    const trading = {
      ...common,
      recording: past,
      markets,
      bus,
      backtests,
      ...division,
      ...electionOf('paper'),
    };
    const paper = await startPaper(trading);
    closers.add(() => paper.close());
    const webhooks = sending ?? openWebhookControl(common);
    return { signals, webhooks, backtests, paper: paper.paperStrategies, close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

/** Jobs are in the data directory, on the disk of the recording; with PostgreSQL they are on a disk of its own. */
function jobDiskIsScarce({ disks }: RecordingSource, { databaseUrl }: Config): () => Promise<boolean> {
  return async () => databaseUrl === null && (await disks()).some(isScarce);
}
