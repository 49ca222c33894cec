import { Pool } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import { TargetRefusedError } from '../../runtime/errors.ts';
import { retryAfterOf } from '../../venues/http.ts';
import { chatPauseMs, withoutSecrets } from '../chat/chatReply.ts';
import type { ChatTarget } from '../chat/chatTarget.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import { guardedConnector } from '../target/connector.ts';
import type { TargetGuard } from '../target/target.ts';
import { DeadlineQueue } from './deadlineQueue.ts';
import type { Delivery } from './delivery.ts';
import { Exchange, type Reply } from './exchange.ts';
import { NO_SECRET, NO_TARGET, requestOf } from './request.ts';
import { escapeHead } from './responseHead.ts';

/** Covers look-up, connection, TLS and the whole reply; interface specification 6.4. */
export const DEADLINE_MS = 5_000;
/** Attempts in flight at one webhook, each on a connection of its own. */
export const CONCURRENCY_MAX = 10;
/** An idle connection is kept this long, or as long as the receiver says, but never longer than the second value. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;

type AttemptOutcome =
  | 'delivered'
  | 'refused'
  | 'rate_limited'
  | 'timeout'
  | 'target_refused'
  | 'transport'
  | 'secret';

export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  /** Null without a complete reply. */
  readonly status: number | null;
  readonly startedMs: number;
  readonly latencyMs: number;
  /** Null on success. */
  readonly error: string | null;
  readonly responseHead: string;
  readonly retryAfterMs: number | null;
  /** How long nothing may be sent to this webhook; null: its receiver is no chat, or named no limit. */
  readonly pauseMs: number | null;
}

interface Endpoint {
  readonly pool: Pool;
  readonly path: string;
}

const TOO_LATE = new Error(`no whole reply within ${DEADLINE_MS / 1000} s`);
const TOO_MANY_REQUESTS = 429;

/** Posts deliveries. Each webhook has its own connections, so that none waits for another's. */
export class WebhookSender {
  readonly #clock: Clock;
  readonly #connect: ReturnType<typeof guardedConnector>;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #deadlines: DeadlineQueue<Exchange>;

  /** @param ca Certificate authorities in addition to Node's, PEM. */
  constructor(parts: { clock: Clock; guard: TargetGuard; ca?: string | undefined }) {
    this.#clock = parts.clock;
    this.#connect = guardedConnector(parts.guard, { timeoutMs: DEADLINE_MS, ca: parts.ca });
    this.#deadlines = new DeadlineQueue({
      ...{ clock: parts.clock, ms: DEADLINE_MS },
      late: (exchange) => exchange.abort(TOO_LATE),
    });
  }

  /** Makes one attempt; never rejects. */
  attempt(webhook: SigningWebhook, delivery: Delivery): Promise<AttemptResult> {
    const startedMs = this.#clock.now();
    const started = this.#clock.monotonic();
    return new Promise((resolve) => {
      const exchange = new Exchange((end) => {
        this.#deadlines.remove(exchange);
        const latencyMs = Math.round(this.#clock.monotonic() - started);
        const facts = end instanceof Error ? failure(end) : replied(end, webhook.chat, this.#clock.now());
        resolve({ ...facts, startedMs, latencyMs });
      });
      this.#deadlines.add(exchange);
      try {
        const { pool, path } = this.#endpoint(webhook);
        const request = requestOf(webhook, delivery, startedMs);
        pool.dispatch({ method: 'POST', path, ...request }, exchange);
      } catch (error) {
        exchange.abort(error as Error);
      }
    });
  }

  /** Closes a webhook's connections once it receives nothing more. */
  forget(webhookId: string): void {
    const endpoint = this.#endpoints.get(webhookId);
    this.#endpoints.delete(webhookId);
    void endpoint?.pool.destroy().catch(() => undefined);
  }

  async close(): Promise<void> {
    const endpoints = [...this.#endpoints.values()];
    this.#endpoints.clear();
    await Promise.all(endpoints.map(({ pool }) => pool.destroy()));
  }

  /** @throws {typeof NO_TARGET} */
  #endpoint({ webhookId, target, chat }: SigningWebhook): Endpoint {
    const known = this.#endpoints.get(webhookId);
    if (known) return known;
    if (target === null) throw NO_TARGET;
    const { origin, pathname, search } = new URL(target);
    const pool = new Pool(origin, {
      connections: CONCURRENCY_MAX,
      pipelining: 1,
      connect: this.#connect,
      // With HTTP/2, attempts would wait for the first connection's handshake, which decides the protocol for all.
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      // Our own deadline covers the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const endpoint = { pool, path: chat?.path ?? pathname + search };
    this.#endpoints.set(webhookId, endpoint);
    return endpoint;
  }
}

type Facts = Omit<AttemptResult, 'startedMs' | 'latencyMs'>;

function replied({ status, rate, head }: Reply, chat: ChatTarget | null, nowMs: number): Facts {
  const responseHead = chat === null ? escapeHead(head) : withoutSecrets(chat, escapeHead(head));
  const pauseMs = chat === null ? null : chatPauseMs(status, rate, head);
  const facts = { status, responseHead, pauseMs };
  if (status >= 200 && status < 300) {
    return { ...facts, outcome: 'delivered', error: null, retryAfterMs: null };
  }
  if (chat !== null && status === TOO_MANY_REQUESTS) {
    const error = 'status 429, the chat limits the rate';
    return { ...facts, outcome: 'rate_limited', error, retryAfterMs: pauseMs };
  }
  const isRedirect = status >= 300 && status < 400;
  const error = `status ${status}${isRedirect ? ', redirects are not followed' : ''}`;
  return { ...facts, outcome: 'refused', error, retryAfterMs: retryAfterOf(rate.retryAfter, nowMs) };
}

function failure(error: Error): Facts {
  const nothing = { status: null, responseHead: '', retryAfterMs: null, pauseMs: null };
  if (error === TOO_LATE) return { ...nothing, outcome: 'timeout', error: TOO_LATE.message };
  if (error === NO_SECRET || error === NO_TARGET)
    return { ...nothing, outcome: 'secret', error: error.message };
  const outcome = error instanceof TargetRefusedError ? 'target_refused' : 'transport';
  return { ...nothing, outcome, error: reasonOf(error) };
}

/** The failure shown to the owner: it never reveals more than their own receiver said. */
function reasonOf(error: unknown): string {
  if (error instanceof TargetRefusedError) return error.message;
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'failed');
}
