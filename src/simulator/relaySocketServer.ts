/** The real-time data stream: price topics with filters, and recent points on subscribing. */
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Ticker } from '../schema/market.ts';
import type { FaultState } from './faultState.ts';
import type { VenueModel } from './model.ts';
import { TWAP_SECONDS } from './prices.ts';
import { exact, type RelayPoint, type RelayTopic, relayFrame, relaySymbol } from './relay.ts';

const TOPICS = ['crypto_prices', 'crypto_prices_chainlink', 'crypto_prices_twap_sixty'] as const;
/** The relay is about two seconds late, so its newest point is that old. */
const OLDEST_RECENT_SECONDS = 12;
const NEWEST_RECENT_SECONDS = 2;

const commandSchema = z.object({
  action: z.enum(['subscribe', 'unsubscribe']),
  subscriptions: z.array(z.object({ topic: z.string(), type: z.string(), filters: z.string().optional() })),
});

interface Session {
  readonly socket: WebSocket;
  /** `topic symbol` pairs. */
  readonly wanted: Set<string>;
}

export class RelaySocketServer {
  readonly #model: VenueModel;
  readonly #faults: FaultState;
  readonly #sessions = new Set<Session>();

  constructor(model: VenueModel, faults: FaultState) {
    this.#model = model;
    this.#faults = faults;
  }

  accept(socket: WebSocket): void {
    if (this.#isRemoved) {
      socket.terminate();
      return;
    }
    const session: Session = { socket, wanted: new Set() };
    this.#sessions.add(session);
    socket.on('message', (data) => this.#onMessage(session, String(data)));
    socket.on('ping', () => socket.pong());
    socket.on('close', () => this.#sessions.delete(session));
    socket.on('error', () => socket.terminate());
  }

  deliver(atMs: number, point: RelayPoint): void {
    if (this.#isRemoved) for (const { socket } of this.#sessions) socket.close(1001);
    if (this.#sessions.size === 0 || this.#isRemoved) return;
    const key = `${point.topic} ${relaySymbol(point.topic, point.ticker)}`;
    let frame: string | null = null;
    for (const { socket, wanted } of this.#sessions) {
      if (!wanted.has(key) || socket.readyState !== socket.OPEN) continue;
      frame ??= relayFrame(point, atMs);
      socket.send(frame);
    }
  }

  get #isRemoved(): boolean {
    return this.#faults.isRelayRemoved(this.#model.nowMs);
  }

  #onMessage(session: Session, message: string): void {
    // This relay does not answer PING.
    if (message === 'PING') return;
    const command = readCommand(message);
    if (!command) {
      session.socket.send('{"message":"Invalid request body","statusCode":400}');
      return;
    }
    for (const { topic, filters } of command.subscriptions) {
      const known = TOPICS.find((name) => name === topic);
      if (!known) continue;
      for (const ticker of this.#model.prices.tickers) {
        const symbol = relaySymbol(known, ticker);
        if (!matches(filters ?? '', symbol)) continue;
        if (command.action === 'unsubscribe') session.wanted.delete(`${known} ${symbol}`);
        else {
          session.wanted.add(`${known} ${symbol}`);
          session.socket.send(this.#recent(known, ticker));
        }
      }
    }
  }

  #recent(topic: RelayTopic, ticker: Ticker): string {
    const { prices, nowMs } = this.#model;
    const newestMs = Math.floor(nowMs / 1000) * 1000;
    const data: { timestamp: number; value: number }[] = [];
    const isTwap = topic === 'crypto_prices_twap_sixty';
    for (
      let back = isTwap ? 0 : OLDEST_RECENT_SECONDS;
      back >= (isTwap ? 0 : NEWEST_RECENT_SECONDS);
      back--
    ) {
      const value = isTwap ? prices.meanOf(ticker, TWAP_SECONDS) : prices.point(ticker, back);
      data.push({ timestamp: newestMs - back * 1000, value: exact(value) });
    }
    const payload = { symbol: relaySymbol(topic, ticker), data };
    return JSON.stringify({ topic, type: 'subscribe', timestamp: Math.floor(nowMs), payload });
  }
}

function readCommand(message: string): z.infer<typeof commandSchema> | null {
  try {
    return commandSchema.parse(JSON.parse(message));
  } catch {
    // Neither JSON nor a command: the venue refuses both in the same way.
    return null;
  }
}

/** Accepts an empty filter, a comma-separated list, or compact JSON with a symbol; JSON with a space fails, as at the venue. */
function matches(filters: string, symbol: string): boolean {
  if (filters === '') return true;
  if (filters.startsWith('{')) return filters === `{"symbol":"${symbol}"}`;
  return filters.split(',').includes(symbol);
}
