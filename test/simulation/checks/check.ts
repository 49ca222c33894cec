import type { NewestBook } from '../../../src/recorder/marketMemory.ts';
import type { Gap } from '../../../src/schema/gap.ts';
import type { RecordKind, Records } from '../../../src/schema/records.ts';
import type { Trace } from '../world/trace.ts';
import type { Venue } from '../world/venue.ts';
import type { VirtualTime } from '../world/virtualTime.ts';
import type { World } from '../world/world.ts';

/** What must hold in every run of one process. */
export const CHECKS = [
  'book_equals_truth',
  'lost_rows_in_gaps',
  'no_trust_in_gaps',
  'books_recover',
  'audited_before_published',
  'money_conserved',
  'no_signal_or_fill_in_gaps',
  'deliveries_arrive',
  'live_equals_replay',
  'api_books_equal_truth',
  'api_equals_published',
  'api_signals_audited',
  'api_ready_means_working',
  'api_answers_documented',
] as const;
/** What must hold in every run of several collectors. */
export const CLUSTER_CHECKS = [
  'book_equals_truth',
  'lost_rows_in_gaps',
  'books_recover',
  'readers_agree',
  'live_never_goes_back',
  'no_book_twice',
] as const;
export type CheckName = (typeof CHECKS)[number] | (typeof CLUSTER_CHECKS)[number];

export interface Violation {
  readonly check: CheckName;
  /** Time of the world. */
  readonly timeMs: number;
  readonly text: string;
}

type Report = (text: string) => void;

/** A recording, of one process or merged from several collectors, and the truth about it. */
export interface RecordedWorld {
  readonly venue: Venue;
  /** By market. */
  readonly openGaps: ReadonlyMap<string, Gap>;
  stored<K extends RecordKind>(kind: K): readonly Records[K][];
  /** The newest version of each gap. */
  gaps(): readonly Gap[];
  /** What readers see of a market; null where it is not followed, or no process runs. */
  shownBook(marketId: string): Pick<NewestBook, 'trusted' | 'eventTimeMs' | 'yes' | 'no'> | null;
  /** Calls a check once a second while the process lives. */
  everySecond(run: () => void): void;
}

/** One invariant: what it observes of each life of a process, and what it compares when the run is over. */
export interface Check<W = World> {
  readonly name: CheckName;
  /** Called when a process starts, before its first event. */
  begin?(world: W, report: Report): void;
  end?(world: W, report: Report): void | Promise<void>;
  /** Called after `end`, when pending deliveries had the time to arrive. */
  drained?(world: W, report: Report): void | Promise<void>;
}

/** Notes what a check reports. */
export function reporter(
  check: CheckName,
  { violations, trace, time }: { violations: Violation[]; trace: Trace; time: VirtualTime },
): Report {
  return (text) => {
    violations.push({ check, timeMs: time.nowMs, text });
    trace.add(time.nowMs, `violated ${check} ${text}`);
  };
}
