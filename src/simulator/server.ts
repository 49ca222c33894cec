/**
 * All venues that the service reads, on one loopback port. The server advances a model with the given clock; a model
 * that has generated history continues where the history ended.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { PerpVenueName } from '../schema/events.ts';
import { clobReply } from './clobRoutes.ts';
import { ClobSocketServer, type WireObserver } from './clobSocketServer.ts';
import { cryptoPriceReply } from './cryptoPriceRoute.ts';
import { dataReply } from './dataRoutes.ts';
import { DelayedFrameQueue } from './delayedFrameQueue.ts';
import { futuresReply, perpReply, spotReply } from './exchangeRoutes.ts';
import { type Fault, FaultState, faultSchema } from './faultState.ts';
import { gammaReply } from './gammaRoutes.ts';
import { json, type Reply } from './httpReply.ts';
import type { MarketSimulation } from './marketSimulation.ts';
import type { VenueModel, VenueSink } from './model.ts';
import { PolyboltSocketServer, SIMULATED_CREDENTIALS } from './polyboltSocketServer.ts';
import { RelaySocketServer } from './relaySocketServer.ts';
import { BinanceSocketServer, CoinbaseSocketServer } from './spotSocketServers.ts';

/** Step of live time: frames are sent up to this long after their time. */
const STEP_MS = 20;
const BODY_LIMIT_BYTES = 1024 * 1024;
/** The first part of the path of each perpetual venue. */
const PERP_PATHS: Readonly<Record<string, PerpVenueName>> = {
  perp: 'bybit',
  binance: 'binance',
  okx: 'okx',
  hyperliquid: 'hyperliquid',
};

interface VenueServerOptions {
  readonly model: VenueModel;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer?: WireObserver;
  /** Milliseconds between two steps of live time; default 20. Smaller steps delay frames less and cost more CPU. */
  readonly stepMs?: number;
}

export class VenueServer {
  readonly model: VenueModel;
  readonly faults = new FaultState();
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #clob: ClobSocketServer;
  readonly #relay: RelaySocketServer;
  readonly #polybolt: PolyboltSocketServer;
  readonly #latePolybolt: DelayedFrameQueue;
  readonly #binance: BinanceSocketServer;
  readonly #coinbase: CoinbaseSocketServer;
  readonly #webSockets = new WebSocketServer({ noServer: true, autoPong: false, perMessageDeflate: false });
  readonly #http: Server;
  readonly #sink: VenueSink;
  readonly #stepMs: number;
  #timers: Timer[] = [];

  constructor({ model, clock, logger, observer, stepMs = STEP_MS }: VenueServerOptions) {
    this.model = model;
    this.#stepMs = stepMs;
    this.#clock = clock;
    this.#logger = logger;
    this.#clob = new ClobSocketServer({ model, faults: this.faults, clock, observer: observer ?? null });
    this.#relay = new RelaySocketServer(model, this.faults);
    this.#polybolt = new PolyboltSocketServer(model, this.faults);
    this.#latePolybolt = new DelayedFrameQueue(clock);
    this.#binance = new BinanceSocketServer(model);
    this.#coinbase = new CoinbaseSocketServer(clock);
    this.#http = createServer((request, response) => void this.#answer(request, response));
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    const [lateRelay, lateSpot] = [new DelayedFrameQueue(clock), new DelayedFrameQueue(clock)];
    this.#sink = {
      clob: (_atMs, market, frame, custom) => this.#clob.deliver(market, frame, custom),
      relay: (atMs, point) =>
        lateRelay.send(this.faults.lateMs.relay, () => this.#relay.deliver(atMs, point)),
      spot: (atMs, trade) =>
        lateSpot.send(this.faults.lateMs.spot, () => {
          this.#binance.deliver(atMs, trade);
          this.#coinbase.deliver(trade);
        }),
      entered: () => {},
      final: () => {},
      stated: () => {},
    };
  }

  /** Listens on 127.0.0.1 and starts live time. @returns The port. @throws If the port is in use. */
  async start(port = 0): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(port, '127.0.0.1', resolve);
    });
    this.#advance();
    this.#timers = [
      every(this.#clock, this.#stepMs, () => this.#advance()),
      every(this.#clock, 1000, () => {
        this.#clob.sweep();
        this.#coinbase.heartbeat(this.#clock.now());
      }),
    ];
    return this.port;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    for (const socket of this.#webSockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }

  /** The environment variables that point the service at this server; without `credentials` PolyBolt stays closed. */
  urls(): Record<string, string> {
    const http = `http://127.0.0.1:${this.port}`;
    const webSocket = `ws://127.0.0.1:${this.port}`;
    return {
      UNDERROUND_GAMMA_URL: `${http}/gamma`,
      UNDERROUND_CLOB_URL: `${http}/clob`,
      UNDERROUND_DATA_API_URL: `${http}/data`,
      UNDERROUND_CLOB_WS_URL: `${webSocket}/ws/market`,
      UNDERROUND_RTDS_URL: `${webSocket}/rtds`,
      UNDERROUND_POLYBOLT_URL: `${webSocket}/polybolt`,
      UNDERROUND_CRYPTO_PRICE_URL: `${http}/site/api/crypto/crypto-price`,
      UNDERROUND_PERP_URL: `${http}/perp`,
      UNDERROUND_PERP_BINANCE_URL: `${http}/binance`,
      UNDERROUND_PERP_OKX_URL: `${http}/okx`,
      UNDERROUND_PERP_HYPERLIQUID_URL: `${http}/hyperliquid`,
      UNDERROUND_SPOT_WS_URL: `${webSocket}/spot`,
      UNDERROUND_SPOT_REST_URL: `${http}/spot`,
      UNDERROUND_SPOT_FALLBACK_WS_URL: `${webSocket}/coinbase`,
      UNDERROUND_FUTURES_REST_URL: `${http}/futures`,
    };
  }

  /** The environment variables of the credentials that PolyBolt accepts. */
  credentials(): Record<string, string> {
    return {
      UNDERROUND_POLYMARKET_API_KEY: SIMULATED_CREDENTIALS.apiKey,
      UNDERROUND_POLYMARKET_API_SECRET: SIMULATED_CREDENTIALS.secret,
      UNDERROUND_POLYMARKET_API_PASSPHRASE: SIMULATED_CREDENTIALS.passphrase,
    };
  }

  /** Sets or clears a fault; see `faultSchema`. */
  fault(fault: Fault): void {
    this.#logger.info({ event: 'simulator.fault', ...fault }, 'fault switched');
    if (fault.fault === 'close') this.#clob.closeAll(fault.code);
    else if (fault.fault === 'venue_restart') this.#restart(fault);
    else if (fault.fault === 'polybolt_close') this.#polybolt.closeAll(fault.code);
    else if (fault.fault === 'clock_skew') this.model.stampOffsetMs = fault.offsetMs;
    else if (fault.fault === 'tick_change') this.#play(fault.marketId, (live, atMs) => live.refineTick(atMs));
    else if (fault.fault === 'quote_apart')
      this.#play(fault.marketId, (live, atMs) => live.quoteApart(atMs, fault));
    else this.faults.set(fault);
  }

  #restart({ downMs, postOnlyMs }: { downMs: number; postOnlyMs: number }): void {
    const untilMs = this.#clock.now() + downMs;
    this.faults.restart = { untilMs, postOnlyUntilMs: untilMs + postOnlyMs };
    this.#clob.closeAll(1006);
  }

  /** Runs an action on a market's book in the model's next step. */
  #play(marketId: string, act: (live: MarketSimulation, atMs: number) => void): void {
    const market = this.model.registry.byId(marketId);
    const live = market && this.model.bookOf(market);
    if (!live) return;
    this.model.schedule.at(this.model.nowMs, (atMs) => act(live, atMs));
  }

  #advance(): void {
    this.model.advance(this.#clock.now(), this.#sink);
    this.#polybolt.deliver((batch) => this.#latePolybolt.send(this.faults.lateMs.polybolt, batch));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const reply = body === null ? json({ error: 'payload too large' }, 413) : this.#route(request, body);
    response.writeHead(reply.status, {
      'content-type': reply.contentType ?? 'application/json',
      ...reply.headers,
    });
    response.end(reply.body);
  }

  #route(request: IncomingMessage, body: string): Reply {
    const url = new URL(request.url ?? '/', 'http://venue');
    const [, venue = '', path = ''] = /^\/([a-z]+)(\/.*)?$/.exec(url.pathname) ?? [];
    const asked = { path, query: url.searchParams, nowMs: this.#clock.now() };
    const notHere = json({ error: `not here: ${url.pathname}` }, 404);
    if (venue === 'gamma') return gammaReply(this.model, this.faults, asked) ?? notHere;
    if (venue === 'clob') {
      return (
        clobReply(this.model, this.faults, { ...asked, method: request.method ?? 'GET', body }) ?? notHere
      );
    }
    if (venue === 'data') return dataReply(this.model, asked) ?? notHere;
    const perp = PERP_PATHS[venue];
    if (perp !== undefined) return perpReply(perp, this, { ...asked, body }) ?? notHere;
    if (venue === 'spot') return spotReply(this.model, asked) ?? notHere;
    if (venue === 'futures') return futuresReply(this.model, asked) ?? notHere;
    if (venue === 'site') return cryptoPriceReply(this.model, asked) ?? notHere;
    if (venue === 'control') return this.#control(body);
    return notHere;
  }

  /** `POST /control` with one fault, for command lines and for tests in other processes. */
  #control(body: string): Reply {
    let asked: unknown;
    try {
      asked = JSON.parse(body);
    } catch (error) {
      return json({ error: `not JSON: ${String(error)}` }, 400);
    }
    const fault = faultSchema.safeParse(asked);
    if (!fault.success) return json({ error: fault.error.issues }, 400);
    this.fault(fault.data);
    return json({ ok: true });
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? '/', 'http://venue');
    const first = `/${url.pathname.split('/')[1] ?? ''}`;
    const isDown = first === '/ws' && this.#clock.now() < this.faults.restart.untilMs;
    if (isDown || !['/ws', '/rtds', '/polybolt', '/spot', '/coinbase'].includes(first)) {
      socket.destroy();
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      if (first === '/ws') this.#clob.accept(webSocket);
      else if (first === '/rtds') this.#relay.accept(webSocket);
      else if (first === '/polybolt') this.#polybolt.accept(webSocket);
      else if (first === '/spot') this.#binance.accept(webSocket, url);
      else this.#coinbase.accept(webSocket);
    });
  }
}

/** @returns Null when the body is larger than any venue request. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > BODY_LIMIT_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
