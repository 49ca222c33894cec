/** Counts uses of what differs between two runs of the same code on the same data: clocks, randomness, files, network. */
import { createRequire, syncBuiltinESMExports } from 'node:module';

/** A source of results that do not repeat, and how often it was used. */
export interface ForeignUse {
  /** As written in code, for example `Math.random`; of an imported module `node:fs`. */
  readonly name: string;
  readonly count: number;
}

export class UsageLog {
  readonly #counts = new Map<string, number>();

  count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** In the order of names. */
  uses(): ForeignUse[] {
    return [...this.#counts]
      .map(([name, count]) => ({ name, count }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}

/** Modules of Node with files, the network, other processes or the machine's state. */
const FOREIGN_MODULES = new Set([
  ...['fs', 'fs/promises', 'net', 'http', 'https', 'http2', 'dgram', 'dns', 'dns/promises', 'tls'],
  ...['child_process', 'cluster', 'worker_threads', 'os', 'sqlite', 'inspector', 'repl', 'readline'],
  ...['readline/promises', 'quic', 'wasi', 'v8', 'vm', 'timers', 'timers/promises'],
]);

/** @param url As resolved, for example `node:fs`. @returns The module's name; null if using it repeats. */
export function foreignModule(url: string): string | null {
  const name = url.replace(/^node:/, '');
  return FOREIGN_MODULES.has(name) ? `node:${name}` : null;
}

type Functions = Record<string, (...given: never[]) => unknown>;

const GLOBAL_FUNCTIONS = ['setTimeout', 'setInterval', 'setImmediate', 'fetch'] as const;
const GLOBAL_CLASSES = ['WebSocket', 'EventSource', 'BroadcastChannel'] as const;
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Math: ['random'],
  performance: ['now'],
  process: ['hrtime', 'uptime', 'cpuUsage', 'memoryUsage', 'resourceUsage', 'getBuiltinModule'],
};
const CRYPTO_FUNCTIONS = [
  ...['randomUUID', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync'],
  ...['generateKey', 'generateKeySync', 'generateKeyPair', 'generateKeyPairSync'],
];

/**
 * Replaces the clocks, timers and random sources of this thread by ones that also count. Their results stay the same:
 * code that uses them still runs.
 */
export function watchGlobals(usage: UsageLog): void {
  watchDate(usage);
  const globals = globalThis as unknown as Record<string, Functions>;
  for (const [owner, names] of Object.entries(MEMBERS)) watchMembers(globals[owner], { owner, names }, usage);
  watchMembers(globals as unknown as Functions, { owner: null, names: GLOBAL_FUNCTIONS }, usage);
  for (const name of GLOBAL_CLASSES) watchClass(name, usage);
  const { Temporal } = globals as { Temporal?: { Now?: Functions } };
  const now = Temporal?.Now;
  if (now) watchMembers(now, { owner: 'Temporal.Now', names: Object.getOwnPropertyNames(now) }, usage);
  watchMembers(globals.crypto, { owner: 'crypto', names: ['getRandomValues', 'randomUUID'] }, usage);
  watchMembers(require('node:crypto'), { owner: 'crypto', names: CRYPTO_FUNCTIONS }, usage);
  // Named imports of these modules see the replaced functions too.
  syncBuiltinESMExports();
}

const require = createRequire(import.meta.url);

function watchMembers(
  functions: Functions | undefined,
  { owner, names }: { owner: string | null; names: readonly string[] },
  usage: UsageLog,
): void {
  if (functions === undefined) return;
  for (const name of names) {
    const original = functions[name] as unknown;
    if (typeof original !== 'function') continue;
    const label = owner === null ? name : `${owner}.${name}`;
    const watched = function (this: unknown, ...given: unknown[]): unknown {
      usage.count(label);
      return Reflect.apply(original, this, given);
    };
    // Members of its own, such as `process.hrtime.bigint`.
    for (const member of Object.getOwnPropertyNames(original)) {
      if (['length', 'name', 'prototype', 'arguments', 'caller'].includes(member)) continue;
      (watched as unknown as Functions)[member] = (original as unknown as Functions)[
        member
      ] as Functions[string];
    }
    if (name === 'hrtime')
      watchMembers(watched as unknown as Functions, { owner: label, names: ['bigint'] }, usage);
    const fixed = Object.getOwnPropertyDescriptor(functions, name)?.configurable === false;
    if (!fixed)
      Object.defineProperty(functions, name, { value: watched, writable: true, configurable: true });
  }
}

function watchClass(name: string, usage: UsageLog): void {
  const original = (globalThis as unknown as Record<string, unknown>)[name];
  if (typeof original !== 'function') return;
  const watched = new Proxy(original, {
    construct(target, given, newTarget) {
      usage.count(name);
      return Reflect.construct(target, given, newTarget);
    },
  });
  Object.defineProperty(globalThis, name, { value: watched, writable: true, configurable: true });
}

/** `Date()`, `new Date()` and `Date.now()` read the clock; a date with arguments does not. */
function watchDate(usage: UsageLog): void {
  const original = Date;
  const present = original.now.bind(original);
  const watched = new Proxy(original, {
    construct(target, given, newTarget) {
      if (given.length === 0) usage.count('Date');
      return Reflect.construct(target, given, newTarget);
    },
    apply(target) {
      usage.count('Date');
      return Reflect.apply(target, undefined, []);
    },
  });
  original.now = () => {
    usage.count('Date.now');
    return present();
  };
  original.prototype.constructor = watched;
  globalThis.Date = watched;
}
