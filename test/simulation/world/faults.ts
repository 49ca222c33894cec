import type { Fault, Scenario } from '../scenario.ts';
import type { Link, Network } from './network.ts';
import type { DiskFaults } from './storeModel.ts';
import type { Trace } from './trace.ts';
import type { Venue } from './venue.ts';
import type { MachineWall, VirtualTime } from './virtualTime.ts';

/** After the last fault, and the end of all of them, everything has this long to recover. */
const RECOVERY_MS = 22_000;
/** Then the venue stops, so that all that it sent arrives. */
const LAST_MS = 1_000;

/** What a fault can reach. */
export interface FaultTargets {
  readonly time: VirtualTime;
  readonly venue: Venue;
  /** The machine that the fault hits. */
  machine(dice: number): FaultedMachine;
  readonly prices: { lateByMs: number };
  /** Receivers of webhooks; null without them. */
  readonly receiver: { refuses: boolean; slowMs: number; losesAnswers: boolean } | null;
  /** The ways of all collectors to the stream. */
  readonly uplinks: readonly CutUplink[];
}

export interface FaultedMachine {
  readonly wall: MachineWall;
  /** Null where nothing is stored. */
  readonly disk: DiskFaults | null;
  /** The machine's way to the stream; null without one. */
  readonly uplink: CutUplink | null;
  /** Null while its process is down. */
  network(): Network | null;
  refuse(status: number | null): void;
  kill(downMs: number): void;
  /** The process does nothing for some time. */
  pause(lastsMs: number): void;
}

/** Messages wait while it is cut. */
interface CutUplink {
  cut(): void;
  mend(): void;
}

/** One fault that begins now, with what it can use. */
interface Beginning {
  readonly lastsMs: number;
  readonly dice: number;
  readonly targets: FaultTargets;
  readonly machine: FaultedMachine;
  /** A connection; null without one. */
  readonly link: Link | null;
  readonly open: readonly Link[];
  /** Runs when the fault ends. */
  later(end: () => void): void;
  /** Sets a member now and sets it back when the fault ends. Null: the world has no such part. */
  hold<T extends object, K extends keyof T>(of: T | null, name: K, value: T[K], back: T[K]): void;
}

const REQUEST_STATUSES = [0, 403, 429, 500] as const;

function slow(
  { targets: { time }, lastsMs }: Beginning,
  links: readonly (Link | null)[],
  byMs: number,
): void {
  for (const link of links) {
    if (link === null) continue;
    link.slowByMs = byMs;
    link.slowUntilMs = time.nowMs + lastsMs;
  }
}

function cutAll(links: readonly Link[], code: number): void {
  for (const link of links) link.cut(code);
}

const BEGIN: Readonly<Record<Fault['kind'], (fault: Beginning) => void>> = {
  slow_link: (fault) =>
    slow(fault, fault.dice < 0.3 ? fault.open : [fault.link], 200 + Math.floor(fault.dice * 1_500)),
  late_link: (fault) => slow(fault, fault.open, 5_500 + Math.floor(fault.dice * 2_500)),
  frames_lost: ({ link, dice }) => {
    if (link !== null) link.losesNext = 1 + Math.floor(dice * 4);
  },
  frames_twice: ({ link, dice }) => {
    if (link !== null) link.repeatsNext = 1 + Math.floor(dice * 40);
  },
  disconnect: ({ link, open, dice }) => {
    if (dice < 0.5) link?.cut(1006);
    else cutAll(open, dice < 0.8 ? 1013 : 1006);
  },
  half_open: ({ link }) => {
    if (link !== null) link.isHalfOpen = true;
  },
  frozen_link: ({ link, hold }) => {
    if (link !== null) hold(link, 'isFrozen', true, false);
  },
  refused: ({ machine, open, dice, later }) => {
    machine.refuse(dice < 0.5 ? 0 : 503);
    cutAll(open, 1006);
    later(() => machine.refuse(null));
  },
  requests_fail: ({ targets, dice, hold }) =>
    hold(targets.venue.faults, 'restStatus', REQUEST_STATUSES[Math.floor(dice * 4)] ?? 0, null),
  prices_late: ({ targets, dice, hold }) =>
    hold(targets.prices, 'lateByMs', 5_500 + Math.floor(dice * 3_000), 0),
  never_sent: ({ targets, dice }) => {
    targets.venue.faults.neverSent = 1 + Math.floor(dice * 4);
  },
  wrong_hash: ({ targets, dice }) => {
    targets.venue.faults.wrongHashes = 1 + Math.floor(dice * 3);
  },
  unreadable: ({ targets, dice }) => {
    targets.venue.faults.unreadable = 1 + Math.floor(dice * 3);
  },
  one_token: ({ targets: { venue }, dice, hold }) =>
    hold(venue.faults, 'oneToken', marketOf(venue, dice), null),
  one_sided: ({ targets: { venue }, dice }) => {
    const market = marketOf(venue, dice);
    if (!market.isResolved) venue.send(market, market.empty(venue.nowMs, dice < 0.5 ? 'BUY' : 'SELL'));
  },
  venue_stops: ({ targets, hold }) => hold(targets.venue.faults, 'isStopped', true, false),
  venue_restarts: ({ targets: { venue }, machine, hold, later }) => {
    machine.refuse(503);
    hold(venue.faults, 'restStatus', 425, null);
    hold(venue.faults, 'isStopped', true, false);
    venue.dropAll(1006);
    later(() => machine.refuse(null));
  },
  append_fails: ({ machine, hold }) => hold(machine.disk, 'refusesAppends', true, false),
  sync_fails: ({ machine, hold }) => hold(machine.disk, 'refusesSyncs', true, false),
  store_away: ({ machine, hold }) => hold(machine.disk, 'isEngineAway', true, false),
  disk_slow: ({ machine, hold }) => hold(machine.disk, 'isSlow', true, false),
  // Never as wrong as messages may be late: a clock that stays wrong is a gap for as long as it does.
  clock_step: ({ machine, dice }) => machine.wall.stepTo(Math.round((dice - 0.5) * 8_000)),
  clock_drift: ({ machine, dice, later }) => {
    machine.wall.drift(1 + (dice - 0.5) * 0.01);
    later(() => machine.wall.drift(1));
  },
  kill: ({ machine, lastsMs }) => machine.kill(200 + Math.min(lastsMs, 6_000)),
  paused: ({ machine, lastsMs }) => machine.pause(lastsMs),
  cut_off: ({ machine: { uplink }, later }) => {
    uplink?.cut();
    later(() => uplink?.mend());
  },
  stream_away: ({ targets: { uplinks }, later }) => {
    for (const uplink of uplinks) uplink.cut();
    later(() => {
      for (const uplink of uplinks) uplink.mend();
    });
  },
  receiver_refuses: ({ targets, hold }) => hold(targets.receiver, 'refuses', true, false),
  receiver_slow: ({ targets, dice, hold }) =>
    hold(targets.receiver, 'slowMs', 500 + Math.floor(dice * 3_000), 0),
  answer_lost: ({ targets, hold }) => hold(targets.receiver, 'losesAnswers', true, false),
};

/** Begins the faults of a scenario, each at its time, and gives everything the time to recover. */
export async function playFaults({ faults, spanMs }: Scenario, targets: FaultTargets, trace: Trace) {
  const { time, venue } = targets;
  for (const fault of [...faults].sort((a, b) => a.atMs - b.atMs)) {
    await time.runTo(fault.atMs);
    trace.add(time.nowMs, `fault ${fault.kind} ${fault.lastsMs}`);
    beginFault(fault, targets);
  }
  const lastEndMs = Math.max(spanMs, ...faults.map(({ atMs, lastsMs }) => atMs + lastsMs));
  await time.runTo(lastEndMs + RECOVERY_MS);
  venue.faults.isStopped = true;
  await time.runTo(time.nowMs + LAST_MS);
}

/** Begins a fault, and schedules its end. */
function beginFault({ kind, lastsMs, dice }: Fault, targets: FaultTargets): void {
  const machine = targets.machine(dice);
  const later = (end: () => void) => void targets.time.after(lastsMs, end);
  const hold = <T extends object, K extends keyof T>(of: T | null, name: K, value: T[K], back: T[K]) => {
    if (of === null) return;
    of[name] = value;
    later(() => {
      of[name] = back;
    });
  };
  const open = machine.network()?.open ?? [];
  const link = open[Math.floor(dice * open.length)] ?? null;
  BEGIN[kind]({ lastsMs, dice, targets, machine, link, open, later, hold });
}

function marketOf(venue: Venue, dice: number) {
  return (
    venue.markets[Math.floor(dice * venue.markets.length)] ?? (venue.markets[0] as (typeof venue.markets)[0])
  );
}
