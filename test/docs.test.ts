import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONFIG_VARIABLES } from '../src/config.ts';
import { REFUSALS } from '../src/core/desk/order.ts';
import { PROJECT_ROOT, sourceFiles } from './support/sourceFiles.ts';

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

/** The table rows of a page by the code in their first cell. */
function tableRows(page: string): Map<string, string> {
  const entries = [...read(page).matchAll(/^\| (`[^|]+`) \|(.*)\|$/gm)].flatMap(([, first = '', rest = '']) =>
    [...first.matchAll(/`([^`]+)`/g)].map(([, word = '']) => [word, rest] as const),
  );
  const rows = new Map(entries);
  if (rows.size < entries.length) throw new Error(`${page} lists a name twice`);
  return rows;
}

describe('docs/CONFIGURATION.md', () => {
  const rows = tableRows('docs/CONFIGURATION.md');

  it('lists exactly the variables that the code reads', () => {
    expect(CONFIG_VARIABLES.size).toBeGreaterThan(10);
    expect([...rows.keys()].sort()).toEqual([...CONFIG_VARIABLES.keys()].sort());
  });

  it('lists the defaults that the code uses', () => {
    for (const [name, fallback] of CONFIG_VARIABLES) {
      const shown = rows.get(name)?.split('|')[0]?.trim();
      expect({ name, shown }).toEqual({ name, shown: fallback === null ? '(none)' : `\`${fallback}\`` });
    }
  });

  it('lists every variable named in a source, a script or a page', () => {
    const files = [
      ...sourceFiles('src')
        .map(({ path }) => path)
        .filter((path) => !path.endsWith('.test.ts')),
      ...['docs', 'scripts', 'bin'].flatMap((folder) =>
        readdirSync(join(PROJECT_ROOT, folder)).map((name) => `${folder}/${name}`),
      ),
      'README.md',
    ].filter((path) => /\.(?:ts|mjs|md)$/.test(path));
    const named = files.flatMap((path) => read(path).match(/\bUNDERROUND_[A-Z][A-Z_]*(?<!_)\b/g) ?? []);
    const unknown = new Set(named.filter((name) => !CONFIG_VARIABLES.has(name)));
    expect([...unknown]).toEqual([]);
  });
});

describe('docs/ERRORS.md', () => {
  it('lists exactly the codes of src/runtime/errors.ts', () => {
    const codes = [...read('src/runtime/errors.ts').matchAll(/readonly code = '(\w+)'/g)].map(
      ([, code]) => code,
    );
    expect(codes.length).toBeGreaterThan(5);
    expect([...tableRows('docs/ERRORS.md').keys()].sort()).toEqual(codes.sort());
  });
});

describe('docs/ENGINE.md', () => {
  it('explains each reason for which an order is refused', () => {
    const explained = [...read('docs/ENGINE.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(REFUSALS.filter((reason) => !explained.includes(reason))).toEqual([]);
  });
});

describe('docs/DEPENDENCIES.md', () => {
  const packages = Object.assign(
    {},
    ...['package.json', 'web/package.json'].flatMap((file) => {
      const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read(file));
      return [dependencies, optionalDependencies, devDependencies];
    }),
  );

  it('lists exactly the packages of package.json', () => {
    const names = Object.keys(packages);
    expect([...tableRows('docs/DEPENDENCIES.md').keys()].sort()).toEqual(names.sort());
  });

  it('package.json pins each package to an exact version', () => {
    const loose = Object.entries(packages).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version)),
    );
    expect(loose).toEqual([]);
  });
});
