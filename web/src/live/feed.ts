import { Board } from './board.ts';
import type { FromWorker, LiveState } from './messages.ts';

/** Beginning of a snapshot, before the market's id. It is not parsed at once, because most snapshots are replaced before the next update. */
const SNAPSHOT_START = '{"type":"snapshot","market_id":"';

/** The messages of the stream since the page was opened, and the board that they make. */
export class Feed {
  readonly board = new Board();
  readonly #post: (message: FromWorker) => void;
  /** Newest text of each market since the last update of the page. */
  readonly #unread = new Map<string, string>();
  #received = 0;

  /** @param post Called with what the page has to know at once. */
  constructor(post: (message: FromWorker) => void) {
    this.#post = post;
  }

  receive(text: string): void {
    if (text.startsWith(SNAPSHOT_START)) {
      const end = text.indexOf('"', SNAPSHOT_START.length);
      this.#unread.set(text.slice(SNAPSHOT_START.length, end), text);
      this.#received++;
      return;
    }
    const message = JSON.parse(text) as {
      type: string;
      market_id: string;
      gap_id?: string;
      state?: string;
      cause?: string;
      count?: number;
    };
    switch (message.type) {
      case 'gap':
        this.board.setGap(
          message.market_id,
          message.gap_id ?? '',
          message.state === 'open' ? (message.cause ?? 'gap') : null,
        );
        break;
      case 'skipped':
        this.#received += message.count ?? 0;
        break;
      case 'market':
        this.#post({ kind: 'markets-changed' });
        break;
    }
  }

  /** @param nowMs By this machine's clock. */
  stateAt(nowMs: number, { connection, reason }: Pick<LiveState, 'connection' | 'reason'>): LiveState {
    for (const [marketId, text] of this.#unread) this.board.pushText(marketId, text, nowMs);
    this.#unread.clear();
    return {
      ...{ connection, reason, received: this.#received },
      ...this.board.stateAt(nowMs, connection === 'live'),
    };
  }
}
