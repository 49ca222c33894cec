import { Board } from './board.ts';
import type { FromWorker, LiveState, ToWorker } from './messages.ts';

/** How often the page is told: faster than an eye reads numbers. */
const TELL_MS = 250;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 15_000;
/** How a snapshot begins; the market's id follows. Read without parsing, because most are out of date when looked at. */
const SNAPSHOT_START = '{"type":"snapshot","market_id":"';

const board = new Board();
/** Newest text of each market since the page was last told. */
const unread = new Map<string, string>();
let connection: LiveState['connection'] = 'connecting';
let reason: string | null = null;
let received = 0;
let retryMs = RETRY_MS_MIN;

function tell(message: FromWorker): void {
  postMessage(message);
}

function connect(address: string, tickers: readonly string[]): void {
  const socket = new WebSocket(address);
  socket.onmessage = ({ data }: MessageEvent<string>) => receive(data, socket, tickers);
  socket.onclose = (event) => {
    connection = 'lost';
    reason = event.reason === '' ? null : event.reason;
    setTimeout(connect, retryMs, address, tickers);
    retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
  };
}

function receive(text: string, socket: WebSocket, tickers: readonly string[]): void {
  if (text.startsWith(SNAPSHOT_START)) {
    const end = text.indexOf('"', SNAPSHOT_START.length);
    unread.set(text.slice(SNAPSHOT_START.length, end), text);
    received++;
    return;
  }
  const message = JSON.parse(text) as {
    type: string;
    market_id: string;
    state?: string;
    cause?: string;
    count?: number;
  };
  switch (message.type) {
    case 'ready':
      connection = 'live';
      reason = null;
      retryMs = RETRY_MS_MIN;
      socket.send(JSON.stringify({ type: 'subscribe', tickers }));
      break;
    case 'ping':
      socket.send('{"type":"pong"}');
      break;
    case 'gap':
      board.setGap(message.market_id, message.state === 'open' ? (message.cause ?? 'gap') : null);
      break;
    case 'skipped':
      received += message.count ?? 0;
      break;
    case 'market':
      tell({ kind: 'markets-changed' });
      break;
  }
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'open') connect(data.address, data.tickers);
  else if (data.kind === 'markets') board.setMarkets(data.markets);
  else board.seedPrices(data.ticker, data.points);
});

setInterval(() => {
  for (const text of unread.values()) board.pushBook(JSON.parse(text));
  unread.clear();
  tell({ kind: 'state', state: { connection, reason, received, ...board.look(Date.now()) } });
}, TELL_MS);
