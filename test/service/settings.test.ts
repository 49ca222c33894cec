import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const NEXT = 'name another with --data-dir or UNDERROUND_DATA_DIR';

/** A path below an otherwise empty directory. */
function missing(): { parent: string; dataDir: string } {
  const parent = temporaryDirectory();
  return { parent, dataDir: join(parent, 'data') };
}

async function takenPort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  onTestFinished(() => void holder.close());
  return (holder.address() as AddressInfo).port;
}

/** Expects a refused start: exit status 1, these lines on standard error, nothing on standard output. */
async function expectRefusal(words: string[], environment: Record<string, string>, lines: readonly string[]) {
  await expect(underround(words, environment)).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: lines.map((line) => `underround: ${line}\n`).join(''),
  });
}

describe.skipIf(commandAbsent)('settings (skipped without a build)', () => {
  describe.each(['serve', 'demo'])('%s', (command) => {
    it('names every invalid variable and file before it creates anything', async () => {
      const { parent, dataDir } = missing();
      const environment = {
        UNDERROUND_DATA_DIR: dataDir,
        UNDERROUND_PORT: 'banana',
        UNDERROUND_HOST: '0.0.0.0',
        UNDERROUND_TRUST_PROX: '1',
        UNDERROUND_TLS_KEY: '',
        UNDERROUND_TIERS_FILE: join(parent, 'tiers.json'),
        UNDERROUND_SECRET_KEY: 'short',
      };
      const tiers = environment.UNDERROUND_TIERS_FILE;
      writeFileSync(tiers, '{"gold": {}, "free": {"export": "yes"}}');
      const table = '(docs/CONFIGURATION.md has the tier table); correct it, or unset it';
      await expectRefusal([command], environment, [
        'warning: UNDERROUND_TRUST_PROX is not a known variable and has no effect; did you mean UNDERROUND_TRUST_PROXY?',
        'UNDERROUND_PORT="banana" must be a port number, 0 to 65535; correct it, or unset it for 8080',
        `UNDERROUND_TIERS_FILE="${tiers}" does not fit: free.export: Invalid input: expected boolean, received string ${table}`,
        `UNDERROUND_TIERS_FILE="${tiers}" does not fit: file: Unrecognized key: "gold" ${table}`,
        'UNDERROUND_SECRET_KEY (value not shown) must be 32 bytes in base64 or hexadecimal, such as `openssl rand -base64 32` prints; correct it, or unset it',
        'UNDERROUND_HOST=0.0.0.0 would serve plain HTTP to other machines: set UNDERROUND_TLS_CERT and UNDERROUND_TLS_KEY, UNDERROUND_TRUST_PROXY behind a TLS proxy, or UNDERROUND_ALLOW_PLAIN_HTTP=on',
      ]);
      expect(readdirSync(parent)).toEqual(['tiers.json']);
    });

    it('names ports in use and an invalid data directory before it creates anything', async () => {
      const { parent } = missing();
      const [port, metrics] = [await takenPort(), await takenPort()];
      writeFileSync(join(parent, 'file'), '');
      const environment = {
        UNDERROUND_PORT: String(port),
        UNDERROUND_METRICS_ADDRESS: `127.0.0.1:${metrics}`,
      };
      const ports = [
        `cannot listen on 127.0.0.1:${port}: another program uses this port; set UNDERROUND_HOST or UNDERROUND_PORT`,
        `cannot listen on 127.0.0.1:${metrics}: another program uses this port; set UNDERROUND_METRICS_ADDRESS`,
      ];
      const dataDir = join(parent, 'file');
      const words = [command, '--data-dir', dataDir];
      await expectRefusal(words, environment, [
        ...ports,
        `data directory ${dataDir} cannot be used: it is a file; ${NEXT}`,
      ]);
      await expectRefusal([command, '--data-dir', join(parent, 'new')], environment, ports);
      expect(readdirSync(parent)).toEqual(['file']);
    });

    it.skipIf(!existsSync('/proc/self'))('refuses a data directory below /proc', async () => {
      const line = `data directory /proc/nope cannot be made in /proc: ENOENT: no such file or directory; ${NEXT}`;
      await expectRefusal([command, '--data-dir', '/proc/nope'], { UNDERROUND_PORT: '0' }, [line]);
    });
  });

  it('demo refuses a --data-dir with other content, and leaves it unchanged', async () => {
    const { dataDir } = missing();
    mkdirSync(join(dataDir, 'photographs'), { recursive: true });
    await expectRefusal(['demo', '--data-dir', dataDir], { UNDERROUND_PORT: '0' }, [
      `data directory ${dataDir}`,
      `${dataDir} is not a demo's directory; set UNDERROUND_DATA_DIR to another, or name one with --data-dir`,
    ]);
    expect(readdirSync(dataDir)).toEqual(['photographs']);
  });

  it.each([
    ['--hours', 'x', '0 to 48'],
    ['--hours', '', '0 to 48'],
    ['--density', '2', '0.001 to 1'],
  ])('demo rejects %s %j', async (option, value, range) => {
    const { parent, dataDir } = missing();
    const words = ['demo', option, value, '--data-dir', dataDir];
    await expectRefusal(words, {}, [`${option} ${JSON.stringify(value)} must be a number from ${range}`]);
    expect(readdirSync(parent)).toEqual([]);
  });

  it.each([['--help'], ['--version'], ['serve', '--help'], ['keys', 'list', '--help']])(
    '%s %s checks no settings and creates no data directory',
    async (...words) => {
      const { parent, dataDir } = missing();
      const environment = { UNDERROUND_DATA_DIR: dataDir, UNDERROUND_PORT: 'banana' };
      expect(await underround(words, environment)).not.toBe('');
      expect(readdirSync(parent)).toEqual([]);
    },
  );
});
