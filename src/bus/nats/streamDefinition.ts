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

/** Begins the stream's description; the time of its creation follows. */
const DESCRIPTION_START = 'records of Underround since ';
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
  const known = await streamInfo(manager, definition.prefix);
  if (known === null) return createStream(manager, definition, parts);
  const { subjects } = known.config;
  const wanted = configOf(definition, startMsOf(known));
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
    const created = await manager.streams.add(configOf(definition, parts.clock.now()));
    parts.log.info({ stream: definition.prefix, definition }, 'stream.created');
    return await replicated(manager, created, parts);
  } catch (error) {
    // Another process created it meanwhile.
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
  if (replicas === 1) return created;
  const deadline = clock.monotonic() + REPLICAS_LIMIT_MS;
  let info: StreamInfo;
  do {
    // Read again also at first: of two processes that create it at the same time, both may have succeeded.
    info = await manager.streams.info(name);
    const current = info.cluster?.replicas?.filter((replica) => replica.current).length ?? 0;
    if (current >= replicas - 1) return info;
    await sleep(clock, REPLICAS_POLL_MS);
  } while (clock.monotonic() < deadline);
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

function configOf({ prefix, partitions, maxAgeMs, maxBytes, replicas }: StreamDefinition, startMs: number) {
  return {
    name: prefix,
    description: DESCRIPTION_START + new Date(startMs).toISOString(),
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

/**
 * When the stream was created, by its description; it differs if the stream was deleted and created again. The `created`
 * of its information is no use: a server of a cluster (2.9.10) reports the time of its own restart there.
 * @throws {ConfigError} When another program created the stream.
 */
export function startMsOf({ config: { name, description = '' } }: Pick<StreamInfo, 'config'>): number {
  const text = description.startsWith(DESCRIPTION_START) ? description.slice(DESCRIPTION_START.length) : '';
  const startMs = Date.parse(text);
  if (!Number.isNaN(startMs)) return startMs;
  throw new ConfigError(
    `the stream ${name} in NATS was created by another program: its description does not begin with "${DESCRIPTION_START}"`,
  );
}

/** The number below all `seq` of the stream's records: those of earlier processes derive from the time before it. */
export function baseSeqOf(info: Pick<StreamInfo, 'config'>): number {
  return (startMsOf(info) + 1) * SEQS_PER_MILLISECOND;
}
