/** Messages between a command and its threads with user code. */
import type { Inputs, ParamSpecs } from '../core/run/definition.ts';
import type { RunResult } from '../core/run/result.ts';
import type { RunTerms } from '../core/run/terms.ts';
import type { PaperLine } from './paperLines.ts';
import type { RunSegment } from './runTape.ts';
import type { ForeignUse } from './usageLog.ts';
import type { UserFault } from './userError.ts';

export type ParamValue = number | boolean | string;

/** What a thread is started with. */
export interface ThreadSettings {
  /** Path of the strategy file. */
  readonly entry: string;
  readonly heartbeat: SharedArrayBuffer;
}

/** A strategy as its file defines it, without its code. */
export interface StrategyFacts {
  readonly name: string;
  readonly params: ParamSpecs;
  readonly inputs: Inputs;
}

/** The series that a command names in place of those of the strategy's inputs. */
export type RunSeries = Pick<Inputs, 'tickers' | 'eventTypes'>;

/** One run: a strategy with its parameters under its terms. */
export interface RunSetting {
  readonly params: Readonly<Record<string, ParamValue>>;
  readonly terms: RunTerms;
}

export type ThreadRequest =
  /** Loads the file once, only to read what it declares. */
  | { readonly kind: 'describe' }
  | { readonly kind: 'begin'; readonly runs: readonly NumberedRun[]; readonly series: RunSeries | null }
  /** One run whose recording arrives in stretches. Its code is not called for records received before `fromMs`. */
  | {
      readonly kind: 'live';
      readonly run: RunSetting;
      readonly fromMs: number;
      readonly series: RunSeries | null;
    }
  | { readonly kind: 'segment'; readonly segment: RunSegment }
  /** Processes what remains, up to the end of the last segment. */
  | { readonly kind: 'finish' };

export interface NumberedRun extends RunSetting {
  readonly run: number;
}

export interface FinishedRun {
  readonly run: number;
  readonly result: RunResult;
}

export type ThreadReply =
  | { readonly kind: 'described'; readonly facts: StrategyFacts; readonly codeHash: string }
  | { readonly kind: 'begun' }
  /** `lines`: what a live run did, in order; see `paperLines.ts`. */
  | { readonly kind: 'processed'; readonly items: number; readonly lines: readonly PaperLine[] }
  | {
      readonly kind: 'finished';
      readonly results: readonly FinishedRun[];
      readonly codeHash: string;
      readonly uses: readonly ForeignUse[];
    }
  | { readonly kind: 'failed'; readonly fault: UserFault };
