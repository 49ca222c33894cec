// Takes the screenshots of the documentation from a running demo:
// node scripts/withNode.mjs scripts/pictures.mjs URL PASSWORD
import { openBrowser } from '../test/support/chromium.ts';

const [url, password] = process.argv.slice(2);
if (!url || !password) {
  console.error(
    'usage: node scripts/withNode.mjs scripts/pictures.mjs URL PASSWORD (both as `npm run demo` prints them)',
  );
  process.exit(1);
}
const FOLDER = new URL('../docs/images/', import.meta.url);
/** Time for the charts of the live page to fill. */
const SETTLE_MS = 25_000;
/** Closed positions of a paper strategy before its screenshot is taken: some minutes. */
const POSITIONS = 8;
const POLL_MS = 5_000;
const TRADES_MAX = 14;

const browser = await openBrowser();
const page = await browser.newPage({ baseURL: url, viewport: { width: 1200, height: 760 } });
await page.goto('/sign-in');
await page.getByLabel('E-mail address').fill('demo@example.com');
await page.getByRole('textbox', { name: 'Password' }).fill(password);
await page.getByRole('button', { name: 'Sign in' }).click();
await page.getByRole('region', { name: 'BTC 5 min' }).waitFor();
await page.waitForTimeout(SETTLE_MS);
await save('live');

const strategy = {
  ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 30 },
  entry: [
    { metric: 'model_probability', operator: 'above', value: 0.5 },
    { metric: 'token_price', operator: 'below', value: 0.6 },
  ],
  take_profit: [{ metric: 'token_price', operator: 'crosses_above', value: 0.55 }],
  stop_loss: [{ metric: 'token_price', operator: 'crosses_below', value: 0.45 }],
};
const traded = { strategy, universe: { ticker: 'BTC', event_type: '5m' }, size_usd: 10 };
const paper = await ask('POST', '/app/paper/strategies', {
  name: 'BTC 5 min, model above one half',
  ...traded,
});
const job = await ask('POST', '/app/backtest?wait_for_result=true', { ...traded, market_limit: 12 });
await page.goto(`/markets/${mostTraded(job.result.trades)}?backtest=${job.job_id}`);
await page.getByText(/^Drawn/).waitFor();
await page.locator('.u-over').nth(1).waitFor();
await page.waitForTimeout(1000);
await save('market');

const strategyPath = `/paper/strategies/${paper.paper_strategy_id}`;
while ((await ask('GET', `/app${strategyPath}`)).closed_positions < POSITIONS) {
  await page.waitForTimeout(POLL_MS);
}
await page.goto(`/paper/${paper.paper_strategy_id}`);
await page.getByRole('img', { name: /^P&L after so many/ }).waitFor();
await page.waitForTimeout(1000);
await save('paper');
await browser.close();

/** Calls the API with the page's session. */
function ask(method, path, body) {
  return page.evaluate(
    async ([verb, address, text]) => {
      const headers = text === undefined ? {} : { 'content-type': 'application/json' };
      return (await fetch(address, { method: verb, headers, body: text })).json();
    },
    [method, path, body && JSON.stringify(body)],
  );
}

/** A market with enough trades for a meaningful chart, and few enough to distinguish them. */
function mostTraded(trades) {
  const counts = new Map();
  for (const { market_id: id } of trades) counts.set(id, (counts.get(id) ?? 0) + 1);
  const [[id] = []] = [...counts].filter(([, count]) => count <= TRADES_MAX).sort((a, b) => b[1] - a[1]);
  return id;
}

async function save(name) {
  const path = new URL(`${name}.png`, FOLDER).pathname;
  await page.screenshot({ path });
  console.error(`wrote ${path}`);
}
