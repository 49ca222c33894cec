/**
 * Traces in the form of OpenTelemetry, where they are asked for. A span has a name, times and a few attributes; it
 * never has a query's text or values, a URL or a secret.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../clock.ts';

type Attributes = Readonly<Record<string, string | number | boolean>>;
/** The kinds of the OpenTelemetry protocol. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const;

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: keyof typeof SPAN_KINDS;
  readonly startMs: number;
  readonly durationMs: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

export interface Span {
  /** Runs `work` with this span as the parent of the spans that it starts. */
  run<T>(work: () => T): T;
  end(facts?: { attributes?: Attributes; isError?: boolean }): void;
}

interface SpanOptions {
  readonly kind?: keyof typeof SPAN_KINDS;
  /** A `traceparent` header of the caller, which decides whether its trace is sampled. */
  readonly traceparent?: string | undefined;
  readonly attributes?: Attributes;
}

interface TracerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Share of the traces that begin here and are sampled (0-1). */
  readonly ratio: number;
  /** Whether a caller's decision counts. */
  readonly parentBased: boolean;
  onEnd(span: FinishedSpan): void;
}

interface Context {
  readonly traceId: string;
  /** Null: the trace is not sampled, and neither are its children. */
  readonly spanId: string | null;
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;
const NO_SPAN: Span = { run: (work) => work(), end: () => undefined };
const current = new AsyncLocalStorage<{ readonly tracer: Tracer; readonly context: Context }>();

export class Tracer {
  readonly #options: TracerOptions;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** A span below the running one, or the first of a new trace. */
  start(name: string, { kind = 'internal', traceparent, attributes = {} }: SpanOptions = {}): Span {
    const parent = current.getStore()?.context ?? this.#remoteParent(traceparent);
    if (parent !== null && parent.spanId === null) return NO_SPAN;
    const { clock, onEnd } = this.#options;
    const traceId = parent?.traceId ?? this.#id(TRACE_ID_BYTES);
    if (parent === null && this.#options.random() >= this.#options.ratio)
      return this.#bound({ traceId, spanId: null }, () => undefined);
    const spanId = this.#id(SPAN_ID_BYTES);
    const [startMs, started] = [clock.now(), clock.monotonic()];
    let isOver = false;
    return this.#bound({ traceId, spanId }, (facts = {}) => {
      if (isOver) return;
      isOver = true;
      onEnd({
        ...{ traceId, spanId, parentId: parent?.spanId ?? null, name, kind, startMs },
        durationMs: clock.monotonic() - started,
        attributes: { ...attributes, ...facts.attributes },
        isError: facts.isError ?? false,
      });
    });
  }

  #bound(context: Context, end: Span['end']): Span {
    return { run: (work) => current.run({ tracer: this, context }, work), end };
  }

  #remoteParent(header: string | undefined): Context | null {
    const [, traceId, spanId, flags] = TRACEPARENT.exec(header ?? '') ?? [];
    if (!this.#options.parentBased || traceId === undefined || spanId === undefined) return null;
    return { traceId, spanId: (Number.parseInt(flags ?? '', 16) & SAMPLED) === SAMPLED ? spanId : null };
  }

  #id(size: number): string {
    return Buffer.from(this.#options.randomBytes(size)).toString('hex');
  }
}

/** Runs `work` in a span below the running one; without a running span, alone. */
export async function inSpan<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const running = current.getStore();
  if (running === undefined) return await work();
  return await traced(running.tracer, name, { kind: 'client', attributes }, work);
}

/** Runs `work` in a span of its own. @param tracer Null: traces are not asked for. */
export async function traced<T>(
  tracer: Tracer | null,
  name: string,
  options: SpanOptions,
  work: () => Promise<T>,
): Promise<T> {
  if (tracer === null) return await work();
  const span = tracer.start(name, options);
  try {
    const result = await span.run(work);
    span.end();
    return result;
  } catch (error) {
    span.end({ isError: true });
    throw error;
  }
}
