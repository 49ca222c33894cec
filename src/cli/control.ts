import type { KeyRepository } from '../accounts/keys/keys.ts';
import type { MaintenanceSwitch } from '../accounts/maintenanceSwitch.ts';
import type { AccountEvents } from '../accounts/users/accountEvents.ts';
import type { User, UserRepository } from '../accounts/users/users.ts';
import type { Config } from '../config.ts';
import type { Database } from '../control/schema.ts';
import type { AccountAction } from '../schema/accountAction.ts';
import type { WebhookSources } from '../webhooks/delivery/webhooks.ts';
import { printFailure } from './failure.ts';

/**
 * The control database and its repositories, for the account commands. A server may be running on the same database.
 */
export interface Control {
  readonly config: Config;
  readonly database: Database;
  readonly sources: WebhookSources;
  readonly users: UserRepository;
  readonly events: AccountEvents;
  readonly keys: KeyRepository;
  readonly maintenance: MaintenanceSwitch;
  /** Resolves once every server process sees the changes committed so far. */
  settled(): Promise<void>;
}

export type ControlAccess = 'make' | 'change' | 'read';

export interface ControlOptions {
  readonly dataDir?: string;
  readonly json?: boolean;
}

/**
 * Opens the control database, runs one command on it and closes it. A refusal is one line on standard error and exit
 * status 1, so the data directory is printed after success only. Modules are imported only here, so that `--help` and
 * the other commands start fast.
 * @param access `make` creates a missing data directory; `change` and `read` require one, and `read` writes nothing to
 * it.
 */
export async function withControl(
  options: ControlOptions,
  access: ControlAccess,
  run: (control: Control) => Promise<void>,
  judge: () => Promise<void> = async () => undefined,
): Promise<void> {
  try {
    await judge();
    const control = await openControl(options, access);
    try {
      await run(control);
    } finally {
      await control.database.destroy();
    }
    if (access !== 'read') await keepCommits(control.config);
    const { sayPlace } = await import('./settings.ts');
    sayPlace(control.config, useOf(access));
  } catch (error) {
    printFailure(error);
    process.exitCode = 1;
  }
}

async function keepCommits(config: Config): Promise<void> {
  const { commitKeeper } = await import('../control/keptCommits.ts');
  await commitKeeper(config)();
}

/** Adds an action of the command line to the events shown on the operator page. */
export async function recordAction(
  { events }: Pick<Control, 'events'>,
  action: AccountAction,
  { email }: Pick<User, 'email'>,
  detail: string | null = null,
): Promise<void> {
  const { COMMAND_LINE } = await import('../accounts/users/accountEvents.ts');
  await events.record({ action, email, actor: COMMAND_LINE, detail });
}

function useOf(access: ControlAccess): 'make accounts' | 'use accounts' {
  return access === 'make' ? 'make accounts' : 'use accounts';
}

async function openControl(options: ControlOptions, access: ControlAccess): Promise<Control> {
  const { OWNER_ONLY_UMASK } = await import('../store/engine/ownerOnly.ts');
  process.umask(OWNER_ONLY_UMASK);
  // Check the settings before loading the other modules.
  const settings = await import('./settings.ts');
  const wanted = { dataDir: options.dataDir, use: useOf(access), saysPlace: false };
  const config = await settings.readSettings(wanted);
  const [time, databaseModule, users, keys, maintenance, freshness, events, crypto] = await Promise.all([
    import('../runtime/clock.ts'),
    import('../controlDatabase.ts'),
    import('../accounts/users/users.ts'),
    import('../accounts/keys/keys.ts'),
    import('../accounts/maintenanceSwitch.ts'),
    import('../accounts/keys/freshness.ts'),
    import('../accounts/users/accountEvents.ts'),
    import('node:crypto'),
  ]);
  if (access === 'make' && config.databaseUrl === null) settings.makeDataDirectory(config.dataDir);
  const clock = time.systemClock;
  const database = await databaseModule.openControlDatabase(config, { isReader: access === 'read' });
  const sources = { clock, randomBytes: crypto.randomBytes };
  return {
    config,
    database,
    sources,
    users: new users.UserRepository(database, sources),
    events: new events.AccountEvents(database, sources),
    keys: new keys.KeyRepository(database, sources),
    maintenance: new maintenance.MaintenanceSwitch(database, clock),
    settled: () => (config.databaseUrl === null ? Promise.resolve() : freshness.leaseOver(clock)),
  };
}

/** @throws {InvalidInputError} If the text is not the name of a tier. */
export async function parseTier(text: string) {
  const { TIERS, tierSchema } = await import('../schema/tier.ts');
  const parsed = tierSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  const { InvalidInputError } = await import('../runtime/errors.ts');
  throw new InvalidInputError(`unknown tier; it is one of ${TIERS.join(', ')}`);
}
