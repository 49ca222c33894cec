import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openAccounts } from '../../src/accounts/accounts.ts';
import { MIGRATIONS, openControlDatabase } from '../../src/controlDatabase.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { FakeClock } from '../support/fakeClock.ts';
import { openTestPostgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const AT_ONCE = 6;
const postgres = await openTestPostgres();

describe.skipIf(commandAbsent)('several processes on one control database (needs `npm run build`)', () => {
  it('any of them may create it, and none is refused', async () => {
    const dataDir = temporaryDirectory();
    const words = (index: number) => ['keys', 'create', '--email', `u${index % 2}@example.com`, '--json'];
    const made = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) =>
        JSON.parse(await underround(words(index), { UNDERROUND_DATA_DIR: dataDir })),
      ),
    );
    const accounts = await open(dataDir);
    for (const { key, key_id } of made) {
      const identity = await accounts.authenticator.authenticate(`Bearer ${key}`);
      expect(identity).toMatchObject({ keyId: key_id });
    }
    expect(await accounts.users.list()).toHaveLength(2);
    await accounts.close();
  });

  it.skipIf(postgres.absent)('any of them may create it on an empty PostgreSQL', async () => {
    const DATABASE_URL = await postgres.createDatabase();
    const made = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const words = ['keys', 'create', '--email', `u${index % 2}@example.com`, '--json'];
        return JSON.parse(
          await underround(words, { UNDERROUND_DATA_DIR: temporaryDirectory(), DATABASE_URL }),
        );
      }),
    );
    expect(new Set(made.map(({ key_id }) => key_id)).size).toBe(4);
    const database = await openControlDatabase({ dataDir: '/nonexistent', databaseUrl: DATABASE_URL });
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
      database,
    );
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(MIGRATIONS));
    expect(await database.selectFrom('users').select('user_id').execute()).toHaveLength(2);
    await database.destroy();
  });

  it('a key created or revoked by the command applies at once in a running process', async () => {
    const dataDir = temporaryDirectory();
    const accounts = await open(dataDir);
    const run = (...words: string[]) => underround(words, { UNDERROUND_DATA_DIR: dataDir });
    const made = JSON.parse(
      await run('keys', 'create', '--email', 'a@example.com', '--tier', 'pro', '--json'),
    );
    const authenticate = () => accounts.authenticator.authenticate(`Bearer ${made.key}`);
    expect(await authenticate()).toMatchObject({ keyId: made.key_id, tier: 'pro' });
    await run('users', 'set-tier', '--email', 'a@example.com', '--tier', 'premium');
    expect(await authenticate()).toMatchObject({ tier: 'premium' });
    await run('keys', 'revoke', made.key_id);
    expect(await authenticate()).toMatchObject({ reason: 'revoked' });
    await accounts.close();
  });

  it.each(['serve', 'demo'])('%s refuses to serve plain HTTP to other machines', async (command) => {
    const environment = { UNDERROUND_DATA_DIR: temporaryDirectory(), UNDERROUND_HOST: '0.0.0.0' };
    await expect(underround([command], environment)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^underround: UNDERROUND_HOST=0\.0\.0\.0 would serve plain HTTP [^\n]* UNDERROUND_ALLOW_PLAIN_HTTP=on\n$/,
      ),
    });
  });

  it('a refusal is one line and exit status 1', async () => {
    const dataDir = temporaryDirectory();
    const refused = underround(['keys', 'revoke', 'key_none'], { UNDERROUND_DATA_DIR: dataDir });
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'underround: no key with this id; `keys list` shows the ids\n',
    });
  });
});

async function open(dataDir: string) {
  const config = { dataDir, databaseUrl: null, keyEnvironment: 'live' as const };
  const parts = { clock: new FakeClock(), randomBytes, logger: silentLogger, metrics: new Metrics() };
  return await openAccounts({ database: await openControlDatabase(config), config, ...parts });
}
