import { type Profiler, Session } from 'node:inspector';

/** Which blocks of the product's code have ever run. */
export class Coverage {
  readonly #session = new Session();
  readonly #seen = new Set<string>();

  start(): void {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  }

  /** The number of blocks that ran since the last call and never before. */
  takeNew(): number {
    let found = 0;
    this.#session.post('Profiler.takePreciseCoverage', (error, coverage) => {
      if (error !== null) throw error;
      for (const script of coverage.result) if (script.url.includes('/src/')) found += this.#note(script);
    });
    return found;
  }

  stop(): void {
    this.#session.disconnect();
  }

  get blocks(): number {
    return this.#seen.size;
  }

  #note({ scriptId, functions }: Profiler.ScriptCoverage): number {
    let found = 0;
    for (const { ranges } of functions)
      for (const { startOffset, endOffset, count } of ranges) {
        const block = `${scriptId}:${startOffset}:${endOffset}`;
        if (count === 0 || this.#seen.has(block)) continue;
        this.#seen.add(block);
        found++;
      }
    return found;
  }
}
