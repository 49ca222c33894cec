/** The order book's market channel: subscriptions, text frames, snapshots, and the faults of a live feed. */
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import { DelayedFrameQueue } from './delayedFrameQueue.ts';
import type { FaultState } from './faultState.ts';
import type { SimulatedMarket } from './markets.ts';
import type { VenueModel } from './model.ts';

const SNAPSHOT_DELAY_MS = 200;
/** A connection whose client sends nothing for this long is dropped without a close frame. */
const IDLE_LIMIT_MS = 125_000;
const SEND_BUFFER_LIMIT_BYTES = 16 * 1024 * 1024;

const commandSchema = z.object({
  assets_ids: z.array(z.string()),
  type: z.string().optional(),
  operation: z.enum(['subscribe', 'unsubscribe']).optional(),
  custom_feature_enabled: z.boolean().optional(),
});
type Command = z.infer<typeof commandSchema>;

interface Session {
  readonly socket: WebSocket;
  readonly tokens: Set<string>;
  isInitialised: boolean;
  /** A setting of the connection; the last command wins. */
  custom: boolean;
  lastReceivedMs: number;
  readonly late: DelayedFrameQueue;
}

/**
 * Receives every frame of a market in wire order, with the number of sockets to which it was written (0 without
 * subscribers). Crash tests use it to keep the venue's own record of the frames it sent.
 */
export interface WireObserver {
  onFrame(market: SimulatedMarket, frame: string, sockets: number): void;
  /** A whole book in answer to a subscription. */
  onSnapshot(market: SimulatedMarket, frame: string): void;
}

interface ClobSocketServerOptions {
  readonly model: VenueModel;
  readonly faults: FaultState;
  readonly clock: Clock;
  readonly observer?: WireObserver | null;
}

export class ClobSocketServer {
  readonly #parts: ClobSocketServerOptions;
  readonly #sessions = new Set<Session>();
  /** Sessions by market, so that a frame without subscribers costs nothing. */
  readonly #listeners = new Map<SimulatedMarket, Set<Session>>();

  constructor(parts: ClobSocketServerOptions) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Whether a connection is subscribed to a token. */
  follows(socket: WebSocket, tokenId: string): boolean {
    for (const session of this.#sessions) if (session.socket === socket) return session.tokens.has(tokenId);
    return false;
  }

  accept(socket: WebSocket): void {
    const session: Session = {
      socket,
      tokens: new Set(),
      isInitialised: false,
      custom: false,
      lastReceivedMs: this.#parts.clock.monotonic(),
      late: new DelayedFrameQueue(this.#parts.clock),
    };
    this.#sessions.add(session);
    socket.on('message', (data) => this.#onMessage(session, String(data)));
    socket.on('ping', () => {
      session.lastReceivedMs = this.#parts.clock.monotonic();
      if (!this.#parts.faults.halfOpen) socket.pong();
    });
    socket.on('close', () => this.#drop(session));
    socket.on('error', () => socket.terminate());
  }

  /** Delivers a frame to the market's subscribers; to all connections if `market` is null. */
  deliver(market: SimulatedMarket | null, frame: string, custom: boolean): void {
    const { faults, clock, observer = null } = this.#parts;
    const sessions = market === null ? this.#sessions : this.#listeners.get(market);
    const isLost = faults.lossesLeft > 0 && sessions !== undefined && sessions.size > 0;
    if (isLost) faults.lossesLeft--;
    const kept = faults.frozenTokens.size > 0 ? withoutTokens(frame, faults.frozenTokens) : frame;
    if (isLost || kept === null || !sessions || sessions.size === 0) {
      if (market !== null) observer?.onFrame(market, frame, 0);
      return;
    }
    const copies = faults.duplicatesLeft > 0 ? 2 : 1;
    if (copies === 2) faults.duplicatesLeft--;
    const send = () => {
      let sockets = 0;
      for (const session of sessions) {
        if (custom && !session.custom) continue;
        if (this.#send(session, kept)) sockets++;
        if (copies === 2) this.#send(session, kept);
      }
      if (market !== null) observer?.onFrame(market, frame, sockets);
    };
    if (faults.reorderDelayMs > 0 && /"event_type":"(book|last_trade_price)"/.test(frame)) {
      clock.after(faults.reorderDelayMs, send);
    } else send();
  }

  /** Runs once a second: drops idle connections and ends those whose markets are all settled. */
  sweep(): void {
    const nowMs = this.#parts.clock.monotonic();
    for (const session of this.#sessions) {
      if (nowMs - session.lastReceivedMs > IDLE_LIMIT_MS) session.socket.terminate();
      else if (this.#isAllSettled(session)) session.socket.close(1000, 'all subscribed assets resolved');
    }
  }

  /** Closes every connection; 1006 closes without a close frame. */
  closeAll(code: 1000 | 1013 | 1006): void {
    for (const { socket } of this.#sessions) {
      if (code === 1006) socket.terminate();
      else
        socket.close(
          code,
          code === 1013 ? 'slow consumer: send buffer full' : 'all subscribed assets resolved',
        );
    }
  }

  #onMessage(session: Session, message: string): void {
    const { clock, faults } = this.#parts;
    session.lastReceivedMs = clock.monotonic();
    if (faults.halfOpen) return;
    if (message === 'PING') {
      const pong = () => session.socket.send('PONG');
      if (faults.pongDelayMs > 0) clock.after(faults.pongDelayMs, pong);
      else pong();
      return;
    }
    const command = parseCommand(message);
    if (!command) session.socket.send('INVALID MESSAGE');
    else if (command.operation === 'unsubscribe') this.#unsubscribe(session, command);
    else this.#subscribe(session, command);
  }

  #subscribe(session: Session, command: Command): void {
    if (command.operation === undefined) {
      if (session.isInitialised || command.type !== 'market') {
        session.socket.send('INVALID OPERATION');
        return;
      }
      session.isInitialised = true;
    }
    session.custom = command.custom_feature_enabled === true;
    const added = command.assets_ids.filter((token) => !session.tokens.has(token));
    if (added.length === 0) {
      session.socket.send('NO NEW ASSETS');
      return;
    }
    for (const token of added) session.tokens.add(token);
    this.#parts.clock.after(SNAPSHOT_DELAY_MS, () => this.#sendSnapshot(session, added));
  }

  /** Changes are sent only after the snapshot to which they apply. */
  #sendSnapshot(session: Session, tokens: readonly string[]): void {
    if (!this.#sessions.has(session)) return;
    const { model, faults, observer = null } = this.#parts;
    const books: string[] = [];
    const shown: [SimulatedMarket, string][] = [];
    for (const token of tokens) {
      const market = model.registry.byId(token);
      const live = market && session.tokens.has(token) ? model.bookOf(market) : null;
      if (!market || !live) continue;
      this.#listenersOf(market).add(session);
      const isShown = !faults.frozenTokens.has(token) && !faults.settledTokens.has(token);
      if (!isShown) continue;
      const frame = live.book.bookFrame(token === market.facts.upToken, true);
      books.push(frame);
      shown.push([market, frame]);
    }
    if (!this.#send(session, `[${books.join(',')}]`)) return;
    for (const [market, frame] of shown) observer?.onSnapshot(market, frame);
  }

  #unsubscribe(session: Session, command: Command): void {
    session.custom = command.custom_feature_enabled === true;
    for (const token of command.assets_ids) {
      session.tokens.delete(token);
      const market = this.#parts.model.registry.byId(token);
      if (!market) continue;
      const { upToken, downToken } = market.facts;
      if (!session.tokens.has(upToken) && !session.tokens.has(downToken))
        this.#listeners.get(market)?.delete(session);
    }
  }

  /** @returns Whether the frame was written to the socket, or will be after the simulated delay. */
  #send(session: Session, frame: string): boolean {
    const { faults } = this.#parts;
    const { socket, late } = session;
    if (faults.silentStall || faults.halfOpen || socket.readyState !== socket.OPEN) return false;
    if (socket.bufferedAmount > SEND_BUFFER_LIMIT_BYTES) {
      socket.close(1013, 'slow consumer: send buffer full');
      return false;
    }
    late.send(faults.lateMs.clob, () => {
      if (socket.readyState === socket.OPEN) socket.send(frame);
    });
    return true;
  }

  #listenersOf(market: SimulatedMarket): Set<Session> {
    const known = this.#listeners.get(market);
    if (known) return known;
    const made = new Set<Session>();
    this.#listeners.set(market, made);
    return made;
  }

  #drop(session: Session): void {
    this.#sessions.delete(session);
    for (const [market, sessions] of this.#listeners) {
      sessions.delete(session);
      if (sessions.size === 0) this.#listeners.delete(market);
    }
  }

  #isAllSettled(session: Session): boolean {
    if (session.tokens.size === 0) return false;
    for (const token of session.tokens) {
      const market = this.#parts.model.registry.byId(token);
      if (!market?.fate.isSettled) return false;
    }
    return true;
  }
}

function parseCommand(message: string): Command | null {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    // The venue answers any unreadable text with INVALID MESSAGE.
    return null;
  }
  const parsed = commandSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

interface AnyFrame {
  asset_id?: string;
  price_changes?: { asset_id: string }[];
}

/** The frame without the changes of some tokens; null when nothing is left. */
function withoutTokens(frame: string, tokens: ReadonlySet<string>): string | null {
  const parsed = JSON.parse(frame) as AnyFrame;
  if (parsed.asset_id !== undefined) return tokens.has(parsed.asset_id) ? null : frame;
  if (!parsed.price_changes) return frame;
  const left = parsed.price_changes.filter(({ asset_id }) => !tokens.has(asset_id));
  return left.length === 0 ? null : JSON.stringify({ ...parsed, price_changes: left });
}
