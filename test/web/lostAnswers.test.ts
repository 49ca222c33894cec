import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'answers that are lost (skipped without a build or Chromium)';
const KEY = {
  ...{ key_id: 'k1', label: 'laptop', prefix: 'ur_abc', created_at: '2026-11-20T12:00:00+00:00' },
  ...{ last_used_at: null, revoked_at: null, requests_30d: 0 },
};
const NOW = new Date('2026-11-20T12:00:00.000Z');
const UNREADABLE =
  'The answer is not one of the service. A proxy may have answered, or the connection broke off.';

it('an answer that broke off is asked for again, if it only reads', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined });
  const bodies = ['{"keys":[', '{"keys":[]}', '<!doctype html>'];
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (address: string, { method }: RequestInit) => {
    asked.push(`${method} ${address}`);
    return new Response(bodies[asked.length - 1]);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { call } = await import('../../web/src/api/client.ts');
  const read = call('GET /app/keys', {});
  await vi.advanceTimersByTimeAsync(500);
  expect(await read).toEqual({ keys: [] });
  const made = call('POST /app/keys', { body: { label: 'laptop' } });
  await expect(made).rejects.toMatchObject({ name: 'ApiProblem', status: 0, message: UNREADABLE });
  expect(asked).toEqual(['GET /app/keys', 'GET /app/keys', 'POST /app/keys']);
});

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  it('of an action show at once what it has made, so that nobody makes it twice', async () => {
    const watched = await pages.open();
    const { page } = watched;
    watched.refusals.add('502 /app/keys');
    const keys: object[] = [];
    /** Reads that the page began after the service had made the key. */
    let readsOfMade = 0;
    await page.route('**/app/keys', (route) => {
      if (route.request().method() === 'POST') {
        // The service makes it, and its answer is lost on the way.
        keys.push(KEY);
        return route.fulfill({ status: 502, json: { detail: 'The connection was lost' } });
      }
      readsOfMade += keys.length;
      return route.fulfill({ json: { keys } });
    });
    await page.clock.install({ time: NOW });
    await page.goto('/keys');
    await page.getByText('No keys yet').waitFor();
    // From here the test moves the time, so that no poll is due.
    await page.clock.pauseAt(NOW.getTime() + 3_600_000);
    await page.clock.runFor(1_000);
    await page.getByLabel('What the key is for').fill('laptop');
    await page.getByRole('button', { name: 'Create key' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The connection was lost' });
    const step = async () => {
      await page.clock.runFor(50);
      return alert.count();
    };
    await expect.poll(step).toBe(1);
    await expect.poll(() => readsOfMade).toBe(1);
    await page.clock.runFor(1_000);
    await page.getByRole('table', { name: 'API keys' }).getByText('laptop').waitFor();
    expect(await page.getByLabel('What the key is for').inputValue()).toBe('laptop');
  });

  it('of a list hold back no key that is shown once', async () => {
    const { page } = await pages.open();
    let isMade = false;
    await page.route('**/app/keys', (route) => {
      if (route.request().method() === 'POST') {
        isMade = true;
        return route.fulfill({ json: { ...KEY, key: 'ur_secret' } });
      }
      return isMade ? undefined : route.fulfill({ json: { keys: [] } });
    });
    await page.goto('/keys');
    await page.getByText('No keys yet').waitFor();
    await page.getByLabel('What the key is for').fill('laptop');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('API key', { exact: true }).getByText('ur_secret').waitFor();
  });
});
