/** Started parts that must be closed, the newest first. */
export class Closers {
  readonly #closers: (() => Promise<void>)[] = [];

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /**
   * Closes every part, even after one has failed: the recording must reach the disk even if a database does not answer.
   * @throws The first failure.
   */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse())
      await close().catch((error: unknown) => void failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}
