import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { datetime } from '../schema/api/datetime.ts';
import { optional, readFields } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import { listOf } from '../schema/api/types.ts';
import { Replay } from '../stream/replay.ts';
import { interruptible } from './failure.ts';
import { openRecording } from './openRecording.ts';
import { remoteService } from './remote.ts';
import { printRemoteReplay } from './remoteReplay.ts';
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

/** Prints a replay. A refusal is one line on standard error and exit status 1. */
export async function runReplay(options: ReplayOptions): Promise<void> {
  await interruptible(async (signal) => {
    if (options.url !== undefined && options.dataDir !== undefined)
      throw new InvalidInputError('name either --url or --data-dir');
    const asked = read(options);
    const remote = options.dataDir === undefined ? remoteService(options) : null;
    const output = new ReplayOutput(process.stdout, signal);
    if (remote === null) await printRecording(asked, options, output);
    else {
      const { start, end } = options;
      await printRemoteReplay({ ...asked, start, end }, { service: remote, clock: systemClock }, output);
    }
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
