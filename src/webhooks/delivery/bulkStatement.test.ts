import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Schema } from '../../control/schema.ts';
import { BulkStatement } from './bulkStatement.ts';

test('rows are written in order by few statements, each built once', async () => {
  const written: (readonly unknown[])[] = [];
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new SqliteIntrospector(of),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    log: ({ query }) => void written.push(query.parameters),
  });
  const built: number[] = [];
  const statement = new BulkStatement<number>(
    (rows) => {
      built.push(rows);
      return sql`insert into numbers values ${sql.join(Array(rows).fill(sql`(${null})`))}`;
    },
    (row) => [row],
  );
  const rows = Array.from({ length: 300 }, (_, row) => row);
  for (let run = 0; run < 2; run++) {
    await statement.run(db, rows);
    expect(written.map(({ length }) => length)).toEqual([128, 128, 32, 8, 4]);
    expect(written.splice(0).flat()).toEqual(rows);
  }
  expect(built).toEqual([128, 32, 8, 4]);
  await statement.run(db, []);
  expect(written).toEqual([]);
});
