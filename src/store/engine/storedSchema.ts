/** What the embedded engine's tables are, read from its files: no engine is started and nothing is changed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaObject } from '../tables/foundObjects.ts';
import { DATABASE } from '../tables/schema.ts';

const DATABASE_COMMENT = /^COMMENT '([^'\n]*)'/m;
/** A member of a table's definition: a column in back quotes, or a projection. */
const MEMBER = /^ {4}(?:`([^`\n]+)` |PROJECTION (\w+)\b)/gm;

/** Every column and projection, and the comment of the database; empty where no engine has ever run. */
export function storedSchema(dataDir: string): SchemaObject[] {
  const metadata = join(dataDir, 'engine', 'metadata');
  const tables = join(metadata, DATABASE);
  if (!existsSync(tables)) return [];
  const objects: SchemaObject[] = [{ table: '', name: databaseComment(dataDir) }];
  for (const file of readdirSync(tables).filter((name) => name.endsWith('.sql'))) {
    const table = file.slice(0, -'.sql'.length);
    for (const [, column, projection] of readFileSync(join(tables, file), 'utf8').matchAll(MEMBER))
      objects.push({ table, name: column ?? projection ?? '' });
  }
  return objects;
}

/** The comment of the database; empty without one. */
export function databaseComment(dataDir: string): string {
  const path = join(dataDir, 'engine', 'metadata', `${DATABASE}.sql`);
  return existsSync(path) ? (DATABASE_COMMENT.exec(readFileSync(path, 'utf8'))?.[1] ?? '') : '';
}
