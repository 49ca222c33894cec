import type { useDemoPages } from './demoPages.ts';
import type { AnswerRecorder } from './recordedAnswers.ts';

const UNIVERSE = { universe: { ticker: 'BTC', event_type: '5m' }, params: { latency_ms: 120 } };
const THRESHOLD = { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' };
const REVERSION = { type: 'mean_reversion', lookback: 60, z_threshold: 2 };
const SWEEP = {
  ...{ ...UNIVERSE, strategy: REVERSION },
  x_axis: { param: 'lookback', start: 20, end: 120, steps: 5 },
  y_axis: { param: 'z_threshold', start: 1, end: 3, steps: 4 },
};

/** Every page, signed in and out. */
export const PAGE_NAMES = [
  ...([
    'live',
    'markets',
    'market',
    'perpetuals',
    'calibration',
    'signals',
    'backtests',
    'backtest',
  ] as const),
  ...(['sweep', 'papers', 'paper', 'webhooks', 'webhook', 'keys', 'account', 'operator'] as const),
  ...(['welcome', 'sign-in'] as const),
] as const;

/**
 * Fills a demo with keys, a webhook, backtests and a paper strategy, and records every page.
 * @returns The path of each page by name.
 */
export async function seedPages(
  demo: ReturnType<typeof useDemoPages>,
  recorder: AnswerRecorder,
): Promise<Record<(typeof PAGE_NAMES)[number], string>> {
  const { page } = await demo.signedIn();
  const send = async (path: string, data: unknown = {}) => (await page.request.post(path, { data })).json();
  const read = async (path: string) => (await page.request.get(path)).json();
  await send('/app/keys', { label: 'laptop' });
  await send('/app/keys', { label: 'bot on the server' });
  const { webhook_id } = await send('/app/webhooks', {
    url: 'https://hooks.invalid/in',
    label: 'trading bot',
  });
  await send(`/app/webhooks/${webhook_id}/test`);
  const waiting = '?wait_for_result=true';
  const { job_id } = await send(`/app/backtest${waiting}`, { ...UNIVERSE, strategy: THRESHOLD });
  const sweep = await send(`/app/backtest/sweep${waiting}`, SWEEP);
  const paper = { name: 'cheap Up', universe: UNIVERSE.universe, strategy: { ...THRESHOLD, threshold: 0.6 } };
  const { paper_strategy_id } = await send('/app/paper/strategies', paper);
  const { markets } = await read('/app/markets/resolved?limit=3&ticker=BTC&event_type=5m');
  const pages = {
    ...{ live: '/live', markets: '/markets', market: `/markets/${markets[2].market_id}` },
    ...{ perpetuals: '/perpetuals', calibration: '/calibration', signals: '/signals?view=history' },
    ...{ backtests: '/backtests', backtest: `/backtests/${job_id}`, sweep: `/backtests/${sweep.job_id}` },
    ...{ papers: '/paper', paper: `/paper/${paper_strategy_id}` },
    ...{ webhooks: '/webhooks', webhook: `/webhooks/${webhook_id}`, keys: '/keys' },
    ...{ account: '/account', operator: '/operator', welcome: '/welcome' },
  };
  recorder.watch(page);
  for (const path of Object.values(pages)) {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await recorder.settled(page);
  }
  return { ...pages, 'sign-in': '/sign-in' };
}
