/** Reads and judges everything a command was configured with, before it opens or makes anything. */
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { loadTiers } from '../accounts/users/tiers.ts';
import { type Config, networksIn, readConfig, type Variables } from '../config.ts';
import { parseSecretKey, storedSecretKey } from '../control/secretBox.ts';
import { loadTls, parseTrust } from '../http/transport.ts';
import { DEMO_MARKER } from '../runtime/demoMarker.ts';
import { ConfigError, InvalidInputError } from '../runtime/errors.ts';
import { makeDurableDirectories } from '../runtime/makeDirectories.ts';
import { DEFAULT_TICKERS, type FollowedAssets } from '../schema/market.ts';
import { reserveProblem } from '../store/engine/diskGuard.ts';
import { engineLibraryProblem } from '../store/engine/engineLibrary.ts';
import { requireKnownDirectory } from '../upgrade/newerData.ts';
import { AddressPolicy } from '../webhooks/target/addresses.ts';
import { addressProblems, plainHttpProblem } from './checkAddress.ts';
import { unknownVariables } from './unknownVariables.ts';

/** How a command uses the data directory. */
type DirectoryUse =
  /** Writes recordings: creates a missing directory, whatever else is configured. */
  | 'record'
  /** Writes recordings into the directory of a service: it must exist, whatever else is configured. */
  | 'record into existing'
  /** Reads files of the directory alone: it must exist, whatever else is configured. */
  | 'read directory'
  /** Reads recordings: the directory must contain one, unless a ClickHouse server is configured. */
  | 'read recording'
  /** Writes accounts: creates a missing directory, unless PostgreSQL is configured. */
  | 'make accounts'
  /** Reads or changes existing accounts: the directory must exist, unless PostgreSQL is configured. */
  | 'use accounts';

const ENGINE_USES: readonly DirectoryUse[] = ['record', 'record into existing', 'read recording'];

interface SettingsOptions {
  /** Value of `--data-dir`; overrides `UNDERROUND_DATA_DIR`. */
  readonly dataDir?: string | undefined;
  readonly use: DirectoryUse;
  /** What it records is simulated: only such a command may record into a demo's directory. */
  readonly simulates?: boolean;
  /** The command listens on the configured addresses. */
  readonly listens?: boolean;
  /** Whether the data directory is printed now; otherwise the command calls `sayPlace` itself. Default: true. */
  readonly saysPlace?: boolean;
  /** Changes the configuration before the remaining checks. */
  readonly adjust?: (config: Config) => Config;
}

/**
 * The configuration of a command. Warns of unknown variables, and usually prints the data directory on standard error.
 * @throws {ConfigError} With one line for each problem: variables, the files they name, addresses, data directory.
 * @throws {InvalidInputError} If the command reads a data directory and it does not exist.
 * @throws {NewerDataError} If a newer release wrote the data directory.
 */
export async function readSettings(
  options: SettingsOptions,
  variables: Variables = process.env,
): Promise<Config> {
  for (const line of unknownVariables(variables)) console.error(`underround: warning: ${line}`);
  const { use, listens = false, saysPlace = true, adjust = (config: Config) => config } = options;
  const problems = fileProblems(variables);
  if (listens) problems.push(...plainHttpProblem(variables));
  const read = readConfig(variables);
  if ('problems' in read) throw new ConfigError([...read.problems, ...problems, ...emptyName(options)]);
  const named = emptyName(options);
  const dataDir = options.dataDir ?? read.config.dataDir;
  const config = adjust({ ...read.config, dataDir });
  if (listens) problems.push(...(await addressProblems(config)));
  if (usesEngine(config, use)) problems.push(...(await engineLibraryProblem()));
  problems.push(...(named.length > 0 ? named : directoryProblems(config, options)));
  if (problems.length > 0) throw new ConfigError(problems);
  requireDirectory(config, use);
  requireKnownDirectory(config);
  if (saysPlace) sayPlace(config, use);
  return config;
}

/** @throws {ConfigError} If the operating system refuses to create the directory. */
export function makeDataDirectory(dataDir: string): void {
  try {
    makeDurableDirectories(dataDir);
  } catch (cause) {
    throw new ConfigError(directoryProblem(dataDir, `cannot be made: ${(cause as Error).message}`), {
      cause,
    });
  }
}

/** Problems of the files and lists that the variables name. */
function fileProblems(variables: Variables): string[] {
  const value = (name: string) => variables[name] || null;
  const [certFile, keyFile] = [value('UNDERROUND_TLS_CERT'), value('UNDERROUND_TLS_KEY')];
  const trustProxy = value('UNDERROUND_TRUST_PROXY');
  const secretKey = value('UNDERROUND_SECRET_KEY');
  return [
    () => loadTiers(value('UNDERROUND_TIERS_FILE')),
    () => loadTls(certFile, keyFile),
    () => trustProxy !== null && parseTrust(trustProxy),
    () => new AddressPolicy(networksIn(value('UNDERROUND_WEBHOOK_ALLOWED_NETWORKS') ?? '')),
    () => secretKey !== null && parseSecretKey(secretKey),
  ].flatMap(problemsOf);
}

function problemsOf(judge: () => unknown): readonly string[] {
  try {
    judge();
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [(error as Error).message];
  }
}

/** An empty `--data-dir` would mean the working directory. */
function emptyName({ dataDir }: SettingsOptions): string[] {
  return dataDir === '' ? ['--data-dir "" must name a directory; name one, or leave the option out'] : [];
}

/** Why the data directory cannot be used as it is. Writes nothing; a missing directory is created later. */
function directoryProblems(config: Config, { use, simulates = false }: SettingsOptions): readonly string[] {
  if (!usesDirectory(config, use)) return [];
  const { dataDir } = config;
  const path = resolve(dataDir);
  const isMade = use === 'record' || use === 'make accounts';
  const reason = existsSync(path) ? whyUnusable(path) : isMade ? whyNotMade(path) : null;
  if (reason !== null) return [directoryProblem(dataDir, reason)];
  if (use === 'record' || use === 'record into existing') {
    if (!simulates && existsSync(join(path, DEMO_MARKER)))
      return [directoryProblem(dataDir, 'is a demo’s: its data is simulated, and the next demo empties it')];
    const { blocks, bsize } = statfsSync(existingParent(path));
    const problem = reserveProblem(config.diskReserve, { path, totalBytes: blocks * bsize });
    if (problem !== null) return [problem];
  }
  return config.secretKey === null ? problemsOf(() => storedSecretKey(dataDir)) : [];
}

function directoryProblem(dataDir: string, reason: string): string {
  return `data directory ${resolve(dataDir)} ${reason}; name another with --data-dir or UNDERROUND_DATA_DIR`;
}

function whyUnusable(path: string): string | null {
  try {
    const stats = statSync(path);
    if (!stats.isDirectory()) return 'cannot be used: it is a file';
    const us = process.getuid?.();
    if (us !== undefined && stats.uid !== us) {
      return `belongs to user ${stats.uid} and this process runs as user ${us}: run it as that user`;
    }
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return `cannot be written to: ${(error as Error).message}`;
  }
}

/**
 * Creates and removes another directory in the same place, because permissions alone do not reveal what `/proc`
 * refuses.
 */
function whyNotMade(path: string): string | null {
  const parent = existingParent(dirname(path));
  try {
    rmdirSync(mkdtempSync(join(parent, '.underround-')));
    return null;
  } catch (error) {
    const [reason] = (error as Error).message.split(', mkdtemp');
    return `cannot be made in ${parent}: ${reason}`;
  }
}

/** The path itself where it exists, else the nearest directory above it that does. */
function existingParent(path: string): string {
  let found = path;
  while (!existsSync(found)) found = dirname(found);
  return found;
}

/** It starts the embedded engine. */
function usesEngine({ clickhouseUrl }: Config, use: DirectoryUse): boolean {
  return clickhouseUrl === null && ENGINE_USES.includes(use);
}

function usesDirectory({ clickhouseUrl, databaseUrl }: Config, use: DirectoryUse): boolean {
  if (use === 'record' || use === 'record into existing' || use === 'read directory') return true;
  return use === 'read recording' ? clickhouseUrl === null : databaseUrl === null;
}

/** @throws {InvalidInputError} */
function requireDirectory(config: Config, use: DirectoryUse): void {
  if (use === 'record' || use === 'make accounts' || !usesDirectory(config, use)) return;
  const path = resolve(config.dataDir);
  const next = 'name the directory of a service with --data-dir or UNDERROUND_DATA_DIR';
  if (!existsSync(path)) throw new InvalidInputError(`there is no data directory ${path}; ${next}`);
  if (use === 'read recording' && !['engine', 'journal'].some((name) => existsSync(join(path, name)))) {
    throw new InvalidInputError(`data directory ${path} has no recording; ${next}`);
  }
}

/** Prints the data directory that a command uses on standard error. */
export function sayPlace(config: Config, use: DirectoryUse): void {
  const isRemote = config.databaseUrl !== null && use.endsWith('accounts');
  const database = isRemote ? ` (accounts are in the database of DATABASE_URL)` : '';
  console.error(`underround: data directory ${resolve(config.dataDir)}${database}`);
}

/**
 * The assets that a command's arguments may name. Of an invalid configuration the default ones: `readSettings` reports
 * it, after the arguments.
 */
export function followedAssets(variables: Variables = process.env): FollowedAssets {
  const read = readConfig(variables);
  return { tickers: 'config' in read ? read.config.tickers : DEFAULT_TICKERS };
}
