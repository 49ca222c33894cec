import type { Clock, Timer } from '../../runtime/clock.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import { type Delivery, type DeliveryChange, type DeliveryOutcome, MAX_LOGGED_ATTEMPTS } from './delivery.ts';
import type { WebhookHealth } from './outbox.ts';
import { type AttemptResult, CONCURRENCY_MAX } from './sender.ts';

/** Consecutive failed attempts before a webhook is paused; interface specification 3.1. */
export const FAILURES_MAX = 10;
/** Deliveries of one webhook kept in memory; the others wait in the database only. */
export const HELD_MAX = 1_000;
const GONE = 410;
/** Pauses before each further attempt; the last one repeats until the market's end. */
export const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000, 600_000] as const;
/** Each pause varies randomly by up to this fraction either way, so that retries spread out. */
const RETRY_JITTER = 0.2;
/** A longer Retry-After is shortened to this. */
export const RETRY_AFTER_MAX_MS = 600_000;

export interface DeliveryQueueOptions {
  readonly clock: Clock;
  readonly random: () => number;
  attempt(webhook: SigningWebhook, delivery: Delivery): Promise<AttemptResult>;
  /** Reports a finished attempt and the delivery's new state. */
  attempted(result: AttemptResult, change: DeliveryChange): void;
  /** Queues the change for writing; the delivery stays held until `release`. */
  changed(change: DeliveryChange): void;
  healthChanged(health: WebhookHealth): void;
}

/** The delivery queue of one webhook. It never waits for another webhook. */
export class DeliveryQueue {
  readonly #parts: DeliveryQueueOptions;
  #webhook: SigningWebhook;
  #failures: number;
  #paused: boolean;
  #closed = false;
  readonly #ready: Delivery[] = [];
  /** Deliveries waiting for their next try. */
  readonly #waiting = new Map<string, { delivery: Delivery; timer: Timer }>();
  /** Ids of in-flight deliveries, kept until their outcome is persisted. */
  readonly #held = new Set<string>();
  #underWay = 0;
  /** Number of pauses so far: an attempt that began before one is not repeated after it. */
  #pauses = 0;
  /** No attempt begins before this, monotonic: a chat limits how often it is written to. */
  #opensAt = 0;
  #opening: Timer | null = null;
  /** Called when no attempt is in flight. */
  #idle: (() => void) | null = null;

  constructor(webhook: SigningWebhook, parts: DeliveryQueueOptions) {
    this.#parts = parts;
    this.#webhook = webhook;
    this.#failures = webhook.consecutiveFailures;
    this.#paused = webhook.state === 'paused';
  }

  get heldCount(): number {
    return this.#held.size;
  }

  /** Whether newly detected events are sent. */
  get isOpen(): boolean {
    return !this.#paused && !this.#closed;
  }

  /** Whether a delivery waits for its next try. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * Adds a delivery whose row is committed; one that does not fit stays in the database. A held one is unchanged,
   * unless it waits for its next try and its row, redelivered by hand, is due earlier.
   */
  add(delivery: Delivery): void {
    if (!this.isOpen) return;
    if (this.#held.has(delivery.deliveryId)) {
      this.#hasten(delivery);
    } else if (this.#held.size < HELD_MAX) {
      this.#held.add(delivery.deliveryId);
      this.#schedule(delivery);
    }
  }

  /** Called once the delivery's outcome is persisted. */
  release(deliveryId: string): void {
    this.#held.delete(deliveryId);
  }

  /** Applies the owner's change of the registration. */
  update(webhook: SigningWebhook): void {
    const before = this.#webhook;
    this.#webhook = webhook;
    if (webhook.state === 'paused') {
      this.#pause();
    } else if (webhook.activeSinceMs !== before.activeSinceMs || before.state === 'paused') {
      // The webhook was paused and resumed. Waiting deliveries are older than the pause, so they are skipped, even if this
      // process never saw the pause.
      this.#pause();
      this.#paused = false;
      this.#failures = webhook.consecutiveFailures;
    }
    // Otherwise a pause made here is not written yet: the row is older than this state.
  }

  /** Begins no further attempt; resolves when none is in flight. Waiting deliveries stay unchanged in the database. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#opening?.cancel();
    for (const { timer } of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
    this.#ready.length = 0;
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  #hasten(delivery: Delivery): void {
    const held = this.#waiting.get(delivery.deliveryId);
    if (held === undefined || delivery.dueMs >= held.delivery.dueMs) return;
    // A row with fewer attempts is out of date: its due time is that of the attempt that failed.
    if (held.delivery.attempts !== delivery.attempts) return;
    held.timer.cancel();
    this.#waiting.delete(delivery.deliveryId);
    this.#schedule(delivery);
  }

  #schedule(delivery: Delivery): void {
    const delayMs = delivery.dueMs - this.#parts.clock.now();
    if (delayMs <= 0) {
      this.#ready.push(delivery);
      this.#pump();
      return;
    }
    const timer = this.#parts.clock.after(delayMs, () => {
      this.#waiting.delete(delivery.deliveryId);
      this.#ready.push(delivery);
      this.#pump();
    });
    this.#waiting.set(delivery.deliveryId, { delivery, timer });
  }

  #pump(): void {
    // Never more in flight than may still fail, so that a dead receiver gets exactly ten attempts.
    const { chat } = this.#webhook;
    const most = chat === null ? CONCURRENCY_MAX : 1;
    while (this.isOpen && this.#underWay < Math.min(most, FAILURES_MAX - this.#failures)) {
      const nowMs = this.#parts.clock.now();
      const delivery = this.#ready[0];
      if (delivery === undefined) return;
      const isLate = nowMs >= delivery.expiresMs;
      const nowAt = this.#parts.clock.monotonic();
      if (!isLate && nowAt < this.#opensAt) {
        this.#pumpIn(this.#opensAt - nowAt);
        return;
      }
      this.#ready.shift();
      if (isLate) {
        this.#parts.changed({ delivery, state: 'expired', rowDueMs: delivery.dueMs });
        continue;
      }
      if (chat !== null) this.#opensAt = nowAt + chat.spacingMs;
      this.#underWay++;
      const pauses = this.#pauses;
      void this.#parts.attempt(this.#webhook, delivery).then((result) => {
        this.#underWay--;
        this.#tried(delivery, result, this.#pauses > pauses);
        this.#pump();
        if (this.#underWay === 0) this.#idle?.();
      });
    }
  }

  #pumpIn(delayMs: number): void {
    this.#opening ??= this.#parts.clock.after(delayMs, () => {
      this.#opening = null;
      this.#pump();
    });
  }

  /** @param wasPaused The webhook was paused during the attempt; it may have been resumed since. */
  #tried(delivery: Delivery, result: AttemptResult, wasPaused: boolean): void {
    const { clock } = this.#parts;
    const { pauseMs } = result;
    if (pauseMs !== null) this.#opensAt = Math.max(this.#opensAt, clock.monotonic() + pauseMs);
    const opensMs = clock.now() + (pauseMs ?? 0);
    const entry = {
      ...{ at_ms: result.startedMs, status: result.status, latency_ms: result.latencyMs },
      ...{ error: result.error, response_head: result.responseHead },
    };
    const log = [...delivery.log, entry].slice(-MAX_LOGGED_ATTEMPTS);
    const tried = { ...delivery, attempts: delivery.attempts + 1, log };
    const change = { ...this.#changeOf(tried, result, { opensMs, wasPaused }), rowDueMs: delivery.dueMs };
    this.#parts.attempted(result, change);
    this.#parts.changed(change);
    if (change.state === 'pending' && !this.#closed) this.#schedule(change.delivery);
  }

  #changeOf(
    tried: Delivery,
    result: AttemptResult,
    { opensMs, wasPaused }: { opensMs: number; wasPaused: boolean },
  ): DeliveryOutcome {
    if (result.outcome === 'delivered') return this.#succeeded(tried);
    if (result.outcome !== 'rate_limited' || wasPaused) return this.#failed(tried, result, wasPaused);
    // The chat works: it is asked again when it said so, and the attempt is no failure of it.
    return {
      delivery: { ...tried, dueMs: opensMs },
      state: opensMs >= tried.expiresMs ? 'expired' : 'pending',
    };
  }

  #succeeded(delivery: Delivery): DeliveryOutcome {
    if (this.#failures > 0 && !this.#paused) {
      this.#failures = 0;
      this.#reportHealth();
    }
    return { delivery, state: 'delivered' };
  }

  #failed(tried: Delivery, { status, retryAfterMs }: AttemptResult, wasPaused: boolean): DeliveryOutcome {
    const { clock, random } = this.#parts;
    const step = tried.step + 1;
    const dueMs = clock.now() + retryDelayMs(step, retryAfterMs, random);
    const delivery = { ...tried, step, dueMs };
    if (!wasPaused) {
      this.#failures++;
      if (this.#failures >= FAILURES_MAX) this.#pause();
      this.#reportHealth();
    }
    if (status === GONE) return { delivery, state: 'failed' };
    if (wasPaused || this.#paused) return { delivery, state: 'skipped' };
    return { delivery, state: dueMs >= delivery.expiresMs ? 'expired' : 'pending' };
  }

  /** Waiting deliveries are skipped, and not sent after a resumption either. */
  #pause(): void {
    this.#paused = true;
    this.#pauses++;
    const waiting = [...this.#waiting.values()];
    for (const { timer } of waiting) timer.cancel();
    const unsent = [...this.#ready, ...waiting.map(({ delivery }) => delivery)];
    this.#waiting.clear();
    this.#ready.length = 0;
    for (const delivery of unsent) {
      this.#parts.changed({ delivery, state: 'skipped', rowDueMs: delivery.dueMs });
    }
  }

  #reportHealth(): void {
    const { webhookId, activeSinceMs } = this.#webhook;
    const failures = { consecutiveFailures: this.#failures, paused: this.#paused };
    this.#parts.healthChanged({ webhookId, activeSinceMs, ...failures });
  }
}

/**
 * The pause before the next attempt, in milliseconds.
 * @param step Failed attempts so far, at least 1.
 * @param retryAfterMs The receiver's Retry-After; null: none. It lengthens the pause, never shortens it.
 * @param random 0 <= x < 1.
 */
export function retryDelayMs(step: number, retryAfterMs: number | null, random: () => number): number {
  const index = Math.min(step, RETRY_DELAYS_MS.length) - 1;
  const base = RETRY_DELAYS_MS[index] ?? RETRY_DELAYS_MS[0];
  const delayMs = Math.round(base * (1 - RETRY_JITTER + 2 * RETRY_JITTER * random()));
  return Math.max(delayMs, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
}
