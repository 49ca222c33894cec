import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandAbsent } from './support/builtCommand.ts';
import { importsOf, PROJECT_ROOT, sourceFiles } from './support/sourceFiles.ts';

const description = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'));

describe('package.json', () => {
  it('describes a publishable package with a command and no library', () => {
    const { name, license, type, bin, exports, main, types, repository } = description;
    expect(description.private).toBeUndefined();
    expect({ name, license, type, bin, exports, main, types, repository }).toEqual({
      ...{ name: 'underround', license: 'Apache-2.0', type: 'module' },
      bin: { underround: 'bin/underround.mjs' },
      exports: { './package.json': './package.json' },
    });
  });

  it.each(description.workspaces as string[])('and the workspace %s ask for the same Node', (workspace) => {
    const { engines } = JSON.parse(readFileSync(join(PROJECT_ROOT, workspace, 'package.json'), 'utf8'));
    expect(engines).toEqual(description.engines);
  });

  it('has the packages that the service imports as dependencies, and no other', () => {
    const modules = sourceFiles('src').filter(({ path }) => /(?<!\.test)\.ts$/.test(path));
    const targets = modules.flatMap(importsOf).filter((target) => !/^(?:src\/|node:)/.test(target));
    // Leaves out the texts after a FROM of SQL.
    const packages = targets.flatMap(
      (target) => /^((?:@[\w-]+\/)?[\w.-]+)(?:\/[\w-]+)?$/.exec(target)?.[1] ?? [],
    );
    const { dependencies, optionalDependencies } = description;
    const declared = Object.keys({ ...dependencies, ...optionalDependencies });
    expect([...new Set(packages)].sort()).toEqual(declared.sort());
  });

  it('is packed with the scripts that build it wherever a page of docs packs it: .npmrc disables them', () => {
    const names = readdirSync(join(PROJECT_ROOT, 'docs')).filter((name) => name.endsWith('.md'));
    const texts = names.map((name) => readFileSync(join(PROJECT_ROOT, 'docs', name), 'utf8'));
    // The fetched Node is packed by its name.
    const commands = texts.flatMap((text) => text.match(/^npm pack.*|`npm pack -[^`]*`/gm) ?? []);
    expect(commands.length).toBeGreaterThan(1);
    for (const command of commands) expect(command).toContain(' --ignore-scripts=false');
  });

  it('has the embedded engine as its only optional dependency', () => {
    expect(Object.keys(description.optionalDependencies)).toEqual(['chdb']);
  });
});

describe.skipIf(commandAbsent)('the packed npm package (skipped without a build)', () => {
  const words = ['pack', '--dry-run', '--ignore-scripts', '--json', '--silent'];
  const answer = commandAbsent ? '[]' : execFileSync('npm', words, { cwd: PROJECT_ROOT, encoding: 'utf8' });
  const [packed] = Object.values<{ files: { path: string }[] }>(JSON.parse(answer));
  const paths = (packed?.files ?? []).map(({ path }) => path);
  const below = (folder: string) => paths.filter((path) => path.startsWith(folder)).sort();

  it('contains the command, the build, the documents and these files', () => {
    const rest = paths.filter((path) => !/^(?:dist|docs)\//.test(path));
    const command = readdirSync(join(PROJECT_ROOT, 'bin')).map((name) => `bin/${name}`);
    const files = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
    expect(rest.sort()).toEqual([...files, ...command].sort());
  });

  it('contains every document', () => {
    const files = readdirSync(join(PROJECT_ROOT, 'docs'), { recursive: true, withFileTypes: true });
    expect(files.length).toBeGreaterThan(20);
    const names = files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(below('docs/')).toEqual(names.map((name) => name.slice(PROJECT_ROOT.length + 1)).sort());
  });

  it('contains the dashboard, the documentation, and no built files except modules of the service', () => {
    const built = below('dist/');
    const page = /^dist\/web\/(?:index\.html|favicon\.svg|assets\/[\w-]+\.(?:js|css))$/;
    const documents =
      /^dist\/site\/(?:(?:design\/)?[a-z0-9-]+\.html|search\.json|assets\/site\.js|images\/[\w-]+\.(?:png|svg|webp))$/;
    expect(built).toEqual(
      expect.arrayContaining(['dist/web/index.html', 'dist/cli/main.js', 'dist/site/trust.html']),
    );
    expect(built.filter((path) => !page.test(path) && !documents.test(path) && !isModule(path))).toEqual([]);
  });

  it('contains the engine that user files import, with its entry', () => {
    expect(paths).toEqual(expect.arrayContaining(['dist/core/index.js', 'dist/core/run/startRun.js']));
  });

  it('contains every program that runs in a separate process or thread', () => {
    const programs = [
      'store/engine/host/main',
      'backtest/worker',
      'strategy/worker',
      'venues/receiveWorker',
      'control/walWorker',
    ];
    expect(paths).toEqual(expect.arrayContaining(programs.map((name) => `dist/${name}.js`)));
  });
});

/** Whether a built file comes from a current module; builds of deleted modules stay until `npm pack` removes them. */
function isModule(path: string): boolean {
  const [, name = ''] = /^dist\/((?:[a-z]\w*\/)*[a-z]\w*)\.js$/.exec(path) ?? [];
  return name !== '' && existsSync(join(PROJECT_ROOT, 'src', `${name}.ts`));
}
