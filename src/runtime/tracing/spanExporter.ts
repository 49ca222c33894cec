import { type Clock, every, type Timer } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type FinishedSpan, SPAN_KINDS } from './tracer.ts';

/** Spans that wait for the collector; further ones are dropped and counted. */
const WAITING_MAX = 2_048;
const BATCH_MAX = 512;
const PERIOD_MS = 5_000;
const TIMEOUT_MS = 10_000;
const NANOSECONDS_PER_MS = 1_000_000;
const STATUS_ERROR = 2;

export interface SpanExporterOptions {
  /** Where spans are posted, e.g. `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Posts finished spans to a collector as OTLP/HTTP in JSON. A collector that is away costs the bounded buffer, one log
 * line and a counter; a batch that was not accepted is dropped, never repeated.
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #spans;
  readonly #timer: Timer;
  #waiting: FinishedSpan[] = [];
  #sending: Promise<void> | null = null;
  #isAway = false;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
    this.#spans = options.metrics.counter(
      'underround_trace_spans_total',
      'Spans of traces: sent to the collector, or dropped because it was away or too slow',
      ['outcome'],
    );
    this.#timer = every(options.clock, PERIOD_MS, () => void this.flush());
  }

  add(span: FinishedSpan): void {
    if (this.#waiting.length >= WAITING_MAX) this.#spans.inc({ outcome: 'dropped' });
    else this.#waiting.push(span);
  }

  /** Sends the waiting spans; never rejects. */
  flush(): Promise<void> {
    this.#sending ??= this.#flush().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async close(): Promise<void> {
    this.#timer.cancel();
    await this.#sending;
    await this.flush();
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX);
      const failure = await this.#post(batch);
      this.#spans.inc({ outcome: failure === null ? 'sent' : 'dropped' }, batch.length);
      this.#note(failure);
      if (failure !== null) return;
    }
  }

  /** Null: accepted. */
  async #post(batch: readonly FinishedSpan[]): Promise<string | null> {
    const { url, headers } = this.#options;
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(this.#document(batch)),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await answer.body?.cancel();
      return answer.ok ? null : `status ${answer.status}`;
    } catch (error) {
      const { cause, name } = error as { cause?: { code?: string }; name: string };
      return cause?.code ?? name;
    }
  }

  /** One line when the collector goes away, and one when it is back. */
  #note(failure: string | null): void {
    const isAway = failure !== null;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    if (isAway) this.#options.log.warn({ reason: failure }, 'traces.collector_away');
    else this.#options.log.info({}, 'traces.collector_back');
  }

  #document(batch: readonly FinishedSpan[]) {
    const { serviceName, version } = this.#options;
    return {
      resourceSpans: [
        {
          resource: { attributes: attributesOf({ 'service.name': serviceName, 'service.version': version }) },
          scopeSpans: [{ scope: { name: 'underround', version }, spans: batch.map(spanOf) }],
        },
      ],
    };
  }
}

function spanOf(span: FinishedSpan) {
  const { traceId, spanId, parentId, name, kind, startMs, durationMs, attributes, isError } = span;
  return {
    ...{ traceId, spanId, ...(parentId === null ? {} : { parentSpanId: parentId }) },
    ...{ name, kind: SPAN_KINDS[kind] },
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(startMs + durationMs),
    attributes: attributesOf(attributes),
    status: isError ? { code: STATUS_ERROR } : {},
  };
}

/** As text: the protocol's numbers of 64 bits. */
function nanoseconds(timeMs: number): string {
  const whole = Math.floor(timeMs);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((timeMs - whole) * NANOSECONDS_PER_MS)));
}

function attributesOf(attributes: FinishedSpan['attributes']) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOfAttribute(value) }));
}

function valueOfAttribute(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
