/** Every command and configuration snippet of the operator's pages is run by a test, or is named as not run. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const PAGES = ['PRODUCTION', 'UPGRADING', 'BACKUP', 'MONITORING', 'DEPLOYMENT'];
const lacksPromtool = spawnSync('promtool', ['--version']).status !== 0 && process.env.CI === undefined;
const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

interface Block {
  readonly language: string;
  readonly text: string;
}

function blocksOf(page: string): Block[] {
  return [...read(`docs/${page}.md`).matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```/gm)].map(
    ([, language = '', text = '']) => ({ language, text }),
  );
}

/** The commands of a block, or the first line of a configuration, without comments. */
function linesOf({ language, text }: Block): string[] {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter(Boolean);
  return language === 'sh' ? lines : lines.slice(0, 1);
}

const ledger = [
  ...read('docs/design/COMMANDS.md').matchAll(/^\| ([A-Z]+) \| `+ ?(.+?) ?`+ \| (.+) \|$/gm),
].map(([, page = '', line = '', by = '']) => ({ page, line: line.replaceAll('\\|', '|'), by }));

describe('docs/design/COMMANDS.md', () => {
  it.each(PAGES)('names every command and snippet of docs/%s.md, and no other', (page) => {
    const named = ledger.filter((row) => row.page === page).map(({ line }) => line);
    expect(named).toEqual(blocksOf(page).flatMap(linesOf));
    expect(named.length).toBeGreaterThan(0);
  });

  it('names tests that exist, or says that a line was not run', () => {
    for (const { line, by } of ledger) {
      const tests = [...by.matchAll(/`((?:test|src)\/[^`]+)`/g)].map(([, path = '']) => path);
      const isAnswered = tests.length > 0 || /not run: \S|`\.ci\/run`/.test(by);
      expect({ line, isAnswered }).toEqual({ line, isAnswered: true });
      for (const path of tests) expect([path, existsSync(join(PROJECT_ROOT, path))]).toEqual([path, true]);
    }
  });

  it('is right that the clean machine gets nginx and Caddy', () => {
    expect(read('.ci/run')).toMatch(/missing\+=\(nginx\)/);
    expect(read('.ci/run')).toMatch(/missing\+=\(caddy\)/);
  });
});

describe('snippets that need no service', () => {
  it('the secrets of DEPLOYMENT.md are three lines of letters and digits', () => {
    const line = blocksOf('DEPLOYMENT')
      .flatMap(linesOf)
      .find((text) => text.startsWith('for name in'));
    const cwd = temporaryDirectory();
    execFileSync('sh', ['-c', line ?? 'false'], { cwd });
    const secrets = readFileSync(join(cwd, '.env'), 'utf8').trim().split('\n');
    expect(secrets.map((text) => text.replace(/=[0-9a-f]{64}$/, '='))).toEqual([
      'UNDERROUND_SECRET_KEY=',
      'CLICKHOUSE_PASSWORD=',
      'POSTGRES_PASSWORD=',
    ]);
  });

  it.skipIf(lacksPromtool)('Prometheus accepts the configuration of MONITORING.md', () => {
    const [block] = blocksOf('MONITORING');
    const folder = temporaryDirectory();
    const indent = /^ */.exec(block?.text ?? '')?.[0] ?? '';
    const text = (block?.text ?? '').replaceAll(`\n${indent}`, '\n').trimStart();
    writeFileSync(join(folder, 'prometheus.yml'), text);
    copyFileSync(join(PROJECT_ROOT, 'deploy/alerts.yml'), join(folder, 'alerts.yml'));
    const out = execFileSync('promtool', ['check', 'config', join(folder, 'prometheus.yml')], {
      encoding: 'utf8',
    });
    expect(out).toContain('SUCCESS');
  });
});
