import type { WebSocketRoute } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'the pushed opportunities on Live (skipped without a build or Chromium)';
/** The stream of books is read in a worker, which says nothing here. */
const SILENT_WORKER = 'window.Worker = class { postMessage() {} terminate() {} }';

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  it('are said to be old while their stream is not connected', async () => {
    const { page } = await pages.open();
    await page.addInitScript(SILENT_WORKER);
    await page.route('**/app/live', (route) => route.fulfill({ json: { windows: [] } }));
    const json = { rows: [], count: 0, next_cursor: null };
    await page.route('**/app/arb/audit?**', (route) => route.fulfill({ json }));
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket('**/app/arb/board', (socket) => void sockets.push(socket));
    await page.clock.install({ time: new Date('2026-11-20T12:00:00.000Z') });
    await page.goto('/live');
    await expect.poll(() => sockets.length).toBe(1);
    sockets[0]?.send('{"type":"ready"}');
    sockets[0]?.send('{"as_of":"2026-11-20T12:00:00.000+00:00","opportunities":[]}');
    const open = page.getByRole('region', { name: 'Open opportunities' });
    await open.getByText(/^None at the moment/).waitFor();
    sockets[0]?.send('{"type":"board","as_of"');
    await open.getByText('is not connected: its last message cannot be read. Open as of').waitFor();
    sockets[0]?.send('{"as_of":"2026-11-20T12:00:00.000+00:00","opportunities":[]}');
    await open.getByText(/^None at the moment/).waitFor();
    await sockets[0]?.close();
    await open.getByText('Open as of 20 Nov, 12:00:00 UTC: none.').waitFor();
    expect(await open.textContent()).not.toContain('appear here at once');
    await page.clock.runFor(1_000);
    await expect.poll(() => sockets.length).toBe(2);
    sockets[1]?.send('{"type":"ready"}');
    await open.getByText(/^None at the moment/).waitFor();
  });
});
