import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { mcpHttpServer } from '../../src/mcp/serveHttp.ts';
import { mcpServer } from '../../src/mcp/server.ts';
import { EMPTY, M, writeDataSet } from '../support/apiDataSet.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { FakeClock } from '../support/fakeClock.ts';
import { listeningApi } from '../support/listeningApi.ts';
import { startCommand } from '../support/runningService.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { openTestStore, type TestStore } from '../support/store.ts';
import { STUB_JOB } from '../support/stubBacktests.ts';

const FOLLOWED =
  'A service follows some of these, by default BTC, ETH and SOL; the error for another one lists them';
const COMMAND = join(PROJECT_ROOT, 'bin/underround.mjs');
const IMPLEMENTATION = { name: 'test', version: '1' };
/** Protocol versions of clients: the oldest accepted one, the SDK's own of 2025, and the one after. */
const DIALECTS = [
  ['2025-06-18', { supportedProtocolVersions: ['2025-06-18'] }],
  ['2025-11-25', {}],
  ['2026-07-28', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
] as const;

let store: TestStore;
let api: Awaited<ReturnType<typeof listeningApi>>;

beforeAll(async () => {
  store = await openTestStore();
  writeDataSet(store.store.writer);
  await store.store.writer.flush();
  api = await listeningApi({ store: store.store });
});
afterAll(async () => {
  await api?.close();
  await store?.dispose();
});

type Settings = { url?: string; key?: string; allowWrite?: boolean };
type Answer = {
  isError?: boolean;
  content: { text: string }[];
  structuredContent?: Record<string, unknown>;
};

/** A connected client; `call` returns one tool's answer. */
async function connected(client: Client, transport: Parameters<Client['connect']>[0]) {
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, given: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: given })) as unknown as Answer;
  return { client, call };
}

async function overHttp(
  options: object = {},
  { url = api.url, key = api.key, allowWrite = false }: Settings = {},
) {
  const clock = new FakeClock();
  // Pauses between tries pass at once.
  const retryClock = { now: () => clock.now(), sleep: async () => undefined };
  const service = { url, key, clock: retryClock, random: () => 0 };
  const server = mcpHttpServer(() => mcpServer({ service, allowWrite, clock })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const client = new Client(IMPLEMENTATION, options);
  return { ...(await connected(client, new StreamableHTTPClientTransport(address))), address };
}

function overStdio(options: object = {}, words: readonly string[] = []) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [COMMAND, 'mcp', ...words],
    env: { PATH: process.env.PATH ?? '', UNDERROUND_URL: api.url, UNDERROUND_API_KEY: api.key },
    stderr: 'ignore',
  });
  return connected(new Client(IMPLEMENTATION, options), transport);
}

/** Five questions of a user, each answered by one tool with the answer of the API. */
async function fiveQuestions(call: (name: string, given?: Record<string, unknown>) => Promise<Answer>) {
  const body = async (name: string, given: Record<string, unknown> = {}) => {
    const answer = await call(name, given);
    expect(answer.isError).toBeFalsy();
    expect(JSON.parse(answer.content[0]?.text ?? '')).toEqual(answer.structuredContent);
    return answer.structuredContent;
  };
  // How did the market at noon end?
  const market = await api.get(`/v1/markets/${M}`);
  expect(await body('get_market', { slug: 'btc-updown-5m-1795176000' })).toEqual({
    ...market,
    left_out: null,
  });
  // What could I have bought at noon?
  const at = '2026-11-20T12:00:00.000Z';
  const book = await api.get(`/v1/snapshot-at/${at}?market_id=${M}`);
  expect(await body('get_book', { market_id: M, at })).toEqual({ ...book, left_out: null });
  // How did the price move?
  const range = 'start=2026-11-20T12:00:00Z&end=2026-11-20T13:00:00Z';
  const candles = await api.get(`/v1/candles?market_id=${M}&timeframe=5m&${range}`);
  const asked = { timeframe: '5m', start: '2026-11-20T12:00:00Z', end: '2026-11-20T13:00:00Z' };
  expect(await body('get_candles', { market_id: M, ...asked })).toEqual({ ...candles, left_out: null });
  // Can I trust the recording?
  const gaps = await api.get(`/v1/gaps?market_id=${M}`);
  const coverage = market.coverage;
  expect(await body('get_gaps', { market_id: M })).toEqual({ ...gaps, coverage, left_out: null });
  // How good are the prices of BTC?
  const calibration = await api.get('/v1/stats/calibration?ticker=BTC');
  expect(await body('get_calibration', { ticker: 'BTC' })).toEqual({ ...calibration, left_out: null });
}

describe.each(DIALECTS)('a client of protocol %s', (version, options) => {
  it('gets five answers of the API over HTTP', async () => {
    const { client, call } = await overHttp(options);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    await fiveQuestions(call);
  });

  it.skipIf(commandAbsent)(
    `gets them over standard streams ${commandAbsent ? '(skipped: not built)' : ''}`,
    async () => {
      const { client, call } = await overStdio(options);
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      await fiveQuestions(call);
    },
  );
});

describe('tools', () => {
  it('only read without --allow-write, and are described', async () => {
    const { client } = await overHttp();
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThanOrEqual(6);
    for (const tool of tools) {
      expect(tool.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(tool.description?.length).toBeGreaterThan(80);
      const { properties = {} } = tool.inputSchema;
      for (const [name, schema] of Object.entries(properties))
        expect({ tool: tool.name, name, schema }).toMatchObject({ schema: { type: expect.anything() } });
    }
    const writing = await overHttp({}, { allowWrite: true });
    const names = (await writing.client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual([...tools.map(({ name }) => name), 'run_backtest']);
  });

  it('offer every asset, say that a service follows some of them, and list those after another one', async () => {
    const { client, call } = await overHttp();
    const naming = (await client.listTools()).tools.flatMap(({ inputSchema: { properties = {} } }) =>
      Object.values(properties).filter((schema) => JSON.stringify(schema).includes('"ZEC"')),
    );
    expect(naming).toHaveLength(4);
    for (const schema of naming) expect((schema as { description: string }).description).toContain(FOLLOWED);
    const { isError, content } = await call('list_markets', { ticker: 'ZEC' });
    expect([isError, content[0]?.text]).toEqual([
      true,
      "ticker: Input should be 'BTC', 'ETH' or 'SOL' (422). Correct the arguments; an unchanged call fails again.",
    ]);
  });

  it('say what is left out and how to get it', async () => {
    const { call } = await overHttp();
    const first = await call('get_price_series', { market_id: M, limit: 2 });
    const { next_cursor: cursor, left_out: leftOut, snapshots } = first.structuredContent ?? {};
    expect(leftOut).toBe(
      `More rows follow: call this tool again with the same arguments and cursor ${cursor}`,
    );
    const second = await call('get_price_series', { market_id: M, limit: 2, cursor });
    const { snapshots: whole } = await api.get(`/v1/markets/${M}/timeseries?limit=4`);
    expect([snapshots, second.structuredContent?.snapshots].flat()).toEqual(whole);
    const book = await call('get_book', { market_id: M, at: '2026-11-20T12:00:00Z', levels: 1 });
    expect(book.structuredContent).toMatchObject({
      yes_bids: [{ price: 0.5, size: 1 }],
      left_out: null,
    });
  });

  it('run a backtest with --allow-write, and read its outcome', async () => {
    const { call } = await overHttp({}, { allowWrite: true });
    const body = {
      strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
      universe: { ticker: 'BTC', event_type: '5m' },
    };
    const job = await call('run_backtest', body);
    const stored = await api.get(`/v1/backtest/${STUB_JOB}`);
    expect(job.structuredContent).toMatchObject({ job_id: STUB_JOB, status: 'failed', error: stored.error });
    const read = await call('get_backtest', { job_id: STUB_JOB });
    expect(read.structuredContent).toEqual({ ...stored, left_out: null });
    const faulty = await call('run_backtest', { ...body, strategy: { type: 'martingale' } });
    expect([faulty.isError, faulty.content[0]?.text]).toEqual([true, expect.stringContaining('strategy')]);
  });
});

describe('errors are answers in words, with the next step', () => {
  const textOf = async (settings: Settings, name: string, given: Record<string, unknown>) => {
    const { call } = await overHttp({}, settings);
    const { isError, content } = await call(name, given);
    return [isError, content[0]?.text];
  };

  it.each([
    [
      'an unknown key',
      { key: 'unknown' },
      'list_markets',
      {},
      'Unknown API key (401). Ask the user to set UNDERROUND_API_KEY to a valid key of this service and to restart this server.',
    ],
    [
      'an unrecorded market',
      {},
      'get_book',
      { market_id: `0x${'c'.repeat(64)}` },
      expect.stringMatching(/\(404\)\. Check the id: list_markets lists recorded markets/),
    ],
    [
      'a book that does not exist',
      {},
      'get_book',
      { market_id: EMPTY },
      expect.stringMatching(/\(404\)\. Check the id/),
    ],
    [
      'a faulty time',
      {},
      'get_book',
      { market_id: M, at: 'yesterday; DROP TABLE books' },
      expect.stringMatching(/^at: Input should be a valid datetime.*\(422\)\. Correct the arguments/),
    ],
    [
      'a slug of another series',
      {},
      'get_market',
      { slug: 'will-it-rain' },
      expect.stringContaining('"will-it-rain" is no slug of a recorded series'),
    ],
    [
      'a service that is down',
      { url: 'http://127.0.0.1:1' },
      'get_audit_summary',
      {},
      expect.stringMatching(/^no answer from http:\/\/127\.0\.0\.1:1: .* The service may not be running/),
    ],
  ])('for %s', async (_what, settings, name, given, text) => {
    expect(await textOf(settings, name, given)).toEqual([true, text]);
  });

  it.each([
    ['get_book', { market_id: '../../etc/passwd' }],
    ['get_book', { market_id: M, levels: 1e9 }],
    ['list_markets', { limit: -1 }],
    ['list_markets', { ticker: 'BTC', sudo: true }],
    ['get_market', { slug: 'x'.repeat(100_000) }],
  ])('for input that %s does not declare: %j', async (name, given) => {
    const { call } = await overHttp();
    const answer = await call(name, given);
    expect([answer.isError, answer.content[0]?.text]).toEqual([
      true,
      expect.stringMatching(/validation error/i),
    ]);
  });
});

describe.skipIf(commandAbsent)(`underround mcp ${commandAbsent ? '(skipped: not built)' : ''}`, () => {
  it('serves HTTP on a port of this machine until it is stopped', async () => {
    const settings = { UNDERROUND_URL: api.url, UNDERROUND_API_KEY: api.key };
    const command = await startCommand(['mcp', '--http', '0', '--allow-write'], settings);
    expect(command.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const transport = new StreamableHTTPClientTransport(new URL(command.url));
    const { client, call } = await connected(new Client(IMPLEMENTATION), transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('run_backtest');
    expect((await call('get_market', { market_id: M })).structuredContent).toMatchObject({ market_id: M });
    expect(await command.stop()).toBe(0);
  });

  it.each([
    [{}, [], 'UNDERROUND_URL is missing: set it to the address of a service'],
    [
      { UNDERROUND_URL: 'http://127.0.0.1:1' },
      [],
      'UNDERROUND_API_KEY is missing: set it to a key of the service (its page /keys creates one)',
    ],
    [
      { UNDERROUND_API_KEY: 'k' },
      ['--url', 'books.example.com'],
      '--url "books.example.com" must be a URL starting with http:// or https://',
    ],
    [
      { UNDERROUND_URL: 'http://127.0.0.1:1', UNDERROUND_API_KEY: 'two words' },
      [],
      'UNDERROUND_API_KEY (value not shown) must be the key alone: letters, digits and underscores; correct it, or unset it',
    ],
    [
      { UNDERROUND_URL: 'http://127.0.0.1:1', UNDERROUND_API_KEY: 'k' },
      ['--http', '99999'],
      '--http "99999" must be a port number, 0 to 65535',
    ],
  ])('with %j and %j prints one line, and nothing on standard output', async (settings, words, line) => {
    const refused = await underround(['mcp', ...words], settings as Record<string, string>).catch(
      (error) => error,
    );
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([1, '', `underround: ${line}\n`]);
  });
});

describe('the HTTP server', () => {
  const initialize = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: IMPLEMENTATION },
  });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

  it.each([
    ['a page of another origin', 403, { origin: 'https://evil.example' }, initialize],
    ['a body that is no JSON', 400, {}, '{"jsonrpc":'],
    ['a body of megabytes', 413, {}, JSON.stringify('x'.repeat(2 ** 21))],
  ])('refuses %s with %i', async (_what, status, more, body) => {
    const { address } = await overHttp();
    const answer = await fetch(address, { method: 'POST', headers: { ...headers, ...more }, body });
    expect(answer.status).toBe(status);
  });

  it('serves one path alone', async () => {
    const { address } = await overHttp();
    expect((await fetch(new URL('/', address))).status).toBe(404);
    expect((await fetch(address, { method: 'POST', headers, body: initialize })).status).toBe(200);
  });
});
