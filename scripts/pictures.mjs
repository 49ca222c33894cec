// Makes the pictures of the documentation from a running demo: node scripts/pictures.mjs URL PASSWORD
import { chromium } from 'playwright-core';

const [url, password] = process.argv.slice(2);
if (!url || !password) {
  console.error('usage: node scripts/pictures.mjs URL PASSWORD (both as `npm run demo` prints them)');
  process.exit(1);
}
const FOLDER = new URL('../docs/images/', import.meta.url);
/** Long enough for the lines of the live page to have a shape. */
const SETTLE_MS = 25_000;

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: process.getuid() === 0 ? ['--no-sandbox'] : [],
});
const page = await browser.newPage({ baseURL: url, viewport: { width: 1200, height: 760 } });
await page.goto('/sign-in');
await page.getByLabel('E-mail address').fill('demo@example.com');
await page.getByRole('textbox', { name: 'Password' }).fill(password);
await page.getByRole('button', { name: 'Sign in' }).click();
await page.getByRole('region', { name: 'BTC 5 min' }).waitFor();
await page.waitForTimeout(SETTLE_MS);
await save('live');
await page.goto('/markets?status=resolved&event_type=15m');
await page.locator('tbody a').nth(1).click();
await page.getByRole('img', { name: /^Depth over time/ }).waitFor();
await page.waitForTimeout(1000);
await save('market');
await browser.close();

async function save(name) {
  const path = new URL(`${name}.png`, FOLDER).pathname;
  await page.screenshot({ path });
  console.error(`wrote ${path}`);
}
