/** The cost of finding the user of a key: from memory, and from each database. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Accounts, openAccounts } from '../src/accounts/accounts.ts';
import { createKey, keyChecksum } from '../src/accounts/keys/keyFormat.ts';
import { issueKey } from '../src/accounts/keys/keys.ts';
import { openControlDatabase } from '../src/controlDatabase.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { startPostgres } from '../test/support/postgresServer.ts';
import type { Figure } from './figure.ts';
import { median } from './quantile.ts';

const KEYS = 10_000;
const ROUNDS = 9;
const CALLS = 20_000;
const LOOK_UPS = 2_000;

export async function keyFigures(): Promise<Figure[]> {
  const postgres = await startPostgres().catch((error: Error) => error);
  try {
    return [
      ...(await withAccounts(null, async (accounts, keys) => [
        ...fromMemory(accounts, keys),
        { name: 'key look-up in SQLite', value: await lookUp(accounts, keys), unit: 'us' },
      ])),
      ...(postgres instanceof Error
        ? [{ name: `key look-up in PostgreSQL (${postgres.message})`, value: Number.NaN, unit: 'us' }]
        : await withAccounts(postgres.url, async (accounts, keys) => [
            { name: 'key look-up in PostgreSQL', value: await lookUp(accounts, keys), unit: 'us' },
          ])),
    ];
  } finally {
    if (!(postgres instanceof Error)) await postgres.stop();
  }
}

async function withAccounts(
  databaseUrl: string | null,
  measure: (accounts: Accounts, keys: readonly string[]) => Promise<Figure[]>,
): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-bench-'));
  const config = { dataDir, databaseUrl, keyEnvironment: 'live' } as const;
  const parts = { clock: systemClock, randomBytes, logger: silentLogger, metrics: new Metrics() };
  const accounts = await openAccounts({ ...parts, database: await openControlDatabase(config), config });
  try {
    const { user, key } = await issueKey(accounts.database, parts, {
      ...{ email: 'bench@example.com', tier: 'premium', label: 'bench', environment: 'live' },
    });
    const keys = [key];
    for (let made = 1; made < KEYS; made++) {
      const issued = await accounts.keys.create({ userId: user.userId, label: 'bench', environment: 'live' });
      keys.push(issued.key);
    }
    return await measure(accounts, keys);
  } finally {
    await accounts.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The complete check: version of the database, header, checksum, hash, constant-time comparison. */
function fromMemory({ access }: Accounts, keys: readonly string[]): Figure[] {
  const [known] = keys as [string];
  // Differs only in the last character of the random part: a comparison that stops early would show here.
  const near = createKeyNear(known);
  const far = createKey('live', randomBytes);
  const time = (header: string) => {
    const begun = performance.now();
    for (let call = 0; call < CALLS; call++) access.authenticate(header, access.moment());
    return ((performance.now() - begun) * 1000) / CALLS;
  };
  const rounds = Array.from({ length: ROUNDS }, () => [
    time(`Bearer ${known}`),
    time(near),
    time(`Bearer ${far}`),
  ]);
  const of = (column: number) => median(rounds.map((round) => round[column] as number));
  return [
    { name: 'key verified from memory', value: of(0), unit: 'us', goal: '<= 20' },
    { name: 'key refused, one character off a known one', value: of(1), unit: 'us' },
    { name: 'key refused, nothing like a known one', value: of(2), unit: 'us' },
  ];
}

function createKeyNear(known: string): string {
  const last = known.charAt(41) === 'a' ? 'b' : 'a';
  const body = known.slice(0, 41) + last;
  return `Bearer ${body}${keyChecksum(body)}`;
}

/** Keys that are not cached, one after the other: each needs one point lookup. */
async function lookUp({ access }: Accounts, keys: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (const key of keys.slice(-LOOK_UPS)) {
    const begun = performance.now();
    await access.authenticate(`Bearer ${key}`, access.moment());
    times.push((performance.now() - begun) * 1000);
  }
  return median(times);
}
