import type { Random } from '../../../src/core/random.ts';
import { TransportError } from '../../../src/runtime/errors.ts';
import type { BookSnapshotEvent } from '../../../src/schema/events.ts';
import { HttpRefusedError } from '../../../src/venues/http.ts';
import { mapRestBook } from '../../../src/venues/polymarket/clob/rest.ts';
import type { Link } from './network.ts';
import type { Trace } from './trace.ts';
import type { VenueMarket } from './venueMarket.ts';
import type { VirtualTime } from './virtualTime.ts';

const SNAPSHOT_DELAY_MS = 60;
const REST_LATENCY_MS = 40;
const ACT_PERIOD_MS = 10;
/** How long after its end a market is resolved. */
const RESOLVED_AFTER_MS = 3_000;

interface Session {
  /** Subscribed tokens whose book was sent: changes follow. */
  readonly served: Set<VenueMarket>;
  readonly wanted: Set<VenueMarket>;
}

/** How the venue misbehaves now. */
interface VenueFaults {
  isStopped: boolean;
  /** Distinct frames that are sent to nobody. */
  neverSent: number;
  /** Next frames whose hash is wrong, and that cannot be read. */
  wrongHashes: number;
  unreadable: number;
  /** Of this market only the frames of YES are sent. */
  oneToken: VenueMarket | null;
  /** Status of every request; 0: no connection; null: answers. */
  restStatus: number | null;
}

/** The order book's market channel and its requests, with the truth about each book. It has a clock of its own. */
export class Venue {
  readonly markets: readonly VenueMarket[];
  readonly faults: VenueFaults = {
    ...{ isStopped: false, neverSent: 0, wrongHashes: 0, unreadable: 0, oneToken: null, restStatus: null },
  };
  readonly #time: VirtualTime;
  readonly startMs: number;
  readonly #random: Random;
  readonly #trace: Trace;
  readonly #sessions = new Map<Link, Session>();
  readonly #byToken = new Map<string, VenueMarket>();
  readonly #nextActMs: number[];
  /** By frame: the machines that it has reached unchanged. */
  readonly #arrivals = new Map<string, Set<string>>();
  /** The frames of each state, by market and time. */
  readonly #framesOf = new Map<string, string[]>();

  constructor(parts: {
    time: VirtualTime;
    startMs: number;
    random: Random;
    trace: Trace;
    markets: readonly VenueMarket[];
  }) {
    this.#time = parts.time;
    this.startMs = parts.startMs;
    this.#random = parts.random;
    this.#trace = parts.trace;
    this.markets = parts.markets;
    for (const one of this.markets)
      for (const token of [one.market.yesTokenId, one.market.noTokenId]) this.#byToken.set(token, one);
    this.#nextActMs = this.markets.map(({ pauseMs }) => this.#random.below(pauseMs));
    this.#tick();
  }

  get nowMs(): number {
    return this.startMs + this.#time.nowMs;
  }

  accept(link: Link): void {
    this.#sessions.set(link, { served: new Set(), wanted: new Set() });
  }

  onClosed(link: Link): void {
    this.#sessions.delete(link);
  }

  onText(link: Link, text: string): void {
    const session = this.#sessions.get(link);
    if (session === undefined) return;
    if (text === 'PING') {
      link.send('PONG');
      return;
    }
    const { assets_ids, operation } = JSON.parse(text) as { assets_ids: string[]; operation?: string };
    const named = new Set(assets_ids.flatMap((token) => this.#byToken.get(token) ?? []));
    if (operation === 'unsubscribe') {
      for (const market of named) {
        session.wanted.delete(market);
        session.served.delete(market);
      }
      return;
    }
    const added = [...named].filter((market) => !session.wanted.has(market));
    for (const market of added) session.wanted.add(market);
    if (added.length > 0) this.#time.after(SNAPSHOT_DELAY_MS, () => this.#sendBooks(link, session, added));
  }

  onArrived(text: string, machine: string): void {
    this.#arrivals.get(text)?.add(machine);
  }

  /** Whether every frame of a state has reached one machine, on whichever connection. */
  hasArrived({ market }: VenueMarket, timeMs: number): boolean {
    const frames = this.#framesOf.get(`${market.marketId} ${timeMs}`) ?? [];
    const [first, ...others] = frames.map((frame) => this.#arrivals.get(frame) ?? new Set<string>());
    return [...(first ?? [])].some((machine) => others.every((reached) => reached.has(machine)));
  }

  /** Ends every connection. */
  dropAll(code: number): void {
    for (const link of [...this.#sessions.keys()]) link.cut(code);
  }

  /** Sends frames of a market to everyone who follows it. */
  send(market: VenueMarket, frames: readonly string[]): void {
    const { faults } = this;
    const changes = frames.filter(isChange);
    this.#framesOf.set(`${market.market.marketId} ${market.actedMs}`, changes);
    for (const frame of changes) this.#arrivals.set(frame, new Set());
    for (const frame of frames) {
      if (faults.neverSent > 0) {
        faults.neverSent--;
        this.#trace.add(this.#time.nowMs, `never sent ${frame}`);
        continue;
      }
      const sent = this.#spoiled(market, frame);
      if (sent === null) continue;
      this.#trace.add(this.#time.nowMs, `venue ${sent}`);
      for (const [link, { served }] of this.#sessions) if (served.has(market)) link.send(sent);
    }
  }

  /** Answers `POST /books`. @param receivedMs The asker's clock. */
  async books(tokenIds: readonly string[], clock: AskingClock): Promise<readonly BookSnapshotEvent[]> {
    await new Promise<void>((resolve) => clock.after(REST_LATENCY_MS, resolve));
    const { restStatus } = this.faults;
    if (restStatus === 0) throw new TransportError('connection refused');
    if (restStatus !== null)
      throw new HttpRefusedError(`HTTP ${restStatus}`, {
        status: restStatus,
        excerpt: '',
        retryAfterMs: null,
      });
    const answers = tokenIds.flatMap((token) => {
      const market = this.#byToken.get(token);
      if (market === undefined || market.isResolved) return [];
      const books = JSON.parse(market.wire.snapshot(market.actedMs)) as { asset_id: string }[];
      return books.filter(({ asset_id }) => asset_id === token);
    });
    await new Promise<void>((resolve) => clock.after(REST_LATENCY_MS, resolve));
    return answers.map((raw) => mapRestBook(raw, clock.now()));
  }

  #tick(): void {
    this.#time.after(ACT_PERIOD_MS, () => this.#tick());
    if (this.faults.isStopped) return;
    for (const [at, market] of this.markets.entries()) {
      const resolvesMs = market.market.endTimeMs + RESOLVED_AFTER_MS;
      if (!market.isResolved && this.nowMs >= resolvesMs) this.send(market, [market.resolve(this.nowMs)]);
      if (this.#time.nowMs < (this.#nextActMs[at] as number) || market.isResolved) continue;
      this.#nextActMs[at] = this.#time.nowMs + 1 + this.#random.below(2 * market.pauseMs);
      this.send(market, market.act(this.nowMs));
    }
  }

  /** Changes are sent only after the book to which they apply. */
  #sendBooks(link: Link, session: Session, added: readonly VenueMarket[]): void {
    if (!link.isOpen) return;
    const books = added
      .filter((market) => session.wanted.has(market) && !market.isResolved)
      .map((market) => {
        session.served.add(market);
        return market.wire.snapshot(market.actedMs).slice(1, -1);
      });
    if (books.length > 0) link.send(`[${books.join(',')}]`);
  }

  #spoiled(market: VenueMarket, frame: string): string | null {
    const { faults } = this;
    if (!isChange(frame)) return frame;
    if (faults.unreadable > 0) {
      faults.unreadable--;
      return frame.replaceAll('"BUY"', '"PURCHASE"').replaceAll('"SELL"', '"SALE"');
    }
    if (faults.wrongHashes > 0) {
      faults.wrongHashes--;
      return frame.replaceAll(/"hash":"[0-9a-f]{40}"/g, `"hash":"${'0'.repeat(40)}"`);
    }
    if (faults.oneToken !== market) return frame;
    const parsed = JSON.parse(frame) as { price_changes: { asset_id: string }[] };
    const { yesTokenId } = market.market;
    return JSON.stringify({
      ...parsed,
      price_changes: parsed.price_changes.filter(({ asset_id }) => asset_id === yesTokenId),
    });
  }
}

function isChange(frame: string): boolean {
  return frame.includes('"price_changes"');
}

interface AskingClock {
  now(): number;
  after(delayMs: number, run: () => void): unknown;
}
