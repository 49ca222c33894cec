import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's documents; the relative path is valid from the sources and from the compiled files. */
export const DOCUMENTS = fileURLToPath(new URL('../../../docs', import.meta.url));
const FOLDERS = ['', 'design/'];

/** A Markdown file of `docs/`. */
export interface SourceDocument {
  /** Relative to `docs/`, such as `design/DECISIONS.md`. */
  readonly name: string;
  readonly text: string;
}

export interface DocumentSummary {
  readonly title: string;
  /** The first sentence below the title, without links; empty if a table or a list comes first. */
  readonly sentence: string;
}

/** The documents in order of their names. @returns Empty without the folder. */
export function readSourceDocuments(directory = DOCUMENTS): SourceDocument[] {
  return FOLDERS.flatMap((folder) => {
    const place = join(directory, folder);
    if (!existsSync(place)) return [];
    const names = readdirSync(place).filter((name) => name.endsWith('.md'));
    return names.sort().map((name) => ({
      name: `${folder}${name}`,
      text: readFileSync(join(place, name), 'utf8'),
    }));
  });
}

export function summaryOf({ name, text }: SourceDocument): DocumentSummary {
  const [, title = name] = /^# (.+)$/m.exec(text) ?? [];
  const [, first = ''] = /^# .+\n+(?![#|-]|```)([^\n][\s\S]*?\.)(?:\s|$)/m.exec(text) ?? [];
  const sentence = first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  return { title, sentence };
}
