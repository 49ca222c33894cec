import { hash } from 'node:crypto';

/** Every event of a run, as a hash chain: two runs are equal if their last hashes are. */
export class Trace {
  #head = '';
  #count = 0;
  readonly #print: ((line: string) => void) | null;

  /** @param print Receives each line. */
  constructor(print: ((line: string) => void) | null = null) {
    this.#print = print;
  }

  get head(): string {
    return this.#head;
  }

  get count(): number {
    return this.#count;
  }

  add(timeMs: number, what: string): void {
    const line = `${timeMs} ${what}`;
    this.#head = hash('sha1', `${this.#head}\n${line}`, 'hex');
    this.#count++;
    this.#print?.(line);
  }
}
