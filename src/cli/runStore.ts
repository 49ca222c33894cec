import { join } from 'node:path';
import { type Config, parseAddress } from '../config.ts';
import { serveMetrics } from '../ops/metricsServer.ts';
import { coverLostRows } from '../recorder/lostRows.ts';
import { Recorder } from '../recorder/recorder.ts';
import { keepRetention } from '../recorder/retention.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/errors.ts';
import type { SharedListening } from '../store/engine/access.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { waitToBeAlone } from '../store/journal/runDirectory.ts';
import { openStore } from '../store/store.ts';
import { busyAddresses, plainStoreProblem } from './checkAddress.ts';
import type { RunningModules } from './running.ts';

/**
 * Starts the embedded engine of a data directory, which also listens on TCP. It guards the disk, checks the engine's
 * parts and inserts the rows of earlier runs, as `serve` does; it records nothing itself.
 * @throws {ConfigError} Without a password, or when another process records into the data directory.
 */
export async function startStore(
  options: { listen: string; dataDir?: string },
  { readSettings, makeDataDirectory, createLogger, Metrics }: RunningModules,
): Promise<{ close(): Promise<void> }> {
  const address = parseAddress(options.listen, '--listen');
  // The processes that use this store may share their environment with it.
  const adjust = (asked: Config) => ({ ...asked, clickhouseUrl: null });
  const config = await readSettings({ dataDir: options.dataDir, use: 'record', adjust });
  const listen = await listeningOf(config, address);
  const { dataDir, diskReserve, metricsAddress } = config;
  makeDataDirectory(dataDir);
  const log = createLogger(config.logLevel);
  const metrics = new Metrics();
  metrics.addProcess();
  const common = { dataDir, diskReserve, clickhouseUrl: null, clock, log, metrics };
  // Before the engine starts: its own refusal of a directory in use names no process.
  await waitToBeAlone(join(dataDir, 'journal'), 'main', { clock, log });
  const engine = await reachEngine({ ...common, listen });
  const store = await openStore({ ...common, recovery: 'background', engine: Promise.resolve(engine) });
  const recorder = new Recorder({ sink: store.writer, clock, log, metrics, timeBy: 'clock' });
  const metricsServer =
    metricsAddress === null ? null : await serveMetrics(metricsAddress, { metrics, rateLimits: null });
  store.parts.onLost((lost) => coverLostRows(lost, { store, recorder, clock, log }));
  const retention = keepRetention({ config, store, recorder, clock, log, metrics });
  void store.writer.startRecovery();
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  console.log(`ready http://${host}:${engine.port}`);
  return {
    close: async () => {
      metricsServer?.close();
      recorder.close();
      await retention?.stop();
      await store.close();
    },
  };
}

/** @throws {ConfigError} Without a password, or at an address that cannot be used. */
async function listeningOf(
  config: Config,
  address: { readonly host: string; readonly port: number },
): Promise<SharedListening> {
  const { storePassword: password, metricsAddress, dataDir } = config;
  const wanted = [{ address, setBy: '--listen' }];
  if (metricsAddress !== null) wanted.push({ address: metricsAddress, setBy: 'UNDERROUND_METRICS_ADDRESS' });
  const problems = [...plainStoreProblem(address, config), ...(await busyAddresses(wanted, dataDir))];
  if (password === null)
    problems.unshift(
      'UNDERROUND_STORE_PASSWORD is missing: the store would be open to every user of this machine; set it',
    );
  if (password === null || problems.length > 0) throw new ConfigError(problems);
  return { ...address, password };
}
