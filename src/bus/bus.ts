import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Topic, Topics } from './topics.ts';

type Listener<T extends Topic> = (event: Topics[T]) => void;

/** Failures of one listener that are logged; later ones are only counted: a broken listener fails on every event. */
const LOGGED_FAILURES_MAX = 20;

/** The bus as seen by publishers. */
export interface Publisher {
  publish<T extends Topic>(topic: T, event: Topics[T]): void;
}

/** The bus as seen by listeners. */
export interface Subscriber {
  /** @returns Ends the subscription. */
  subscribe<T extends Topic>(topic: T, listener: Listener<T>): () => void;
}

interface Subscription {
  readonly listener: (event: never) => void;
  failures: number;
}

/**
 * Publishes recorded events to listeners in this process, synchronously: `publish` returns when every listener has
 * returned. A listener must therefore be short. A failing listener is logged and counted, and the others still get the
 * event.
 */
export class Bus implements Publisher, Subscriber {
  /** Lists are replaced at every change, so that a running publication is not affected and an event costs no copy. */
  readonly #subscriptions = new Map<Topic, readonly Subscription[]>();
  readonly #log: Logger;
  readonly #failures;

  constructor({ log, metrics }: { log: Logger; metrics: Pick<Metrics, 'counter'> }) {
    this.#log = log;
    this.#failures = metrics.counter(
      'underround_bus_listener_failures_total',
      'Events whose listener failed',
      ['topic'],
    );
  }

  publish<T extends Topic>(topic: T, event: Topics[T]): void {
    const subscriptions = this.#subscriptions.get(topic);
    if (subscriptions === undefined) return;
    for (const subscription of subscriptions) {
      try {
        subscription.listener(event as never);
      } catch (error) {
        this.#failed(topic, subscription, error);
      }
    }
  }

  subscribe<T extends Topic>(topic: T, listener: Listener<T>): () => void {
    const subscription: Subscription = { listener, failures: 0 };
    this.#subscriptions.set(topic, [...(this.#subscriptions.get(topic) ?? []), subscription]);
    return () => {
      const left = (this.#subscriptions.get(topic) ?? []).filter((other) => other !== subscription);
      if (left.length > 0) this.#subscriptions.set(topic, left);
      else this.#subscriptions.delete(topic);
    };
  }

  #failed(topic: Topic, subscription: Subscription, error: unknown): void {
    this.#failures.inc({ topic });
    if (++subscription.failures > LOGGED_FAILURES_MAX) return;
    this.#log.error({ err: error, topic, failures: subscription.failures }, 'bus.listener_failed');
  }
}
