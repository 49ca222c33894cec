import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT, type SourceFile, sourceFiles } from './support/sourceFiles.ts';

/** Words and clauses that make a sentence hard to understand on first reading. */
const HARD_TO_READ = new RegExp(
  `\\b(?:${[
    'told',
    'tells (?:of|what|who|it)',
    'anew',
    'apiece',
    'so often',
    'besieged',
    'dealt',
    'whose word',
    'hears (?:of|no)',
    'who (?:is|has|asks|left|came)',
    'what (?:was|is|became|lies|stands|came|waits)',
  ].join('|')})\\b`,
  'i',
);
/** Of all lines of prose. */
const SHARE_MAX = 0.005;
/** Old changelog entries do not change, and the API types are generated. */
const LEFT_OUT = ['CHANGELOG.md', 'web/src/api/schema.ts'];

interface Line {
  readonly place: string;
  readonly text: string;
}

const TITLE = /\b(?:it|test|describe)(?:\.\w+(?:\([^)]*\))?)*\(\s*['"`](.*)/;
const COMMENT = /(?:^|\s)\/\/\s(.*)|^\/?\*+\s?(.*)/;

/** The lines of a file that are prose: a document's own, comments, and titles of tests. */
function proseOf({ path, text }: SourceFile): Line[] {
  return text.split('\n').flatMap((line, index) => {
    const trimmed = line.trim();
    const [, comment, block] = COMMENT.exec(trimmed) ?? [];
    const prose = path.endsWith('.md') ? trimmed : (TITLE.exec(trimmed)?.[1] ?? comment ?? block ?? '');
    return /\w/.test(prose) ? [{ place: `${path}:${index + 1}`, text: prose }] : [];
  });
}

const ROOT_PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md'].map((path) => ({
  path,
  text: readFileSync(join(PROJECT_ROOT, path), 'utf8'),
}));
const files = sourceFiles('src', 'test', 'bin', 'scripts', 'bench', 'docs', 'examples', 'web')
  .filter(({ path }) => /\.(?:ts|tsx|mjs|md)$/.test(path) && !LEFT_OUT.includes(path))
  .concat(ROOT_PAGES);

it('comments, test titles and documents are in plain English', () => {
  const prose = files.flatMap(proseOf);
  expect(prose.length).toBeGreaterThan(5_000);
  const hard = prose.filter(({ text }) => HARD_TO_READ.test(text));
  const shown = hard.map(({ place, text }) => `${place}: ${text}`).join('\n');
  expect(hard.length / prose.length, shown).toBeLessThan(SHARE_MAX);
});

it.each([
  // Planted lines, and whether the check must report them.
  ['/** Told when nothing is under way any more. */', true],
  ["  it('hears of the newest alone', () => {", true],
  ['const told = 1; // Whose word about the address is believed.', true],
  ['const told = 1;', false],
  ['/** Resolves when no attempt is in flight. */', false],
])('%s is hard to read: %s', (line, isHard) => {
  const [prose] = proseOf({ path: 'src/example.ts', text: line });
  expect(prose !== undefined && HARD_TO_READ.test(prose.text)).toBe(isHard);
});
