import type { StreamInfo } from '@nats-io/jetstream';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { NatsLink } from './natsLink.ts';

/** What the readers of a stream share. */
export interface StreamParts {
  readonly link: NatsLink;
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly random: () => number;
  /** @throws {ConfigError} When the stream is no longer the one of the start: its numbers begin again. */
  checkCreated(info: StreamInfo): void;
}
