import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import type { Clock } from '../../src/runtime/clock.ts';

const CONNECT_MS = 5;

/** The connection between one client and the venue, with its possible faults. */
export class MemoryLink {
  readonly client: MemoryWebSocket;
  readonly server = new ServerEnd(this);
  readonly network: MemoryNetwork;
  /** Nothing arrives at either side, and neither is notified. */
  isDead = false;
  /** Only keep-alive answers arrive at the client. */
  isFrozen = false;
  /** Number of frames to the client that get lost. */
  losesNext = 0;
  delayMs = 0;
  /** Changes data on its way to the client; null drops it. */
  tamper: ((text: string) => string | null) | null = null;

  constructor(client: MemoryWebSocket, network: MemoryNetwork) {
    this.client = client;
    this.network = network;
  }

  get isOpen(): boolean {
    return this.client.readyState === 1;
  }

  /** Sends a text from the venue to the client. */
  deliver(text: string): void {
    if (this.isDead || (this.isFrozen && text !== 'PONG')) return;
    if (this.losesNext > 0 && text !== 'PONG') {
      this.losesNext--;
      return;
    }
    const arriving = this.tamper === null ? text : this.tamper(text);
    if (arriving === null) return;
    const arrive = () => {
      if (this.isOpen) this.client.emit('message', Buffer.from(arriving), false);
    };
    if (this.delayMs > 0) this.network.clock.after(this.delayMs, arrive);
    else arrive();
  }

  /** Ends the connection like the venue or the network. */
  cut(code: number, reason = ''): void {
    if (this.client.readyState === 3) return;
    this.client.readyState = this.server.readyState = 3;
    this.server.emit('close');
    this.client.emit('close', code, Buffer.from(reason));
  }
}

/** Connections without a network: each connecting client gets a connection to the venue's side. */
export class MemoryNetwork {
  readonly clock: Clock;
  readonly links: MemoryLink[] = [];
  /** Refuses the handshake with this status; 0 refuses the connection. */
  refusal: number | null = null;
  readonly #accept: (socket: WebSocket, url: string) => void;

  constructor(clock: Clock, accept: (socket: WebSocket, url: string) => void) {
    this.clock = clock;
    this.#accept = accept;
    current = this;
  }

  get open(): MemoryLink[] {
    return this.links.filter((link) => link.isOpen);
  }

  connect(client: MemoryWebSocket, url: string): MemoryLink {
    const link = new MemoryLink(client, this);
    this.clock.after(CONNECT_MS, () => {
      if (client.readyState !== 0) return;
      if (this.refusal !== null) {
        client.readyState = 3;
        const request = { destroy: () => undefined };
        const response = { statusCode: this.refusal, headers: {} };
        if (this.refusal > 0) client.emit('unexpected-response', request, response);
        else client.emit('close', 1006, Buffer.from(''));
        return;
      }
      this.links.push(link);
      client.readyState = link.server.readyState = 1;
      this.#accept(link.server as unknown as WebSocket, url);
      client.emit('open');
    });
    return link;
  }
}

let current: MemoryNetwork | null = null;

class ServerEnd extends EventEmitter {
  readonly OPEN = 1;
  readonly bufferedAmount = 0;
  readyState = 0;
  readonly #link: MemoryLink;

  constructor(link: MemoryLink) {
    super();
    this.#link = link;
  }

  send(text: string): void {
    this.#link.deliver(text);
  }

  ping(): void {}

  pong(): void {}

  close(code: number, reason = ''): void {
    this.#link.cut(code, reason);
  }

  terminate(): void {
    this.#link.cut(1006);
  }
}

/** Replaces the client of `ws`: `vi.mock('ws', () => ({ WebSocket: MemoryWebSocket }))`. */
export class MemoryWebSocket extends EventEmitter {
  static readonly CLOSED = 3;
  readyState = 0;
  readonly #link: MemoryLink;

  constructor(url: string) {
    super();
    if (current === null) throw new Error(`no network for ${url}`);
    this.#link = current.connect(this, url);
  }

  send(text: string): void {
    if (!this.#link.isDead) this.#link.server.emit('message', text);
  }

  close(code = 1000): void {
    this.#link.cut(code);
  }

  terminate(): void {
    this.#link.cut(1006);
  }
}
