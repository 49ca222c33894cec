import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './invariantMutants.ts';

const ROOT = new URL('../../', import.meta.url);

/** Changes a module while this process loads it; the file stays as it is. Call it before anything imports the module. */
export function plantMutant({ file, search, replacement }: Mutant): void {
  const { href } = new URL(file, ROOT);
  if (!readFileSync(fileURLToPath(href), 'utf8').includes(search))
    throw new Error(`${file} does not contain ${search}`);
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      if (url !== href) return loaded;
      return { ...loaded, source: String(loaded.source).replace(search, () => replacement) };
    },
  });
}
