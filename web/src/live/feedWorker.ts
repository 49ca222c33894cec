import { EVENT_TYPES } from '../../../src/schema/market.ts';
import { Board } from './board.ts';
import { keepConnected } from './keepConnected.ts';
import type { FromWorker, LiveState, ToWorker } from './messages.ts';

/** How often the page is updated: faster than an eye reads numbers. */
const TELL_MS = 250;
/** Beginning of a snapshot, before the market's id. It is not parsed here, because most snapshots are replaced before the next update. */
const SNAPSHOT_START = '{"type":"snapshot","market_id":"';

const board = new Board();
/** Newest text of each market since the last update of the page. */
const unread = new Map<string, string>();
let connection: LiveState['connection'] = 'connecting';
let reason: string | null = null;
let received = 0;

function postToPage(message: FromWorker): void {
  postMessage(message);
}

function connect(address: string): void {
  keepConnected({
    address,
    onReady: (send) => {
      board.onConnected();
      // Without a list of assets, a subscription covers every asset that the service follows.
      send(JSON.stringify({ type: 'subscribe', event_types: EVENT_TYPES }));
    },
    onText: receive,
    onState: (state, why) => {
      connection = state;
      reason = why;
    },
  });
}

function receive(text: string): void {
  if (text.startsWith(SNAPSHOT_START)) {
    const end = text.indexOf('"', SNAPSHOT_START.length);
    unread.set(text.slice(SNAPSHOT_START.length, end), text);
    received++;
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
      board.setGap(
        message.market_id,
        message.gap_id ?? '',
        message.state === 'open' ? (message.cause ?? 'gap') : null,
      );
      break;
    case 'skipped':
      received += message.count ?? 0;
      break;
    case 'market':
      postToPage({ kind: 'markets-changed' });
      break;
  }
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'open') connect(data.address);
  else if (data.kind === 'markets') board.setMarkets(data.markets, data.aheadMs);
  else board.seedPrices(data.ticker, data.points, Date.now());
});

setInterval(() => {
  for (const text of unread.values()) board.pushBook(JSON.parse(text), Date.now());
  unread.clear();
  postToPage({
    kind: 'state',
    state: { connection, reason, received, ...board.stateAt(Date.now(), connection === 'live') },
  });
}, TELL_MS);
