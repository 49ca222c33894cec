import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from './support/sourceFiles.ts';

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

/** The rows of a page's tables by the code words in their first cell. */
function tableRows(page: string): Map<string, string> {
  const rows = read(page).matchAll(/^\| (`[^|]+`) \|(.*)\|$/gm);
  return new Map(
    [...rows].flatMap(([, first = '', rest = '']) =>
      [...first.matchAll(/`([^`]+)`/g)].map(([, word = '']) => [word, rest] as const),
    ),
  );
}

describe('docs/CONFIGURATION.md', () => {
  const rows = tableRows('docs/CONFIGURATION.md');
  const declared = [...read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+): (.*),$/gm)];

  it('has each variable of src/config.ts and no other', () => {
    expect(declared.length).toBeGreaterThan(10);
    expect([...rows.keys()].sort()).toEqual(declared.map(([, name]) => name).sort());
  });

  it('gives the defaults of src/config.ts', () => {
    for (const [, name = '', schema = ''] of declared) {
      const [, text = ''] = /(?:default|http|webSocket)\((?!\))'?([^')]*)'?\)$/.exec(schema) ?? [];
      const shown = rows.get(name)?.split('|')[0]?.trim();
      expect({ name, shown }).toEqual({ name, shown: text === '' ? '(none)' : `\`${text}\`` });
    }
  });
});

describe('docs/ERRORS.md', () => {
  it('has each code of src/errors.ts and no other', () => {
    const codes = [...read('src/errors.ts').matchAll(/readonly code = '(\w+)'/g)].map(([, code]) => code);
    expect(codes.length).toBeGreaterThan(5);
    expect([...tableRows('docs/ERRORS.md').keys()].sort()).toEqual(codes.sort());
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

  it('has each package of package.json and no other', () => {
    const names = Object.keys(packages);
    expect([...tableRows('docs/DEPENDENCIES.md').keys()].sort()).toEqual(names.sort());
  });

  it('package.json pins each exactly', () => {
    const loose = Object.entries(packages).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version)),
    );
    expect(loose).toEqual([]);
  });
});
