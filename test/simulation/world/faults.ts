import type { Random } from '../../../src/core/random.ts';
import type { Fault } from '../scenario.ts';
import type { Link, Network } from './network.ts';
import type { StoreModel } from './storeModel.ts';
import type { Venue } from './venue.ts';
import type { MachineWall, VirtualTime } from './virtualTime.ts';

/** What a fault can reach. */
export interface FaultTargets {
  readonly time: VirtualTime;
  readonly venue: Venue;
  /** The machine that the fault hits. */
  machine(dice: number): FaultedMachine;
  readonly prices: { lateByMs: number };
  readonly receiver: { refuses: boolean; slowMs: number; losesAnswers: boolean };
}

export interface FaultedMachine {
  readonly wall: MachineWall;
  readonly store: StoreModel;
  readonly random: Random;
  /** Null while its process is down. */
  network(): Network | null;
  refuse(status: number | null): void;
  kill(downMs: number): void;
}

/** Begins a fault, and schedules its end. */
export function beginFault(fault: Fault, targets: FaultTargets): void {
  const { kind, lastsMs, dice } = fault;
  const { time, venue, prices, receiver } = targets;
  const machine = targets.machine(dice);
  const link = linkOf(machine.network(), dice);
  const later = (end: () => void) => void time.after(lastsMs, end);
  /** Sets a member now and sets it back later. */
  const hold = <T extends object, K extends keyof T>(of: T, name: K, value: T[K], back: T[K]) => {
    of[name] = value;
    later(() => {
      of[name] = back;
    });
  };
  switch (kind) {
    case 'slow_link':
    case 'late_link': {
      const links = kind === 'late_link' || dice < 0.3 ? (machine.network()?.open ?? []) : [link];
      for (const slow of links) {
        if (slow === null) continue;
        slow.slowByMs =
          kind === 'slow_link' ? 200 + Math.floor(dice * 1_500) : 5_500 + Math.floor(dice * 2_500);
        slow.slowUntilMs = time.nowMs + lastsMs;
      }
      return;
    }
    case 'frames_lost':
      if (link !== null) link.losesNext = 1 + Math.floor(dice * 4);
      return;
    case 'frames_twice':
      if (link !== null) link.repeatsNext = 1 + Math.floor(dice * 40);
      return;
    case 'disconnect':
      if (dice < 0.5) link?.cut(1006);
      else for (const each of machine.network()?.open ?? []) each.cut(dice < 0.8 ? 1013 : 1006);
      return;
    case 'half_open':
      if (link !== null) link.isHalfOpen = true;
      return;
    case 'frozen_link':
      if (link !== null) hold(link, 'isFrozen', true, false);
      return;
    case 'refused':
      machine.refuse(dice < 0.5 ? 0 : 503);
      for (const each of machine.network()?.open ?? []) each.cut(1006);
      return later(() => machine.refuse(null));
    case 'requests_fail':
      return hold(venue.faults, 'restStatus', [0, 403, 429, 500][Math.floor(dice * 4)] ?? 0, null);
    case 'prices_late':
      return hold(prices, 'lateByMs', 5_500 + Math.floor(dice * 3_000), 0);
    case 'never_sent':
      venue.faults.neverSent = 1 + Math.floor(dice * 4);
      return;
    case 'wrong_hash':
      venue.faults.wrongHashes = 1 + Math.floor(dice * 3);
      return;
    case 'unreadable':
      venue.faults.unreadable = 1 + Math.floor(dice * 3);
      return;
    case 'one_token':
      return hold(venue.faults, 'oneToken', marketOf(venue, dice), null);
    case 'one_sided': {
      const market = marketOf(venue, dice);
      if (!market.isResolved) venue.send(market, market.empty(venue.nowMs, dice < 0.5 ? 'BUY' : 'SELL'));
      return;
    }
    case 'venue_stops':
      return hold(venue.faults, 'isStopped', true, false);
    case 'venue_restarts':
      machine.refuse(503);
      hold(venue.faults, 'restStatus', 425, null);
      hold(venue.faults, 'isStopped', true, false);
      venue.dropAll(1006);
      return later(() => machine.refuse(null));
    case 'append_fails':
      return hold(machine.store.faults, 'refusesAppends', true, false);
    case 'sync_fails':
      return hold(machine.store.faults, 'refusesSyncs', true, false);
    case 'disk_slow':
      return hold(machine.store.faults, 'isSlow', true, false);
    case 'clock_step':
      // Never as wrong as messages may be late: a clock that stays wrong is a gap for as long as it does.
      machine.wall.stepTo(Math.round((dice - 0.5) * 8_000));
      return;
    case 'clock_drift':
      machine.wall.drift(1 + (dice - 0.5) * 0.01);
      return later(() => machine.wall.drift(1));
    case 'kill':
      return machine.kill(200 + Math.min(lastsMs, 6_000));
    case 'receiver_refuses':
      return hold(receiver, 'refuses', true, false);
    case 'receiver_slow':
      return hold(receiver, 'slowMs', 500 + Math.floor(dice * 3_000), 0);
    case 'answer_lost':
      return hold(receiver, 'losesAnswers', true, false);
  }
}

function linkOf(network: Network | null, dice: number): Link | null {
  const open = network?.open ?? [];
  return open[Math.floor(dice * open.length)] ?? null;
}

function marketOf(venue: Venue, dice: number) {
  return (
    venue.markets[Math.floor(dice * venue.markets.length)] ?? (venue.markets[0] as (typeof venue.markets)[0])
  );
}
