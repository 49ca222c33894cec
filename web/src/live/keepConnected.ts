import type { Connectedness } from './messages.ts';

const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 15_000;
/** As the service prints them; read without parsing, because most messages are out of date when they are looked at. */
const READY_START = '{"type":"ready"';
const PING = '{"type":"ping"}';
const PONG = '{"type":"pong"}';
/** What an address for sockets answers when it would take one. */
const WOULD_CONNECT = 426;

export interface KeptOptions {
  /** Whole `http` or `https` address of the socket. */
  readonly address: string;
  /** The service took the connection: say what is wanted of it. */
  readonly onReady?: (send: (text: string) => void) => void;
  /** Every message but `ready` and pings, which are answered here. */
  readonly onText: (text: string) => void;
  /** @param reason Why there is no connection, in the service's words; null where it said nothing. */
  readonly onState: (state: Connectedness, reason: string | null) => void;
}

/**
 * A socket of the service that comes back, at most 15 s after it could. Why a connection was refused is asked over HTTP,
 * because browsers keep that from their pages.
 * @returns Ends it for good.
 */
export function keepConnected({ address, onReady, onText, onState }: KeptOptions): () => void {
  let retryMs = RETRY_MS_MIN;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let socket: WebSocket;
  let isOver = false;
  const connect = () => {
    let wasReady = false;
    socket = new WebSocket(address.replace(/^http/, 'ws'));
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      if (data === PING) socket.send(PONG);
      else if (data.startsWith(READY_START)) {
        wasReady = true;
        retryMs = RETRY_MS_MIN;
        onState('live', null);
        onReady?.((text) => socket.send(text));
      } else onText(data);
    };
    socket.onclose = ({ reason }) => {
      if (isOver) return;
      onState('lost', reason === '' ? null : reason);
      if (!wasReady) void tellWhy();
      // Spread, so that not all pages come back in the same moment.
      timer = setTimeout(connect, retryMs * (0.75 + Math.random() / 2));
      retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
    };
  };
  const tellWhy = async () => {
    const why = await refusalOf(address);
    if (!isOver && why !== null && socket.readyState !== WebSocket.OPEN) onState('lost', why);
  };
  connect();
  return () => {
    isOver = true;
    clearTimeout(timer);
    socket.close();
  };
}

async function refusalOf(address: string): Promise<string | null> {
  try {
    const answer = await fetch(address);
    if (answer.ok || answer.status === WOULD_CONNECT) return null;
    const { detail } = (await answer.json()) as { detail?: unknown };
    return typeof detail === 'string' ? detail : null;
  } catch {
    return 'The service does not answer';
  }
}
