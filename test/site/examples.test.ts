import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listeningApi } from '../support/listeningApi.ts';
import { QUICK_END, QUICK_MARKET, quickStartStore } from '../support/quickStart.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import type { TestStore } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { WAIT_MS_MAX } from '../support/waitLimit.ts';

/** Its examples build on each other, so they run in one shell. */
const QUICK_START = 'docs/QUICK_START.md';
const PAGES = ['docs/CONCEPTS.md', 'docs/RECIPES.md'];
const PYTHON = 'python3';
const hasModule = (name: string) => spawnSync(PYTHON, ['-c', `import ${name}`]).status === 0;
const hasDuckdb = hasModule('duckdb');
const hasPandas = hasModule('pandas');
/** Languages of examples that run; `text` is no program. */
const LANGUAGES = ['sh', 'python', 'python pandas', 'sql'];

interface Example {
  readonly language: string;
  readonly code: string;
}

function examplesOf(path: string): Example[] {
  const page = readFileSync(join(PROJECT_ROOT, path), 'utf8');
  return [...page.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({
    language,
    code,
  }));
}

let store: TestStore;
let api: Awaited<ReturnType<typeof listeningApi>>;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  store = await quickStartStore();
  folder = temporaryDirectory(afterAll);
  api = await listeningApi({ store: store.store });
  env = {
    ...{ PATH: process.env.PATH ?? '', BASE: api.url, KEY: api.key, MARKET: QUICK_MARKET, END: QUICK_END },
    ...{ PYTHONPATH: join(PROJECT_ROOT, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' },
  };
});
afterAll(async () => {
  await api?.close();
  await store?.dispose();
});

async function run(program: string, words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, words, { cwd: folder, env, timeout: WAIT_MS_MAX });
  return stdout;
}

/** Runs an example as a reader would; a refused request fails it. */
async function runExample({ language, code }: Example): Promise<string> {
  // `curl` itself does not fail when it is refused.
  if (language === 'sh') return await run('bash', ['-e', '-c', code.replaceAll('curl -s', 'curl -sf')]);
  if (language === 'sql')
    return await run(PYTHON, ['-c', `import duckdb; print(duckdb.sql(${JSON.stringify(code)}))`]);
  return await run(PYTHON, ['-c', code]);
}

describe.each(PAGES)('%s', (path) => {
  const examples = examplesOf(path).map((example, at) => ({
    ...example,
    name: `${at + 1} (${example.language})`,
  }));

  it('names a known language for each block', () => {
    const languages = new Set(examples.map(({ language }) => language));
    expect([...languages].filter((language) => !['text', ...LANGUAGES].includes(language))).toEqual([]);
    expect(examples.length).toBeGreaterThan(2);
  });

  for (const example of examples.filter(({ language }) => LANGUAGES.includes(language))) {
    const isAbsent =
      (example.language === 'sql' && !hasDuckdb) || (example.language === 'python pandas' && !hasPandas);
    it.skipIf(isAbsent)(
      `example ${example.name} runs${isAbsent ? ' (skipped: not installed)' : ''}`,
      async () => {
        expect(await runExample(example)).toBeTypeOf('string');
      },
    );
  }
});

/** The commands of the quick start as a reader pastes them, with the address and the key of a service. */
function quickStartScript(service: { readonly url: string; readonly key: string }): string {
  const addressesIn = (text: string) =>
    text
      .replace(/^export BASE=.*$/m, `export BASE=${service.url}`)
      .replace(/^export KEY=.*$/m, `export KEY=${service.key}`)
      .replace(/^export PYTHONPATH=.*$/m, `export PYTHONPATH='${join(PROJECT_ROOT, 'clients/python')}'`);
  const blocks = examplesOf(QUICK_START).map(({ language, code }) => {
    if (language === 'python') return `python3 - <<'EOF'\n${code}EOF\n`;
    return language === 'sh' ? code.replaceAll('curl -s', 'curl -sf') : addressesIn(code);
  });
  return `set -e\n${blocks.join('\n')}`;
}

it.each(['Up', 'Down'] as const)(
  'the quick start runs in one shell, for a market that ended %s',
  async (outcome) => {
    const recording = await quickStartStore(outcome);
    onTestFinished(() => recording.dispose());
    const service = await listeningApi({ store: recording.store });
    onTestFinished(() => service.close());
    const { PATH = '' } = process.env;
    const options = { cwd: folder, env: { PATH }, timeout: WAIT_MS_MAX };
    const { stdout } = await promisify(execFile)('bash', ['-c', quickStartScript(service)], options);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.at(-1)).toBe(`btc-updown-5m-1795172400 ${outcome} ${outcome === 'Up' ? 0.51 : 'None'}`);
    expect(stdout).toContain('"yes_bids":[{"price":0.5,"size":1}]');
  },
);

it('the notebook runs from the first cell to the last', async () => {
  const path = join(PROJECT_ROOT, 'examples/notebooks/calibration.ipynb');
  const { cells } = JSON.parse(readFileSync(path, 'utf8')) as {
    cells: { cell_type: string; source: string[] }[];
  };
  const code = cells.filter(({ cell_type }) => cell_type === 'code').map(({ source }) => source.join(''));
  writeFileSync(join(folder, 'notebook.py'), code.join('\n\n'));
  const printed = await run(PYTHON, ['notebook.py']);
  expect(printed).toBe('1 resolved markets\n1 with a mid\n0.5-0.6: 1.00 of 1\nBrier score 0.2304\n');
});
