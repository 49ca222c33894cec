import { expect, onTestFinished, test } from 'vitest';
import { KEY, testApi, unaskedStore } from '../../test/support/api.ts';
import { STUB_STRATEGY, stubPaper } from '../../test/support/stubPaper.ts';
import { printJson } from '../schema/moneyJson.ts';
import { formatTime } from '../schema/time.ts';
import { positionBody } from '../trading/paper/positionBody.ts';
import type { PositionRow } from '../trading/paper/positions.ts';

const ROWS: PositionRow[] = Array.from({ length: 1_201 }, (_, at) => ({
  ...{ position_id: `pos_${(at + 1).toString(16).padStart(4, '0')}`, paper_strategy_id: 'ps_1' },
  ...{ market_id: `0x${'a'.repeat(64)}`, token: 'yes', session_from_ms: 1, decided_ms: at, opened_ms: at },
  ...{ closed_ms: at + 1, size: 37_000_000, entry_price: 0.27, exit_price: 0.3, exit_reason: 'take_profit' },
  ...{ outcome: null, principal_micro: 9_990_000, fees_micro: 510_000, slippage: 0.002, pnl_micro: 100_003 },
  ...{ decision_price: 0.27, exit_slippage: 0.001, entry_levels: 1, exit_levels: 1 },
}));

/** The API over a strategy with these positions, and the sizes of the pages in which they were read. */
function rig() {
  const asked: number[] = [];
  const after = (id: string | undefined, limit: number) => {
    asked.push(limit);
    const from = id === undefined ? 0 : ROWS.findIndex((row) => row.position_id === id) + 1;
    return ROWS.slice(from, from + limit);
  };
  const positions: typeof stubPaper.positions = {
    count: async () => ROWS.length,
    list: async (_id, page) => after(page.after?.positionId, page.limit),
    closed: async (_id, page) =>
      after(page.after?.position_id, page.limit).map((row) => ({ ...row, closed_ms: row.closed_ms ?? 0 })),
  };
  const app = testApi({ store: unaskedStore, paper: { ...stubPaper, positions } });
  onTestFinished(() => app.close());
  const get = async (path: string) =>
    (await app.inject({ url: `/v1/paper/strategies/${STUB_STRATEGY}${path}`, headers: KEY })).body;
  return { asked, get };
}

test('a long list of positions is read in pages, and its body is that of one list', async () => {
  const { asked, get } = rig();
  const body = await get('/positions?limit=10000');
  expect(body).toBe(printJson({ count: ROWS.length, positions: ROWS.map(positionBody), next_cursor: null }));
  expect(asked).toEqual([501, 501, 501]);
});

test('the cursor of a long list continues after its last page', async () => {
  const { get } = rig();
  const { count, next_cursor } = JSON.parse(await get('/positions?limit=1200'));
  const rest = JSON.parse(await get(`/positions?limit=1200&cursor=${next_cursor}`));
  expect([count, rest.positions.length, rest.next_cursor]).toEqual([1_200, 1, null]);
  expect(rest.positions[0].position_id).toBe(ROWS.at(-1)?.position_id);
});

test('an equity curve is read in pages, and its sums are those of all positions', async () => {
  const { asked, get } = rig();
  const points = ROWS.map(({ closed_ms }, at) => ({
    ts: formatTime(closed_ms ?? 0),
    cumulative_pnl: ((at + 1) * 100_003) / 1_000_000,
  }));
  const final_net_pnl = (ROWS.length * 100_003) / 1_000_000;
  expect(await get('/equity')).toBe(
    printJson({ paper_strategy_id: STUB_STRATEGY, n_closed_positions: 1_201, final_net_pnl, points }),
  );
  expect(asked).toEqual([501, 501, 501]);
});

test.each([
  ['queued', 0],
  ['running', 0],
  ['complete', 1],
  ['failed', 1],
  [null, 1],
] as const)('while the last replay is %s, %i are started', async (status, started) => {
  let replays = 0;
  const divergence: typeof stubPaper.divergence = async (strategy) => {
    const before = await stubPaper.divergence(strategy);
    return { ...before, window: status === null ? null : { ...before.baseline, status } };
  };
  const replayWindow = async () => `bt_${++replays}`;
  const app = testApi({ store: unaskedStore, paper: { ...stubPaper, divergence, replayWindow } });
  onTestFinished(() => app.close());
  const url = `/v1/paper/strategies/${STUB_STRATEGY}/divergence`;
  expect((await app.inject({ method: 'POST', url, headers: KEY })).statusCode).toBe(201);
  expect(replays).toBe(started);
});
