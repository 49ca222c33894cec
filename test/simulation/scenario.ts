import { Random } from '../../src/core/random.ts';

/** What can go wrong at the venue and on the way to it. Each kind begins at a time, and most end by themselves. */
const FEED_FAULTS = [
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
  'never_sent',
  'wrong_hash',
  'unreadable',
  'one_token',
  'one_sided',
  'venue_stops',
  'venue_restarts',
] as const;
const DISK_FAULTS = ['append_fails', 'sync_fails', 'disk_slow'] as const;
const MACHINE_FAULTS = ['clock_step', 'clock_drift', 'kill'] as const;
const RECEIVER_FAULTS = ['receiver_refuses', 'receiver_slow', 'answer_lost'] as const;
/** Drawn apart from the others, so that a seed keeps its other faults. */
const ENGINE_FAULTS = ['store_away'] as const;
/** The same of several collectors: longer than the stream remembers ids. */
const OUTAGE_FAULTS = ['stream_away', 'cut_off'] as const;
const COLLECTOR_FAULTS = ['paused', 'cut_off', 'stream_away'] as const;

const PROCESS_FAULTS = [...FEED_FAULTS, ...DISK_FAULTS, ...MACHINE_FAULTS, ...RECEIVER_FAULTS] as const;
const CLUSTER_FAULTS = [...FEED_FAULTS, ...MACHINE_FAULTS, ...COLLECTOR_FAULTS] as const;
type FaultKind = (typeof PROCESS_FAULTS | typeof CLUSTER_FAULTS | typeof ENGINE_FAULTS)[number];

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
  /** Several collectors publish on a stream, and readers merge it; 1: one process does everything. */
  readonly collectors: number;
  /** How long faults may begin. */
  readonly spanMs: number;
  readonly faults: readonly Fault[];
}

export const MARKETS_MAX = 3;
const SPAN_MS = 35_000;
const FIRST_FAULT_MS = 3_000;
/** For each collector. */
const FAULTS_MAX = 8;
/** How often the engine is away for some time, and how long at most: readiness must say so after 6 s. */
const ENGINE_AWAY_CHANCE = 0.3;
const ENGINE_AWAY_MS_MIN = 300;
const ENGINE_AWAY_MS_RANGE = 12_000;
const OUTAGE_CHANCE = 0.1;
const OUTAGE_MS_MIN = 121_000;
const OUTAGE_MS_RANGE = 10_000;

/** The scenario of a seed. */
export function scenarioOf(seed: number, collectors = 1): Scenario {
  const random = new Random(`scenario ${seed}`);
  const markets = 1 + random.below(MARKETS_MAX);
  const kinds = collectors === 1 ? PROCESS_FAULTS : CLUSTER_FAULTS;
  // Some runs have few faults, so that each can be seen alone; a seed in eight has none.
  const count = random.chance(0.125) ? 0 : 1 + random.below(FAULTS_MAX * collectors);
  const faults = Array.from({ length: count }, () => ({
    atMs: FIRST_FAULT_MS + random.below(SPAN_MS - FIRST_FAULT_MS),
    kind: kinds[random.below(kinds.length)] as FaultKind,
    lastsMs: random.chance(0.3) ? 3_000 + random.below(9_000) : 100 + random.below(2_500),
    dice: random.next(),
  }));
  faults.sort((a, b) => a.atMs - b.atMs);
  const others = collectors === 1 ? engineFaults(seed) : outages(seed);
  return { seed, markets, collectors, spanMs: SPAN_MS, faults: [...faults, ...others] };
}

/** After it the stream has forgotten the ids of messages that are sent again. */
function outages(seed: number): Fault[] {
  const random = new Random(`stream outage ${seed}`);
  if (!random.chance(OUTAGE_CHANCE)) return [];
  const atMs = FIRST_FAULT_MS + random.below(SPAN_MS - FIRST_FAULT_MS);
  const kind = OUTAGE_FAULTS[random.below(OUTAGE_FAULTS.length)] as FaultKind;
  return [{ atMs, kind, lastsMs: OUTAGE_MS_MIN + random.below(OUTAGE_MS_RANGE), dice: random.next() }];
}

/** It ends within the span, so that the run is no longer than without it. */
function engineFaults(seed: number): Fault[] {
  const random = new Random(`engine faults ${seed}`);
  if (!random.chance(ENGINE_AWAY_CHANCE)) return [];
  const lastsMs = ENGINE_AWAY_MS_MIN + random.below(ENGINE_AWAY_MS_RANGE);
  const atMs = FIRST_FAULT_MS + random.below(SPAN_MS - FIRST_FAULT_MS - lastsMs);
  return [{ atMs, kind: 'store_away', lastsMs, dice: random.next() }];
}
