import type { Metrics } from '../runtime/metrics.ts';

/** Messages and bytes of one stream that are not yet in the counters. */
export interface SentCounts {
  messages: number;
  bytes: number;
}

/** `behind`: this process did not receive the cursor's record in time. `restarted`: changes after it are not kept. */
export type ResumeOutcome = 'resumed' | 'restarted' | 'behind';

/** The metrics of the streams. */
export class StreamMetrics {
  readonly #sent = new Map<string, SentCounts>();
  readonly #open;
  readonly #messages;
  readonly #bytes;
  readonly #skipped;
  readonly #closed;
  readonly #retained;
  readonly #resumes;

  constructor(metrics: Metrics) {
    const labels = ['stream'] as const;
    this.#open = metrics.gauge('underround_stream_connections', 'Open stream connections', labels);
    const count = () => this.#count();
    this.#messages = metrics.counter(
      'underround_stream_messages_total',
      'Messages sent to clients',
      labels,
      count,
    );
    this.#bytes = metrics.counter(
      'underround_stream_bytes_total',
      'Bytes of messages sent to clients',
      labels,
      count,
    );
    this.#skipped = metrics.counter(
      'underround_stream_skipped_total',
      'Book changes not sent because a client was too slow',
    );
    this.#closed = metrics.counter('underround_stream_closed_total', 'Stream connections ended', [
      'stream',
      'cause',
    ]);
    this.#resumes = metrics.counter('underround_stream_resumes_total', 'Cursors of clients that came back', [
      'outcome',
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

  /**
   * An accumulator to add each message to; a counter's own look-up by label costs as much as the rest of sending a
   * message.
   */
  sent(stream: string): SentCounts {
    const known = this.#sent.get(stream) ?? { messages: 0, bytes: 0 };
    this.#sent.set(stream, known);
    return known;
  }

  skipped(changes: number): void {
    this.#skipped.inc(changes);
  }

  resumed(outcome: ResumeOutcome): void {
    this.#resumes.inc({ outcome });
  }

  #count(): void {
    for (const [stream, sent] of this.#sent) {
      this.#messages.inc({ stream }, sent.messages);
      this.#bytes.inc({ stream }, sent.bytes);
      sent.messages = sent.bytes = 0;
    }
  }

  retained(bytes: number): void {
    this.#retained.set(bytes);
  }
}
