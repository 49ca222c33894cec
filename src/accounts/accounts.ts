import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { RandomBytes } from '../control/base62.ts';
import { watchVersion } from '../control/databaseVersion.ts';
import { commitKeeper } from '../control/keptCommits.ts';
import type { Database } from '../control/schema.ts';
import { SQLITE_FILE_NAME } from '../control/sqliteFile.ts';
import { startWalThread } from '../control/walThread.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { AccessControl, SignedIn } from './keys/accessControl.ts';
import { Authenticator } from './keys/authenticate.ts';
import {
  type Freshness,
  leaseFreshness,
  leaseOver,
  type Moment,
  versionFreshness,
} from './keys/freshness.ts';
import { type IssuedKey, issueOwnKey, KeyRepository } from './keys/keys.ts';
import { LastUsed } from './keys/lastUsed.ts';
import { LiveKeys } from './keys/liveKeys.ts';
import { RowCache } from './keys/rowCache.ts';
import { Usage } from './limits/usage.ts';
import { MaintenanceState } from './maintenance.ts';
import { MaintenanceSwitch } from './maintenanceSwitch.ts';
import { AccountEvents } from './users/accountEvents.ts';
import { OperatorSetup } from './users/operatorSetup.ts';
import { Passwords } from './users/passwords.ts';
import { SessionRepository } from './users/sessions.ts';
import { SignInLinks } from './users/signInLinks.ts';
import { hashToken } from './users/tokens.ts';
import { UserRepository } from './users/users.ts';

/** The account components of a running service. */
export interface Accounts {
  readonly database: Database;
  readonly users: UserRepository;
  /** Gives a service without an operator its first one. */
  readonly setup: OperatorSetup;
  /** Sign-in links, which replace a password once. */
  readonly links: SignInLinks;
  readonly keys: KeyRepository;
  /** Log of sign-ins, sign-ups and operator actions. */
  readonly events: AccountEvents;
  readonly sessions: SessionRepository;
  readonly passwords: Passwords;
  readonly maintenance: MaintenanceSwitch;
  readonly usage: Usage;
  /**
   * Creates a key for its user; null if the user has the maximum number. @throws {InvalidInputError} For an invalid
   * label.
   */
  issueOwnKey(owner: { userId: string; label: string }): Promise<IssuedKey | null>;
  /** Resolves once every process sees the changes committed so far: see `freshness.ts`. */
  settled(): Promise<void>;
  /** Resolves once no power loss undoes the changes committed so far: see `keptCommits.ts`. */
  kept(): Promise<void>;
  readonly authenticator: Authenticator;
  /** Watches the keys of open connections. */
  readonly liveKeys: LiveKeys;
  /** Access decisions for each request of the API. */
  readonly access: AccessControl;
  /** Writes pending data and closes the database; call it after the last request was answered. */
  close(): Promise<void>;
}

/**
 * @throws {ConfigError} If there is no driver for the configured database.
 * @throws {StoreUnavailableError} If the database cannot be opened.
 */
export async function openAccounts(parts: {
  database: Database;
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'keyEnvironment'>;
  clock: Clock;
  randomBytes: RandomBytes;
  logger: Logger;
  metrics: Metrics;
}): Promise<Accounts> {
  const { database, config, clock, randomBytes, logger, metrics } = parts;
  // Of a database on another machine the version would cost a round trip a request.
  const path = config.databaseUrl === null ? join(config.dataDir, SQLITE_FILE_NAME) : null;
  const version = path === null ? null : watchVersion(path);
  const walThread = path === null ? null : await startWalThread(database, { path, log: logger, metrics });
  const freshness = version ? versionFreshness(version.read) : leaseFreshness(clock);
  const lastUsed = new LastUsed(database, { clock, logger, metrics });
  const usage = new Usage(database, { clock, logger, metrics });
  const authenticator = new Authenticator(database, {
    environment: config.keyEnvironment,
    freshness,
    lastUsed: {
      note: (keyId, knownMs) => {
        lastUsed.note(keyId, knownMs);
        usage.note(keyId);
      },
    },
    metrics,
  });
  const sessions = new SessionRepository(database, { clock, randomBytes, logger });
  const liveKeys = new LiveKeys(database, { clock, freshness: version && freshness, logger, metrics });
  const users = new UserRepository(database, { clock, randomBytes });
  const maintenance = new MaintenanceState(database, { freshness, logger });
  return {
    database,
    users,
    setup: new OperatorSetup({ users, database, clock, randomBytes }),
    links: new SignInLinks({ clock, randomBytes }),
    keys: new KeyRepository(database, { clock, randomBytes, logger }),
    events: new AccountEvents(database, { clock, randomBytes, logger }),
    sessions,
    passwords: new Passwords(),
    maintenance: new MaintenanceSwitch(database, clock),
    usage,
    issueOwnKey: (owner) =>
      issueOwnKey(database, { clock, randomBytes, logger }, { ...owner, environment: config.keyEnvironment }),
    settled: () => (version ? Promise.resolve() : leaseOver(clock)),
    kept: commitKeeper(config),
    authenticator,
    liveKeys,
    access: {
      moment: () => freshness.moment(),
      maintenance: (moment) => maintenance.current(moment),
      authenticate: (header, moment) => authenticator.authenticate(header, moment),
      signedIn: version ? rememberSessions(sessions, freshness) : (token) => sessions.find(token),
    },
    close: async () => {
      liveKeys.close();
      await lastUsed.close();
      await usage.close();
      version?.close();
      await walThread?.close();
      await database.destroy();
    },
  };
}

/**
 * Answers session look-ups from memory while cached rows are valid. Only for a database that reports changes: signing
 * out must apply everywhere at once, and with a lease every sign-out would have to wait for it.
 */
function rememberSessions(
  sessions: SessionRepository,
  freshness: Freshness,
): (token: string, moment: Moment) => SignedIn | null | Promise<SignedIn | null> {
  const read = new RowCache(freshness, (tokenHash) => sessions.read(tokenHash));
  return (token, moment) => {
    const known = read.get(hashToken(token), moment);
    return known instanceof Promise ? known.then((late) => sessions.use(late)) : sessions.use(known);
  };
}
