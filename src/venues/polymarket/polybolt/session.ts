import type { PolymarketCredentials } from '../../../config.ts';
import type { Clock, Timer } from '../../../runtime/clock.ts';
import { SPOT_CHANNEL, TWAP_CHANNEL, TWAP_WINDOW_SECONDS } from './messages.ts';

/** The venue allows 20 subscribe frames a second; its own client sends one in this time. */
const OP_PERIOD_MS = 110;
/** A command without an answer for this long was lost. */
const ANSWER_LIMIT_MS = 10_000;

/** One channel of one symbol. */
interface PolyboltPair {
  readonly channel: string;
  readonly symbol: string;
}

type Command = 'auth' | 'subscribe' | 'unsubscribe';

interface Op {
  readonly rid: string;
  readonly command: Command;
  readonly pair: PolyboltPair | null;
}

interface PolyboltSessionOptions {
  readonly credentials: PolymarketCredentials;
  readonly symbols: readonly string[];
  readonly clock: Clock;
  readonly send: (text: string) => void;
  /** A command was not answered in time. */
  readonly onUnanswered: (command: Command) => void;
}

/**
 * The commands of one connection: first the credentials, then one subscription a frame, because a refusal names no
 * symbol and only a frame's own id says which one it means. One command is sent at a time.
 */
export class PolyboltSession {
  readonly #options: PolyboltSessionOptions;
  readonly #waiting: Op[] = [];
  /** Sent commands by id, with the timers of their answers. */
  readonly #unanswered = new Map<string, { readonly op: Op; readonly timer: Timer }>();
  readonly #refused = new Set<string>();
  #pace: Timer | null = null;
  #ids = 0;

  constructor(options: PolyboltSessionOptions) {
    this.#options = options;
  }

  /** Sends the credentials. */
  start(): void {
    this.#add('auth', null);
  }

  /** The credentials were accepted. */
  authenticated(): void {
    for (const pair of this.#pairs()) this.#add('subscribe', pair);
  }

  /** Subscribes the symbols of a channel again, because only a new subscription is answered with recent points. */
  renew(channel: string): void {
    for (const pair of this.#pairs()) {
      if (pair.channel !== channel || this.#refused.has(nameOf(pair))) continue;
      this.#add('unsubscribe', pair);
      this.#add('subscribe', pair);
    }
  }

  /** @returns The command that an answer belongs to, with its pair; null for an unknown id. */
  answered(rid: string | undefined): Pick<Op, 'command' | 'pair'> | null {
    const sent = this.#unanswered.get(rid ?? '');
    if (sent === undefined) return null;
    sent.timer.cancel();
    this.#unanswered.delete(sent.op.rid);
    return sent.op;
  }

  /** The venue refused a pair: it is not subscribed again on this connection. */
  refused(pair: PolyboltPair): void {
    this.#refused.add(nameOf(pair));
  }

  end(): void {
    this.#pace?.cancel();
    for (const { timer } of this.#unanswered.values()) timer.cancel();
    this.#unanswered.clear();
  }

  /** The averages first: they decide the windows of today. */
  #pairs(): PolyboltPair[] {
    return [TWAP_CHANNEL, SPOT_CHANNEL].flatMap((channel) =>
      this.#options.symbols.map((symbol) => ({ channel, symbol })),
    );
  }

  #add(command: Command, pair: PolyboltPair | null): void {
    this.#waiting.push({ rid: `${command}-${++this.#ids}`, command, pair });
    if (this.#pace === null) this.#sendNext();
  }

  #sendNext(): void {
    this.#pace = null;
    const op = this.#waiting.shift();
    if (op === undefined) return;
    const { clock, send, onUnanswered } = this.#options;
    const timer = clock.after(ANSWER_LIMIT_MS, () => onUnanswered(op.command));
    this.#unanswered.set(op.rid, { op, timer });
    this.#pace = clock.after(OP_PERIOD_MS, () => this.#sendNext());
    send(JSON.stringify(this.#frameOf(op)));
  }

  #frameOf({ rid, command, pair }: Op): object {
    if (pair === null) {
      const { apiKey, secret, passphrase } = this.#options.credentials;
      const auth = { apiKey: apiKey.reveal(), secret: secret.reveal(), passphrase: passphrase.reveal() };
      return { op: command, rid, auth };
    }
    const { channel, symbol } = pair;
    const filter = channel === TWAP_CHANNEL ? { symbol, window_seconds: TWAP_WINDOW_SECONDS } : { symbol };
    return { op: command, rid, channel, filter };
  }
}

function nameOf({ channel, symbol }: PolyboltPair): string {
  return `${channel} ${symbol}`;
}
