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
const nowS = () => Math.floor(Date.now() / 1000);
const sign = (body: string, { id = 'dl_1', timestamp = nowS(), secret = SECRET } = {}) => {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    ...{ 'webhook-id': id, 'webhook-timestamp': String(timestamp) },
    'webhook-signature': `v1,${signature}`,
  };
};
/** A secret other than the receiver's. */
const OTHER_SECRET = `whsec_${'B'.repeat(32)}`;

async function holds(language: 'ts' | 'python'): Promise<void> {
  const { url, out } = await example(language);
  const body = JSON.stringify(opportunity({ nowMs: Date.now() }));
  const post = async (headers: Record<string, string>) =>
    (await fetch(url, { method: 'POST', body, headers })).status;
  await eventually('the receiver', () => post({}));
  const right = sign(body);
  const without = (name: keyof typeof right) => {
    const { [name]: _, ...rest } = right;
    return rest;
  };
  const flipped = right['webhook-signature'].replace(/^v1,./, (text) => (text === 'v1,A' ? 'v1,B' : 'v1,A'));
  const old = sign(body, { timestamp: nowS() - 301 });
  const refused: [what: string, headers: Record<string, string>][] = [
    ['nothing', {}],
    ['no signature', without('webhook-signature')],
    ['no timestamp', without('webhook-timestamp')],
    ['no id', without('webhook-id')],
    ['an empty signature', { ...right, 'webhook-signature': '' }],
    ['words', { ...right, 'webhook-signature': 'v1, not base64 !' }],
    ['a changed signature', { ...right, 'webhook-signature': flipped }],
    ['one without its version', { ...right, 'webhook-signature': right['webhook-signature'].slice(3) }],
    ['one by another secret', sign(body, { secret: OTHER_SECRET })],
    ['one of another body', sign(`${body} `)],
    ['one of another delivery', { ...right, 'webhook-id': 'dl_2' }],
    ['an old one', old],
    ['an old one under a new time', { ...old, 'webhook-timestamp': right['webhook-timestamp'] }],
    ['one with a future time', sign(body, { timestamp: nowS() + 900 })],
    ['a time that is not a number', { ...right, 'webhook-timestamp': 'soon' }],
    ['an infinite time', { ...right, 'webhook-timestamp': '9'.repeat(400) }],
    ['a signature beyond ASCII', { ...right, 'webhook-signature': 'v1,\u00e9\u00ff\u00b2' }],
    ['a time beyond ASCII', { ...right, 'webhook-timestamp': '\u00b2\u00b3' }],
    ['an id beyond ASCII', { ...right, 'webhook-id': 'dl_\u00e9' }],
  ];
  for (const [what, headers] of refused) expect([what, await post(headers)]).toEqual([what, 401]);
  expect(await post(sign(body))).toBe(200);
  expect(await post(sign(body))).toBe(200);
  expect(await post(sign(body, { id: 'dl_2', timestamp: nowS() - 100 }))).toBe(200);
  const rotated = sign(body, { id: 'dl_3' });
  const both = `${sign(body, { id: 'dl_3', secret: OTHER_SECRET })['webhook-signature']} ${rotated['webhook-signature']}`;
  expect(await post({ ...rotated, 'webhook-signature': both })).toBe(200);
  await eventually('all lines', async () => out().split('\n').length > 3);
  expect(out().trim().split('\n')).toEqual(Array(3).fill('BUY_BOTH btc-updown-5m-0 0.95'));
}

for (const language of ['ts', 'python'] as const) {
  const absent = process.env.CI === undefined ? ABSENT[language] : null;
  const why = absent === null ? '' : ` (skipped: ${absent})`;
  test.skipIf(absent)(`the ${language} receiver of the docs verifies, rejects and drops copies${why}`, () =>
    holds(language),
  );
}
