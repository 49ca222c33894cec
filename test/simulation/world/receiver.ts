import type { Clock } from '../../../src/runtime/clock.ts';
import type { Delivery } from '../../../src/webhooks/delivery/delivery.ts';
import type { AttemptResult, WebhookSender } from '../../../src/webhooks/delivery/sender.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtualTime.ts';

const LATENCY_MS = 20;
const DEADLINE_MS = 5_000;

interface Received {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly body: string;
}

/** The machines that webhooks are sent to. What they received stays received, whatever the sender learns of it. */
export class Receiver {
  readonly faults = { refuses: false, slowMs: 0, losesAnswers: false };
  readonly received: Received[] = [];
  readonly #time: VirtualTime;
  readonly #trace: Trace;

  constructor(parts: { time: VirtualTime; trace: Trace }) {
    this.#time = parts.time;
    this.#trace = parts.trace;
  }

  /** The port through which a process sends. A dead process learns no outcome. */
  senderOf(clock: Clock): Pick<WebhookSender, 'attempt' | 'forget' | 'close'> {
    return {
      attempt: ({ webhookId }, delivery) => this.#attempt(webhookId, delivery, clock),
      forget: () => undefined,
      close: async () => undefined,
    };
  }

  #attempt(webhookId: string, delivery: Delivery, clock: Clock): Promise<AttemptResult> {
    const startedMs = clock.now();
    const { refuses, slowMs, losesAnswers } = this.faults;
    const { deliveryId } = delivery;
    const body = delivery.body.toString('utf8');
    // On its way: the sender's death does not stop it.
    this.#time.after(LATENCY_MS, () => {
      this.#trace.add(this.#time.nowMs, `delivered ${webhookId} ${deliveryId} refused ${refuses}`);
      if (!refuses) this.received.push({ webhookId, deliveryId, body });
    });
    const isLate = losesAnswers || slowMs >= DEADLINE_MS;
    const answeredMs = isLate ? DEADLINE_MS : 2 * LATENCY_MS + slowMs;
    return new Promise((resolve) => {
      clock.after(answeredMs, () => {
        const facts = {
          startedMs,
          latencyMs: answeredMs,
          responseHead: '',
          retryAfterMs: null,
          pauseMs: null,
        };
        if (isLate) resolve({ ...facts, outcome: 'timeout', status: null, error: 'no whole reply' });
        else if (refuses) resolve({ ...facts, outcome: 'refused', status: 500, error: 'status 500' });
        else resolve({ ...facts, outcome: 'delivered', status: 200, error: null });
      });
    });
  }
}
