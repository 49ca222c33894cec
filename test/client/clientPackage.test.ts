import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Underround } from '../../src/client/index.ts';
import { browserAbsent } from '../support/browser.ts';
import { openBrowser } from '../support/chromium.ts';
import { exampleOf, QUICK_LINES, QUICK_MARKET, quickStartStore } from '../support/quickStart.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import type { TestStore } from '../support/store.ts';
import { StreamRig } from '../support/streams.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { WAIT_MS_MAX } from '../support/waitLimit.ts';

const SIZE_MAX = 15_000;
const CLIENT = join(PROJECT_ROOT, 'client');
const run = promisify(execFile);

let store: TestStore;
let project: string;

/** A project that has the client installed as npm would: its description and its built files. */
beforeAll(async () => {
  store = await quickStartStore();
  project = temporaryDirectory(afterAll);
  const installed = join(project, 'node_modules/@underround/client');
  mkdirSync(installed, { recursive: true });
  cpSync(join(CLIENT, 'package.json'), join(installed, 'package.json'));
  const options = ['-p', join(CLIENT, 'tsconfig.json'), '--outDir', join(installed, 'dist')];
  await compile(options);
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
});
afterAll(() => store?.dispose());

function compile(words: readonly string[]) {
  const compiler = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  return run(process.execPath, [compiler, ...words], { cwd: project });
}

/** One file with the whole client, as a page would load it. */
async function bundle(): Promise<string> {
  const lib = { entry: join(project, 'node_modules/@underround/client/dist/index.js'), name: 'underround' };
  const [result] = [
    await build({
      ...{ configFile: false, logLevel: 'silent', root: project },
      build: { lib: { ...lib, formats: ['iife'] }, write: false, minify: true },
    }),
  ].flat() as { output: { code: string }[] }[];
  return result?.output[0]?.code ?? '';
}

describe('the packed client', () => {
  it('describes a publishable package without dependencies', () => {
    const description = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
    const { name, private: isPrivate, type, dependencies, peerDependencies, files, exports } = description;
    expect({ name, isPrivate, type, dependencies, peerDependencies, files, exports }).toEqual({
      ...{ name: '@underround/client', type: 'module', files: ['dist'] },
      exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    });
  });

  it('is smaller than 15 kB, whole and compressed', async () => {
    const bytes = gzipSync(await bundle()).length;
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThan(SIZE_MAX);
  });

  it('runs the quick start of its page', async () => {
    const rig = await new StreamRig().start({ store: store.store });
    writeFileSync(join(project, 'quickStart.mjs'), exampleOf('client/README.md', 'js'));
    const env = {
      PATH: process.env.PATH ?? '',
      UNDERROUND_URL: `http://${rig.url}`,
      UNDERROUND_API_KEY: 'premium',
    };
    const { stdout } = await run(process.execPath, ['quickStart.mjs'], {
      cwd: project,
      env,
      timeout: WAIT_MS_MAX,
    });
    expect(stdout.split('\n')).toEqual([...QUICK_LINES, '']);
  });

  it('has types that know each call, its parameters and its answer', async () => {
    const program = (body: string) => `
      import { Underround } from '@underround/client';
      export async function program(client: Underround) {${body}}`;
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--lib',
      'es2023,dom',
    ];
    writeFileSync(
      join(project, 'right.ts'),
      program(`
        for await (const { price, side } of client.trades({ market_id: 'x' })) return price.toFixed(side.length);
        const { ticker } = await client.market('x');
        return ticker === 'HYPE';`),
    );
    await compile(['right.ts', ...options]);
    const wrong = [
      "client.trades({ market: 'x' })",
      "client.call('GET /v1/nothing', {})",
      "(await client.market('x')).prise",
    ];
    for (const [index, body] of wrong.entries()) {
      const file = `wrong${index}.ts`;
      writeFileSync(join(project, file), program(`return ${body};`));
      const refused = await compile([file, ...options]).catch((error) => error);
      expect([body, refused.stdout]).toEqual([body, expect.stringContaining(`${file}(`)]);
    }
  });
});

describe('live streams', () => {
  it('of Node resume over a lost connection: each change once', async () => {
    const rig = await new StreamRig().start();
    rig.recorder.list({ marketId: QUICK_MARKET });
    const sockets: WebSocket[] = [];
    const client = new Underround({
      ...{ url: `http://${rig.url}`, key: 'premium', random: () => 1 },
      webSocket: (url, key) => {
        const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
        sockets.push(socket);
        return socket;
      },
    });
    let changes = 0;
    const change = () => rig.recorder.change(QUICK_MARKET, ++changes);
    change();
    const sizes: number[] = [];
    for await (const message of client.stream({ market_ids: [QUICK_MARKET] })) {
      if (message.type !== 'snapshot') continue;
      sizes.push(message.yes_bids[0]?.size ?? 0);
      if (sizes.length === 2) sockets[0]?.terminate();
      if (sizes.length === 5) break;
      change();
    }
    expect([sizes, sockets.length]).toEqual([[1, 2, 3, 4, 5], 2]);
  });

  it('say why a handshake was refused', async () => {
    const rig = await new StreamRig().start();
    const client = new Underround({ url: `http://${rig.url}`, key: 'free' });
    const messages = client.opportunities();
    const refusal = 'Tier free does not include this endpoint; plus and premium do (403)';
    await expect(messages.next()).rejects.toThrow(refusal);
  });
});

describe.skipIf(browserAbsent)(
  `in a browser ${browserAbsent ? '(skipped: no browser or build)' : ''}`,
  () => {
    it('reads lists and streams of the service that served the page', async () => {
      const rig = await new StreamRig().start({ store: store.store });
      const browser = await openBrowser();
      try {
        const page = await browser.newPage();
        await page.goto(`http://${rig.url}/livez`);
        await page.evaluate(`${await bundle()}; globalThis.underround = underround;`);
        const seen = await page.evaluate(`(async () => {
        const client = new underround.Underround({ url: location.origin, key: 'premium' });
        const [market] = await Array.fromAsync(client.markets({ ticker: 'BTC' }));
        const range = { start: market.start_time, end: market.end_time, speed: 0 };
        const messages = await Array.fromAsync(client.replay({ market_ids: [market.market_id] }, range));
        const refused = await new underround.Underround({ url: location.origin, key: 'free' })
          .opportunities().next().catch((error) => error.code);
        return [market.slug, messages.map(({ type }) => type), refused];
      })()`);
        expect(seen).toEqual([
          'btc-updown-5m-1795172400',
          ['ack', 'snapshot', 'snapshot', 'end'],
          'forbidden',
        ]);
      } finally {
        await browser.close();
      }
    });
  },
);
