import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { Clock } from '../runtime/clock.ts';
import { addressProblems, plainHttpProblem } from './checkAddress.ts';

afterEach(() => void vi.restoreAllMocks());

async function takenPort() {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const free = () => new Promise<void>((resolve) => void holder.close(() => resolve()));
  onTestFinished(() => (holder.listening ? free() : undefined));
  return { port: (holder.address() as AddressInfo).port, free };
}

describe('checkAddress', () => {
  const at = (port: number) => ({
    host: '127.0.0.1',
    port,
    metricsAddress: null,
    dataDir: temporaryDirectory(),
  });

  it('reports an address in use and leaves a free one unused', async () => {
    const { port, free } = await takenPort();
    const line = `cannot listen on 127.0.0.1:${port}: another program uses this port; set UNDERROUND_HOST or UNDERROUND_PORT`;
    expect(await addressProblems(at(port))).toEqual([line]);
    await free();
    expect(await addressProblems(at(port))).toEqual([]);
    expect(await addressProblems(at(port))).toEqual([]);
  });

  it('reports the metrics address separately', async () => {
    const [api, metrics] = [await takenPort(), await takenPort()];
    const config = { ...at(api.port), metricsAddress: { host: '127.0.0.1', port: metrics.port } };
    expect(await addressProblems(config)).toEqual([
      `cannot listen on 127.0.0.1:${api.port}: another program uses this port; set UNDERROUND_HOST or UNDERROUND_PORT`,
      `cannot listen on 127.0.0.1:${metrics.port}: another program uses this port; set UNDERROUND_METRICS_ADDRESS`,
    ]);
  });

  it('the metrics address must differ from the API address', async () => {
    const config = { ...at(8080), metricsAddress: { host: '127.0.0.1', port: 8080 } };
    expect(await addressProblems(config)).toEqual([
      'UNDERROUND_METRICS_ADDRESS is the address of the API, 127.0.0.1:8080; give it another port',
    ]);
  });

  it('reports an address of another machine', async () => {
    const [line = ''] = await addressProblems({ ...at(0), host: '192.0.2.7' });
    expect(line).toMatch(
      /^cannot listen on 192\.0\.2\.7:0: .*EADDRNOTAVAIL.*; set UNDERROUND_HOST or UNDERROUND_PORT$/,
    );
  });

  describe.skipIf(process.platform !== 'linux')('a service on the same data directory', () => {
    /** The lock that a running service leaves; this test's parent process plays that service. */
    function recorded(): string {
      const dataDir = temporaryDirectory();
      const run = join(dataDir, 'journal', 'main.run');
      mkdirSync(run, { recursive: true });
      writeFileSync(join(run, 'owner'), JSON.stringify({ pid: process.ppid, start: startOf(process.ppid) }));
      return dataDir;
    }

    it('gets time to stop and free the port', async () => {
      const { port, free } = await takenPort();
      const said = vi.spyOn(console, 'error').mockImplementation(() => {});
      const clock: Clock = {
        now: () => 0,
        monotonic: () => 0,
        after: (_delayMs, run) => {
          void free().then(run);
          return { cancel: () => {} };
        },
      };
      expect(await addressProblems({ ...at(port), dataDir: recorded() }, clock)).toEqual([]);
      const service = `process ${process.ppid}, which records into the same data directory,`;
      expect(said.mock.calls).toEqual([
        [`underround: ${service} uses 127.0.0.1:${port}: waiting up to 10 s for it to stop`],
      ]);
    });

    it('is reported if it keeps the port', async () => {
      const { port } = await takenPort();
      vi.spyOn(console, 'error').mockImplementation(() => {});
      const waitsMs: number[] = [];
      const clock: Clock = {
        now: () => 0,
        monotonic: () => 0,
        after: (delayMs, run) => {
          waitsMs.push(delayMs);
          queueMicrotask(run);
          return { cancel: () => {} };
        },
      };
      const problems = await addressProblems({ ...at(port), dataDir: recorded() }, clock);
      expect(problems).toEqual([
        `cannot listen on 127.0.0.1:${port}: process ${process.ppid}, which records into the same data directory, uses this port: stop it first; set UNDERROUND_HOST or UNDERROUND_PORT`,
      ]);
      expect(waitsMs.reduce((sum, waitMs) => sum + waitMs)).toBe(10_000);
    });
  });
});

describe('plain HTTP', () => {
  it.each(['', '127.0.0.1', '127.1.2.3', 'localhost', '::1'])('is allowed on %j', (host) => {
    expect(plainHttpProblem({ UNDERROUND_HOST: host })).toEqual([]);
  });

  it.each(['0.0.0.0', '::', '192.0.2.7', '10.0.0.1', 'recorder.lan', '127.evil.example', '1270.0.0.1'])(
    'on %s is refused unless allowed explicitly or TLS is in use',
    (host) => {
      expect(plainHttpProblem({ UNDERROUND_HOST: host })).toEqual([
        `UNDERROUND_HOST=${host} would serve plain HTTP to other machines: set UNDERROUND_TLS_CERT and UNDERROUND_TLS_KEY, UNDERROUND_TRUST_PROXY behind a TLS proxy, or UNDERROUND_ALLOW_PLAIN_HTTP=on`,
      ]);
      for (const meant of [
        { UNDERROUND_ALLOW_PLAIN_HTTP: 'on' },
        { UNDERROUND_TRUST_PROXY: '1' },
        { UNDERROUND_TLS_CERT: 'a', UNDERROUND_TLS_KEY: 'b' },
      ]) {
        expect(plainHttpProblem({ UNDERROUND_HOST: host, ...meant })).toEqual([]);
      }
    },
  );
});

/** Start time of a process, in kernel ticks. */
function startOf(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}
