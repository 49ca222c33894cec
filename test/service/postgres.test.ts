import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { openTestPostgres } from '../support/postgres.ts';
import { setupTokenOf, startCommand } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

const postgres = await openTestPostgres();
const absent = postgres.absent ?? (commandAbsent ? 'needs `npm run build`' : null);

describe.skipIf(absent)(
  `accounts of a running service in PostgreSQL${absent ? ` (skipped: ${absent})` : ''}`,
  () => {
    it('are shared by two servers and the command line, and a command’s changes apply on both', async () => {
      const databaseUrl = await postgres.createDatabase();
      const [one, two] = [temporaryDirectory(), temporaryDirectory()];
      const environment = (dataDir: string) => ({
        ...{ UNDERROUND_DATA_DIR: dataDir, DATABASE_URL: databaseUrl },
        ...VENUES_OFF,
      });
      const servers = [
        await startCommand(['serve'], environment(one)),
        await startCommand(['serve'], environment(two)),
      ];
      const run = async (...words: string[]) =>
        JSON.parse(await underround([...words, '--json'], environment(one)));
      const { key, key_id } = await run('keys', 'create', '--email', 'a@example.com', '--tier', 'premium');
      const onBoth = () =>
        Promise.all(
          servers.map(async ({ url }) => {
            const answer = await fetch(`${url}/v1/markets`, { headers: { authorization: `Bearer ${key}` } });
            await answer.arrayBuffer();
            return answer.status;
          }),
        );
      expect(await onBoth()).toEqual([200, 200]);
      await run('users', 'suspend', '--email', 'a@example.com');
      expect(await onBoth()).toEqual([401, 401]);
      await run('users', 'unsuspend', '--email', 'a@example.com');
      expect(await onBoth()).toEqual([200, 200]);
      await run('maintenance', 'on');
      expect(await onBoth()).toEqual([503, 503]);
      await run('maintenance', 'off');
      expect(await onBoth()).toEqual([200, 200]);
      await run('keys', 'revoke', key_id);
      expect(await onBoth()).toEqual([401, 401]);

      const signUps = await Promise.all(
        servers.map(async (server, index) => {
          const { url } = server;
          const credentials = { email: `u${index}@example.com`, password: 'correct horse battery' };
          const body = JSON.stringify({ ...credentials, setup: await setupTokenOf(server) });
          const answer = await fetch(`${url}/app/sign-up`, {
            method: 'POST',
            headers: { origin: url },
            body,
          });
          return answer.status;
        }),
      );
      expect(signUps.sort()).toEqual([200, 403]);
      expect(existsSync(join(one, 'control.sqlite'))).toBe(false);
      for (const server of servers) expect(await server.stop()).toBe(0);
    });
  },
);
