import { Random } from '../../src/core/random.ts';

/** What can go wrong. Each kind begins at a time, and most end by themselves. */
export const FAULT_KINDS = [
  // Network
  'slow_link',
  'late_link',
  'frames_lost',
  'frames_twice',
  'disconnect',
  'half_open',
  'frozen_link',
  'refused',
  'requests_fail',
  'prices_late',
  // Venue
  'never_sent',
  'wrong_hash',
  'unreadable',
  'one_token',
  'one_sided',
  'venue_stops',
  'venue_restarts',
  // Disk
  'append_fails',
  'sync_fails',
  'disk_slow',
  // Clock
  'clock_step',
  'clock_drift',
  // Processes
  'kill',
  // Receivers of webhooks
  'receiver_refuses',
  'receiver_slow',
  'answer_lost',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly atMs: number;
  readonly kind: FaultKind;
  readonly lastsMs: number;
  /** 0 <= x < 1: chooses a market, a connection, a size or a direction; its use depends on the kind. */
  readonly dice: number;
}

/** All that a run depends on, as plain data: a shrunk scenario is this one with less in it. */
export interface Scenario {
  readonly seed: number;
  readonly markets: number;
  /** Several collectors publish on a stream, and one process follows it; 1: one process does everything. */
  readonly collectors: number;
  /** How long faults may begin. */
  readonly spanMs: number;
  readonly faults: readonly Fault[];
}

export const MARKETS_MAX = 3;
const SPAN_MS = 35_000;
const FIRST_FAULT_MS = 3_000;
const FAULTS_MAX = 8;

/** The scenario of a seed. */
export function scenarioOf(seed: number): Scenario {
  const random = new Random(`scenario ${seed}`);
  const markets = 1 + random.below(MARKETS_MAX);
  const collectors = 1;
  // Some runs have few faults, so that each can be seen alone; a seed in eight has none.
  const count = random.chance(0.125) ? 0 : 1 + random.below(FAULTS_MAX);
  const faults = Array.from({ length: count }, () => ({
    atMs: FIRST_FAULT_MS + random.below(SPAN_MS - FIRST_FAULT_MS),
    kind: FAULT_KINDS[random.below(FAULT_KINDS.length)] as FaultKind,
    lastsMs: random.chance(0.3) ? 3_000 + random.below(9_000) : 100 + random.below(2_500),
    dice: random.next(),
  }));
  faults.sort((a, b) => a.atMs - b.atMs);
  return { seed, markets, collectors, spanMs: SPAN_MS, faults };
}
