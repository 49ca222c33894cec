import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { portChecks } from './doctorPort.ts';

const HEALTH = { ok: false, latest_snapshot: null, snapshots_last_5min: 0 };
const healthy = (_: unknown, response: ServerResponse) => void response.end(JSON.stringify(HEALTH));
const SET = 'stop it, or set UNDERROUND_PORT or UNDERROUND_HOST to a free address';

async function listening(onRequest: RequestListener): Promise<number> {
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const checked = (port: number, pid: number | null, more: object = {}) =>
  portChecks({ host: '127.0.0.1', port, metricsAddress: null, tlsCertFile: null, ...more }, pid);

test('a free port is fine', async () => {
  expect(await checked(0, null)).toEqual([
    { check: 'port', state: 'ok', finding: '127.0.0.1:0 is free', next: null },
  ]);
});

test.each([
  ['another program', (_: unknown, response: ServerResponse) => void response.writeHead(404).end()],
  ['a service that does not record into this directory', healthy],
])('a port of %s is a failure with the settings to change', async (user, onRequest) => {
  const port = await listening(onRequest);
  // No process records, or another one than this, which listens.
  for (const pid of [null, process.ppid]) {
    const finding = `${user} uses 127.0.0.1:${port}`;
    expect(await checked(port, pid)).toEqual([{ check: 'port', state: 'fail', finding, next: SET }]);
  }
});

test('a port of the service that records into the directory is fine while it answers', async () => {
  const { pid } = process;
  const port = await listening(healthy);
  const finding = `process ${pid}, which records into this directory, answers at 127.0.0.1:${port}`;
  expect(await checked(port, pid)).toEqual([{ check: 'port', state: 'ok', finding, next: null }]);
  const silent = await listening((_, response) => void response.destroy());
  expect(await checked(silent, pid)).toMatchObject([
    { state: 'fail', finding: `process ${pid} uses 127.0.0.1:${silent} and does not answer there` },
  ]);
});

test('the address of metrics is examined too', async () => {
  const port = await listening(healthy);
  const metricsAddress = { host: '127.0.0.1', port };
  expect(await checked(0, null, { metricsAddress })).toMatchObject([
    { check: 'port', state: 'ok' },
    {
      ...{ check: 'metrics port', state: 'fail', finding: `another program uses 127.0.0.1:${port}` },
      next: 'stop it, or set UNDERROUND_METRICS_ADDRESS to a free address',
    },
  ]);
});
