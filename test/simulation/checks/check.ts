import type { World } from '../world/world.ts';

/** What must hold in every run. */
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
] as const;
export type CheckName = (typeof CHECKS)[number];

export interface Violation {
  readonly check: CheckName;
  /** Time of the world. */
  readonly timeMs: number;
  readonly text: string;
}

type Report = (text: string) => void;

/** One invariant: what it observes of each life of a process, and what it compares when the run is over. */
export interface Check {
  readonly name: CheckName;
  /** Called when a process starts, before its first event. */
  begin?(world: World, report: Report): void;
  end?(world: World, report: Report): void | Promise<void>;
  /** Called after `end`, when pending deliveries had the time to arrive. */
  drained?(world: World, report: Report): void | Promise<void>;
}
