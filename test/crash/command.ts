/** Parses the arguments of `npm run crash`. */
import { parseArgs } from 'node:util';

const FAULTS = [
  'kill',
  'disk-full',
  'slow-disk',
  'power',
  'stall',
  'starve',
  'descriptors',
  'memory',
  'cluster',
  'backup',
  'restore',
  'migration',
  'backup-truth',
] as const;
export type Fault = (typeof FAULTS)[number];
export const FILE_SYSTEMS = ['tmpfs', 'ext4'] as const;
export type FileSystemKind = (typeof FILE_SYSTEMS)[number];

/** Default number of kills of each part. */
const PART_KILLS = { webhooks: 1_000, paper: 200 } as const;
type Part = keyof typeof PART_KILLS;

interface FaultDefaults {
  readonly rounds: number;
  readonly density: number;
  readonly seconds: number;
}
const DEFAULTS: Record<Fault, FaultDefaults> = {
  kill: { rounds: 100, density: 0.01, seconds: 0 },
  'disk-full': { rounds: 10, density: 0.05, seconds: 10 },
  'slow-disk': { rounds: 1, density: 0.05, seconds: 60 },
  power: { rounds: 20, density: 0.05, seconds: 0 },
  stall: { rounds: 1, density: 0.25, seconds: 60 },
  starve: { rounds: 1, density: 0.1, seconds: 180 },
  descriptors: { rounds: 3, density: 0.1, seconds: 20 },
  memory: { rounds: 3, density: 0.1, seconds: 20 },
  cluster: { rounds: 20, density: 0.02, seconds: 30 },
  backup: { rounds: 50, density: 0.05, seconds: 0 },
  restore: { rounds: 50, density: 0.05, seconds: 0 },
  migration: { rounds: 50, density: 0.05, seconds: 0 },
  'backup-truth': { rounds: 3, density: 0.4, seconds: 0 },
};
const ROUNDS_MAX = 100_000;
const SECONDS_MAX = 3_600;
const LOAD_MAX = 64;

export const USAGE = `usage: npm run crash -- --fault ${FAULTS.join('|')} [--rounds N] [--seed TEXT] [options]
       npm run crash -- webhooks|paper [kills]

Disturbs the built service while a stand-in venue feeds it, and compares the API's data with the venue's frames. Prints
one JSON line. Exit status 1: a row is missing, a row inside a gap is trusted, a start failed or an endpoint did not
answer. Exit status 2: the run could not be made. Progress goes to standard error. Linux only.

  --fault kill        kills the service, its engine or both while the CPU is busy (default ${DEFAULTS.kill.rounds} rounds)
  --fault disk-full   fills the file system of the data directory, then frees it (${DEFAULTS['disk-full'].rounds}; needs root)
  --fault slow-disk   freezes the file system of the data directory again and again, and kills the service on it (${DEFAULTS['slow-disk'].rounds}; needs root)
  --fault power       makes the disk fail and lose its unsynced data, then mounts it again (${DEFAULTS.power.rounds}; needs root)
  --fault stall       stops the engine with SIGSTOP, then continues it (${DEFAULTS.stall.rounds})
  --fault starve      gives service and engine a share of one core (${DEFAULTS.starve.rounds}; needs root)
  --fault descriptors lets service and engine open no further file while the API is asked (${DEFAULTS.descriptors.rounds})
  --fault memory      gives service and engine little further address space while the API is asked (${DEFAULTS.memory.rounds})
  --fault cluster     kills one process of a cluster after the other (${DEFAULTS.cluster.rounds}; needs nats-server)
  --fault backup      kills \`underround backup\` beside a service that records (${DEFAULTS.backup.rounds})
  --fault restore     kills \`underround restore\` (${DEFAULTS.restore.rounds})
  --fault migration   kills \`underround migrate\` on a data directory of an earlier release (${DEFAULTS.migration.rounds})
  --fault backup-truth  backs up at the venue's rate, restores, and compares the rows (${DEFAULTS['backup-truth'].rounds} backups)

  --rounds N          number of rounds
  --seed TEXT         seed of all random choices (default: 1)
  --density X         live book changes as a share of the real venue, 0.001 to 1
  --seconds S         stall, slow-disk, starve, descriptors, memory: duration of the fault (default ${DEFAULTS.stall.seconds}, ${DEFAULTS['slow-disk'].seconds}, ${DEFAULTS.starve.seconds}, ${DEFAULTS.memory.seconds});
                      disk-full: fixed duration; cluster: pause (${DEFAULTS.cluster.seconds})
  --load N            kill: processes that keep the CPU busy, 0 to 64 (default: one per core)
  --percent P         starve: share of one core in percent (default 20)
  --victims LIST      cluster: names of processes, nats, store, separated by commas (default: all in turn)
  --file-system F     disk-full: ${FILE_SYSTEMS.join(' or ')} only (default: both in turn)

webhooks and paper kill a process of that part (default ${PART_KILLS.webhooks} and ${PART_KILLS.paper} times).`;

export interface FaultRunOptions {
  readonly density: number;
  /** Null: the run's default. */
  readonly seconds: number | null;
  readonly percent: number;
  /** Null: one per core. */
  readonly load: number | null;
  readonly fileSystem: FileSystemKind | null;
  /** Null: every process in turn. */
  readonly victims: readonly string[] | null;
}

type CrashCommand =
  | { kind: 'help' }
  | { kind: 'part'; part: Part; kills: number }
  | { kind: 'fault'; fault: Fault; rounds: number; seed: string; options: FaultRunOptions };

/** The arguments form no valid command. */
export class UsageError extends Error {}

/** @throws {UsageError} Names the invalid argument. */
export function parseCrashCommand(words: readonly string[]): CrashCommand {
  const { values, positionals } = split(words);
  if (values.help) return { kind: 'help' };
  if (values.fault === undefined) return partOf(positionals, Object.keys(values));
  if (positionals.length > 0) throw new UsageError(`--fault takes no further word: ${positionals.join(' ')}`);
  const fault = oneOf('--fault', values.fault, FAULTS);
  const only = (
    name: 'percent' | 'file-system' | 'seconds' | 'load' | 'victims',
    faults: readonly Fault[],
  ) => {
    if (values[name] !== undefined && !faults.includes(fault))
      throw new UsageError(`--${name} is for ${faults.join(' and ')}, not for ${fault}`);
  };
  only('percent', ['starve']);
  only('load', ['kill']);
  only('file-system', ['disk-full']);
  only('seconds', ['stall', 'slow-disk', 'starve', 'descriptors', 'memory', 'disk-full', 'cluster']);
  only('victims', ['cluster']);
  const defaults = DEFAULTS[fault];
  const rounds = numberOf('--rounds', values.rounds, { min: 1, max: ROUNDS_MAX, isWhole: true });
  const seconds = numberOf('--seconds', values.seconds, { min: 1, max: SECONDS_MAX });
  const fileSystem = values['file-system'];
  return {
    kind: 'fault',
    fault,
    rounds: rounds ?? defaults.rounds,
    seed: values.seed ?? '1',
    options: {
      density: numberOf('--density', values.density, { min: 0.001, max: 1 }) ?? defaults.density,
      seconds: seconds ?? (fault === 'disk-full' ? null : defaults.seconds),
      percent: numberOf('--percent', values.percent, { min: 1, max: 100 }) ?? 20,
      load: numberOf('--load', values.load, { min: 0, max: LOAD_MAX, isWhole: true }),
      fileSystem: fileSystem === undefined ? null : oneOf('--file-system', fileSystem, FILE_SYSTEMS),
      victims: values.victims?.split(',') ?? null,
    },
  };
}

function split(words: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        fault: text,
        rounds: text,
        seed: text,
        density: text,
        seconds: text,
        percent: text,
        load: text,
        'file-system': text,
        victims: text,
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function partOf(positionals: readonly string[], options: readonly string[]): CrashCommand {
  const [part, kills, ...rest] = positionals;
  if (part === undefined) throw new UsageError('name a part, or a fault by --fault');
  const known = oneOf('the part', part, Object.keys(PART_KILLS) as Part[]);
  if (options.length > 0) throw new UsageError(`--${options[0]} is for --fault, not for ${known}`);
  if (rest.length > 0) throw new UsageError(`nothing follows the number of kills: ${rest.join(' ')}`);
  const count = numberOf('the number of kills', kills, { min: 1, max: ROUNDS_MAX, isWhole: true });
  return { kind: 'part', part: known, kills: count ?? PART_KILLS[known] };
}

function oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === text);
  if (found === undefined) throw new UsageError(`${name} must be ${allowed.join(', ')}: ${text}`);
  return found;
}

function numberOf(
  name: string,
  text: string | undefined,
  { min, max, isWhole = false }: { min: number; max: number; isWhole?: boolean },
): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  const fits = text.trim() !== '' && value >= min && value <= max && (!isWhole || Number.isInteger(value));
  if (!fits)
    throw new UsageError(`${name} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}: ${text}`);
  return value;
}
