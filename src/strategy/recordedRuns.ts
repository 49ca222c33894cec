/** Runs a strategy file on a recording: once, or once for each of several settings, all at the same time. */
import type { Inputs } from '../core/run/definition.ts';
import { BacktestFailedError } from '../runtime/errors.ts';
import type { EventType, Market, Ticker } from '../schema/market.ts';
import type { RunSetting } from './protocol.ts';
import { RecordingFeed } from './recordingFeed.ts';
import type { FinishedRuns, StrategyThreads } from './strategyThreads.ts';
import type { TapeSource } from './tapeSource.ts';

export interface RunUniverse {
  readonly tickers: readonly Ticker[];
  readonly eventTypes: readonly EventType[];
  /** Only markets whose window ends in this range. */
  readonly startMs: number | null;
  readonly endMs: number;
  /** Only the newest markets of each series. */
  readonly marketLimit: number;
}

export interface RecordedRuns extends FinishedRuns {
  /** Oldest window first. */
  readonly markets: readonly Market[];
  /** Markets that were left out because of their size. */
  readonly tooLarge: readonly string[];
  readonly dataHash: string;
}

interface RunProgress {
  /** 0..1. */
  readonly share: number;
  /** Markets whose window was processed to its end. */
  readonly marketsDone: number;
  readonly markets: number;
  readonly items: number;
}

/**
 * @throws {StrategyFailedError} If the user's code fails.
 * @throws {BacktestFailedError} If no market is in the range.
 * @throws {StoreUnavailableError} If the recording cannot be read.
 */
export async function runOnRecording(
  { source, threads }: { source: TapeSource; threads: StrategyThreads },
  { settings, inputs, universe }: { settings: readonly RunSetting[]; inputs: Inputs; universe: RunUniverse },
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: RunProgress) => void },
): Promise<RecordedRuns> {
  const markets = await marketsOf(source, universe);
  if (markets.length === 0) {
    const series = `${universe.tickers.join(',')} ${universe.eventTypes.join(',')}`;
    throw new BacktestFailedError(`no ${series} market ended in the range asked for`);
  }
  signal.throwIfAborted();
  const gaps = await source.gaps(markets.map(({ marketId }) => marketId));
  const feed = new RecordingFeed(source, { markets, gaps, inputs }, signal);
  const { tickers, eventTypes } = universe;
  await threads.begin(settings, { tickers, eventTypes });
  let items = 0;
  for await (const segment of feed.segments()) {
    signal.throwIfAborted();
    items += (await threads.process(segment)).items;
    const marketsDone = markets.filter(({ endTimeMs }) => endTimeMs < segment.beforeMs).length;
    onProgress({ share: feed.progress.share, marketsDone, markets: markets.length, items });
  }
  const finished = await threads.finish();
  return { ...finished, markets, tooLarge: feed.progress.tooLarge, dataHash: feed.dataHash() };
}

/** The markets of several series, oldest window first. */
export async function marketsOf(
  source: Pick<TapeSource, 'markets'>,
  { tickers, eventTypes, startMs, endMs, marketLimit: limit }: RunUniverse,
): Promise<Market[]> {
  const found: Market[] = [];
  for (const ticker of tickers) {
    for (const event_type of eventTypes) {
      found.push(...(await source.markets({ ticker, event_type }, { startMs, endMs, limit })));
    }
  }
  return found.sort((a, b) => a.startTimeMs - b.startTimeMs || (a.marketId < b.marketId ? -1 : 1));
}
