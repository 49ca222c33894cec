/** What exists in a store, and which version that is. */
import { NewerDataError } from '../../runtime/errors.ts';
import { API_VERSION } from '../../schema/version.ts';
import { recordedVersion, STORE_MIGRATIONS, STORE_VERSION } from './migrations.ts';
import { PROJECTIONS } from './rollups.ts';
import { TABLE_NAMES, TABLES } from './schema.ts';

/** A column, projection or rule of age (`TTL ...`) of a table; without a table, the comment of the database. */
export interface SchemaObject {
  readonly table: string;
  readonly name: string;
}

export class FoundObjects {
  readonly #names: ReadonlySet<string>;
  readonly #tables: ReadonlySet<string>;
  readonly #ageRules: ReadonlyMap<string, string>;
  /** The version that a release recorded; null: the store is of a release that recorded none. */
  readonly recordedVersion: number | null;

  constructor(objects: readonly SchemaObject[]) {
    this.#names = new Set(objects.map(({ table, name }) => `${table}.${name}`));
    this.#tables = new Set(objects.map(({ table }) => table).filter(Boolean));
    const rules = objects.filter(({ name }) => name.startsWith('TTL '));
    this.#ageRules = new Map(rules.map(({ table, name }) => [table, name]));
    this.recordedVersion = recordedVersion(objects.find(({ table }) => table === '')?.name ?? '');
  }

  get hasTables(): boolean {
    return this.#tables.size > 0;
  }

  hasTable(table: string): boolean {
    return this.#tables.has(table);
  }

  has(table: string, name: string): boolean {
    return this.#names.has(`${table}.${name}`);
  }

  ageRule(table: string): string | null {
    return this.#ageRules.get(table) ?? null;
  }

  /**
   * Number of the newest migration that is complete, with all before it; null without tables.
   * @param storedName Name of the table that has the rows of one node.
   */
  completeVersion(storedName: (table: string) => string): number | null {
    if (!this.hasTables) return null;
    const isComplete = (number: number) =>
      TABLE_NAMES.every((table) =>
        TABLES[table].columns.every(
          (column) => column.added !== number || this.has(storedName(table), column.name),
        ),
      ) &&
      PROJECTIONS.every(({ table, name, added }) => added !== number || this.has(storedName(table), name));
    const missing = STORE_MIGRATIONS.find(({ number }) => !isComplete(number));
    return missing === undefined ? STORE_VERSION : missing.number - 1;
  }

  /** @throws {NewerDataError} If a newer release wrote the store. @param place Names the store. */
  requireKnown(place: string): void {
    const recorded = this.recordedVersion;
    if (recorded === null || recorded <= STORE_VERSION) return;
    throw new NewerDataError(
      place,
      `its store has version ${recorded}, and release ${API_VERSION} knows ${STORE_VERSION}`,
    );
  }
}
