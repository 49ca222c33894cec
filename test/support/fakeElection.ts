import type { Election } from '../../src/bus/recordStream.ts';

type Callbacks = Parameters<Election['campaign']>[1];

/** Candidates of one task; the test elects them, and ends a term before it begins the next. */
export class FakeElection {
  readonly #candidates: Callbacks[] = [];
  #leader: Callbacks | null = null;

  /** The election as one process sees it. */
  candidate(): Election {
    return {
      campaign: (_task, callbacks) => {
        this.#candidates.push(callbacks);
        const isLeader = () => this.#leader === callbacks;
        return {
          get isLeader() {
            return isLeader();
          },
          stop: async () => {
            if (isLeader()) this.end();
          },
        };
      },
    };
  }

  /** @param at In the order in which the processes began to campaign. */
  elect(at: number): void {
    this.end();
    this.#leader = this.#candidates[at] ?? null;
    this.#leader?.onElected();
  }

  /** Elects another process while the leader, which is paused, goes on as if it were elected. */
  electUnnoticed(at: number): void {
    this.#leader = null;
    this.elect(at);
  }

  /** Nobody is the leader until the next one is elected. */
  end(): void {
    const lost = this.#leader;
    this.#leader = null;
    lost?.onLost();
  }
}
