import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { EngineAccess } from '../../src/store/engine/access.ts';
import { reachEngine } from '../../src/store/engine/engineAccess.ts';
import { openStore, type Store, type StoreOptions } from '../../src/store/store.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Bundles a source file to JavaScript for plain Node. The engine's host and the writers that tests kill are separate
 * processes, and the last build might be from other sources. The file is inside `node_modules` so that its imports of
 * packages resolve.
 */
export async function bundle(entry: string): Promise<string> {
  const build = await rolldown({
    input: join(root, entry),
    platform: 'node',
    external: [/^node:/, /^chdb(?:\/|$)/, 'pino', 'prom-client', '@clickhouse/client', 'zod', 'undici', 'pg'],
  });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  const { code } = output[0];
  const name = `${basename(entry, '.ts')}-${createHash('sha256').update(code).digest('hex').slice(0, 16)}.mjs`;
  const dir = join(root, 'node_modules', '.cache', 'underround');
  await mkdir(dir, { recursive: true });
  const file = join(dir, name);
  if (existsSync(file)) return file;
  await writeFile(`${file}.${process.pid}`, code);
  await rename(`${file}.${process.pid}`, file);
  return file;
}

let hostEntry: Promise<string> | null = null;

/** The engine host's entry, bundled once per test process. */
export function testHostEntry(): Promise<string> {
  hostEntry ??= bundle('src/store/engine/host/main.ts');
  return hostEntry;
}

/** The real embedded engine of a directory, for tests that need it beside the store or without one. */
export async function reachTestEngine(
  dataDir: string,
  options: Partial<Parameters<typeof reachEngine>[0]> = {},
): Promise<EngineAccess> {
  return await reachEngine({
    ...{ clickhouseUrl: null, clock: systemClock, log: silentLogger, metrics: new Metrics() },
    hostEntry: await testHostEntry(),
    ...options,
    dataDir,
  });
}

export interface TestStore {
  store: Store;
  dataDir: string;
  metrics: Metrics;
  /** Closes the store and removes its data. */
  dispose(): Promise<void>;
}

/** A store on the real embedded engine in a fresh directory; opening takes about half a second. */
export async function openTestStore(options: Partial<StoreOptions> = {}): Promise<TestStore> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'underround-store-')));
  const metrics = options.metrics ?? new Metrics();
  const store = await openStore({
    clickhouseUrl: null,
    clock: systemClock,
    log: silentLogger,
    // The journal's reserve is a quarter of it, written at every opening.
    diskReserve: { bytes: 4 * 1024 * 1024 },
    hostEntry: await testHostEntry(),
    ...options,
    dataDir,
    metrics,
  });
  return {
    store,
    dataDir,
    metrics,
    dispose: async () => {
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
