/** PolyBolt: price channels for holders of credentials, with numbered frames and the last two minutes on subscribing. */
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { TICKERS, type Ticker } from '../schema/market.ts';
import { polyboltSymbol } from '../venues/polymarket/polybolt/mapper.ts';
import { SPOT_CHANNEL, TWAP_CHANNEL, TWAP_WINDOW_SECONDS } from '../venues/polymarket/polybolt/messages.ts';
import type { FaultState } from './faultState.ts';
import type { VenueModel } from './model.ts';
import { exact } from './relay.ts';

/** A point is sent this long after its second. */
const LAG_SECONDS = 1;
const SNAPSHOT_SECONDS = 120;
const SUBSCRIPTIONS_MAX = 64;
const SUBSCRIBE_FRAMES_PER_SECOND = 20;
const AUTH_FRAMES_MAX = 8;
const PING_PERIOD_SECONDS = 25;
const CHANNELS: readonly string[] = [SPOT_CHANNEL, TWAP_CHANNEL];
/** Decimals of `full_accuracy_value`, as captured for the averages. */
const DECIMALS = 18;

/** Anybody can read them here: they open nothing but this stand-in. */
export const SIMULATED_CREDENTIALS = {
  apiKey: '00000000-0000-4000-8000-000000000001',
  secret: 'c2ltdWxhdGVkIHNlY3JldCwgbm8gcmVhbCBvbmU=',
  passphrase: 'simulated-passphrase',
} as const;

const filterShape = z.object({ symbol: z.string(), window_seconds: z.int().optional() });
const entryShape = z.object({ channel: z.string(), filter: filterShape });
const subscribeOp = z.enum(['subscribe', 'unsubscribe']);
const rid = z.string().optional();
const commandShape = z.union([
  z.object({
    op: z.literal('auth'),
    rid,
    auth: z.object({ apiKey: z.string(), secret: z.string(), passphrase: z.string() }),
  }),
  z.object({ op: subscribeOp, rid, subscriptions: z.array(entryShape) }),
  entryShape.extend({ op: subscribeOp, rid }),
  z.object({ op: z.literal('ping'), rid }),
]);
type Command = z.infer<typeof commandShape>;
type SubscribeCommand = Extract<Command, { op: 'subscribe' | 'unsubscribe' }>;

interface Session {
  readonly socket: WebSocket;
  isAuthenticated: boolean;
  authFrames: number;
  /** Subscribe frames in the present second. */
  frames: { second: number; count: number };
  /** `channel symbol` pairs. */
  readonly pairs: Set<string>;
  /** The last number, and the lost frames to report, by channel. */
  readonly seq: Map<string, number>;
  readonly dropped: Map<string, number>;
}

export class PolyboltSocketServer {
  readonly #model: VenueModel;
  readonly #faults: FaultState;
  readonly #sessions = new Set<Session>();
  #sentSecond: number;

  constructor(model: VenueModel, faults: FaultState) {
    this.#model = model;
    this.#faults = faults;
    this.#sentSecond = this.#dueSecond();
  }

  accept(socket: WebSocket): void {
    const session: Session = {
      socket,
      isAuthenticated: false,
      authFrames: 0,
      frames: { second: 0, count: 0 },
      pairs: new Set(),
      seq: new Map(),
      dropped: new Map(),
    };
    this.#sessions.add(session);
    socket.on('message', (data) => this.#onMessage(session, String(data)));
    socket.on('ping', () => socket.pong());
    socket.on('close', () => this.#sessions.delete(session));
    socket.on('error', () => socket.terminate());
  }

  /** Sends the points of the seconds that became due since the last call. @param send Delays or drops a batch. */
  deliver(send: (batch: () => void) => void): void {
    const due = this.#dueSecond();
    for (let second = this.#sentSecond + 1; second <= due; second++) {
      if (this.#sessions.size > 0) send(() => this.#sendSecond(second));
      this.#sentSecond = second;
    }
  }

  closeAll(code: 4001 | 4002 | 4003 | 4008 | 1006): void {
    for (const { socket } of this.#sessions) {
      if (code === 1006) socket.terminate();
      else socket.close(code);
    }
  }

  #dueSecond(): number {
    return Math.floor(this.#model.nowMs / 1000) - LAG_SECONDS;
  }

  #sendSecond(second: number): void {
    for (const session of this.#sessions) {
      if (session.socket.readyState !== session.socket.OPEN) continue;
      if (second % PING_PERIOD_SECONDS === 0) session.socket.ping();
      for (const pair of session.pairs) {
        const [channel = '', symbol = ''] = pair.split(' ');
        const ticker = TICKERS.find((name) => polyboltSymbol(name) === symbol);
        if (ticker !== undefined) this.#sendPoint(session, { channel, symbol, ticker, second });
      }
    }
  }

  #sendPoint(
    session: Session,
    { channel, symbol, ticker, second }: { channel: string; symbol: string; ticker: Ticker; second: number },
  ): void {
    const seq = nextSeq(session, channel);
    const losses = this.#faults.polyboltLosses;
    if (losses.left > 0) {
      losses.left--;
      if (losses.isReported) session.dropped.set(channel, (session.dropped.get(channel) ?? 0) + 1);
      return;
    }
    const dropped = session.dropped.get(channel);
    session.dropped.delete(channel);
    const point = this.#point(channel, ticker, second);
    session.socket.send(
      JSON.stringify({
        ...{ v: 1, channel, seq, ts: second * 1000 },
        ...(dropped === undefined ? {} : { dropped }),
        payload: { ...point, symbol, ...origin(channel) },
      }),
    );
  }

  #point(channel: string, ticker: Ticker, second: number) {
    const { prices, nowMs } = this.#model;
    const back = Math.floor(nowMs / 1000) - second;
    const price =
      channel === TWAP_CHANNEL
        ? prices.meanOf(ticker, TWAP_WINDOW_SECONDS, back)
        : prices.point(ticker, back);
    const value = exact(price);
    return { full_accuracy_value: decimalText(value), timestamp: second * 1000, value };
  }

  #snapshot(session: Session, channel: string, symbol: string, ticker: Ticker): string {
    const data = Array.from({ length: SNAPSHOT_SECONDS }, (_, index) =>
      this.#point(channel, ticker, this.#sentSecond - SNAPSHOT_SECONDS + 1 + index),
    );
    const envelope = {
      v: 1,
      channel,
      seq: nextSeq(session, channel),
      ts: this.#sentSecond * 1000,
      snapshot: true,
    };
    return JSON.stringify({ ...envelope, payload: { symbol, ...origin(channel), data } });
  }

  #onMessage(session: Session, message: string): void {
    const command = commandShape.safeParse(parsed(message));
    if (!command.success) answer(session, { op: 'error', code: 'bad_op' });
    else if (command.data.op === 'ping') answer(session, { op: 'pong', rid: command.data.rid });
    else if (command.data.op === 'auth') this.#onAuth(session, command.data);
    else this.#onSubscriptions(session, command.data);
  }

  #onAuth(session: Session, { auth, rid }: Extract<Command, { op: 'auth' }>): void {
    const { apiKey, secret, passphrase } = SIMULATED_CREDENTIALS;
    session.isAuthenticated =
      auth.apiKey === apiKey && auth.secret === secret && auth.passphrase === passphrase;
    if (++session.authFrames > AUTH_FRAMES_MAX) refuse(session, 'auth_attempts', rid);
    else if (session.isAuthenticated) answer(session, { op: 'authed', rid });
    else answer(session, { op: 'error', code: 'auth_invalid', rid });
  }

  #onSubscriptions(session: Session, command: SubscribeCommand): void {
    const second = Math.floor(this.#model.nowMs / 1000);
    const count = session.frames.second === second ? session.frames.count + 1 : 1;
    session.frames = { second, count };
    if (count > SUBSCRIBE_FRAMES_PER_SECOND) {
      refuse(session, 'rate_limited', command.rid);
      return;
    }
    const entries = 'subscriptions' in command ? command.subscriptions : [command];
    for (const entry of entries) this.#onEntry(session, entry, command);
  }

  #onEntry(
    session: Session,
    { channel, filter }: z.infer<typeof entryShape>,
    command: SubscribeCommand,
  ): void {
    const { op, rid } = command;
    const { symbol } = filter;
    const code = entryProblem(session, channel, filter);
    const ticker = TICKERS.find((name) => polyboltSymbol(name) === symbol);
    if (code !== null || ticker === undefined) {
      answer(session, { op: 'error', code: code ?? 'bad_filter', channel, rid });
      return;
    }
    const pair = `${channel} ${symbol}`;
    const isNew = op === 'subscribe' && !session.pairs.has(pair);
    if (isNew && session.pairs.size >= SUBSCRIPTIONS_MAX) {
      refuse(session, 'sub_limit', rid);
      return;
    }
    if (op === 'subscribe') session.pairs.add(pair);
    else session.pairs.delete(pair);
    answer(session, { op: `${op}d`, channel, rid });
    if (isNew) session.socket.send(this.#snapshot(session, channel, symbol, ticker));
  }
}

function entryProblem(session: Session, channel: string, filter: z.infer<typeof filterShape>): string | null {
  if (!CHANNELS.includes(channel)) return 'bad_channel';
  if (!session.isAuthenticated) return 'auth_required';
  return channel === TWAP_CHANNEL && filter.window_seconds !== TWAP_WINDOW_SECONDS ? 'bad_filter' : null;
}

function nextSeq(session: Session, channel: string): number {
  const seq = (session.seq.get(channel) ?? 0) + 1;
  session.seq.set(channel, seq);
  return seq;
}

function origin(channel: string): object {
  return {
    source: 'chainlink',
    ...(channel === TWAP_CHANNEL ? { window_seconds: TWAP_WINDOW_SECONDS } : {}),
  };
}

/** The shortest decimal of a number, filled with zeros: more digits than it has would be another price. */
function decimalText(value: number): string {
  const [whole = '0', fraction = ''] = String(value).split('.');
  return `${whole}.${fraction.padEnd(DECIMALS, '0')}`;
}

function answer({ socket }: Session, frame: object): void {
  socket.send(JSON.stringify(frame));
}

/** A broken limit ends the connection. */
function refuse(session: Session, code: string, rid: string | undefined): void {
  answer(session, { op: 'error', code, rid });
  session.socket.close(4008);
}

function parsed(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    // Not JSON: refused like any other wrong command.
    return null;
  }
}
