import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/freePort.ts';
import { opportunity } from '../support/opportunity.ts';
import { eventually } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const DOCUMENTED_PORT = '8787';
const page = readFileSync(join(import.meta.dirname, '../../docs/WEBHOOKS.md'), 'utf8');

function python(): string | null {
  try {
    execFileSync('python3', ['--version']);
    return null;
  } catch {
    return 'no python3';
  }
}

/** The example of docs/WEBHOOKS.md in this language, on a free port. */
async function example(language: 'ts' | 'python') {
  const [, source = ''] = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page) ?? [];
  expect(source).toContain(DOCUMENTED_PORT);
  const port = await freePort();
  const path = join(temporaryDirectory(), language === 'ts' ? 'receiver.ts' : 'receiver.py');
  writeFileSync(path, source.replace(DOCUMENTED_PORT, String(port)));
  const env = { PATH: process.env.PATH, WEBHOOK_SECRET: SECRET, PYTHONUNBUFFERED: '1' };
  const child =
    language === 'ts'
      ? spawn(process.execPath, ['--input-type=module', '-e', await plain(path)], { env })
      : spawn('python3', [path], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { url: `http://127.0.0.1:${port}/`, out: collect(child) };
}

async function plain(path: string): Promise<string> {
  const build = await rolldown({ input: path, platform: 'node' });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  return output[0].code;
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  return () => text;
}

const ABSENT = { ts: null, python: python() };
async function holds(language: 'ts' | 'python'): Promise<void> {
  const { url, out } = await example(language);
  const body = JSON.stringify(opportunity({ nowMs: Date.now() }));
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const post = (headers: Record<string, string>) =>
    fetch(url, { method: 'POST', body, headers: { 'webhook-id': 'dl_1', ...headers } });
  await eventually('the receiver', () => post({ 'x-svc-signature': 'ff' }));
  expect((await post({ 'x-svc-signature': signature })).status).toBe(200);
  expect((await post({ 'x-svc-signature': signature })).status).toBe(200);
  expect(
    (await post({ 'x-svc-signature': signature.replace(/^./, (c) => (c === '0' ? '1' : '0')) })).status,
  ).toBe(401);
  expect((await post({})).status).toBe(401);
  expect((await post({ 'webhook-id': 'dl_2', 'x-svc-signature': signature })).status).toBe(200);
  await eventually('both lines', async () => out().split('\n').length > 2);
  expect(out().trim().split('\n')).toEqual(Array(2).fill('BUY_BOTH btc-updown-5m-0 0.95'));
}

for (const language of ['ts', 'python'] as const) {
  const absent = process.env.CI === undefined ? ABSENT[language] : null;
  const why = absent === null ? '' : ` (skipped: ${absent})`;
  test.skipIf(absent)(`the ${language} receiver of the docs verifies, refuses and drops copies${why}`, () =>
    holds(language),
  );
}
