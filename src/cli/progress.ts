const BAR_WIDTH = 32;

/** A progress bar on a terminal; elsewhere one line per 10 %, so that logs stay readable. Writes to standard error. */
export class Progress {
  readonly #label: string;
  readonly #isTerminal = process.stderr.isTTY === true;
  #tenth = -1;
  #shown = '';

  constructor(label: string) {
    this.#label = label;
  }

  /** @param share 0..1. */
  update(share: number, note: string): void {
    const bounded = Math.min(1, Math.max(0, share));
    const percent = `${Math.floor(bounded * 100)}`.padStart(3);
    if (this.#isTerminal) {
      const filled = Math.round(bounded * BAR_WIDTH);
      const bar = `${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}`;
      this.#show(`\r${this.#label} [${bar}] ${percent} % ${note}`);
    } else if (Math.floor(bounded * 10) > this.#tenth) {
      this.#tenth = Math.floor(bounded * 10);
      process.stderr.write(`${this.#label} ${percent} % ${note}\n`);
    }
  }

  done(): void {
    if (this.#isTerminal) process.stderr.write('\n');
  }

  #show(text: string): void {
    if (text === this.#shown) return;
    process.stderr.write(text.padEnd(this.#shown.length));
    this.#shown = text;
  }
}

/** Reports how much of the journals of crashed runs has been stored; prints nothing if there are none. */
export function recoveryProgress(): (progress: { segments: number; done: number }) => void {
  const progress = new Progress('storing rows left in the journal');
  return ({ segments, done }) => {
    progress.update(done / segments, `${done} of ${segments} segments`);
    if (done === segments) progress.done();
  };
}
