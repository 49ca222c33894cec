import type { Metrics } from '../ops/metrics.ts';

/** What the streams count. */
export class StreamMetrics {
  readonly #open;
  readonly #messages;
  readonly #bytes;
  readonly #skipped;
  readonly #closed;
  readonly #retained;

  constructor(metrics: Metrics) {
    const labels = ['stream'] as const;
    this.#open = metrics.gauge('underround_stream_connections', 'Open stream connections', labels);
    this.#messages = metrics.counter('underround_stream_messages_total', 'Messages sent to clients', labels);
    this.#bytes = metrics.counter(
      'underround_stream_bytes_total',
      'Bytes of messages sent to clients',
      labels,
    );
    this.#skipped = metrics.counter(
      'underround_stream_skipped_total',
      'Book changes not sent because a client was too slow',
    );
    this.#closed = metrics.counter('underround_stream_closed_total', 'Stream connections ended', [
      'stream',
      'cause',
    ]);
    this.#retained = metrics.gauge(
      'underround_stream_retained_bytes',
      'Messages kept for clients that resume',
    );
  }

  opened(stream: string): void {
    this.#open.inc({ stream });
  }

  closed(stream: string, cause: string): void {
    this.#open.dec({ stream });
    this.#closed.inc({ stream, cause });
  }

  sent(stream: string, bytes: number): void {
    this.#messages.inc({ stream });
    this.#bytes.inc({ stream }, bytes);
  }

  skipped(changes: number): void {
    this.#skipped.inc(changes);
  }

  retained(bytes: number): void {
    this.#retained.set(bytes);
  }
}
