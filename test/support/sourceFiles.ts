import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';

export const PROJECT_ROOT = join(import.meta.dirname, '../..');
const GENERATED = new Set(['node_modules', 'dist', 'data', 'coverage', 'pictures']);
const PICTURE = /\.(?:png|webp|gz)$/;

export interface SourceFile {
  /** Path from the project's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Every file in the given folders of the project, except installed and built files and pictures. */
export function sourceFiles(...folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) => {
    const root = join(PROJECT_ROOT, folder);
    if (!existsSync(root)) return [];
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(PROJECT_ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .filter((path) => !PICTURE.test(path) && !path.split('/').some((part) => GENERATED.has(part)))
      .map((path) => ({ path, text: readFileSync(join(PROJECT_ROOT, path), 'utf8') }));
  });
}

/** Every file below a folder outside the project, with paths from that folder. */
export function sourceFilesIn(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: relative(folder, path).split(sep).join('/'),
      text: readFileSync(path, 'utf8'),
    }));
}

/** The code without its comments, line for line. A `//` after a colon counts as part of a URL. */
export function withoutComments(text: string): string {
  const blanked = text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '));
  return blanked.replaceAll(/(?<!:)\/\/.*$/gm, '');
}

/** A module's imports: packages by name, files of the project by path from its root. */
export function importsOf(file: SourceFile): string[] {
  const pattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g;
  return [...withoutComments(file.text).matchAll(pattern)].map(([, target = '']) =>
    target.startsWith('.') ? posix.join(posix.dirname(file.path), target) : target,
  );
}
