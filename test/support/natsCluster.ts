import { onTestFinished } from 'vitest';
import { connectCluster } from '../../src/bus/nats/connectCluster.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type Logger, silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const MIB = 1024 * 1024;
let opened = 0;

interface TestClusterOptions {
  readonly dataDir?: string;
  readonly replicas?: number;
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
  readonly partitions?: number;
  readonly outboxBytesMax?: number;
  readonly metrics?: Metrics;
  readonly log?: Logger;
  readonly whenOver?: (end: () => Promise<void>) => void;
}

/** What one process of a cluster opens, in real time; closed after the running test. */
export async function openCluster(url: string, options: TestClusterOptions = {}) {
  const { whenOver = onTestFinished, dataDir = temporaryDirectory((end) => whenOver(async () => end())) } =
    options;
  const cluster = await connectCluster({
    maxBytes: 256 * MIB,
    metrics: new Metrics(),
    log: silentLogger,
    ...options,
    url,
    dataDir,
    sender: `sender${++opened}`,
    run: String(process.pid),
    clock: systemClock,
    random: () => 0.5,
  });
  whenOver(() => cluster.close());
  return cluster;
}
