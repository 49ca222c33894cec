import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** Waits for a real event (a socket, an answer); the test's own time limit bounds it. */
export async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** One connection from the venue's side. */
export interface VenueConnection {
  readonly socket: WebSocket;
  readonly path: string;
  readonly received: string[];
  /** Answers PING with PONG, as the venue does; false simulates a dead venue. */
  answersPing: boolean;
  closed: boolean;
}

/** A venue on 127.0.0.1: a WebSocket server that keeps received messages, and HTTP answers chosen by the test. */
export class LocalVenue {
  readonly connections: VenueConnection[] = [];
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] =
    [];
  /** Refuses the WebSocket handshake with this status. */
  refuseUpgrade: number | null = null;
  /** A header line of that refusal. */
  refusalHeader = 'connection: close';
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) =>
    response.end('{}');
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });

  private constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        this.requests.push({ method, url, headers, body });
        this.answer(request, response);
      });
    });
    this.#server.on('upgrade', (request, socket, head) => {
      if (this.refuseUpgrade !== null) {
        socket.end(`HTTP/1.1 ${this.refuseUpgrade} No\r\ncontent-length: 0\r\n${this.refusalHeader}\r\n\r\n`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#accept(webSocket, request.url ?? ''),
      );
    });
  }

  static async start(): Promise<LocalVenue> {
    const venue = new LocalVenue();
    await new Promise<void>((resolve) => venue.#server.listen(0, '127.0.0.1', resolve));
    return venue;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get httpUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get wsUrl(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  /** The newest connection. */
  get latest(): VenueConnection {
    const connection = this.connections.at(-1);
    if (!connection) throw new Error('nobody has connected');
    return connection;
  }

  /** Answers every request with this JSON. */
  answerJson(body: unknown, status = 200, headers: Record<string, string> = {}): void {
    this.answer = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
  }

  async stop(): Promise<void> {
    for (const { socket } of this.connections) socket.terminate();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: WebSocket, path: string): void {
    const connection: VenueConnection = { socket, path, received: [], answersPing: true, closed: false };
    this.connections.push(connection);
    socket.on('close', () => {
      connection.closed = true;
    });
    socket.on('message', (data) => {
      const text = String(data);
      connection.received.push(text);
      if (text === 'PING' && connection.answersPing) socket.send('PONG');
    });
  }
}
