import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/control/schema.ts';

interface Line {
  id: number;
  line: string | null;
  count: number | null;
  share: number | null;
}

/** How values and row counts are returned by every database; run it for each driver with a fresh database. */
export function valueSuite(driver: string, open: () => Promise<Database>): void {
  describe(`values on ${driver}`, () => {
    let database: Database;
    let db: Kysely<{ lines: Line }>;

    beforeEach(async () => {
      database = await open();
      db = database as unknown as typeof db;
      await sql`create table lines (id integer primary key, line text, count bigint, share double precision)`.execute(
        db,
      );
    });
    afterEach(async () => {
      await database.destroy();
    });
    const EMPTY: Line = { id: 1, line: null, count: null, share: null };
    const store = (values: Partial<Record<keyof Line, unknown>>) =>
      db.insertInto('lines').values({ id: 1, ...values } as Line);
    const all = () => db.selectFrom('lines').selectAll().orderBy('id').execute();

    it.each([
      ['text', { line: `it's "so" — \u{1f600}\n` }],
      ['empty text', { line: '' }],
      ['text of digits', { line: '0123' }],
      ['a long text', { line: 'x'.repeat(1_000_000) }],
      ['zero', { count: 0, share: 0 }],
      ['the largest number that is exact', { count: Number.MAX_SAFE_INTEGER }],
      ['a negative time', { count: -1_795_219_200_123 }],
      ['a fraction', { share: 0.1 }],
      ['null', { line: null, count: null, share: null }],
    ])('%s is returned unchanged', async (_name, values) => {
      await store(values).execute();
      expect(await all()).toEqual([{ ...EMPTY, ...values }]);
    });

    it('a text with a zero byte is looked for, and not found', async () => {
      await store({ line: 'a' }).execute();
      for (const line of ['\0', 'a\0', '\0a'])
        expect(await db.selectFrom('lines').selectAll().where('line', '=', line).execute()).toEqual([]);
    });

    it('undefined beside a value is stored as null', async () => {
      await sql`insert into lines values (1, ${undefined}, ${2}, ${undefined})`.execute(db);
      expect(await all()).toEqual([{ ...EMPTY, count: 2 }]);
    });

    it.each([
      ['a flag', true],
      ['a list', [1]],
      ['a date', new Date(0)],
      ['an object', { count: 1 }],
    ])('%s is not a count and is refused', async (_name, count) => {
      await expect(store({ count }).execute()).rejects.toThrow();
      expect(await all()).toEqual([]);
    });

    it('returns the number of rows a statement wrote', async () => {
      const [inserted] = await store({}).execute();
      expect(inserted?.numInsertedOrUpdatedRows).toBe(1n);
      const [ignored] = await store({ count: 5 })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      expect(ignored?.numInsertedOrUpdatedRows).toBe(0n);
      await store({ id: 2 }).execute();
      const [updated] = await db.updateTable('lines').set({ count: 3 }).execute();
      expect(updated?.numUpdatedRows).toBe(2n);
      const [deleted] = await db.deleteFrom('lines').where('id', '=', 2).execute();
      expect(deleted?.numDeletedRows).toBe(1n);
      expect(await all()).toEqual([{ ...EMPTY, count: 3 }]);
    });

    it('returns the rows it wrote', async () => {
      expect(await store({ count: 7 }).returning(['id', 'count']).execute()).toEqual([{ id: 1, count: 7 }]);
    });

    it('refuses a row whose key exists, and the transaction undoes its earlier statements', async () => {
      await store({}).execute();
      const both = db.transaction().execute(async (transaction) => {
        await transaction.updateTable('lines').set({ count: 9 }).execute();
        await transaction.insertInto('lines').values(EMPTY).execute();
      });
      await expect(both).rejects.toThrow(/unique constraint/i);
      expect(await all()).toEqual([EMPTY]);
      await db.transaction().execute((transaction) =>
        transaction
          .insertInto('lines')
          .values({ ...EMPTY, id: 2 })
          .execute(),
      );
      expect(await all()).toHaveLength(2);
    });
  });
}
