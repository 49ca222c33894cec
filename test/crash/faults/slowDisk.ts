import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import type { LimitedFileSystem } from './limitedFileSystem.ts';

/** How long the file system is frozen, and then is not. Short times are as likely as long ones. */
const FROZEN_MS = { min: 20, max: 5_000 };
const BETWEEN_MS = { min: 20, max: 1_000 };

interface Random {
  uniform(min: number, max: number): number;
}

/** Freezes a file system again and again from its creation until `release`. */
export class SlowDisk {
  readonly #files: LimitedFileSystem;
  readonly #random: Random;
  readonly #ended: Promise<void>;
  #isReleased = false;

  constructor(files: LimitedFileSystem, random: Random) {
    this.#files = files;
    this.#random = random;
    this.#ended = this.#run();
    // `release` throws it.
    this.#ended.catch(() => undefined);
  }

  /** Resolves once the file system is usable again. */
  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#isReleased) {
      await this.#files.freeze();
      await sleep(clock, this.#draw(FROZEN_MS));
      await this.#files.thaw();
      await sleep(clock, this.#draw(BETWEEN_MS));
    }
  }

  #draw({ min, max }: { min: number; max: number }): number {
    return Math.exp(this.#random.uniform(Math.log(min), Math.log(max)));
  }
}
