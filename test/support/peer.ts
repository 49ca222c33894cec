import { WebSocket } from 'ws';

/** A client that stores the received texts; time advances only when the test says so. */
export class Peer {
  readonly heard: string[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | null = null;
  pongs = 0;

  constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on('message', (data) => this.heard.push(String(data)));
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
    this.socket.on('pong', () => this.pongs++);
    this.socket.on('error', () => {});
  }

  /** Waits for the real network, limited by the test's own timeout. */
  async until(isDone: () => boolean): Promise<void> {
    while (!isDone()) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  async say(message: unknown): Promise<void> {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    // The answer to a ping proves that everything sent before it has been read.
    const pongs = this.pongs;
    this.socket.ping();
    await this.until(() => this.pongs > pongs);
  }

  parsed(type: string): Record<string, unknown>[] {
    return this.heard
      .filter((text) => text.includes(`"event_type":"${type}"`) && !text.startsWith('['))
      .map((text) => JSON.parse(text) as Record<string, unknown>);
  }
}
