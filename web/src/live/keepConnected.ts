import { problemOf } from '../api/problem.ts';
import type { Connectedness } from './messages.ts';

const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 15_000;
/** The service sends a ping every 25 s. A connection that is silent for longer than this is dead, whatever the browser says. */
const SILENCE_MS_MAX = 60_000;
const SILENCE_CHECK_MS = 15_000;
const REFUSAL_MS_MAX = 15_000;
/** The exact texts of the service, compared without parsing, because most messages are replaced before they are read. */
const READY_START = '{"type":"ready"';
const PING = '{"type":"ping"}';
const PONG = '{"type":"pong"}';
/** HTTP status of a socket's address that would accept a connection. */
const WOULD_CONNECT = 426;

interface KeepConnectedOptions {
  /** Whole `http` or `https` address of the socket. */
  readonly address: string;
  /** Called when the service accepted the connection, to subscribe. */
  readonly onReady?: (send: (text: string) => void) => void;
  /** Called with every message except `ready` and pings, which are handled here. */
  readonly onText: (text: string) => void;
  /** @param reason The service's reason for the missing connection; null without one. */
  readonly onState: (state: Connectedness, reason: string | null) => void;
}

/**
 * Keeps a socket of the service connected, with retries at most 15 s apart. The reason of a refusal is requested over HTTP,
 * because browsers do not reveal it to scripts.
 * @returns A function that closes it for good.
 */
export function keepConnected({ address, onReady, onText, onState }: KeepConnectedOptions): () => void {
  let retryMs = RETRY_MS_MIN;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let watch: ReturnType<typeof setInterval> | undefined;
  let socket: WebSocket;
  let isOver = false;
  const connect = () => {
    let wasReady = false;
    let isEnded = false;
    let heardMs = performance.now();
    const current = new WebSocket(address.replace(/^http/, 'ws'));
    socket = current;
    current.onmessage = ({ data }: { readonly data: string }) => {
      if (isOver || isEnded) return;
      heardMs = performance.now();
      if (data === PING) current.send(PONG);
      else if (data.startsWith(READY_START)) {
        wasReady = true;
        retryMs = RETRY_MS_MIN;
        onState('live', null);
        onReady?.((text) => current.send(text));
      } else onText(data);
    };
    const end = (reason: string) => {
      if (isOver || isEnded) return;
      isEnded = true;
      clearInterval(watch);
      onState('lost', reason === '' ? null : reason);
      if (!wasReady) void tellWhy();
      // Random, so that not all pages reconnect at the same time.
      timer = setTimeout(connect, retryMs * (0.75 + Math.random() / 2));
      retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
    };
    current.onclose = ({ reason }) => end(reason);
    watch = setInterval(() => {
      if (performance.now() - heardMs <= SILENCE_MS_MAX) return;
      // Not by its close event: that one waits for the other side.
      end('');
      current.close();
    }, SILENCE_CHECK_MS);
  };
  const tellWhy = async () => {
    const why = await refusalOf(address);
    if (!isOver && why !== null && socket.readyState !== WebSocket.OPEN) onState('lost', why);
  };
  connect();
  return () => {
    isOver = true;
    clearTimeout(timer);
    clearInterval(watch);
    // A browser logs a warning about a socket that is closed before it is open.
    if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket.close();
  };
}

async function refusalOf(address: string): Promise<string | null> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(REFUSAL_MS_MAX) });
    if (answer.ok || answer.status === WOULD_CONNECT) return null;
    return (await problemOf(answer)).message;
  } catch {
    return 'The service does not answer';
  }
}
