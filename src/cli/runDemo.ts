import { randomBytes } from 'node:crypto';
import { issueKey } from '../accounts/keys/keys.ts';
import { type Config, loadConfig, ROLES } from '../config.ts';
import { randomBase62 } from '../control/base62.ts';
import { systemClock } from '../runtime/clock.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Service } from '../service/serveRecording.ts';
import { startService } from '../service/startService.ts';
import { VenueServer } from '../simulator/server.ts';
import type { EngineAccess } from '../store/engine/access.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { openStore } from '../store/store.ts';
import { freshDirectory } from './demoDirectory.ts';
import { historyModel, historySpan, recordNewest } from './demoHistory.ts';
import { HistoryFill } from './historyFill.ts';
import type { RunningModules, Starting } from './running.ts';

const DEMO_EMAIL = 'demo@example.com';
/** 95 bits, because the service may be reachable from a network. */
const DEMO_PASSWORD_LENGTH = 16;

interface DemoOptions {
  hours: number;
  seed: string;
  density: number;
  /** Value of `--data-dir`; undefined: the configured directory with `-demo` appended. */
  dataDir: string | undefined;
}

/**
 * Records the newest part of the simulated history, connects to the simulated venues, prints how to sign in, and
 * records the rest of the history in the background.
 */
export async function runDemo(
  modules: RunningModules,
  options: DemoOptions,
  { phases, stopping }: Starting,
): Promise<{ close(): Promise<void> }> {
  const config = await modules.readSettings({
    ...{ dataDir: options.dataDir, use: 'record', simulates: true, listens: true },
    adjust: (asked) => ({
      ...asked,
      dataDir: options.dataDir ?? `${asked.dataDir.replace(/\/+$/, '')}-demo`,
      clickhouseUrl: null,
      databaseUrl: null,
      natsUrl: null,
      roles: ROLES,
    }),
  });
  // The demo prints its own messages; of the recorder's log only errors are shown.
  const logLevel = process.env.UNDERROUND_LOG_LEVEL ? config.logLevel : 'error';
  const log = modules.createLogger(logLevel);
  await phases.during(`emptying ${config.dataDir}`, () => freshDirectory(config.dataDir, modules));
  const span = historySpan(options, systemClock.now());
  const common = { ...config, clock: systemClock, log };
  // The engine starts while the model advances to the present.
  const engine = reachEngine({ ...common, metrics: new Metrics() });
  const opening = engine.then((access) =>
    openStore({ ...common, metrics: new Metrics(), engine: Promise.resolve(lent(access)) }),
  );
  const model = historyModel(span);
  try {
    const recording = { model, span, opening };
    await phases.during('recording the newest minutes', () => recordNewest(recording, { log, stopping }));
  } catch (error) {
    await opening.then(
      (store) => store.close(),
      () => undefined,
    );
    await engine.then((access) => access.close());
    throw error;
  }
  model.density = options.density;
  const venues = new VenueServer({ model, clock: systemClock, logger: log });
  await venues.start();
  const live = loadConfig({ ...venues.urls(), ...venues.credentials() });
  const { dataDir, diskReserve } = config;
  const fill = new HistoryFill({ span, dataDir, diskReserve, logLevel });
  const metrics = new Metrics();
  metrics.addProcess();
  const service = await phases.during('starting the service', () =>
    startService({
      config: {
        ...config,
        venues: live.venues,
        tickers: live.tickers,
        polymarketCredentials: live.polymarketCredentials,
      },
      log,
      metrics,
      dataSource: 'simulated',
      engine,
      history: fill.state,
    }),
  );
  console.log(`${await welcome(service, config)}\nready ${service.url}`);
  fill.start();
  return {
    close: async () => {
      await fill.close();
      await service.close();
      await venues.stop();
    },
  };
}

/** Lends the engine to a component whose close must not end it, because another component needs it next. */
function lent(engine: EngineAccess): EngineAccess {
  const { url, agent, streamAgent, hostPid } = engine;
  return {
    ...{ url, agent, streamAgent, hostPid },
    whenReady: (limitMs) => engine.whenReady(limitMs),
    close: async () => undefined,
  };
}

async function welcome({ url, accounts }: Service, config: Config): Promise<string> {
  if (accounts === null) throw new TypeError('a process without an API');
  const password = randomBase62(DEMO_PASSWORD_LENGTH, randomBytes);
  const passwordHash = await accounts.passwords.hash(password);
  const user = await accounts.users.signUpOperator(DEMO_EMAIL, passwordHash);
  if (typeof user === 'string') throw new TypeError(`a new demo has an operator: ${user}`);
  const { key } = await issueKey(
    accounts.database,
    { clock: systemClock, randomBytes },
    {
      email: DEMO_EMAIL,
      tier: 'premium',
      label: 'demo',
      environment: config.keyEnvironment,
    },
  );
  const authorization = `-H "Authorization: Bearer ${key}"`;
  return `
  Underround demo: simulated venues, the real recorder. Stop with Ctrl-C.

  Open this in your browser (signs you in once, within 15 minutes):
  ${accounts.links.issue(url, user.userId)}

  base URL   ${url}
  key        ${key}   (premium)
  login      ${DEMO_EMAIL}   ${password}   (operator)

  curl -s ${url}/health
  curl -s ${authorization} "${url}/v1/markets/resolved?limit=3"
  curl -s ${authorization} "${url}/v1/perp/depth?ticker=BTC&limit=1&order=desc"
`;
}
