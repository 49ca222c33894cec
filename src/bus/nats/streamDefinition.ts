import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { ConfigError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import { SEQS_PER_MILLISECOND } from '../../schema/records.ts';

const NANOS_PER_MS = 1_000_000;
const STREAM_NOT_FOUND = 10_059;
const NAME_IN_USE = 10_058;
/** Within it the stream drops a second message with the same id. */
const DUPLICATE_WINDOW_MS = 120_000;

/** How long a new stream is waited for on every server of a cluster. */
const REPLICAS_LIMIT_MS = 10_000;
const REPLICAS_POLL_MS = 100;

/** The stream in JetStream. */
export interface StreamDefinition {
  /** First part of its subjects and of its own name; letters, digits, `-` and `_`. */
  readonly prefix: string;
  readonly partitions: number;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** Servers of the cluster that store each message: 1, 3 or 5. */
  readonly replicas: number;
}

interface EnsureParts {
  readonly clock: Clock;
  readonly log: Logger;
}

/** The subjects of one partition. */
export function partitionSubject(prefix: string, partition: number): string {
  return `${prefix}.${partition}.*`;
}

/** The partition of a message by its subject. */
export function partitionOfSubject(subject: string): number {
  return Number(subject.split('.').at(-2));
}

/**
 * Creates the stream, or gives the existing one the limits of the definition.
 * @throws {ConfigError} When it exists with another number of partitions.
 */
export async function ensureStream(
  manager: JetStreamManager,
  definition: StreamDefinition,
  parts: EnsureParts,
): Promise<StreamInfo> {
  const { log } = parts;
  const wanted = configOf(definition);
  const known = await streamInfo(manager, definition.prefix);
  if (known === null) return createStream(manager, definition, parts);
  const { subjects } = known.config;
  if (subjects.length !== definition.partitions) {
    throw new ConfigError(
      `the stream ${definition.prefix} in NATS has ${subjects.length} partitions and not ${definition.partitions}: a stream keeps the number with which it was created`,
    );
  }
  const { max_age, max_bytes, num_replicas } = known.config;
  const isSame =
    max_age === wanted.max_age && max_bytes === wanted.max_bytes && num_replicas === wanted.num_replicas;
  if (isSame) return known;
  log.info({ stream: definition.prefix, definition }, 'stream.limits_changed');
  return manager.streams.update(definition.prefix, wanted);
}

async function createStream(
  manager: JetStreamManager,
  definition: StreamDefinition,
  parts: EnsureParts,
): Promise<StreamInfo> {
  try {
    const created = await manager.streams.add(configOf(definition));
    parts.log.info({ stream: definition.prefix, definition }, 'stream.created');
    return await replicated(manager, created, parts);
  } catch (error) {
    // Another process with another definition created it meanwhile.
    if (error instanceof JetStreamApiError && error.code === NAME_IN_USE) {
      return ensureStream(manager, definition, parts);
    }
    throw error;
  }
}

/**
 * Waits until every server of the cluster has the new stream: until then one killed server may make it unavailable.
 * After a limit it is used as it is.
 */
async function replicated(
  manager: JetStreamManager,
  created: StreamInfo,
  { clock, log }: EnsureParts,
): Promise<StreamInfo> {
  const { name, num_replicas: replicas } = created.config;
  const deadline = clock.monotonic() + REPLICAS_LIMIT_MS;
  let info = created;
  for (;;) {
    const current = info.cluster?.replicas?.filter((replica) => replica.current).length ?? 0;
    if (current >= replicas - 1) return info;
    if (clock.monotonic() > deadline) break;
    await sleep(clock, REPLICAS_POLL_MS);
    info = await manager.streams.info(name);
  }
  log.warn({ stream: name, replicas: info.cluster?.replicas }, 'stream.replicas_missing');
  return info;
}

/** Null when the stream does not exist. */
async function streamInfo(manager: JetStreamManager, name: string): Promise<StreamInfo | null> {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) return null;
    throw error;
  }
}

function configOf({ prefix, partitions, maxAgeMs, maxBytes, replicas }: StreamDefinition) {
  return {
    name: prefix,
    subjects: Array.from({ length: partitions }, (_, partition) => partitionSubject(prefix, partition)),
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_age: maxAgeMs * NANOS_PER_MS,
    max_bytes: maxBytes,
    num_replicas: replicas,
    duplicate_window: DUPLICATE_WINDOW_MS * NANOS_PER_MS,
  };
}

/** The number below all `seq` of the stream's records: those of earlier processes derive from the time before it. */
export function baseSeqOf({ created }: StreamInfo): number {
  return (Date.parse(created) + 1) * SEQS_PER_MILLISECOND;
}
