import type { Subscriber } from '../bus/bus.ts';
import { FanOut, type Served } from '../runtime/fanOut.ts';
import { TICKERS } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import type { Opportunity } from '../schema/opportunity.ts';
import { errorText, parseCommand } from './commands.ts';
import { CLIENTS_AT_ONCE, type Connection } from './connection.ts';
import { type TextFrame, textFrame } from './textFrame.ts';

/** Opportunities kept for clients under pressure. A client further behind is closed, since none may be skipped. */
const KEPT_MAX = 1000;

interface Kept {
  readonly ticker: string;
  readonly frame: TextFrame;
}

/** `/v1/arb/ws`: every opportunity from now on, as it was detected. */
export class OpportunityStream {
  readonly #fanOut = new FanOut(CLIENTS_AT_ONCE);
  readonly #clients = new Set<OpportunityClient>();
  readonly #leave: () => void;
  /** The latest ones; `#count` is the number of the newest. */
  readonly kept: Kept[] = [];
  #count = 0;

  constructor(bus: Subscriber) {
    this.#leave = bus.subscribe('opportunity', (opportunity) => this.#publish(opportunity));
  }

  get count(): number {
    return this.#count;
  }

  add(connection: Connection, tickers: readonly string[]): void {
    const client = new OpportunityClient(connection, { stream: this, tickers });
    this.#clients.add(client);
    connection.onDrained = () => this.#fanOut.wake(client);
    connection.onClosed = () => void this.#clients.delete(client);
  }

  close(): void {
    this.#leave();
  }

  #publish(opportunity: Opportunity): void {
    this.#count++;
    const frame = textFrame([Buffer.from(printJson(opportunity))]);
    this.kept.push({ ticker: opportunity.ticker, frame });
    if (this.kept.length > KEPT_MAX) this.kept.shift();
    for (const client of this.#clients) this.#fanOut.wake(client);
  }
}

class OpportunityClient implements Served {
  isWoken = false;
  readonly #connection: Connection;
  readonly #stream: OpportunityStream;
  readonly #tickers: ReadonlySet<string>;
  #position: number;

  constructor(
    connection: Connection,
    { stream, tickers }: { stream: OpportunityStream; tickers: readonly string[] },
  ) {
    this.#connection = connection;
    this.#stream = stream;
    this.#tickers = new Set(tickers);
    this.#position = stream.count;
    connection.onText = (text) => {
      if (!isPong(text)) connection.answer(errorText('this stream takes no commands but pong'));
    };
  }

  deliver(): void {
    const { count, kept } = this.#stream;
    if (this.#position < count - kept.length) {
      this.#connection.close('slow');
      return;
    }
    while (this.#position < count && this.#connection.isOpen && !this.#connection.isPressed) {
      const next = kept[kept.length - (count - this.#position)];
      this.#position++;
      if (next !== undefined && this.#tickers.has(next.ticker)) this.#connection.sendFrame(next.frame);
    }
  }
}

function isPong(text: string): boolean {
  try {
    return parseCommand(text, TICKERS).kind === 'pong';
  } catch {
    return false;
  }
}
