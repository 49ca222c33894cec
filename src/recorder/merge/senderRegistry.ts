import type { Alive, StreamMessage } from '../../bus/recordStream.ts';
import { DelayMeter, type DelayMeterState } from '../delayMeter.ts';

/** A sender that is unheard for longer, while others are heard, is presumed blind. */
const UNHEARD_MAX_MS = 4_000;
/** Time without any sign of life counts at most this much: the stream was away, and nobody could be heard. */
const QUIET_STEP_MAX_MS = 2_000;
/** A sender whose signs of life are older delivers what waited while the stream was away. */
const BACKLOG_MAX_MS = 4_000;
/** Earlier runs that are remembered of each sender. */
const EARLIER_RUNS_MAX = 16;

/** With the differences between the stream's clock and its own. */
interface HeardSender extends DelayMeterState {
  run: string;
  earlierRuns: string[];
  /** The registry's clock when it was last heard. */
  heardAtMs: number;
  /**
   * When it sent its last sign of life, of any run, by its own clock, but not after the stream stored it: its clock may
   * be ahead. Null before the first.
   */
  aliveMs: number | null;
  isPresumedBlind: boolean;
}

export interface SenderRegistryState {
  /** Stream time, with at most 2 s of each pause between signs of life: if all senders are silent, none counts as lost. */
  clockMs: number;
  lastAliveMs: number | null;
  senders: Record<string, HeardSender>;
}

/** Which senders are heard, and in which run. Pure: its state is plain JSON. */
export class SenderRegistry {
  readonly state: SenderRegistryState;

  constructor(state: SenderRegistryState = { clockMs: 0, lastAliveMs: null, senders: {} }) {
    this.state = state;
  }

  /**
   * Notes a message.
   * @param timeMs The stream's time.
   * @returns Whether it is of the sender's current run, of a run that replaces an earlier one, of the first run, or of an
   *   earlier run. An earlier run that outlives the current one replaces it: two processes have the same name.
   */
  hear(message: StreamMessage, timeMs: number): 'current' | 'restarted' | 'first' | 'earlier' {
    const { sender, run } = message;
    const { senders, clockMs } = this.state;
    const known = senders[sender];
    if (known?.earlierRuns.includes(run) && !outlives(message, timeMs, known)) return 'earlier';
    if (known?.run === run) {
      known.heardAtMs = clockMs;
      return 'current';
    }
    const before = known === undefined ? [] : [...known.earlierRuns, known.run];
    const earlierRuns = before.filter((earlier) => earlier !== run).slice(-EARLIER_RUNS_MAX);
    senders[sender] = {
      run,
      earlierRuns,
      heardAtMs: clockMs,
      aliveMs: known?.aliveMs ?? null,
      clockOffsetMs: null,
      isPresumedBlind: false,
    };
    return known === undefined ? 'first' : 'restarted';
  }

  /** When the sender sent its last sign of life, not later than the stream's time; null before the first. */
  aliveMs(sender: string): number | null {
    return this.state.senders[sender]?.aliveMs ?? null;
  }

  /**
   * Notes a sign of life at the stream's time.
   * @returns `returned`: the sender was presumed blind and has delivered what waited. `lost`: senders that are unheard
   *   from now on.
   */
  alive(sender: string, { sentTimeMs }: Alive, timeMs: number): { isReturned: boolean; lost: string[] } {
    const { state } = this;
    const sinceMs = timeMs - (state.lastAliveMs ?? timeMs);
    state.clockMs += Math.min(Math.max(0, sinceMs), QUIET_STEP_MAX_MS);
    state.lastAliveMs = timeMs;
    const known = state.senders[sender];
    if (known === undefined) return { isReturned: false, lost: [] };
    known.heardAtMs = state.clockMs;
    const sentMs = Math.min(sentTimeMs, timeMs);
    known.aliveMs = Math.max(known.aliveMs ?? sentMs, sentMs);
    const delayMs = new DelayMeter(known).delayOf(timeMs - sentTimeMs, timeMs);
    const isReturned = known.isPresumedBlind && delayMs <= BACKLOG_MAX_MS;
    if (isReturned) known.isPresumedBlind = false;
    return { isReturned, lost: this.#lost() };
  }

  #lost(): string[] {
    const { clockMs, senders } = this.state;
    const lost = Object.entries(senders).filter(
      ([, { heardAtMs, isPresumedBlind }]) => !isPresumedBlind && clockMs - heardAtMs > UNHEARD_MAX_MS,
    );
    for (const [, known] of lost) known.isPresumedBlind = true;
    return lost.map(([name]) => name);
  }
}

/** Whether a run gives a sign of life long after the last one of the run that replaced it. */
function outlives(message: StreamMessage, timeMs: number, { aliveMs }: HeardSender): boolean {
  if (message.kind !== 'alive' || aliveMs === null) return false;
  return Math.min(message.body.sentTimeMs, timeMs) - aliveMs > UNHEARD_MAX_MS;
}
