/**
 * Loads a user's strategy file in a thread of its own. Node strips the types of TypeScript. `@underround/engine` is
 * always the engine of this installation, even where the user's folder has one: a strategy needs no installation, and
 * its receipt names the engine that ran it.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { foreignModule, type UsageLog } from './usageLog.ts';

const ENGINE_PACKAGE = '@underround/engine';
/** Each run has its own copy of the user's modules, so that their variables do not leak between runs. */
const RUN_MARK = 'underround-run';

export class UserModules {
  readonly #entry: string;
  readonly #engineUrl: string;
  readonly #usage: UsageLog;
  /** SHA-256 of each loaded file of the user. */
  readonly #files = new Map<string, string>();

  /**
   * @param entry Path of the strategy file.
   * @param engineUrl Module that `@underround/engine` means.
   */
  constructor({ entry, engineUrl, usage }: { entry: string; engineUrl: string; usage: UsageLog }) {
    this.#entry = entry;
    this.#engineUrl = engineUrl;
    this.#usage = usage;
  }

  /** From now on, modules of this thread are resolved as described above. */
  install(): void {
    registerHooks({
      resolve: (specifier, context, next) => {
        if (specifier === ENGINE_PACKAGE) {
          return { url: this.#engineUrl, format: 'module', shortCircuit: true };
        }
        const resolved = next(specifier, context);
        const run = runOf(context.parentURL) ?? runOf(specifier);
        if (run === null) return resolved;
        const foreign = foreignModule(resolved.url);
        if (foreign !== null) this.#usage.count(foreign);
        if (!this.#isOwnFile(resolved.url)) return resolved;
        return { ...resolved, url: marked(resolved.url, run), format: formatOf(resolved) };
      },
      load: (url, context, next) => {
        if (runOf(url) !== null && this.#isOwnFile(url)) this.#note(fileURLToPath(url));
        return next(url, context);
      },
    });
  }

  /** @returns The module, newly evaluated for this run. */
  async load(run: number): Promise<{ readonly default?: unknown }> {
    return await import(marked(pathToFileURL(this.#entry).href, run));
  }

  /** SHA-256 over the strategy file and every file of the user that it imported so far; packages are left out. */
  codeHash(): string {
    const sum = createHash('sha256');
    for (const [name, hash] of [...this.#files].sort(([one], [other]) => (one < other ? -1 : 1))) {
      sum.update(`${name}\n${hash}\n`);
    }
    return sum.digest('hex');
  }

  #note(path: string): void {
    const name = relative(dirname(this.#entry), path).replaceAll('\\', '/');
    if (!this.#files.has(name)) {
      this.#files.set(name, createHash('sha256').update(readFileSync(path)).digest('hex'));
    }
  }

  #isOwnFile(url: string): boolean {
    return url.startsWith('file:') && !url.includes('/node_modules/') && !url.startsWith(this.#engineUrl);
  }
}

/** A folder of strategies needs no `package.json`: its files are ES modules. */
function formatOf({ url, format }: { url: string; format?: string | null | undefined }): string | null {
  if (format === 'commonjs-typescript' || format === 'commonjs') return format;
  const [, ending = ''] = /\.([cm]?[jt]s)(?:\?|$)/.exec(url) ?? [];
  if (ending === 'ts') return 'module-typescript';
  return ending === 'js' ? 'module' : (format ?? null);
}

function runOf(url: string | undefined): string | null {
  return (url && new RegExp(`[?&]${RUN_MARK}=(\\d+)`).exec(url)?.[1]) || null;
}

function marked(url: string, run: number | string): string {
  if (runOf(url) !== null) return url;
  return `${url}${url.includes('?') ? '&' : '?'}${RUN_MARK}=${run}`;
}
