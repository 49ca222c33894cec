import { WebSocket } from 'ws';
import { type Clock, every } from '../runtime/clock.ts';
import { InvalidInputError, TransportError } from '../runtime/errors.ts';
import { type RemoteService, SILENCE_S_MAX } from './remote.ts';
import type { ReplayOutput } from './replayOutput.ts';

/** A refusal of a handshake is at most this long. */
const REFUSAL_BYTES_MAX = 64 * 1024;

interface AskedReplay {
  /** The message that chooses the markets. */
  readonly command: string;
  readonly speed: number;
  /** As given to the command. */
  readonly start: string | undefined;
  readonly end: string | undefined;
}

/** Prints the messages of a service's replay, until its end or until nothing was received for `SILENCE_S_MAX` seconds. */
export async function printRemoteReplay(
  { command, speed, start, end }: AskedReplay,
  { service: { url, key }, clock }: { service: RemoteService; clock: Clock },
  output: ReplayOutput,
): Promise<void> {
  const address = new URL(`${url}/v1/replay`);
  address.protocol = address.protocol.replace('http', 'ws');
  for (const [name, time] of Object.entries({ start, end }))
    if (time !== undefined) address.searchParams.set(name, time);
  address.searchParams.set('speed', String(speed));
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${key.reveal()}` } });
  const fail = (reason: string, cause?: unknown) =>
    output.fail(
      new TransportError(
        `${url} does not answer: ${reason}; start the service, or name another with --url or UNDERROUND_URL`,
        { cause },
      ),
    );
  // Checks are counted instead of time: a suspended command (Ctrl-Z) receives nothing meanwhile.
  let silentS = 0;
  const watch = every(clock, 1_000, () => {
    // A reader of the output that is slow is no silence.
    silentS = socket.isPaused ? 0 : silentS + 1;
    if (silentS >= SILENCE_S_MAX) fail(`nothing was received for ${SILENCE_S_MAX} s`);
  });
  socket.on('ping', () => {
    silentS = 0;
  });
  socket.on('open', () => socket.send(command));
  socket.on('message', (data) => {
    silentS = 0;
    output.send(data as Buffer);
    if (output.isPressed) socket.pause();
  });
  output.onDrained = () => socket.resume();
  socket.on('close', (code, reason) => output.closed(code, String(reason)));
  socket.on('error', (cause) => fail(cause.message, cause));
  socket.on('unexpected-response', (_request, response) => {
    let text = '';
    response.on('data', (chunk: Buffer) => {
      if (text.length < REFUSAL_BYTES_MAX) text += chunk;
    });
    response.on('error', (error) => output.fail(error));
    response.on('end', () =>
      output.fail(new InvalidInputError(`${url}: ${refusalText(response.statusCode ?? 0, text)}`)),
    );
  });
  try {
    await output.done;
  } finally {
    watch.cancel();
    socket.terminate();
  }
}

/** The service's `detail`, or the status of another server's answer. */
function refusalText(status: number, body: string): string {
  try {
    const { detail } = JSON.parse(body) as { detail: string | { loc: unknown[]; msg: string }[] };
    const next = status === 401 ? '; set UNDERROUND_API_KEY to a key of this service' : '';
    if (typeof detail === 'string') return `${detail} (${status})${next}`;
    return detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join('; ');
  } catch {
    return `the answer has status ${status}; is this the address of an Underround service?`;
  }
}
