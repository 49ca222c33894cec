import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Election, RecordStream, SharedValues } from '../recordStream.ts';
import { NatsElection } from './natsElection.ts';
import { NatsLink } from './natsLink.ts';
import { NatsStream } from './natsStream.ts';
import { NatsValues } from './natsValues.ts';

const HOUR_MS = 3_600_000;
const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

interface ClusterOptions {
  /** `NATS_URL`: one server, or several of one cluster separated by commas. */
  readonly url: string;
  readonly dataDir: string;
  /** Name of this process and of its run; the two together differ from every other process. */
  readonly sender: string;
  readonly run: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly random: () => number;
  /** First part of the names in NATS. Several installations may share one server. */
  readonly prefix?: string;
  readonly partitions?: number;
  readonly maxAgeMs?: number;
  readonly maxBytes?: number;
  /** Servers that store each message and value: 1, or 3 in a cluster. */
  readonly replicas?: number;
  readonly outboxBytesMax?: number;
  readonly outboxMemoryBytesMax?: number;
}

/** What the processes of one installation share. */
interface Cluster {
  readonly stream: RecordStream;
  readonly values: SharedValues;
  readonly election: Election;
  /**
   * Resolves when the stream exists. Before it, only its `baseSeq` cannot be read: a collector may record while NATS
   * is away. Rejects when the stream does not match the options.
   */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the connection to NATS, the record stream, the shared values and the elections.
 * @throws {ConfigError} When the URL is invalid.
 */
export async function connectCluster(options: ClusterOptions): Promise<Cluster> {
  const { clock, dataDir, log, metrics, random, run, sender, url } = options;
  const { prefix = 'underround', replicas = 1 } = options;
  const link = NatsLink.open({ url, name: `${sender}.${run}`, clock, log, metrics, random });
  const shared = { link, replicas, clock, log, metrics, random };
  const stream = await NatsStream.open({
    ...shared,
    definition: {
      prefix,
      partitions: options.partitions ?? 4,
      maxAgeMs: options.maxAgeMs ?? 24 * HOUR_MS,
      maxBytes: options.maxBytes ?? 10 * GIB,
      replicas,
    },
    outbox: {
      directory: join(dataDir, 'outbox'),
      diskBytesMax: options.outboxBytesMax ?? 4 * GIB,
      memoryBytesMax: options.outboxMemoryBytesMax ?? 32 * MIB,
    },
  });
  return {
    stream,
    values: new NatsValues({ ...shared, bucket: `${prefix}-values` }),
    election: new NatsElection({ ...shared, bucket: `${prefix}-leaders`, candidate: `${sender}.${run}` }),
    ready: stream.ready,
    close: async () => {
      await stream.close();
      await link.close();
    },
  };
}
