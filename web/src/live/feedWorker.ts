import { EVENT_TYPES } from '../../../src/schema/market.ts';
import { Feed } from './feed.ts';
import { keepConnected } from './keepConnected.ts';
import type { FromWorker, LiveState, ToWorker } from './messages.ts';

/** How often the page is updated: faster than an eye reads numbers. */
const TELL_MS = 250;

const feed = new Feed(postToPage);
let connection: LiveState['connection'] = 'connecting';
let reason: string | null = null;

function postToPage(message: FromWorker): void {
  postMessage(message);
}

function connect(address: string): void {
  keepConnected({
    address,
    onReady: (send) => {
      feed.board.onConnected();
      // Without a list of assets, a subscription covers every asset that the service follows.
      send(JSON.stringify({ type: 'subscribe', event_types: EVENT_TYPES }));
    },
    onText: (text) => feed.receive(text),
    onState: (state, why) => {
      connection = state;
      reason = why;
    },
  });
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'open') connect(data.address);
  else if (data.kind === 'markets') feed.board.setMarkets(data.markets, data.aheadMs);
  else feed.board.seedPrices(data.ticker, data.points, Date.now());
});

setInterval(() => {
  postToPage({ kind: 'state', state: feed.stateAt(Date.now(), { connection, reason }) });
}, TELL_MS);
