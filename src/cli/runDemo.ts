import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { randomBase62 } from '../accounts/base62.ts';
import { issueKey } from '../accounts/keys.ts';
import { systemClock } from '../clock.ts';
import { FrameRouter, type RoutedFeed } from '../collect/frameRouter.ts';
import { Recorder } from '../collect/recorder.ts';
import { Strikes } from '../collect/strikes.ts';
import { type Config, loadConfig } from '../config.ts';
import { ConfigError } from '../errors.ts';
import type { Logger } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import { type Service, startService } from '../service.ts';
import { generateHistory, type RecordedFeed } from '../simulator/history.ts';
import { VenueModel } from '../simulator/model.ts';
import { VenueServer } from '../simulator/server.ts';
import { otherWriter } from '../store/runDirectory.ts';
import { openStore } from '../store/store.ts';
import { Progress } from './progress.ts';
import type { RunningModules } from './running.ts';

const HOUR_MS = 3_600_000;
/** Book changes of the history, as a share of the real venue's: three hours take well under a minute. */
const HISTORY_DENSITY = 0.005;
/** Marks a directory as the demo's own, which the next demo may empty. */
const MARKER = '.underround-demo';
const DEMO_EMAIL = 'demo@example.com';
/** 95 bits, for a service that may stand on a network. */
const DEMO_PASSWORD_LENGTH = 16;
const FRAMES_PER_TURN = 200;
/** Cheap pairs an hour and market: some minutes pass between two of all, so that the board has something to show. */
const CHANCES_PER_HOUR = 2;
/** History that ends less than this before now is near enough for the live feeds to go on from. */
const CAUGHT_UP_MS = 1500;
const ROUTES: Record<RecordedFeed, RoutedFeed> = {
  'polymarket.clob': 'polymarket.clob',
  'polymarket.gamma': 'polymarket.gamma',
  'polymarket.rtds': 'polymarket.rtds',
  'binance.spot': 'binance',
  'bybit.rest': 'bybit.rest',
};

export interface DemoOptions {
  hours: number;
  seed: string;
  density: number;
  /** As it was given; undefined: the configured one with `-demo` appended. */
  dataDir: string | undefined;
}

/** Records simulated history, goes live against the simulated venues, and says how to look at it. */
export async function runDemo(
  modules: RunningModules,
  options: DemoOptions,
): Promise<{ close(): Promise<void> }> {
  const config = await modules.readSettings({
    ...{ dataDir: options.dataDir, use: 'record', listens: true },
    adjust: (asked) => ({
      ...asked,
      dataDir: options.dataDir ?? `${asked.dataDir.replace(/\/+$/, '')}-demo`,
      clickhouseUrl: null,
      databaseUrl: null,
    }),
  });
  // The demo's reader wants its own words, not the recorder's; problems still show.
  const log = modules.createLogger(process.env.UNDERROUND_LOG_LEVEL ? config.logLevel : 'error');
  await freshDirectory(config.dataDir, modules);
  const startTimeMs = systemClock.now() - options.hours * HOUR_MS;
  const model = new VenueModel({
    seed: options.seed,
    startTimeMs,
    density: HISTORY_DENSITY,
    chancesPerHour: CHANCES_PER_HOUR,
  });
  await recordHistory({ model, config, log });
  model.density = options.density;
  const venues = new VenueServer({ model, clock: systemClock, logger: log });
  await venues.start();
  const live = loadConfig(venues.urls());
  const service = await startService({
    config: { ...config, venues: live.venues },
    log,
    metrics: new Metrics(),
    dataSource: 'simulated',
  });
  console.log(`${await welcome(service, config)}\nready ${service.url}`);
  return {
    close: async () => {
      await service.close();
      await venues.stop();
    },
  };
}

/**
 * Empties the demo's directory: another run simulates the same windows along other paths, and the two must not mix.
 * @throws {ConfigError} When the directory holds anything a demo did not make.
 */
async function freshDirectory(
  dataDir: string,
  { makeDataDirectory }: Pick<RunningModules, 'makeDataDirectory'>,
): Promise<void> {
  const marker = path.join(dataDir, MARKER);
  const entries = await readdir(dataDir).catch(() => []);
  if (entries.length > 0 && !existsSync(marker)) {
    throw new ConfigError(
      `${dataDir} is not a demo's directory; set UNDERROUND_DATA_DIR to another, or name one with --data-dir`,
    );
  }
  const owner = await otherWriter(path.join(dataDir, 'journal'), 'main').catch(() => null);
  if (owner !== null) {
    throw new ConfigError(
      `process ${owner} records into ${dataDir}; stop it, or name another with --data-dir`,
    );
  }
  for (const entry of entries) await rm(path.join(dataDir, entry), { recursive: true, force: true });
  makeDataDirectory(dataDir);
  await writeFile(marker, 'Simulated data. The next demo empties this directory.\n');
}

/** Generates history up to now, which moves on meanwhile, and records it as if it had been received. */
async function recordHistory({
  model,
  config,
  log,
}: {
  model: VenueModel;
  config: Config;
  log: Logger;
}): Promise<void> {
  const common = { clock: systemClock, log, metrics: new Metrics() };
  const store = await openStore({
    ...common,
    dataDir: config.dataDir,
    diskReserve: config.diskReserve,
    clickhouseUrl: null,
  });
  const recorder = new Recorder({ ...common, sink: store.writer, timeBy: 'receipt' });
  const strikes = new Strikes({ candles: null, log, metrics: common.metrics });
  const router = new FrameRouter({ recorder, log, strikes });
  const progress = new Progress('recording simulated history');
  const from = model.nowMs;
  let frames = 0;
  while (systemClock.now() - model.nowMs > CAUGHT_UP_MS) {
    for (const { feed, frame, receivedTimeMs } of generateHistory(model, { endTimeMs: systemClock.now() })) {
      router.route(ROUTES[feed], frame, receivedTimeMs);
      if (++frames % FRAMES_PER_TURN !== 0) continue;
      progress.update(
        (receivedTimeMs - from) / (systemClock.now() - from),
        `${frames.toLocaleString('en')} frames`,
      );
      // Lets the journal and the engine work; they take rows as fast as these come, or spill to disk.
      await nextTurn();
    }
  }
  progress.update(1, `${frames.toLocaleString('en')} frames`);
  progress.done();
  recorder.close();
  await store.close();
}

async function welcome({ url, accounts }: Service, config: Config): Promise<string> {
  const password = randomBase62(DEMO_PASSWORD_LENGTH, randomBytes);
  await accounts.users.signUpOperator(DEMO_EMAIL, await accounts.passwords.hash(password));
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

  base URL   ${url}
  key        ${key}   (premium)
  login      ${DEMO_EMAIL}   ${password}   (operator)

  curl -s ${url}/health
  curl -s ${authorization} "${url}/v1/markets/resolved?limit=3"
  curl -s ${authorization} "${url}/v1/perp/depth?ticker=BTC&limit=1&order=desc"
`;
}
