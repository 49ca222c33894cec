import type { WebSocket } from 'ws';
import { Recorder } from '../../src/recorder/recorder.ts';
import { WatchedClob } from '../../src/recorder/watchdog/watchedClob.ts';
import { every, type Timer } from '../../src/runtime/clock.ts';
import { TransportError, VenueMessageError } from '../../src/runtime/errors.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { BookSnapshotEvent } from '../../src/schema/events.ts';
import type { Gap } from '../../src/schema/gap.ts';
import type { EventType, Ticker } from '../../src/schema/market.ts';
import type { GapRecord, RecordSink } from '../../src/schema/records.ts';
import { clobReply } from '../../src/simulator/clobRoutes.ts';
import { ClobSocketServer } from '../../src/simulator/clobSocketServer.ts';
import { FaultState } from '../../src/simulator/faultState.ts';
import { gammaEvent } from '../../src/simulator/gammaObjects.ts';
import type { SimulatedMarket } from '../../src/simulator/markets.ts';
import { VenueModel, type VenueSink } from '../../src/simulator/model.ts';
import { HttpRefusedError } from '../../src/venues/http.ts';
import type { MarketBook } from '../../src/venues/polymarket/book/marketBook.ts';
import { mapRestBook } from '../../src/venues/polymarket/clob/rest.ts';
import { mapGammaEvent } from '../../src/venues/polymarket/gamma/mapper.ts';
import { DirectSocketDriver } from '../../src/venues/venueSocket.ts';
import { FakeClock } from './fakeClock.ts';
import { MemoryNetwork } from './memorySockets.ts';

const WS_URL = 'ws://venue/ws/market';
const VENUE_TICK_MS = 20;
/** By then books are empty and markets resolved. */
const AFTER_END_MS = 300_000;
export const START_MS = Date.UTC(2026, 10, 20, 12, 0, 30);

type RestFault = 'forbidden' | 'too_many' | 'html' | 'down' | 'old_copy' | null;

/** Keeps gaps and counts other records: an hour of books would not fit into memory. */
class GapSink implements RecordSink {
  readonly gaps = new Map<string, Gap>();
  books = 0;
  trustedBooks = 0;
  trades = 0;
  book({ trusted }: { trusted: boolean }): void {
    this.books++;
    if (trusted) this.trustedBooks++;
  }
  quote(): void {}
  trade(): void {
    this.trades++;
  }
  underlying(): void {}
  perpDepth(): void {}
  market(): void {}
  gap({ seq: _, ...gap }: GapRecord): void {
    this.gaps.set(gap.gapId, gap);
  }
}

export interface WatchedVenueOptions {
  readonly seed?: string;
  readonly density?: number;
  readonly startMs?: number;
  readonly tickers?: readonly Ticker[];
  readonly eventTypes?: readonly EventType[];
  readonly v2FromMs?: number;
  readonly hasRest?: boolean;
  /** Receives the model's prices and facts, which this venue itself ignores. */
  readonly sink?: Partial<Pick<VenueSink, 'relay' | 'entered'>>;
  /** Accepts connections to other addresses than the market channel's. */
  readonly accept?: (socket: WebSocket, url: string) => void;
}

/**
 * The stand-in venue, the feed, the recorder and the watchdog in one process, on one clock that only a test advances;
 * sockets and HTTP are replaced. Needs `vi.mock('ws')` with `MemoryWebSocket`.
 */
export class WatchedVenue {
  readonly clock: FakeClock;
  readonly model: VenueModel;
  readonly faults = new FaultState();
  readonly network: MemoryNetwork;
  readonly sink = new GapSink();
  readonly metrics = new Metrics();
  readonly recorder: Recorder;
  readonly clob: WatchedClob;
  readonly entered: SimulatedMarket[] = [];
  restFault: RestFault = null;
  isDropping = false;
  restRequests = 0;
  /** Distinct frames the venue has sent. */
  frames = 0;
  readonly #copies = new Map<string, BookSnapshotEvent>();
  readonly #sockets: ClobSocketServer;
  readonly #timers: Timer[];
  readonly #venueSink: VenueSink;
  #isVenueStopped = false;

  constructor(options: WatchedVenueOptions = {}) {
    const startTimeMs = options.startMs ?? START_MS;
    this.clock = new FakeClock(startTimeMs);
    const { clock, metrics, faults } = this;
    this.model = new VenueModel({
      seed: options.seed ?? 'watched',
      startTimeMs,
      density: options.density ?? 0.2,
      tickers: options.tickers ?? ['BTC'],
      eventTypes: options.eventTypes ?? ['5m', '15m', '1h', 'daily_up_down'],
      v2FromMs: options.v2FromMs,
    });
    this.#sockets = new ClobSocketServer({ model: this.model, faults, clock });
    this.network = new MemoryNetwork(clock, (socket, url) => {
      if (url === WS_URL) this.#sockets.accept(socket);
      else options.accept?.(socket, url);
    });
    const common = { clock, random: () => 0.5, log: silentLogger, metrics };
    const sockets = new DirectSocketDriver(clock);
    this.recorder = new Recorder({ ...common, sink: this.sink, timeBy: 'clock' });
    const rest = options.hasRest === false ? null : { books: (ids: readonly string[]) => this.#books(ids) };
    const { recorder } = this;
    const isDropping = () => this.isDropping;
    this.clob = new WatchedClob({
      ...common,
      sockets,
      recorder,
      rest,
      isDropping,
      wsUrl: WS_URL,
    });
    this.#venueSink = {
      ...Object.fromEntries(['relay', 'spot', 'final', 'stated'].map((name) => [name, () => undefined])),
      clob: (_atMs: number, market: SimulatedMarket | null, frame: string, custom: boolean) => {
        this.frames++;
        this.#sockets.deliver(market, frame, custom);
      },
      ...options.sink,
      entered: (atMs: number, market: SimulatedMarket) => {
        this.#enter(atMs, market);
        options.sink?.entered?.(atMs, market);
      },
    } as VenueSink;
    const venueOffset = clock.now() - clock.monotonic();
    this.#timers = [
      every(clock, VENUE_TICK_MS, () => {
        // The venue has a separate clock: a step of the recorder's clock does not move it.
        if (!this.#isVenueStopped) this.model.advance(venueOffset + clock.monotonic(), this.#venueSink);
      }),
      every(clock, 1000, () => this.#sockets.sweep()),
    ];
  }

  /** Runs until every subscribed market is verified. */
  async settle(): Promise<void> {
    await this.clock.advance(3_000);
    for (const market of this.entered) {
      if (!this.isRight(market)) throw new Error(`${market.facts.slug} is not proven after the start`);
    }
  }

  /** Stops the venue's engine: books no longer change. */
  stopVenue(): void {
    this.#isVenueStopped = true;
  }

  market(eventType: EventType, index = 0): SimulatedMarket {
    const found = this.entered.filter(({ facts }) => facts.eventType === eventType)[index];
    if (found === undefined) throw new Error(`no ${eventType} market`);
    return found;
  }

  bookOf({ facts }: SimulatedMarket): MarketBook {
    const recorded = this.recorder.recorded(facts.conditionId);
    if (recorded === null) throw new Error(`${facts.slug} is not recorded`);
    return recorded.book;
  }

  /** Whether the recorder's book equals the venue's and is trusted. */
  isRight(market: SimulatedMarket): boolean {
    const live = this.model.bookOf(market);
    if (live === null) return true;
    const book = this.bookOf(market);
    const up = live.book.ladder.json(true);
    const isSame = book.yes.bids.toWireJson() === up.bids && book.yes.asks.toWireJson() === up.asks;
    return isSame && book.trusted && !this.recorder.gaps.isOpen(market.facts.conditionId);
  }

  gapsOf({ facts }: SimulatedMarket): Gap[] {
    return [...this.sink.gaps.values()].filter(({ marketId }) => marketId === facts.conditionId);
  }

  /** Links that carry a group's tokens, found by one of its markets. */
  linksOf({ facts }: SimulatedMarket) {
    return this.network.open.filter((link) => this.#sockets.follows(link.server as never, facts.upToken));
  }

  /** Stops following markets that ended minutes ago, like the lifecycle. */
  forgetEnded(): void {
    const overMs = this.clock.now() - AFTER_END_MS;
    for (const market of this.entered.filter(({ facts }) => facts.window.endTimeMs < overMs)) {
      const { facts } = market;
      this.clob.unsubscribe(`${facts.ticker}-${facts.eventType}`, [facts.upToken, facts.downToken]);
      this.recorder.untrack(facts.conditionId);
      this.entered.splice(this.entered.indexOf(market), 1);
    }
  }

  closeAll(code: 1000 | 1013 | 1006): void {
    this.#sockets.closeAll(code);
  }

  /** The venue's matching engine restarts: its connections drop and are refused, requests are answered with 425. */
  restart(downMs: number): void {
    const untilMs = this.clock.now() + downMs;
    this.faults.restart = { untilMs, postOnlyUntilMs: untilMs };
    this.network.refusal = 503;
    this.closeAll(1006);
    this.clock.after(downMs, () => {
      this.network.refusal = null;
    });
  }

  /** Sends a frame to all followers of a market, as if the venue had. */
  say(market: SimulatedMarket, frame: string): void {
    this.#sockets.deliver(market, frame, false);
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    await this.clob.close();
    this.recorder.close();
  }

  #enter(atMs: number, market: SimulatedMarket): void {
    for (const result of mapGammaEvent(gammaEvent(market, atMs), atMs)) {
      if (!result.ok) throw new Error(`${result.slug}: ${result.reason}`);
      const { ticker, eventType, yesTokenId, noTokenId } = result.market;
      this.recorder.track(result.market);
      this.clob.subscribe(`${ticker}-${eventType}`, [yesTokenId, noTokenId]);
    }
    this.entered.push(market);
  }

  async #books(tokenIds: readonly string[]) {
    this.restRequests++;
    const refused = (status: number) =>
      new HttpRefusedError(`HTTP ${status}`, {
        status,
        excerpt: '',
        retryAfterMs: status === 429 ? 2000 : null,
      });
    if (this.restFault === 'forbidden') throw refused(403);
    if (this.restFault === 'too_many') throw refused(429);
    if (this.restFault === 'html') throw new VenueMessageError('the answer is no JSON');
    if (this.restFault === 'down') throw new TransportError('connection refused');
    const body = JSON.stringify(tokenIds.map((token_id) => ({ token_id })));
    const nowMs = this.clock.now();
    const request = { method: 'POST', path: '/books', query: new URLSearchParams(), body, nowMs };
    const reply = clobReply(this.model, this.faults, request);
    if (reply !== null && reply.status >= 400) throw refused(reply.status);
    const books = (JSON.parse(String(reply?.body)) as unknown[]).map((raw) =>
      mapRestBook(raw, this.clock.now()),
    );
    if (this.restFault !== 'old_copy') {
      for (const book of books) this.#copies.set(book.tokenId, book);
      return books;
    }
    return books.map((book) => this.#copies.get(book.tokenId) ?? book);
  }
}
