import type { FastifyInstance } from 'fastify';
import type { AccessControl } from '../../../src/accounts/keys/accessControl.ts';
import { Random } from '../../../src/core/random.ts';
import { SESSION_COOKIE } from '../../../src/http/sessionCookie.ts';
import { Readiness } from '../../../src/ops/readiness.ts';
import { StoreProbe } from '../../../src/ops/storeProbe.ts';
import { silentFeeds } from '../../../src/recorder/watchdog/silentFeeds.ts';
import { liveState } from '../../../src/service/serveApi.ts';
import type { Signals } from '../../../src/signals/signals.ts';
import { notReadyReasons } from '../../../src/store/journal/writer.ts';
import { IDENTITY, KEY, REFUSED, testApi } from '../../support/api.ts';
import { EngineModel } from './engineModel.ts';
import type { RecordingProcess } from './recordingProcess.ts';
import type { StoreModel } from './storeModel.ts';

/** Of the operator's browser. */
export const COOKIE = { cookie: `${SESSION_COOKIE}=${'o'.repeat(43)}` };
const OPERATOR = { ...IDENTITY, createdMs: 0, operator: true, suspended: false };

interface ApiParts {
  /** Of this life of the process: it decides the randomness. */
  readonly name: string;
  readonly process: RecordingProcess;
  readonly store: StoreModel;
  readonly signals: Signals;
}

/**
 * The API of one process, asked without a network: all its routes, with readiness as `serveRecording` and `recordHere`
 * assemble it. A request fails if its answer is not as the API's description says.
 */
export async function openApi({ name, process, store, signals }: ApiParts): Promise<FastifyInstance> {
  const { runtime, recorder, memory } = process;
  const { clock, metrics, log } = runtime;
  const engine = new EngineModel({ store, clock, random: new Random(`${name} engine`) });
  const probe = new StoreProbe({ clock, ask: () => engine.rows('SELECT 1') });
  const storeLagMs = () => store.lagMs();
  const readiness = new Readiness();
  readiness.addReasons(() => probe.reasons());
  readiness.addReasons(() =>
    notReadyReasons({ journalWorks: store.journalFailingSinceMs === null, lagMs: storeLagMs() }),
  );
  readiness.addDegraded(() => recorder.lags?.degraded() ?? []);
  readiness.addDegraded(() => silentFeeds(metrics.venueFeeds, clock.now()));
  const recording = { live: recorder, memory, storeLagMs };
  const live = liveState(recording, { clock, readiness, history: () => null });
  const accounts: AccessControl = {
    moment: () => 0,
    maintenance: () => null,
    authenticate: (header) => (header === KEY.authorization ? IDENTITY : REFUSED),
    signedIn: () => ({ sessionId: 'ses_1', user: OPERATOR }),
  };
  const api = testApi({ store: engine, live, signals, accounts, clock, metrics, log });
  await api.ready();
  return api;
}
