import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import type { Random } from '../../../src/core/random.ts';
import type { OpenWebSocket } from '../../../src/venues/venueSocket.ts';
import type { VirtualTime } from './virtualTime.ts';

const CONNECT_MS = 5;
/** Latency of a healthy link, different for each frame. */
const LATENCY_MS_MIN = 3;
const LATENCY_MS_RANGE = 25;

/** The venue's side: it accepts links and reads their texts. */
interface LinkServer {
  accept(link: Link): void;
  onText(link: Link, text: string): void;
  onClosed(link: Link): void;
}

/** One connection. Frames keep their order on it; two links differ in their delays. */
export class Link {
  readonly client: ClientSocket;
  readonly #network: Network;
  /** Nothing arrives at either side, and neither is notified. */
  isHalfOpen = false;
  /** Only keep-alive answers arrive at the client. */
  isFrozen = false;
  /** Frames to the client that get lost, and that arrive twice. */
  losesNext = 0;
  repeatsNext = 0;
  /** Added to the latency until the world's time passes `slowUntilMs`. */
  slowByMs = 0;
  slowUntilMs = 0;
  #lastArrivalMs = 0;

  constructor(client: ClientSocket, network: Network) {
    this.client = client;
    this.#network = network;
  }

  get isOpen(): boolean {
    return this.client.readyState === 1;
  }

  /** Sends a text from the venue to the client. */
  send(text: string): void {
    if (this.isHalfOpen || (this.isFrozen && text !== 'PONG')) return;
    if (this.losesNext > 0 && text !== 'PONG') {
      this.losesNext--;
      return;
    }
    this.#arrive(text);
    if (this.repeatsNext === 0 || text === 'PONG') return;
    this.repeatsNext--;
    this.#arrive(text);
  }

  /** Ends the connection, as the venue or the network does. */
  cut(code: number): void {
    if (this.client.readyState === 3) return;
    this.client.readyState = 3;
    this.#network.server.onClosed(this);
    this.#network.whenAwake(() => this.client.emit('close', code, Buffer.alloc(0)));
  }

  #arrive(text: string): void {
    const { time, random } = this.#network;
    const slowMs = time.nowMs < this.slowUntilMs ? this.slowByMs : 0;
    const arrivesMs = time.nowMs + LATENCY_MS_MIN + random.below(LATENCY_MS_RANGE) + slowMs;
    // TCP keeps the order.
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, arrivesMs);
    const read = () => {
      if (!this.isOpen || this.isHalfOpen) return;
      this.#network.arrived(text);
      this.client.emit('message', Buffer.from(text), false);
    };
    time.after(this.#lastArrivalMs - time.nowMs, () => this.#network.whenAwake(read));
  }
}

/** The client of `ws`, connected through the simulated network. */
class ClientSocket extends EventEmitter {
  readyState = 0;
  link: Link | null = null;

  send(text: string): void {
    const { link } = this;
    if (this.readyState === 1 && link !== null && !link.isHalfOpen) link.client.emit('sent', text);
  }

  close(code = 1000): void {
    this.link?.cut(code);
  }

  terminate(): void {
    this.link?.cut(1006);
  }

  pause(): void {}

  resume(): void {}
}

/** Connections of one machine to one venue. */
export class Network {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly server: LinkServer;
  readonly links: Link[] = [];
  /** When the newest text arrived at a client, other than a keep-alive answer; null before the first. */
  lastFrameMs: number | null = null;
  /** Refuses handshakes with this status; 0: resets the connection; null: accepts them. */
  refusal: number | null = null;
  /** Called with every text that reaches a client. */
  readonly #onArrived: (text: string) => void;
  /** Runs what the process does with an event of a connection, unless it is paused or dead. */
  readonly whenAwake: (run: () => void) => void;
  /** No client listens any more: the process is dead. */
  isCut = false;

  constructor(parts: {
    time: VirtualTime;
    random: Random;
    server: LinkServer;
    onArrived: (text: string) => void;
    whenAwake: (run: () => void) => void;
  }) {
    this.#onArrived = parts.onArrived;
    this.whenAwake = parts.whenAwake;
    this.time = parts.time;
    this.random = parts.random;
    this.server = parts.server;
  }

  get open(): readonly Link[] {
    return this.links.filter((link) => link.isOpen);
  }

  arrived(text: string): void {
    if (text !== 'PONG') this.lastFrameMs = this.time.nowMs;
    this.#onArrived(text);
  }

  readonly connect: OpenWebSocket = () => {
    const client = new ClientSocket();
    const link = new Link(client, this);
    client.link = link;
    this.time.after(CONNECT_MS, () => {
      if (client.readyState !== 0 || this.isCut) return;
      if (this.refusal !== null) this.#refuse(client, this.refusal);
      else this.#accept(client, link);
    });
    return client as unknown as WebSocket;
  };

  /** The machine of the clients stops: the venue sees closed connections, the clients see nothing. */
  cutAll(): void {
    this.isCut = true;
    for (const link of this.open) {
      link.client.removeAllListeners();
      link.client.readyState = 3;
      this.server.onClosed(link);
    }
    this.links.length = 0;
  }

  #accept(client: ClientSocket, link: Link): void {
    for (let at = this.links.length - 1; at >= 0; at--) if (!this.links[at]?.isOpen) this.links.splice(at, 1);
    this.links.push(link);
    client.readyState = 1;
    client.on('sent', (text: string) => {
      this.time.after(LATENCY_MS_MIN, () => {
        if (link.isOpen && !link.isHalfOpen) this.server.onText(link, text);
      });
    });
    this.server.accept(link);
    this.whenAwake(() => client.emit('open'));
  }

  #refuse(client: ClientSocket, status: number): void {
    client.readyState = 3;
    this.whenAwake(() => {
      if (status === 0) client.emit('close', 1006, Buffer.alloc(0));
      else
        client.emit('unexpected-response', { destroy: () => undefined }, { statusCode: status, headers: {} });
    });
  }
}
