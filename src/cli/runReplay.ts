import { WebSocket } from 'ws';
import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError, TransportError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { datetime } from '../schema/api/datetime.ts';
import { optional, readFields } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import { listOf } from '../schema/api/types.ts';
import { Replay } from '../stream/replay.ts';
import { interruptible } from './failure.ts';
import { openRecording } from './openRecording.ts';
import { type RemoteService, remoteService } from './remote.ts';
import { ReplayOutput } from './replayOutput.ts';
import { followedAssets, readSettings } from './settings.ts';

export interface ReplayOptions {
  readonly market?: string;
  readonly ticker?: string;
  readonly eventType?: string;
  readonly start?: string;
  readonly end?: string;
  readonly speed?: string;
  readonly dataDir?: string;
  readonly url?: string;
}

/** A refusal of a handshake is at most this long. */
const REFUSAL_BYTES_MAX = 64 * 1024;

/** Prints a replay. A refusal is one line on standard error and exit status 1. */
export async function runReplay(options: ReplayOptions): Promise<void> {
  await interruptible(async (signal) => {
    if (options.url !== undefined && options.dataDir !== undefined)
      throw new InvalidInputError('name either --url or --data-dir');
    const asked = read(options);
    const remote = options.dataDir === undefined ? remoteService(options) : null;
    const output = new ReplayOutput(process.stdout, signal);
    if (remote === null) await printRecording(asked, options, output);
    else await printRemote(asked, { options, remote }, output);
  });
}

type Asked = ReturnType<typeof read>;

/** @throws {InvalidInputError} Lists every problem. */
function read({ market, ticker, eventType, start, end, speed }: ReplayOptions) {
  const fields = {
    market: optional(listOf(parameter.marketIdType), ''),
    ticker: optional(listOf(parameter.tickerType(followedAssets().tickers)), ''),
    event_type: optional(listOf(parameter.eventTypeType), ''),
    start: optional(datetime, ''),
    end: optional(datetime, ''),
    speed: parameter.replaySpeed,
  };
  const given = { market, ticker, event_type: eventType, start, end, speed: speed === 'max' ? '0' : speed };
  const { values, problems, refusal } = readFields(fields, given, 'query');
  const lines = problems.map(({ loc, msg }) => `--${String(loc.at(-1)).replace('_', '-')}: ${msg}`);
  if (refusal !== null) lines.push(refusal);
  if (lines.length > 0) throw new InvalidInputError(lines.join('; '));
  if (values.start !== null && values.end !== null && values.start > values.end)
    throw new InvalidInputError('--start must not be after --end');
  if (values.market === null && values.ticker === null && values.event_type === null)
    throw new InvalidInputError('name --market, --ticker or --event-type');
  const command = JSON.stringify({
    type: 'subscribe',
    tickers: values.ticker,
    event_types: values.event_type,
    market_ids: values.market,
  });
  return { command, fromMs: values.start, toMs: values.end, speed: values.speed };
}

async function printRecording(
  { command, fromMs, toMs, speed }: Asked,
  { dataDir }: ReplayOptions,
  output: ReplayOutput,
): Promise<void> {
  const config = await readSettings({ dataDir, use: 'read recording' });
  const store = await openRecording(config);
  try {
    const parts = { store, clock: systemClock, log: silentLogger, tickers: config.tickers };
    new Replay(output, { fromMs, toMs: toMs ?? systemClock.now(), speed }, parts);
    output.onText?.(command);
    await output.done;
  } finally {
    await store.close();
  }
}

async function printRemote(
  { command, speed }: Asked,
  { options, remote: { url, key } }: { options: ReplayOptions; remote: RemoteService },
  output: ReplayOutput,
): Promise<void> {
  const address = new URL(`${url}/v1/replay`);
  address.protocol = address.protocol.replace('http', 'ws');
  for (const name of ['start', 'end'] as const) {
    const time = options[name];
    if (time !== undefined) address.searchParams.set(name, time);
  }
  address.searchParams.set('speed', String(speed));
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${key.reveal()}` } });
  socket.on('open', () => socket.send(command));
  socket.on('message', (data) => {
    output.send(data as Buffer);
    if (output.isPressed) socket.pause();
  });
  output.onDrained = () => socket.resume();
  socket.on('close', (code, reason) => output.closed(code, String(reason)));
  socket.on('error', (cause) =>
    output.fail(
      new TransportError(
        `${url} does not answer: ${cause.message}; start the service, or name another with --url or UNDERROUND_URL`,
        { cause },
      ),
    ),
  );
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
