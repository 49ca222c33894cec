import { describe, expect, it, onTestFinished } from 'vitest';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { freePort } from '../support/freePort.ts';
import { eventually, startCommand, startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const PASSWORD = 'a-shared-password';
const variables = (dataDir: string) => ({
  UNDERROUND_DATA_DIR: dataDir,
  UNDERROUND_DISK_RESERVE: '16MiB',
  UNDERROUND_STORE_PASSWORD: PASSWORD,
});
const LISTEN = ['store', '--listen', '127.0.0.1:0'];
/** The lines on standard error of a refused command. */
const refusal = (words: readonly string[], environment: Readonly<Record<string, string>>) =>
  underround(words, environment).then(
    () => 'not refused',
    (error: { code: number; stderr: string }) => {
      expect(error.code).toBe(1);
      return error.stderr;
    },
  );

describe.skipIf(commandAbsent)('underround store (skipped without a build)', () => {
  it('serves one engine to a service and to commands with other data directories', async () => {
    const venues = await startVenues();
    onTestFinished(() => venues.stop());
    const dataDir = temporaryDirectory();
    const store = await startCommand(LISTEN, variables(dataDir));
    const url = new URL(store.url);
    url.username = 'underround';
    url.password = PASSWORD;
    const service = await startService(temporaryDirectory(), venues, { CLICKHOUSE_URL: String(url) });
    const marketId = await eventually('a market with stored books', async () => {
      const { markets } = await service.get<{ markets: { market_id: string }[] }>('/v1/markets?ticker=BTC');
      for (const { market_id: id } of markets) {
        const { snapshots } = await service.get<{ snapshots: object[] }>(`/v1/snapshots?market_id=${id}`);
        if (snapshots.length > 0) return id;
      }
      return null;
    });
    expect(await service.stop()).toBe(0);
    const reader = { UNDERROUND_DATA_DIR: temporaryDirectory(), CLICKHOUSE_URL: String(url) };
    const words = ['export', 'quotes', '--market-id', marketId, '--format', 'jsonl'];
    const overTcp = await underround(words, reader);
    expect(overTcp.split('\n').length).toBeGreaterThan(1);
    expect(await underround(words, variables(dataDir))).toBe(overTcp);
    expect(await store.stop()).toBe(0);
    // The rows are those of its data directory.
    expect(await underround(words, variables(dataDir))).toBe(overTcp);
    expect(store.out() + store.log()).not.toContain(PASSWORD);
  });

  it('holds the lock of a recording service, counts refused logins and stops on SIGTERM', async () => {
    const metrics = await freePort();
    const own = { ...variables(temporaryDirectory()), UNDERROUND_METRICS_ADDRESS: `127.0.0.1:${metrics}` };
    const store = await startCommand(LISTEN, own);
    expect((await fetch(`${store.url}/?query=SELECT+1`)).status).toBe(403);
    await eventually('the count', async () =>
      (await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()).includes(
        '\nunderround_store_refused_logins_total 1\n',
      ),
    );
    const second = await refusal(LISTEN, { ...own, UNDERROUND_METRICS_ADDRESS: '' });
    expect(second).toContain(`process ${store.child.pid} already records into`);
    expect((await fetch(`${store.url}/ping`)).status).toBe(200);
    expect(await store.stop()).toBe(0);
  });

  it('refuses to start without a password, on other addresses, and on an unreadable one', async () => {
    const { UNDERROUND_STORE_PASSWORD: _, ...open } = variables(temporaryDirectory());
    expect(await refusal(LISTEN, open)).toContain('underround: UNDERROUND_STORE_PASSWORD is missing');
    const own = variables(temporaryDirectory());
    expect(await refusal(['store', '--listen', '0.0.0.0:0'], own)).toContain(
      "underround: --listen 0.0.0.0 would send the store's password and rows to other machines over plain HTTP",
    );
    expect(await refusal(['store', '--listen', '8123'], own)).toContain(
      'underround: --listen "8123" must be host:port with a port of at most 65535',
    );
  });
});
