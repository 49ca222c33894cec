import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually, isRunning } from './support/runningService.ts';
import { PROJECT_ROOT } from './support/sourceFiles.ts';
import { temporaryDirectory } from './support/temporaryDirectory.ts';

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
/** The runner that `npm test` starts when everything is installed and built. */
const RUNNER = 'vitest run';
const POSTGRES = JSON.stringify(join(PROJECT_ROOT, 'test/support/postgres.ts'));
const CONFIG = JSON.stringify(join(PROJECT_ROOT, 'vitest.config.ts'));

interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly log: string;
}

/** Runs a program at the project's root with the PATH that npm gives to scripts. */
async function run(program: string, words: readonly string[], environment = {}): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env;
  // Without the variables that mark a worker of the surrounding test run.
  const env = { PATH: `${join(PROJECT_ROOT, 'node_modules/.bin')}:${PATH}`, HOME, ...environment };
  const child = spawn(program, words, { cwd: PROJECT_ROOT, env });
  let [out, log] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, out, log };
}

/** A folder outside the project with one test file, run by the project's own runner and configuration. */
function plant(body: string, options = '{}'): string {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'src'));
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(
    join(folder, 'src/planted.test.ts'),
    `import { afterAll, expect, it } from 'vitest';\nit('passes', () => {});\n${body}\n`,
  );
  writeFileSync(
    join(folder, 'planted.config.ts'),
    `import config from ${CONFIG};
     const [project] = config.test.projects;
     const planted = { ...project, test: { ...project.test, dir: import.meta.dirname } };
     export default { ...config, test: { ...config.test, projects: [planted], ...${options} } };`,
  );
  return folder;
}

/** The status of the gate, its last line, and its lines about the runner and the checks. */
async function gate(runners: string | readonly string[], checks = 'true', minutes = '60'): Promise<object> {
  const words = ['scripts/gate.mjs', '--minutes', minutes, checks, ...[runners].flat()];
  const { status, out, log } = await run('node', words);
  const lines = log.split('\n').filter((line) => line.startsWith('gate: '));
  return { status, line: out.trimEnd().split('\n').at(-1), lines };
}

const runnerOf = (folder: string) => `${RUNNER} --config "${join(folder, 'planted.config.ts')}"`;
const OUTSIDE = 'gate: no test failed, but the test runner ended with status 1';
const NO_RESULTS = 'gate: the test runner wrote no results (ENOENT)';
const WITHOUT_RESULTS = { status: 1, line: '0 passed, 1 failed', lines: [NO_RESULTS] };

it('.ci/run ends with the gate over the checks, all tests, and a third of the service tests in each other Node', () => {
  expect(JSON.parse(read('package.json')).scripts.test).toBe(`node scripts/prepare.mjs ${RUNNER}`);
  const [, last] = read('.ci/run').split('node scripts/gate.mjs ');
  const shards = { 22: 'third', 24: 'next' };
  const others = Object.entries(shards).map(([major, shard]) => {
    return `"node scripts/prepare.mjs --node ${major} ${RUNNER} --config vitest.versions.config.ts --shard $${shard}/3"`;
  });
  expect(last).toBe(`${["'npm run check' 'npm test --'", ...others].join(' \\\n  ')}\n`);
  expect(Object.keys(JSON.parse(read('bin/nodeReleases.json'))).sort()).toEqual(['22', '24', '26']);
});

it('commits with other hashes run other thirds of the service tests', async () => {
  const [lines] = /^commit=.*\nthird=.*\nnext=.*$/m.exec(read('.ci/run')) ?? [];
  const shardsOf = async (git: string) => {
    const { status, out } = await run('bash', [
      '-c',
      `set -e; git() { ${git}; }; ${lines}; echo $third $next`,
    ]);
    expect(status).toBe(0);
    return out.trim();
  };
  const shards = ['f00000a', 'f00000b', 'f00000c'].map((hash) => shardsOf(`echo ${hash}${'0'.repeat(33)}`));
  expect((await Promise.all(shards)).sort()).toEqual(['1 2', '2 3', '3 1']);
  // Outside of a repository.
  expect(await shardsOf('false')).toBe('1 2');
});

it.each([
  ['passes', { status: 0, line: '1 passed, 0 failed', lines: [] }],
  ['fails', { status: 1, line: '0 passed, 1 failed', lines: [] }],
])(
  'gives the same result as the runner for a run that %s under the project’s configuration',
  async (outcome, expected) => {
    const folder = plant('');
    if (outcome === 'fails') {
      const failing = "import { expect, it } from 'vitest';\nit('fails', () => expect(1).toBe(2));\n";
      writeFileSync(join(folder, 'src/planted.test.ts'), failing);
    }
    for (const environment of [{}, { CI: 'true' }]) {
      expect((await run('sh', ['-c', runnerOf(folder)], environment)).status).toBe(expected.status);
    }
    expect(await gate(runnerOf(folder))).toEqual(expected);
  },
);

it.each([
  {
    name: 'a failed test that used the run’s PostgreSQL',
    body: `
      import { openTestPostgres } from ${POSTGRES};
      const postgres = await openTestPostgres();
      it('fails', () => expect(postgres.absent).toBe('never'));`,
    expected: { line: '1 passed, 1 failed', lines: [] },
  },
  {
    name: 'a test file that cannot be loaded',
    body: "throw new Error('planted');",
    expected: { line: '0 passed, 1 failed', lines: [] },
  },
  {
    name: 'an error after the tests of a file',
    body: "afterAll(() => { throw new Error('planted'); });",
    expected: { line: '1 passed, 1 failed', lines: [] },
  },
  {
    name: 'a rejection that no test awaits',
    body: "it('rejects', () => void Promise.reject(new Error('planted')));",
    expected: { line: '2 passed, 1 failed', lines: [OUTSIDE] },
  },
  {
    name: 'a test that ends its process',
    body: "it('exits', () => process.exit(0));",
    expected: { line: '1 passed, 1 failed', lines: [] },
  },
  {
    name: 'a killed process',
    body: "it('is killed', async () => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); });",
    // The number of results reported by the killed process depends on the machine.
    expected: { line: expect.stringMatching(/, [12] failed$/), lines: [] },
  },
])('is red after $name', async ({ body, expected }) => {
  expect(await gate(runnerOf(plant(body)))).toEqual({ status: 1, ...expected });
});

it('is red when PostgreSQL does not stop in order', async () => {
  const body = `
    import { readFileSync } from 'node:fs';
    import { openTestPostgres } from ${POSTGRES};
    it('ends it', async () => {
      await openTestPostgres();
      const children = readFileSync('/proc/' + process.ppid + '/task/' + process.ppid + '/children', 'utf8');
      const isServer = (pid) => readFileSync('/proc/' + pid + '/cmdline', 'utf8').includes('postgresProcess');
      process.kill(Number(children.split(' ').filter(Boolean).find(isServer)), 'SIGTERM');
    });`;
  expect(await gate(runnerOf(plant(body)))).toEqual({
    status: 1,
    line: '2 passed, 1 failed',
    lines: [OUTSIDE],
  });
});

it('is red when the set-up of a run leaves a server running', async () => {
  const setUp =
    "{ teardownTimeout: 100, globalSetup: [...config.test.globalSetup, import.meta.dirname + '/open.ts'] }";
  const folder = plant('', setUp);
  writeFileSync(
    join(folder, 'open.ts'),
    "import { createServer } from 'node:http';\nexport const setup = () => void createServer().listen(0, '127.0.0.1');",
  );
  expect(await gate(runnerOf(folder))).toEqual({ status: 1, line: '1 passed, 1 failed', lines: [OUTSIDE] });
});

it('is red when the runner is killed, and PostgreSQL ends with it', async () => {
  const folder = plant(`
    import { writeFileSync } from 'node:fs';
    import { inject } from 'vitest';
    it('kills the runner', async () => {
      const url = await (await fetch(inject('postgresDoor'))).text();
      writeFileSync(import.meta.dirname + '/url', url);
      process.kill(process.ppid, 'SIGKILL');
      await new Promise(() => {});
    });`);
  expect(await gate(runnerOf(folder))).toEqual(WITHOUT_RESULTS);
  const { hostname, port } = new URL(readFileSync(join(folder, 'src/url'), 'utf8'));
  await eventually('end of PostgreSQL', () => isRefused(hostname, Number(port)));
});

function isRefused(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => socket.destroy());
    socket.once('error', () => resolve(true)).once('close', () => resolve(false));
  });
}

/** A runner that writes these results and exits with this status. */
function fakeRunner(results: string, status: number): string {
  const file = join(temporaryDirectory(), 'results.json');
  writeFileSync(file, results);
  return `leave() { for last; do :; done; cp "${file}" "\${last#*=}"; return ${status}; }; leave`;
}

/** Results of one test file in the runner's format. */
const resultsOf = (status: string, ...tests: readonly string[]) =>
  JSON.stringify({ testResults: [{ status, assertionResults: tests.map((test) => ({ status: test })) }] });
const GREEN = resultsOf('passed', 'passed', 'passed');

it.each([
  {
    name: 'good results and checks',
    ...{ results: GREEN, status: 0, checks: 'true' },
    expected: { status: 0, line: '2 passed, 0 failed', lines: [] },
  },
  {
    name: 'a skipped test, and one to be written',
    ...{ results: resultsOf('passed', 'passed', 'skipped', 'todo'), status: 0, checks: 'true' },
    expected: { status: 0, line: '1 passed, 0 failed, 2 skipped', lines: [] },
  },
  {
    name: 'good results of a failed runner',
    ...{ results: GREEN, status: 7, checks: 'true' },
    expected: {
      ...{ status: 1, line: '2 passed, 1 failed' },
      lines: ['gate: no test failed, but the test runner ended with status 7'],
    },
  },
  {
    name: 'a failed test of a successful runner',
    ...{ results: resultsOf('failed', 'passed', 'failed'), status: 0, checks: 'true' },
    expected: {
      ...{ status: 1, line: '1 passed, 1 failed' },
      lines: ['gate: tests failed, but the test runner ended with status 0'],
    },
  },
  {
    name: 'a test that did not end',
    ...{ results: resultsOf('passed', 'passed', 'pending'), status: 1, checks: 'true' },
    expected: { status: 1, line: '1 passed, 1 failed', lines: [] },
  },
  {
    name: 'no test',
    ...{ results: resultsOf('passed', 'skipped'), status: 0, checks: 'true' },
    expected: { status: 1, line: '0 passed, 1 failed, 1 skipped', lines: ['gate: no test ran'] },
  },
  {
    name: 'truncated results',
    ...{ results: GREEN.slice(0, 20), status: 0, checks: 'true' },
    expected: {
      ...{ status: 1, line: '0 passed, 1 failed' },
      lines: ['gate: the test runner wrote no results (SyntaxError)'],
    },
  },
  {
    name: 'failed checks',
    ...{ results: GREEN, status: 0, checks: 'exit 3' },
    expected: {
      ...{ status: 1, line: '2 passed, 0 failed' },
      lines: ['gate: the checks ended with status 3'],
    },
  },
  {
    name: 'killed checks',
    ...{ results: GREEN, status: 0, checks: 'kill -9 $$' },
    expected: {
      ...{ status: 1, line: '2 passed, 0 failed' },
      lines: ['gate: the checks ended with status 137'],
    },
  },
])('judges $name', async ({ results, status, checks, expected }) => {
  expect(await gate(fakeRunner(results, status), checks)).toEqual(expected);
});

it('says of a test that ran too long that it did', async () => {
  const folder = plant("it('waits', () => new Promise(() => {}), 20);");
  const { out } = await run('node', ['scripts/gate.mjs', 'true', runnerOf(folder)]);
  expect(out).toMatch(
    /\nfailed: .*src\/planted\.test\.ts: waits\nError: the test did not end within its time limit\n/,
  );
});

it('names each failed test, and a file that cannot be loaded, at the end', async () => {
  const folder = plant(`it('fails', () => expect('a long text'.repeat(1000)).toBe('another'));`);
  writeFileSync(join(folder, 'src/broken.test.ts'), "throw new Error('planted');");
  const { out } = await run('node', ['scripts/gate.mjs', 'echo the checks', runnerOf(folder)]);
  const [, end = ''] = out.split('the checks\n');
  const [first, second, ...rest] = end.split('failed: ').slice(1).sort();
  expect(first).toMatch(/src\/broken\.test\.ts\nplanted\n/);
  expect(second).toMatch(/src\/planted\.test\.ts: fails\nAssertionError: expected/);
  expect(end.length).toBeLessThan(5_000);
  expect(rest).toEqual([]);
  expect(out.trimEnd().split('\n').at(-1)).toBe('1 passed, 2 failed');
});

it('counts the tests of all runs, and is red when one of them is', async () => {
  const [green, red] = [fakeRunner(GREEN, 0), fakeRunner(resultsOf('failed', 'passed', 'failed'), 1)];
  expect(await gate([green, green])).toEqual({ status: 0, line: '4 passed, 0 failed', lines: [] });
  expect(await gate([red, green])).toEqual({ status: 1, line: '3 passed, 1 failed', lines: [] });
  expect(await gate([green, 'true'])).toEqual({ status: 1, line: '2 passed, 1 failed', lines: [NO_RESULTS] });
});

it('refuses to run checks without a runner', async () => {
  const { status, log } = await run('node', ['scripts/gate.mjs', 'true']);
  expect([status, log]).toEqual([
    2,
    'usage: node scripts/gate.mjs [--minutes N] CHECKS RUNNER [RUNNER...]\n',
  ]);
});

it('is red after a runner without results', async () => {
  expect(await gate('true')).toEqual(WITHOUT_RESULTS);
});

it('kills a runner that does not end, with all of its processes', async () => {
  const lines = ['gate: no end after 0.01 minutes', NO_RESULTS];
  expect(await gate('sleep 1000000 & wait #', 'true', '0.01')).toEqual({ ...WITHOUT_RESULTS, lines });
});

it('kills processes left running by the runner', async () => {
  const results = fakeRunner(GREEN, 0);
  const file = join(temporaryDirectory(), 'pid');
  const runner = `sleep 1000000 & echo $! > "${file}"; ${results}`;
  expect((await run('node', ['scripts/gate.mjs', 'true', runner])).status).toBe(0);
  await eventually('end of the process', async () => !isRunning(Number(readFileSync(file, 'utf8'))));
});

it('ends the runner when the gate itself is ended', async () => {
  const file = join(temporaryDirectory(), 'pid');
  const runner = `sleep 1000000 & echo $! > "${file}"; kill -TERM $PPID; wait; exit #`;
  expect((await run('node', ['scripts/gate.mjs', 'true', runner])).status).toBe(143);
  await eventually('end of the process', async () => !isRunning(Number(readFileSync(file, 'utf8'))));
});
