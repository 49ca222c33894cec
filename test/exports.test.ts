/** An export is a promise to other modules: one that nothing imports misleads its reader. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type SourceFile, sourceFiles, withoutComments } from './support/sourceFiles.ts';

/** Modules whose exports are read by other means than an import of a name. */
const READ_OTHERWISE = [
  // Generated from the API's description, whole.
  'web/src/api/schema.ts',
  'src/client/schema.ts',
  // The published client: other programs import it.
  'src/client/index.ts',
  'src/simulator/index.ts',
  // Every shape of these is named in the API's description.
  'src/schema/api/',
];
const EXPORTED =
  /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
const EXPORTED_LIST = /^export (?:type )?\{([^}]*)\}/gm;
/** `import { a }`, `import type { b as c }` and `export { d } from`, each with the module. */
const IMPORTED = /^(?:import|export)(?: type)?(?: \w+,)? \{([^}]*)\} from '([^']+)'/gm;
/** `import * as all`, `export *`, and `import('...')`, which read every export. */
const IMPORTED_WHOLE = /(?:^(?:import|export)(?: type)? \*[^;]*? from |\bimport\()\s*'([^']+)'/gm;

const namesIn = (list: string) =>
  list
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '');

/** The exports that no other module imports, as `path: name`. */
function unusedExports(files: readonly SourceFile[]): string[] {
  const used = new Set<string>();
  const whole = new Set<string>();
  const codeOf = new Map(files.map(({ path, text }) => [path, withoutComments(text)]));
  for (const [path, code] of codeOf) {
    const resolved = (target: string) => posix.join(posix.dirname(path), target);
    for (const [, list = '', target = ''] of code.matchAll(IMPORTED)) {
      for (const name of namesIn(list)) used.add(`${resolved(target)}: ${name.replace(/ as .*/, '')}`);
    }
    for (const [, target = ''] of code.matchAll(IMPORTED_WHOLE)) whole.add(resolved(target));
  }
  return [...codeOf].flatMap(([path, code]) => {
    if (whole.has(path) || READ_OTHERWISE.some((start) => path.startsWith(start))) return [];
    const listed = [...code.matchAll(EXPORTED_LIST)].flatMap(([, list = '']) =>
      namesIn(list).map((name) => name.replace(/.* as /, '')),
    );
    const names = [...code.matchAll(EXPORTED)].map(([, name = '']) => name);
    return [...names, ...listed].map((name) => `${path}: ${name}`).filter((name) => !used.has(name));
  });
}

const file = (path: string, text: string): SourceFile => ({ path, text });

describe('unused exports', () => {
  it('are refused in every module', () => {
    const modules = sourceFiles('src', 'test', 'bench', 'web/src').filter(({ path }) => /\.tsx?$/.test(path));
    expect(modules.length).toBeGreaterThan(500);
    expect(unusedExports(modules)).toEqual([]);
  });

  it('are found by every way to export', () => {
    const text = [
      'export const a = 1;',
      'export async function b() {}',
      'export abstract class C {}',
      'export interface D {}',
      'export type E = string;',
      'const f = 1;\nexport { f, f as g };',
      "export type { H } from './other.ts';",
      '// export const inComment = 1;',
    ].join('\n');
    const names = unusedExports([file('src/one.ts', text)]);
    expect(names).toEqual(['a', 'b', 'C', 'D', 'E', 'f', 'g', 'H'].map((name) => `src/one.ts: ${name}`));
  });

  it.each([
    ['by name', "import { a } from '../one.ts';"],
    ['by another name, as a type', "import {\n  b,\n  type a as c,\n} from '../one.ts';"],
    ['beside the default', "import one, { a } from '../one.ts';"],
    ['by passing it on', "export { a } from '../one.ts';\nexport { a as x };"],
    ['whole', "import * as one from '../one.ts';"],
    ['later', "const one = await import('../one.ts');"],
  ])('are none where it is imported %s', (_how, text) => {
    const files = [file('src/one.ts', 'export const a = 1;'), file('src/folder/two.ts', text)];
    expect(unusedExports(files).filter((name) => name.startsWith('src/one.ts'))).toEqual([]);
  });
});
