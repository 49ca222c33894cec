import type { Election, SharedValues } from '../../src/bus/recordStream.ts';

interface Campaign {
  readonly onElected: () => void;
  readonly onLost: () => void;
  isElected: boolean;
}

/** Elections within one test: each `connect` is one process. The oldest campaign of a task leads. */
export class MemoryElections {
  readonly #campaigns = new Map<string, Campaign[]>();

  /** A process's view. `die` ends its campaigns without a callback, as the death of the process does. */
  connect(): Election & { die(): void } {
    const own = new Set<() => void>();
    return {
      campaign: (task, callbacks) => {
        const campaign: Campaign = { ...callbacks, isElected: false };
        const leave = () => {
          own.delete(leave);
          this.#leave(task, campaign);
        };
        own.add(leave);
        this.#of(task).push(campaign);
        // Later, as on a server: the caller first gets what this function returns.
        queueMicrotask(() => this.#elect(task));
        return {
          get isLeader() {
            return campaign.isElected;
          },
          stop: async () => {
            lose(campaign);
            leave();
          },
        };
      },
      die: () => {
        for (const leave of [...own]) leave();
      },
    };
  }

  /** Makes the leader of a task lose it to the next campaign, and campaign again. */
  depose(task: string): void {
    const [leader] = this.#of(task);
    if (leader === undefined) return;
    lose(leader);
    this.#of(task).push(...this.#of(task).splice(0, 1));
    this.#elect(task);
  }

  #elect(task: string): void {
    const [first] = this.#of(task);
    if (first === undefined || first.isElected) return;
    first.isElected = true;
    first.onElected();
  }

  #of(task: string): Campaign[] {
    const campaigns = this.#campaigns.get(task) ?? [];
    this.#campaigns.set(task, campaigns);
    return campaigns;
  }

  #leave(task: string, campaign: Campaign): void {
    const campaigns = this.#of(task);
    const index = campaigns.indexOf(campaign);
    if (index < 0) return;
    campaigns.splice(index, 1);
    campaign.isElected = false;
    this.#elect(task);
  }
}

function lose(campaign: Campaign): void {
  if (!campaign.isElected) return;
  campaign.isElected = false;
  campaign.onLost();
}

/** Shared values within one test. */
export class MemoryValues implements SharedValues {
  readonly #values = new Map<string, Uint8Array>();

  async get(key: string): Promise<Uint8Array | null> {
    return this.#values.get(key)?.slice() ?? null;
  }

  async put(key: string, value: Uint8Array): Promise<void> {
    this.#values.set(key, value.slice());
  }
}
