import type { CompiledQuery, QueryResult } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { PositionReader } from './positions.ts';

/** A reader of an empty database, and how SQLite executes what it asks. */
async function opened() {
  const db = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => db.destroy());
  const asked: CompiledQuery[] = [];
  const watched = db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      asked.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const plan = async () => {
    const query = asked.at(-1) as CompiledQuery;
    const explained = { ...query, sql: `explain query plan ${query.sql}` };
    const { rows } = (await db.executeQuery(explained)) as QueryResult<{ detail: string }>;
    return rows.map(({ detail }) => detail);
  };
  return { reader: new PositionReader(watched), plan };
}

const INDEX = 'SEARCH paper_positions USING INDEX paper_positions_by';

test('a page of closed positions is found in an index, at any depth', async () => {
  const { reader, plan } = await opened();
  await reader.closed('ps_1', { after: null, limit: 500 });
  expect(await plan()).toEqual([`${INDEX}_strategy_closing (paper_strategy_id=? AND closed_ms>?)`]);
  const after = { position_id: 'pos_1', closed_ms: 1, pnl_micro: 1 };
  await reader.closed('ps_1', { after, limit: 500 });
  expect(await plan()).toEqual([
    `${INDEX}_strategy_closing (paper_strategy_id=? AND (closed_ms,position_id)>(?,?))`,
  ]);
});

test('a page of positions is found in an index, at any depth', async () => {
  const { reader, plan } = await opened();
  await reader.list('ps_1', { after: { openedMs: 1, positionId: 'pos_1' }, limit: 500 });
  expect(await plan()).toEqual([`${INDEX}_opening (paper_strategy_id=? AND (opened_ms,position_id)>(?,?))`]);
});
