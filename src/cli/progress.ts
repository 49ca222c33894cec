const BAR_WIDTH = 32;
/** A shorter bar shows nothing that the percentage does not. */
const BAR_WIDTH_MIN = 8;

/** The bar whose line on the terminal is not ended. */
let openBar: Progress | null = null;

/** Prints a line on standard error: below a progress bar, and not behind it on the same line. */
export function printBelowBar(line: string): void {
  openBar?.done();
  console.error(line);
}

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
      this.#show(lineOf({ label: this.#label, share: bounded, text: `${percent} % ${note}` }));
    } else if (Math.floor(bounded * 10) > this.#tenth) {
      this.#tenth = Math.floor(bounded * 10);
      process.stderr.write(`${this.#label} ${percent} % ${note}\n`);
    }
  }

  done(): void {
    if (openBar !== this) return;
    process.stderr.write('\n');
    this.#shown = '';
    openBar = null;
  }

  #show(text: string): void {
    if (text === this.#shown) return;
    // The spaces hide the rest of a longer line. A line wider than the terminal would leave a copy at every update.
    process.stderr.write(`\r${text.padEnd(Math.min(this.#shown.length, widthMax()))}`);
    this.#shown = text;
    openBar = this;
  }
}

/** Columns of a line; the last one stays free, where some terminals begin a new line. */
function widthMax(): number {
  const { columns } = process.stderr;
  return columns > 0 ? columns - 1 : Number.POSITIVE_INFINITY;
}

/** A line that fits: the bar is shortened first, then left out, then the text is cut. */
function lineOf({ label, share, text }: { label: string; share: number; text: string }): string {
  const plain = `${label} ${text}`;
  const width = Math.min(BAR_WIDTH, widthMax() - `${plain} []`.length);
  if (width < BAR_WIDTH_MIN) return plain.slice(0, widthMax());
  const filled = Math.round(share * width);
  return `${label} [${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${text}`;
}

/** Reports how much of the journals of crashed runs has been stored; prints nothing if there are none. */
export function recoveryProgress(): (progress: { segments: number; done: number }) => void {
  const progress = new Progress('storing rows left in the journal');
  return ({ segments, done }) => {
    progress.update(done / segments, `${done} of ${segments} segments`);
    if (done === segments) progress.done();
  };
}
