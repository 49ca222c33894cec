import { expect, it, onTestFinished, vi } from 'vitest';

/** Rows of one answer: the service's maximum. */
const PAGE_SIZE = 10_000;

it.each([
  ['no positions', 0, false],
  ['as many as a page loads', 50_000, false],
  ['one more than a page loads', 50_001, true],
])('of a strategy with %s, a page knows whether it has all', async (_what, total, isCut) => {
  vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined });
  vi.stubGlobal('document', { querySelector: () => null });
  vi.stubGlobal('window', { addEventListener: () => undefined });
  vi.stubGlobal('fetch', async (address: string) => {
    const from = Number(new URL(address, 'http://pages').searchParams.get('cursor'));
    const to = Math.min(from + PAGE_SIZE, total);
    const positions = Array.from({ length: to - from }, (_, index) => ({ market_id: `0x${from + index}` }));
    return new Response(JSON.stringify({ positions, next_cursor: to < total ? String(to) : null }));
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { allPositions } = await import('../../web/src/trades/usePositions.ts');
  const found = await allPositions('ps_1', new AbortController().signal);
  expect(found.isCut).toBe(isCut);
  expect(found.positions).toHaveLength(Math.min(total, 50_000));
  expect(found.positions.at(-1)?.market_id).toBe(
    total === 0 ? undefined : `0x${Math.min(total, 50_000) - 1}`,
  );
});
