import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The files already imported into a data directory, identified by content. */
export class ImportLedger {
  readonly #dir: string;

  constructor(dataDir: string) {
    this.#dir = path.join(dataDir, 'imported');
  }

  async has(file: string): Promise<boolean> {
    const entry = await this.#entry(file);
    return access(entry).then(
      () => true,
      () => false,
    );
  }

  async add(file: string): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    await writeFile(await this.#entry(file), `${path.basename(file)}\n`, { mode: 0o600 });
  }

  async #entry(file: string): Promise<string> {
    const digest = createHash('sha256');
    await pipeline(createReadStream(file), digest);
    return path.join(this.#dir, digest.digest('hex'));
  }
}
