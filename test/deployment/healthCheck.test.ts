import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/freePort.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';

const SCRIPT = join(PROJECT_ROOT, 'deploy/healthCheck.mjs');

/** Runs the check as the image does. */
function check(environment: Readonly<Record<string, string>>): Promise<{ status: unknown; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT], { env: environment }, (error, _out, said) => {
      resolve({ status: error === null ? 0 : error.code, said });
    });
  });
}

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return String((server.address() as AddressInfo).port);
}

it.each(['', '0.0.0.0', '::', '127.0.0.1'])('succeeds on status 200 of /livez, host "%s"', async (host) => {
  const asked: unknown[] = [];
  const port = await listen(({ method, url }, response) => {
    asked.push([method, url]);
    response.end('{"ok":true}');
  });
  expect(await check({ UNDERROUND_HOST: host, UNDERROUND_PORT: port })).toEqual({ status: 0, said: '' });
  expect(asked).toEqual([['GET', '/livez']]);
});

it('fails on another status', async () => {
  const port = await listen((_request, response) => void response.writeHead(503).end());
  const answer = await check({ UNDERROUND_PORT: port });
  expect(answer).toEqual({ status: 1, said: 'not healthy: status 503\n' });
});

it('fails if no server listens', async () => {
  const port = await freePort();
  const answer = await check({ UNDERROUND_PORT: String(port) });
  expect(answer).toEqual({ status: 1, said: `not healthy: connect ECONNREFUSED 127.0.0.1:${port}\n` });
});

it('uses TLS if the service has a certificate', async () => {
  const port = await listen((_request, response) => void response.end());
  const answer = await check({ UNDERROUND_PORT: port, UNDERROUND_TLS_CERT: 'cert.pem' });
  expect([answer.status, answer.said]).toEqual([1, expect.stringMatching(/^not healthy: .*SSL/)]);
});
