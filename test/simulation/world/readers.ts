import type { Bus } from '../../../src/bus/bus.ts';
import type { Database } from '../../../src/control/schema.ts';
import type { MarketMemory } from '../../../src/recorder/marketMemory.ts';
import type { Recorder } from '../../../src/recorder/recorder.ts';
import { DEFAULT_TICKERS } from '../../../src/schema/market.ts';
import { type Signals, startSignals } from '../../../src/signals/signals.ts';
import type { ResumedStore } from '../../../src/store/journal/resumeRows.ts';
import type { Recording } from '../../../src/trading/catchUp/recording.ts';
import { type PaperTrading, startPaper } from '../../../src/trading/paper/service.ts';
import { WebhookDirectory } from '../../../src/webhooks/delivery/directory.ts';
import { Dispatcher } from '../../../src/webhooks/delivery/dispatcher.ts';
import { ALONE } from '../../../src/webhooks/delivery/soleSender.ts';
import { openWebhooks } from '../../../src/webhooks/delivery/webhooks.ts';
import { missedOpportunities } from '../../../src/webhooks/registry/missed.ts';
import { stubBacktests } from '../../support/stubBacktests.ts';
import type { Receiver } from './receiver.ts';
import type { runtimeOf } from './recordingParts.ts';

/** Everything that reads one recording, as `serveRecording` starts it. */
export interface Readers {
  readonly signals: Signals;
  readonly paper: PaperTrading;
}

interface ReadersOptions {
  readonly runtime: ReturnType<typeof runtimeOf>;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly database: Database;
  readonly bus: Bus;
  readonly live: Pick<Recorder, 'markets' | 'recorded'>;
  readonly memory: MarketMemory;
  readonly store: ResumedStore;
  readonly recording: Recording;
  readonly receiver: Receiver;
}

/** Webhook settings: the key is fixed, and no name is looked up. */
export function simulatedWebhooks(
  database: Database,
  sources: { clock: ReadersOptions['runtime']['clock']; randomBytes: ReadersOptions['randomBytes'] },
) {
  const config = {
    dataDir: '',
    secretKey: '1'.repeat(64),
    webhookAllowedNetworks: [],
    tickers: DEFAULT_TICKERS,
  };
  return openWebhooks(database, { config, sources, resolve: async () => ['93.184.215.14'] });
}

/** Webhooks first, so that no opportunity is published without them; then signals and paper trading. */
export async function startReaders(options: ReadersOptions): Promise<Readers> {
  const { runtime, randomBytes, database, bus, live, store, recording } = options;
  await startDispatcher(options);
  const markets = () => [...live.markets()];
  const bookOf = (marketId: string) => live.recorded(marketId)?.liveBook() ?? null;
  const signals = await startSignals({ ...runtime, database, store, bus, markets, bookOf });
  const paper = await startPaper({
    ...{ ...runtime, database, bus, recording, markets, randomBytes },
    backtests: stubBacktests,
  });
  return { signals, paper };
}

async function startDispatcher({
  runtime,
  randomBytes,
  database,
  bus,
  receiver,
}: ReadersOptions): Promise<void> {
  const { clock } = runtime;
  const { box } = simulatedWebhooks(database, { clock, randomBytes });
  const directory = new WebhookDirectory({ box, clock });
  const sender = receiver.senderOf(clock);
  const dispatcher = new Dispatcher({ ...runtime, db: database, directory, sender, soleSender: ALONE });
  bus.subscribe('opportunity', (opportunity) => dispatcher.enqueue(opportunity));
  await dispatcher.start();
  for (const opportunity of await missedOpportunities(database, clock.now())) dispatcher.enqueue(opportunity);
}
