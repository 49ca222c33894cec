import type { JetStreamClient } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';

interface BucketLimits {
  /** Servers that store each value. */
  readonly replicas: number;
  /** How long an entry lives, in milliseconds; without it for ever. */
  readonly ttl?: number;
}

/** Opens a bucket, creates it, or gives an existing one the wanted number of replicas. */
export async function openBucket(client: JetStreamClient, bucket: string, limits: BucketLimits): Promise<KV> {
  // Only the leader of the bucket answers: another server may not have the newest value yet.
  const opened = await new Kvm(client).create(bucket, { ...limits, history: 1, allow_direct: false });
  const manager = await client.jetstreamManager(false);
  const name = `KV_${bucket}`;
  const { config } = await manager.streams.info(name);
  if (config.num_replicas !== limits.replicas)
    await manager.streams.update(name, { num_replicas: limits.replicas });
  return opened;
}
